"""What is interrupted: works that change files, each with what must hold at any moment and at the end.

A work is prepared once; every trial begins with a copy of what was prepared. To add one, write a class with the methods
of :class:`Work` and name it in :data:`WORKS`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch

from adjudge.config import ModelSettings, settings_from
from adjudge.data.download import fetch
from adjudge.data.kgat import write_examples
from adjudge.data.records import Download, DownloadFile
from adjudge.data.verdicts import read_verdicts
from adjudge.errors import AdjudgeError, DataError
from adjudge.experiments.comparison import compare
from adjudge.experiments.plan import make_plan
from adjudge.judges.folder import load_model, save_model
from adjudge.judges.row_model import build
from adjudge.retrieval.build import build_index
from adjudge.retrieval.corpus import open_corpus
from adjudge.retrieval.embedding import VectorSettings
from adjudge.retrieval.index import Index
from adjudge.runs.execute import execute
from adjudge.runs.folder import RunFolder
from adjudge.serving.bulk import BulkJob, verify_file
from adjudge.serving.server.corpora import Corpora
from adjudge.serving.verifier import Verifier
from adjudge.types import FEVER_LABELS, Evidence, Example

LABELS = tuple(FEVER_LABELS)


class Work(Protocol):
    """Something to be interrupted in a folder."""

    def prepare(self, folder: Path) -> None:
        """Make what the work needs, and what it is to replace."""

    def do(self, folder: Path) -> None:
        """The work; given again, it goes on."""

    def check(self, folder: Path, final: Any) -> None:
        """Raise ``AssertionError`` if something unfinished is read as good, or something old is lost."""

    def finished(self, folder: Path) -> dict[str, int | None]:
        """What is finished and must not be made again: its name and when it was made, None before that."""

    def result(self, folder: Path) -> Any:
        """What the work is done for, to be compared."""


class IndexWork:
    """An index with vectors is brought in step with documents that were added, changed and removed."""

    def prepare(self, folder: Path) -> None:
        docs = folder / "docs"
        docs.mkdir()
        for n in range(12):
            (docs / f"{n}.txt").write_text(" ".join(f"Document {n} says {m} of old." for m in range(6)))
        self.do(folder)
        for n in range(4, 16):
            (docs / f"{n}.txt").write_text(" ".join(f"Document {n} has {m} anew." for m in range(6)))
        for n in range(3):
            (docs / f"{n}.txt").unlink()

    def do(self, folder: Path) -> None:
        build_index([folder / "docs"], folder / "index", vectors=VectorSettings("tiny"))

    def check(self, folder: Path, final: Any) -> None:
        state = self.result(folder)
        old = {f"Document {n} says {m} of old." for n in range(12) for m in range(6)}
        assert state == final or set(state) == old, f"an index of {len(state)} sentences"

    def finished(self, folder: Path) -> dict[str, int | None]:
        return {}

    def result(self, folder: Path) -> Any:
        index = Index.open(folder / "index")
        assert index.vectors is not None and len(index.vectors) == index.manifest.sentences
        vectors: dict[str, str] = {}
        sentences = {s.number: s.text for _, of_page in index.all_pages() for s in of_page}
        for segment in index.vectors.segments:
            for row, number in enumerate(segment.numbers):
                if number >= 0:
                    vectors[sentences[int(number)]] = segment.vectors[row].tobytes().hex()
        return vectors


class TrainingWork:
    """A judge is trained with its lower layers frozen and cached, and judges its test claims."""

    kinds: ClassVar[dict[str, Any]] = {
        "model": {"backbone": "tiny", "max_length": 32},
        "training": {
            "epochs": 2,
            "batch_size": 4,
            "accumulation": 1,
            "eval_every": 2,
            "freeze_layers": 1,
        },
    }

    def prepare(self, folder: Path) -> None:
        write_claims(folder)
        self.do(folder)  # imports what the trials need, once for all
        shutil.rmtree(folder / "run")
        shutil.rmtree(folder / "cache")

    def do(self, folder: Path) -> None:
        data = {name: folder / f"{name}.jsonl" for name in ("train", "dev", "test")}
        settings = settings_from({"data": data, **self.kinds})
        execute(settings, folder / "run", resume=True, cache=folder / "cache")

    def check(self, folder: Path, final: Any) -> None:
        run = RunFolder(folder / "run")
        if run.is_finished:
            assert weights_of(run.path) == final[0]
        elif (run.path / "checkpoint" / "adjudge.json").exists():
            weights_of(run.path)  # an earlier step's, or refused

    def finished(self, folder: Path) -> dict[str, int | None]:
        return {"run": stamp(folder / "run" / "manifest.json")}

    def result(self, folder: Path) -> Any:
        run = folder / "run"
        steps = [(line["step"], line["split"], line["loss"]) for line in lines_of(run / "metrics.jsonl")]
        predictions = [path.read_bytes().hex() for path in sorted(run.glob("judgements/*/predictions.jsonl"))]
        return weights_of(run), steps, predictions, leftovers(folder)


class CompareWork:
    """Two objectives are compared, their runs made one after the other."""

    def prepare(self, folder: Path) -> None:
        write_claims(folder)
        self.do(folder)
        shutil.rmtree(folder / "out")

    def do(self, folder: Path) -> None:
        data = {name: folder / f"{name}.jsonl" for name in ("train", "dev", "test")}
        training = {"epochs": 1, "batch_size": 8, "accumulation": 1, "eval_every": 2}
        run = {"model": {"max_length": 32}, "training": training, "data": data}
        grid = {"backbones": ["tiny"], "seeds": [0], "objectives": ["ce", "sr"], "lam": [0.25]}
        compare(make_plan({"run": run, "grid": grid}), folder / "out")

    def check(self, folder: Path, final: Any) -> None:
        for run in (folder / "out" / "runs").glob("*"):
            if RunFolder(run).is_finished:
                assert weights_of(run) == final[run.name]

    def finished(self, folder: Path) -> dict[str, int | None]:
        return {path.parent.name: stamp(path) for path in (folder / "out" / "runs").glob("*/manifest.json")}

    def result(self, folder: Path) -> Any:
        weights = {run.name: weights_of(run) for run in sorted((folder / "out" / "runs").iterdir())}
        return {**weights, "left": leftovers(folder)}


class BulkWork:
    """Verdicts on a file of claims, and the same as a submission."""

    claims: ClassVar[int] = 70

    def __init__(self) -> None:
        self._verifier: Verifier | None = None

    def prepare(self, folder: Path) -> None:
        (folder / "docs").mkdir()
        rivers = ("Elbe", "Rhine", "Danube", "Oder")
        text = " ".join(f"The {river} flows through town {n}." for n in range(20) for river in rivers)
        (folder / "docs" / "rivers.txt").write_text(text)
        lines = [
            {"id": n, "claim": f"The {rivers[n % 4]} flows through town {n}."} for n in range(self.claims)
        ]
        (folder / "claims.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        torch.manual_seed(0)
        save_model(build(ModelSettings(backbone="tiny", max_length=64), FEVER_LABELS), folder / "model")
        build_index([folder / "docs"], folder / "index")
        self._verifier = Verifier.load(folder / "model", selector="lexical")

    def do(self, folder: Path) -> None:
        out, submission = folder / "out.jsonl", folder / "out.submission"
        job = BulkJob(folder / "claims.jsonl", out, submission)
        if out.exists() and not job.folder.exists():
            return  # the command line says that it is done
        assert self._verifier is not None
        verify_file(self._verifier, job, folder / "index")

    def check(self, folder: Path, final: Any) -> None:
        if (folder / "out.jsonl").exists():
            assert (folder / "out.jsonl").read_bytes().hex() == final[0]
        for part in (folder / "out.jsonl.parts").glob("*.jsonl"):
            assert list(read_verdicts(part))

    def finished(self, folder: Path) -> dict[str, int | None]:
        return {}  # windows are removed in the end

    def result(self, folder: Path) -> Any:
        assert not (folder / "out.jsonl.parts").exists()
        names = ("out.jsonl", "out.submission")
        return [*((folder / name).read_bytes().hex() for name in names), leftovers(folder)]


class CorporaWork:
    """A server's corpora: one is made and filled with documents, one loses a document, one is removed."""

    texts: ClassVar[dict[str, dict[str, str]]] = {
        "kept": {f"{n}.txt": f"Document {n} is kept. It has two sentences." for n in range(4)},
        "old": {f"{n}.txt": f"Document {n} is old." for n in range(6)},
        "new": {f"{n}.txt": f"Document {n} is new. It was uploaded." for n in range(4)},
    }

    def prepare(self, folder: Path) -> None:
        for name in ("kept", "old"):
            (folder / "data" / name).mkdir(parents=True)
            for document, text in self.texts[name].items():
                (folder / "data" / name / document).write_text(text)
            self._open(folder / "data" / name)

    def do(self, folder: Path) -> None:
        library = Corpora((), folder / "data", self._open_for_server, refresh=0.05)
        library.start()
        try:
            names = [corpus.name for corpus in library]
            if "new" not in names:
                library.create("new")
            for document, text in self.texts["new"].items():
                library.add_document("new", document, BytesIO(text.encode()), limit=1_000)
            if (folder / "data" / "kept" / "0.txt").exists():
                library.remove_document("kept", "0.txt")
            if "old" in names:
                library.delete("old")
            self._wait(library)
        finally:
            library.close()

    def check(self, folder: Path, final: Any) -> None:
        for corpus in (folder / "data").glob("[!.]*"):
            texts = {path.name: path.read_text() for path in corpus.glob("[!.]*")}
            expected = self.texts[corpus.name]
            assert texts.items() <= expected.items(), f"{corpus.name} has a document that nobody sent"
            assert corpus.name != "old" or texts == expected, "half of a removed corpus is left"
            assert corpus.name != "kept" or len(texts) >= 3, "a document is lost"
            self._open(corpus)  # searched again after a restart

    def finished(self, folder: Path) -> dict[str, int | None]:
        return {}

    def result(self, folder: Path) -> Any:
        data = folder / "data"
        sentences = {
            path.name: sorted(s.text for _, of_page in self._open(path).all_pages() for s in of_page)
            for path in data.glob("[!.]*")
        }
        return {**sentences, "left": leftovers(folder)}

    def _open(self, path: Path) -> Index:
        return open_corpus(path, by_meaning=False)

    def _open_for_server(self, path: Path, progress: Any, report: Any) -> Any:
        return self._open(path), object()

    def _wait(self, library: Corpora) -> None:
        """Until every corpus holds the documents that it is to hold."""
        wanted = {"kept": 3, "new": 4}
        while any(len(corpus.documents()) != wanted[corpus.name] for corpus in library):
            for corpus in library:
                if corpus.state == "failed":
                    raise DataError(str(corpus.problem))
            time.sleep(0.01)


class DownloadWork:
    """A file is fetched from a server on this machine, which hangs up now and then, checked and unpacked."""

    def __init__(self) -> None:
        self._url = ""

    def prepare(self, folder: Path) -> None:
        import tarfile

        (folder / "content").mkdir()
        (folder / "content" / "a.bin").write_bytes(bytes(range(256)) * 4_000)
        with tarfile.open(folder / "data.tar", "w") as bundle:
            bundle.add(folder / "content", "content")
        body = (folder / "data.tar").read_bytes()
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(body))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self._url = f"http://127.0.0.1:{server.server_address[1]}/data.tar"
        self._digest = hashlib.sha256(body).hexdigest()

    def do(self, folder: Path) -> None:
        file = DownloadFile("data.tar", (self._url,), self._digest, unpack="data")
        fetch("torture", Download("", (file,), "", ""), folder / "fetched", timeout=10)

    def check(self, folder: Path, final: Any) -> None:
        target = folder / "fetched" / "data.tar"
        if target.exists():
            assert hashlib.sha256(target.read_bytes()).hexdigest() == self._digest
        if (folder / "fetched" / "data").exists():
            assert (folder / "fetched" / "data" / "a.bin").stat().st_size == 1_024_000

    def finished(self, folder: Path) -> dict[str, int | None]:
        return {"data.tar": stamp(folder / "fetched" / "data.tar")}

    def result(self, folder: Path) -> Any:
        found = sorted(path for path in (folder / "fetched").rglob("*") if path.is_file())
        return {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found
        }


WORKS: dict[str, type[Work]] = {
    "index": IndexWork,
    "bulk": BulkWork,
    "download": DownloadWork,
    "corpora": CorporaWork,
    "training": TrainingWork,
    "compare": CompareWork,
}


def write_claims(folder: Path) -> None:
    """Claims whose label a sentence gives away."""
    clue = dict(zip(LABELS, ("yes yes yes", "no no no", "perhaps"), strict=True))
    for name, count in (("train", 24), ("dev", 9), ("test", 9)):
        examples = [
            Example(n, f"{name} claim {n}", (Evidence(clue[LABELS[n % 3]], "Page", n),), LABELS[n % 3])
            for n in range(count)
        ]
        write_examples(folder / f"{name}.jsonl", examples)


def weights_of(run: Path) -> str:
    """A hash of the weights that a run's folder gives; what is refused has none."""
    try:
        state = load_model(run).module.state_dict()
    except AdjudgeError:
        return "refused"
    return hashlib.sha256(b"".join(value.numpy().tobytes() for value in state.values())).hexdigest()


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def stamp(path: Path) -> int | None:
    """When a file was made; None before it is there."""
    return path.stat().st_mtime_ns if path.exists() else None


def leftovers(folder: Path) -> list[str]:
    """What should not be there any more."""
    return sorted(path.name for path in folder.rglob(".*.tmp"))


def _handler(body: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            if start >= len(body):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(body)}")
                self.end_headers()
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.send_header("Content-Length", str(len(body) - start))
            self.send_header("Content-Type", "application/octet-stream")
            self.end_headers()
            self.wfile.write(body[start : start + len(body) // 3])  # and hangs up

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
