"""A folder of documents about the harbour of Ellery, of which the office files and the book are made here."""

from __future__ import annotations

import datetime
import io
import shutil
import zipfile
from pathlib import Path

RESOURCES = Path(__file__).parents[1] / "resources" / "office"

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>"
)
BOOK = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Guide to Ellery</dc:title></metadata>
<manifest>
<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="two" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="cover" href="cover.jpg" media-type="image/jpeg"/>
</manifest>
<spine><itemref idref="two"/><itemref idref="one"/></spine></package>"""
CHAPTERS = {
    "OEBPS/text/one.xhtml": "<h1>Walks</h1><p>The cliff path is 7 miles long. Dogs are welcome.</p>",
    "OEBPS/text/two b.xhtml": "<h1>Arriving</h1><p>Trains run every hour.</p><table><tr><th>From</th>"
    "<th>Minutes</th></tr><tr><td>Port Anwen</td><td>48</td></tr></table>",
}


def write_folder(folder: Path) -> Path:
    """The whole folder: text files copied, the others made."""
    shutil.copytree(RESOURCES, folder, dirs_exist_ok=True)
    (folder / "harbour_figures.xlsx").write_bytes(workbook())
    (folder / "council_minutes.docx").write_bytes(minutes())
    (folder / "lighthouse_talk.pptx").write_bytes(talk())
    (folder / "guide.epub").write_bytes(book())
    return folder


def workbook() -> bytes:
    """Two sheets, made by a library that is not the reader's: numbers with formats, dates, formulas with results."""
    import xlsxwriter

    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        euros = book.add_format({"num_format": '#,##0.0" million €"'})
        share = book.add_format({"num_format": "0.0%"})
        thousands = book.add_format({"num_format": "#,##0"})
        day = book.add_format({"num_format": "d mmm yyyy"})
        sheet = book.add_worksheet("Traffic 2024")
        sheet.write("A1", "Traffic of the harbour of Ellery")
        sheet.write_row("A3", ["Quarter", "Ships", "Cargo in tonnes", "Revenue", "Share of transit"])
        rows = [("Q1 2024", 212, 48100, 3.7, 0.31), ("Q2 2024", 240, 51950, 4.0, 0.295)]
        for number, (quarter, ships, cargo, revenue, transit) in enumerate(rows, start=3):
            sheet.write(number, 0, quarter)
            sheet.write(number, 1, ships)
            sheet.write(number, 2, cargo, thousands)
            sheet.write(number, 3, revenue, euros)
            sheet.write(number, 4, transit, share)
        sheet.write("A6", "Half year")
        sheet.write_formula("B6", "=SUM(B4:B5)", None, 452)
        sheet.write_formula("E6", "=1/0", None, "#DIV/0!")
        sheet = book.add_worksheet("Inspections")
        sheet.write_row("A1", ["Crane", "Inspected", "Passed", "Inspector"])
        sheet.write_row("A2", ["Crane 1"])
        sheet.write_datetime("B2", datetime.datetime(2024, 3, 14), day)
        sheet.write_boolean("C2", False)
        sheet.write("D2", "Ida Holm")
    return stream.getvalue()


def minutes() -> bytes:
    """A Word file with headings, a table with a header that is marked, and a table without one."""
    import docx
    from docx.oxml import OxmlElement

    document = docx.Document()
    document.add_heading("Minutes of the council", 0)
    document.add_paragraph("The council met on 12 June. It elected a new harbour master, Lena Foss.")
    document.add_heading("Votes", 1)
    votes = document.add_table(3, 3)
    for row, cells in zip(
        votes.rows,
        [("Motion", "For", "Against"), ("Widen the mole", "9", "4"), ("Sell the crane", "5", "8")],
        strict=True,
    ):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    votes.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    facts = document.add_table(2, 2)
    for row, cells in zip(facts.rows, [("Chair", "Otto Brand"), ("Present", "13 members")], strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_paragraph("The meeting ended at ten.")
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def talk() -> bytes:
    """Two slides: text, and a table with notes."""
    import pptx
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "The lighthouse"
    slide.placeholders[1].text = "Built in 1871\nThe lamp is electric since 1934"
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Lamps"
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for number, cells in enumerate(
        [("Years", "Fuel", "Range"), ("1871–1902", "oil", "11 miles"), ("1902–1934", "gas", "15 miles")]
    ):
        for column, text in enumerate(cells):
            table.cell(number, column).text = text
    slide.notes_slide.notes_text_frame.text = "The gas lamp is in the museum today."
    stream = io.BytesIO()
    presentation.save(stream)
    return stream.getvalue()


def book(**parts: str) -> bytes:
    """An EPUB of two chapters, the second file first; ``parts`` add or replace files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        content = {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": BOOK}
        for name, body in CHAPTERS.items():
            content[name] = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
        for name, text in {**content, **parts}.items():
            archive.writestr(name, text)
    return stream.getvalue()


def pdf(*pages: str, title: str = "") -> bytes:
    """A PDF by hand: one line of text a page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()
