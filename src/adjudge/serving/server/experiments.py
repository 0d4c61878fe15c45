"""Experiments on this machine: their folders listed, their reports shown with no rights at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from adjudge.serving.server.api import errors
from adjudge.serving.server.faults import NotFound, TooLarge
from adjudge.serving.server.records import json_response
from adjudge.serving.server.reference import render_page
from adjudge.serving.server.schemas import ExperimentsRecord

router = APIRouter()
REPORT = "report.html"
REPORT_POLICY = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report is one file with its own styles and pictures; it runs nothing, and asks nobody for anything."""
DEPTH = 3
MOST = 500
LARGEST = 64 << 20


@dataclass(frozen=True)
class Experiment:
    """A folder of runs: how many there are, how many are finished, and whether it has a report."""

    name: str
    runs: int
    finished: int
    changed: str
    report: bool


def list_experiments(roots: tuple[Path, ...]) -> dict[str, tuple[Experiment, Path]]:
    """Experiments by name, in the folders given or a few levels below: those that hold runs or a report."""
    experiments: dict[str, tuple[Experiment, Path]] = {}
    for root in roots:
        for folder in _folders(root, DEPTH):
            runs = [child for child in _children(folder) if (child / "config.toml").is_file()]
            report = folder / REPORT
            if not runs and not report.is_file():
                continue
            finished = sum((run / "manifest.json").is_file() for run in runs)
            changed = datetime.fromtimestamp(folder.stat().st_mtime, UTC).isoformat(timespec="seconds")
            name = os.path.normpath(folder)
            experiments[name] = (Experiment(name, len(runs), finished, changed, report.is_file()), folder)
            if len(experiments) >= MOST:
                return experiments
    return experiments


@router.get("/runs", include_in_schema=False)
async def show_experiments(request: Request) -> Response:
    """The list for people."""
    roots = request.app.state.settings.runs
    experiments = await anyio.to_thread.run_sync(list_experiments, roots)
    shown = [experiment for experiment, _ in experiments.values()]
    folders = [str(root) for root in roots]
    return render_page(request, "runs.html", "runs", experiments=shown, folders=folders)


@router.get(
    "/v1/runs",
    response_model=ExperimentsRecord,
    responses=errors(),
    tags=["experiments"],
    summary="List experiments",
)
async def list_runs(request: Request) -> Response:
    """The experiments in the server's folders of runs."""
    experiments = await anyio.to_thread.run_sync(list_experiments, request.app.state.settings.runs)
    return json_response({"experiments": [asdict(experiment) for experiment, _ in experiments.values()]})


@router.get("/runs/report", include_in_schema=False)
async def show_report(request: Request, name: Annotated[str, Query(max_length=4096)]) -> Response:
    """The report of an experiment of the list; nothing else is read."""
    experiments = await anyio.to_thread.run_sync(list_experiments, request.app.state.settings.runs)
    if name not in experiments or not experiments[name][0].report:
        raise NotFound(f"No experiment {name[:200]!r} with a report; /runs lists them.")
    path = experiments[name][1] / REPORT
    if path.stat().st_size > LARGEST:
        raise TooLarge(f"{name}: the report is larger than {LARGEST:,} bytes.")
    content = await anyio.to_thread.run_sync(path.read_bytes)
    return HTMLResponse(content, headers={"content-security-policy": REPORT_POLICY})


def _folders(root: Path, depth: int) -> Iterator[Path]:
    """A folder and those below it, without links, hidden ones and the insides of runs."""
    if not root.is_dir():
        return
    yield root
    if depth:
        for child in _children(root):
            if not (child / "config.toml").is_file():
                yield from _folders(child, depth - 1)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(
            child
            for child in folder.iterdir()
            if not child.name.startswith(".") and child.is_dir() and not child.is_symlink()
        )
    except OSError:
        return []
