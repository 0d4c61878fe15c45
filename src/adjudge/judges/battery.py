"""Judge many files of labelled claims, evidence given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from adjudge.data.formats import read_examples
from adjudge.data.text import drop_title
from adjudge.errors import DataError
from adjudge.evaluation.battery import Answer, SetFigures, measure
from adjudge.judges.protocol import Judge
from adjudge.types import Verdict

Watch = Callable[[Iterable[Verdict], Path, int], Iterable[Verdict]]
"""Wraps the verdicts of a file; gets the file and how many claims it has."""

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")


def set_files(sources: Sequence[Path]) -> list[Path]:
    """The files of data sets among some files and folders, in order."""
    files: list[Path] = []
    for source in sources:
        inside = [source]
        if source.is_dir():
            inside = sorted(path for path in source.iterdir() if path.name.endswith(SUFFIXES))
        if not inside:
            raise DataError(f"{source}: no data set here, expected files that end in {', '.join(SUFFIXES)}.")
        files += inside
    return files


def judge_sets(
    files: Sequence[Path],
    judge: Judge,
    limit: int | None = None,
    titles: bool = True,
    watch: Watch = lambda verdicts, path, claims: verdicts,
) -> Iterator[SetFigures]:
    """The figures of each file, as soon as it is judged.

    Args:
        files: labelled claims with sentences, in any format that has both.
        judge: what judges them.
        limit: judge at most this many claims of a file.
        titles: whether the judge sees the titles of pages.
        watch: wraps the verdicts of a file, for a progress bar.
    """
    for path in files:
        examples = list(islice(read_examples(path, require_labels=True), limit))
        inputs = examples
        if not titles:
            inputs = [replace(e, evidence=tuple(map(drop_title, e.evidence))) for e in examples]
        started = time.perf_counter()
        verdicts = list(watch(judge.judge(inputs), path, len(inputs)))
        seconds = time.perf_counter() - started
        answers = (Answer(str(e.label), v) for e, v in zip(examples, verdicts, strict=True))
        name = path.name.partition(".")[0]
        yield measure(name, path.absolute().parent.name, answers, judge.labels, seconds)
