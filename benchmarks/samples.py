"""A small made-up encyclopedia, for benchmarks that are given no files."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adjudge.data.fever import write_claims
from adjudge.data.world import generate
from adjudge.retrieval.build import index_pages
from adjudge.retrieval.embedding import VectorSettings

CLAIMS = 400


def add_index_and_claims(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("index", type=Path, nargs="?", help="an index with sentence vectors")
    parser.add_argument("claims", type=Path, nargs="?", help="a file of claims")


@contextmanager
def index_and_claims(index: Path | None, claims: Path | None) -> Iterator[tuple[Path, Path]]:
    """These, or both made up."""
    if index is not None and claims is not None:
        yield index, claims
        return
    if index is not None:
        raise SystemExit(f"{index}: name a file of claims too, or neither.")
    with tempfile.TemporaryDirectory() as temporary:
        folder, world = Path(temporary), generate(CLAIMS, seed=0)
        index_pages(world.pages, folder / "index", vectors=VectorSettings())
        write_claims(folder / "claims.jsonl", world.claims)
        yield folder / "index", folder / "claims.jsonl"
