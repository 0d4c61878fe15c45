"""The zip of FEVER's wiki dump, which is not unpacked."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from typing import IO, cast

from adjudge.data import wiki
from adjudge.data.documents.files import ProblemReport, SourceFile, limit_reports, open_regular
from adjudge.data.documents.jsonl import record_pages
from adjudge.errors import DataError
from adjudge.types import Page


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of all parts of the dump."""
    try:
        with open_regular(file.path) as raw, limit_reports(file, report, "records") as report:
            for member, stream in wiki.dump_members(raw):
                lines = cast(IO[bytes], gzip.open(stream)) if member.endswith(".gz") else stream
                yield from record_pages(file, f"{file.source}!{member}", lines, wiki.page_of, report)
    # RuntimeError for what is encrypted, NotImplementedError for what is packed in a rare way
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise DataError(f"is a zip file that cannot be read ({error}). Fetch it again.") from None


def read_source(file: SourceFile, page: str, report: ProblemReport) -> None:
    """A page of the dump has no text but its lines."""
    return None
