"""The types of document: one file in this folder and one line in the table for each.

A type's module has ``read_pages(file, report)``, which yields the pages of a file, and
``read_source(file, page, report)``, the text in which the offsets of a page's sentences count.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from adjudge.errors import MissingExtra


class DocumentType(NamedTuple):
    """What a name's ending promises, the module that reads it, and the package that this needs."""

    name: str
    module: str
    suffixes: tuple[str, ...]
    needs: str = ""
    """The module to import, ``module of package`` where the package has another name."""


TYPES = (
    DocumentType("text", "text", (".txt", ".text")),
    DocumentType("Markdown", "markdown", (".md", ".markdown")),
    DocumentType("HTML", "html", (".html", ".htm", ".xhtml"), "lxml"),
    DocumentType("PDF", "pdf", (".pdf",), "pypdf"),
    DocumentType("Word", "word", (".docx",), "docx of python-docx"),
    DocumentType("Excel", "excel", (".xlsx", ".xlsm"), "openpyxl"),
    DocumentType("PowerPoint", "slides", (".pptx",), "pptx of python-pptx"),
    DocumentType("EPUB", "epub", (".epub",), "lxml"),
    DocumentType("CSV", "delimited", (".csv", ".tsv")),
    DocumentType("e-mail", "mail", (".eml",), "lxml"),
    DocumentType("JSONL", "jsonl", (".jsonl", ".ndjson", ".jsonl.gz")),
    DocumentType("wiki dump", "dump", (".zip",)),
)

SUFFIXES = {suffix: kind for kind in TYPES for suffix in kind.suffixes}


def suffix_of(name: str) -> str:
    """The ending of a file name that tells its type; empty where it tells none."""
    lower = name.lower()
    return next((suffix for suffix in SUFFIXES if lower.endswith(suffix) and len(lower) > len(suffix)), "")


def load_reader(kind: DocumentType) -> Any:
    """The module that reads a type of document; ``MissingExtra`` where the package for it is not installed."""
    module, _, package = kind.needs.partition(" of ")
    try:
        if module:
            import_module(module)
    except ImportError:
        raise MissingExtra(f"Reading {kind.name} needs {package or module}", "documents") from None
    return import_module(f"adjudge.data.documents.{kind.module}")
