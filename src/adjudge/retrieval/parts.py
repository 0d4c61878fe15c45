"""The two searchable parts of an index, pages and sentences, as tantivy keeps them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.retrieval.analysis import PROSE, TITLE, analyzers

if TYPE_CHECKING:
    import tantivy

PARTS = ("pages", "sentences")
LISTS = ("meta.json", ".managed.json")
"""The files of a part that tantivy replaces; it writes every other file once."""
PANIC = "PanicException"
"""What tantivy raises at a damaged file that it did not expect; it is no ``Exception``."""


def open_part(folder: Path, create: bool = False) -> tantivy.Index:
    """Open the pages or the sentences of a generation, with the analyzers its terms were made by."""
    from tantivy import Index as Tantivy

    if (folder / "meta.json").exists():
        try:
            return _prepare(Tantivy.open(str(folder)))
        except ValueError as error:
            if create or "Lockfile" not in str(error):
                raise
            return _open_read_only(folder)
        except BaseException as error:
            if type(error).__name__ != PANIC:
                raise
            raise ValueError(str(error)) from None
    if not create:
        raise OSError(f"{folder.name} is missing")
    return _prepare(Tantivy(_schema(folder.name), path=str(folder)))


def open_to_readers(folder: Path) -> None:
    """Give a part's lists the mode that the user's umask gave its folder: tantivy lets only the user read them."""
    mode = folder.stat().st_mode & 0o666
    for name in LISTS:
        path = folder / name
        if path.exists() and path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


def _open_read_only(folder: Path) -> tantivy.Index:
    """Open a part in a place that cannot be written: tantivy wants a lock file beside what it opens.

    It maps all files at once, so that the links to them are not needed any longer.
    """
    from tantivy import Index as Tantivy

    with tempfile.TemporaryDirectory(prefix="adjudge-") as links:
        for file in folder.iterdir():
            if file.suffix != ".lock":
                (Path(links) / file.name).symlink_to(file.absolute())
        return _prepare(Tantivy.open(links))


def _prepare(part: tantivy.Index) -> tantivy.Index:
    for name, analyzer in analyzers().items():
        part.register_tokenizer(name, analyzer)
    part.config_reader(reload_policy="manual")
    part.reload()
    return part


def _schema(part: str) -> tantivy.Schema:
    """Terms to search by, and one stored record to answer with."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    for name in ("source", "page") if part == "sentences" else ("source", "page", "name"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name=TITLE, index_option="freq")
    builder.add_integer_field("number", indexed=True)
    if part == "pages":
        builder.add_text_field("bracket", tokenizer_name=PROSE, index_option="freq")
        builder.add_text_field("body", tokenizer_name=PROSE, index_option="freq")
    else:
        builder.add_text_field("text", tokenizer_name=PROSE, index_option="freq")
    builder.add_bytes_field("stored", stored=True, indexed=False)
    return builder.build()
