"""Takes the pictures of docs/page.md and README.md: ``make screenshots``; a folder as argument has them instead."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from adjudge import Verifier
from adjudge.serving.page.samples import sample_documents
from browsing import PATIENCE, wait_until_finished
from server_fixtures import listening

IMAGES = Path(__file__).parents[2] / "docs" / "images"
CLAIMS = """id,claim
1,The Ellery Bridge was opened to traffic in 1934.
2,Members of the library may borrow ten books at a time.
3,Revenue of the harbour rose to 21.4 million crowns.
4,An adult ticket costs 84 crowns.
5,The mayor owns a yacht.
6,Is the library closed?
7,The main span measures 186 metres.
8,Tomas Lund retires in 2026.
"""


def check_example(page: Page, address: str, number: int) -> None:
    """Check one of the examples of the first page."""
    page.goto(address)
    page.locator("a.example").nth(number).click()
    wait_until_finished(page)
    expect(page.locator(".card.current .lit")).to_be_visible()


def take(page: Page, address: str, folder: Path, name: str, images: Path) -> None:
    """The picture of a name."""
    if name.startswith("page-claims"):
        (folder / "claims.csv").write_text(CLAIMS)
        page.goto(f"{address}/claims")
        page.get_by_label("File of claims").set_input_files(folder / "claims.csv")
        page.locator("#start").click()
        expect(page.get_by_role("button", name="Check again")).to_be_visible()
    else:
        check_example(page, address, 0 if "claim" in name else 2)
        if "why" in name:
            page.locator(".card.current summary").click()
            page.locator(".card.current .leave-out button").click()
            expect(page.locator(".card.current .left-out table")).to_be_visible()
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=images / f"{name}.png")


def main(images: Path) -> None:
    """All pictures, on the sample documents with the package's own model."""
    expect.set_options(timeout=1000 * PATIENCE)
    images.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        samples = folder / "samples"
        samples.mkdir()
        for file in sample_documents():
            (samples / file.name).write_bytes(file.read_bytes())
        with (
            listening(Verifier.load(), samples, data_dir=folder / "data") as (address, _),
            sync_playwright() as tool,
        ):
            browser = tool.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            for name, width, height, scheme in (
                ("page", 1280, 860, "light"),
                ("page-dark", 1280, 860, "dark"),
                ("page-phone", 390, 844, "light"),
                ("page-claim-why", 1280, 1240, "light"),
                ("page-claims", 1280, 720, "light"),
            ):
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,  # type: ignore[arg-type]
                    reduced_motion="reduce",
                )
                context.set_default_timeout(1000 * PATIENCE)
                take(context.new_page(), address, folder, name, images)
                context.close()
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
