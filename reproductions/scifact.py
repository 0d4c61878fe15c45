"""How a verdict model does out of domain: SciFact's training claims, zero-shot and fine-tuned in five folds.

    python reproductions/scifact.py --data FOLDER [--model small|FOLDER] [--out FOLDER] [--json FILE] [--limit N]

FOLDER holds SciFact's ``corpus.jsonl`` and ``claims_train.jsonl`` (or ``.gz``). SUPPORT is SUPPORTS, CONTRADICT is
REFUTES, a claim without evidence is NOT ENOUGH INFO. Each claim is judged twice (``VIEWS``). Fine-tuned verdicts on a
fold come from a model trained on the other four, from MODEL on; claims that cite one abstract lie in one fold. Nothing
is tuned: the settings below were fixed before the folds were judged, by what they cost in trials on the first 40 claims
(whose results were seen; longer training did slightly better there). The last step is the checkpoint, and no
temperature is fitted to SciFact (zero-shot has the model's own, fine-tuned none). Models compute in full precision.
``--zero-shot`` leaves out the folds.

What is done lies in ``--out``; given again, the command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from adjudge import Verifier
from adjudge.config import DEFAULT_EVIDENCE, DataSettings, ObjectiveSettings, RunSettings, TrainingSettings
from adjudge.data import kgat
from adjudge.data.formats import read_claims, read_examples
from adjudge.data.verdicts import read_verdicts, write_verdicts
from adjudge.errors import AdjudgeError, ConfigError, DataError
from adjudge.evaluation.render import SHORT
from adjudge.io.files import sha256, write_json
from adjudge.judges.folder import load_model, weights_sha256
from adjudge.retrieval import Index, IndexRetriever, build_index, select
from adjudge.retrieval.pipeline import CANDIDATES, EvidencePipeline, sentence_in
from adjudge.retrieval.selectors import load_selector
from adjudge.runs.execute import Reporter, execute
from adjudge.runs.provenance import machine, versions
from adjudge.types import FEVER_LABELS, Claim, Evidence, Example, Verdict
from scifact_folds import (
    cited_abstracts,
    compare_systems,
    figures,
    folds,
    given_examples,
    majority,
    training_examples,
)

FOLDS = 5
SEED = 0
MIXED = 3
"""Sentences of a training example that is not as given; the recipe of the shipped model shows as many."""
TRAINING = TrainingSettings(
    epochs=1,  # of two views of every claim
    batch_size=8,
    accumulation=1,
    lr=1e-4,
    head_lr=2e-4,
    warmup=0.1,
    freeze_layers=4,
    eval_every=40,
    seed=SEED,
)
OBJECTIVE = ObjectiveSettings(name="ce")
GIVEN, RETRIEVED = "evidence given", "end to end"
VIEWS = {
    GIVEN: "gold sentences; of a claim without, the best of the abstracts it cites, as many as a claim with gold has",
    RETRIEVED: "the sentences that search and fusion find in all abstracts",
    "training": f"every claim as given, and again with what else was retrieved, {MIXED} sentences in all",
}


@dataclass(frozen=True)
class Files:
    """The folder of a study: what it is made with, what is shown, and every fold's run and verdicts."""

    folder: Path

    @property
    def given(self) -> Path:
        return self.folder / "given.jsonl"

    @property
    def retrieved(self) -> Path:
        return self.folder / "retrieved.jsonl"

    def verdicts(self, model: str, view: str) -> Path:
        return self.folder / model / f"{view.replace(' ', '-')}.jsonl"

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add to a stage's seconds, by the clock and of the processor: a study may take several sittings."""
        print(stage, file=sys.stderr, flush=True)
        began = {"clock": time.perf_counter(), "processor": time.process_time()}
        try:
            yield
        finally:
            ended = {"clock": time.perf_counter(), "processor": time.process_time()}
            before = self.seconds().get(stage, {})
            taken = {kind: round(before.get(kind, 0) + ended[kind] - began[kind], 1) for kind in began}
            write_json(self.folder / "seconds.json", {**self.seconds(), stage: taken})

    def seconds(self) -> dict[str, dict[str, float]]:
        path = self.folder / "seconds.json"
        return json.loads(path.read_text("utf-8")) if path.is_file() else {}


@dataclass(frozen=True)
class StoredEvidence:
    """What was retrieved before, as a retriever: searching is the same for every model."""

    evidence: dict[str, tuple[Evidence, ...]]

    def retrieve(self, claim: str, k: int) -> list[Evidence]:
        return list(self.evidence[claim][:k])


def begin(files: Files, protocol: dict[str, Any]) -> None:
    """Refuse a folder that holds another study."""
    path = files.folder / "protocol.json"
    if path.is_file() and json.loads(path.read_text("utf-8")) != json.loads(json.dumps(protocol)):
        raise ConfigError(
            f"{files.folder}: holds a study of another model, data or settings ({path.name}). "
            "Choose another folder, or remove it."
        )
    write_json(path, protocol)


def prepare(files: Files, corpus: Path, claims: Sequence[Claim], source: Path) -> None:
    """Write what is shown of every claim: the sentences given, and those retrieved."""
    if files.retrieved.is_file():
        return
    with files.timed("searching"), tempfile.TemporaryDirectory() as folder:
        build_index([corpus], Path(folder) / "index", strict=True)
        index = Index.open(Path(folder) / "index")
        retriever, selector = IndexRetriever(index), load_selector("fusion")

        def within(claim: str, pages: Sequence[str], k: int) -> list[Evidence]:
            return select(selector, claim, retriever.retrieve_within(claim, pages, CANDIDATES), k)

        given = given_examples(claims, cited_abstracts(source), sentence_in(index), within, SEED)
        kgat.write_examples(files.given, given)
        pipeline = EvidencePipeline(retriever, selector)
        kgat.write_examples(files.retrieved, pipeline.examples(claims))


def judge(
    files: Files,
    name: str,
    model: str,
    claims: Sequence[Claim],
    given: Sequence[Example],
    stored: StoredEvidence,
) -> None:
    """Write a model's verdicts on some claims, both ways."""
    if files.verdicts(name, RETRIEVED).is_file():
        return
    with files.timed(f"judging, {name}"):
        verifier = Verifier.load(model, corpus=stored, selector="lexical", precision="fp32")
        write_verdicts(files.verdicts(name, GIVEN), verifier.classify_many(given))
        write_verdicts(files.verdicts(name, RETRIEVED), verifier.verify_many(claims))


def tune(files: Files, name: str, model: str, examples: Iterator[Example], command: str) -> Path:
    """The run that goes on from a model with some claims; a finished one is not repeated."""
    run, train = files.folder / name / "run", files.folder / name / "train.jsonl"
    if files.verdicts(name, RETRIEVED).is_file():
        return run
    kgat.write_examples(train, examples)
    settings = RunSettings(
        data=DataSettings(train=train),
        model=load_model(model).settings.model_copy(update={"init": model}),
        objective=OBJECTIVE,
        training=TRAINING,
    )
    # The states of frozen layers are large, and no other run shares them.
    with files.timed(f"training, {name}"), tempfile.TemporaryDirectory() as cache:
        reporter = Reporter(stage=lambda stage: print(f"  {stage}", file=sys.stderr, flush=True))
        execute(
            settings, run, resume=True, cache=Path(cache), command=command, device="cpu", reporter=reporter
        )
    return run


def study(
    files: Files, model: str, claims: list[Claim], source: Path, command: str, zero_shot: bool
) -> tuple[dict[str, dict[str, list[Verdict]]], list[list[int]]]:
    """All verdicts, by system and view in the claims' order; and the folds that models were tuned on."""
    given, retrieved = (list(read_examples(path)) for path in (files.given, files.retrieved))
    stored = StoredEvidence({example.claim: example.evidence for example in retrieved})
    judge(files, "zero-shot", model, claims, given, stored)

    def collect(names: Sequence[str]) -> dict[str, list[Verdict]]:
        both = {}
        for view in (GIVEN, RETRIEVED):
            by_claim = {v.id: v for name in names for v in read_verdicts(files.verdicts(name, view))}
            both[view] = [by_claim[claim.id] for claim in claims]
        return both

    systems = {"zero-shot": collect(["zero-shot"])}
    if zero_shot:
        return systems, []
    assigned = folds(claims, cited_abstracts(source), FOLDS, SEED)
    for number, places in enumerate(assigned, start=1):
        name = f"fold-{number}"
        others = [place for place in range(len(claims)) if place not in set(places)]
        examples = training_examples([given[p] for p in others], [retrieved[p] for p in others], MIXED)
        run = tune(files, name, model, examples, command)
        judge(files, name, str(run), [claims[p] for p in places], [given[p] for p in places], stored)
    return systems | {"fine-tuned": collect([f"fold-{number}" for number in range(1, FOLDS + 1)])}, assigned


def report(claims: list[Claim], systems: dict[str, dict[str, list[Verdict]]]) -> dict[str, Any]:
    """All figures of the study, ready for JSON."""
    zero, tuned = systems["zero-shot"], systems.get("fine-tuned", {})
    return {
        "majority": majority(claims),
        "systems": {
            name: {view: figures(claims, verdicts) for view, verdicts in views.items()}
            for name, views in systems.items()
        },
        "fine-tuned against zero-shot": {
            view: compare_systems(claims, tuned[view], zero[view]) for view in tuned
        },
    }


def markdown(record: dict[str, Any]) -> str:
    """The figures as a person reads them."""
    rows = [("always " + record["majority"]["label"], "", record["majority"])]
    rows += [(name, view, of) for name, views in record["systems"].items() for view, of in views.items()]
    recalls = " | ".join(f"recall {SHORT[label]}" for label in FEVER_LABELS)
    lines = [
        f"| | | LA (95%) | macro-F1 | {recalls} | contradiction rate | ECE | sentence F1 | with label |",
        "|---|---|" + "--:|" * 9,
    ]
    for name, view, of in rows:
        low, high = of["interval"]
        accuracy = f"{_percent(of['label_accuracy'])} ({_percent(low)}–{_percent(high)})"
        shares = [of["macro_f1"], *of["recall"].values(), of["contradiction_rate"]]
        cells = [accuracy, *map(_percent, shares)]
        cells += [_decimals(of.get(key)) for key in ("ece", "sentence_f1", "sentence_label_f1")]
        lines.append(f"| {name} | {view} | {' | '.join(cells)} |")
    lines.append("\nConfusion (rows gold, columns predicted: " + ", ".join(SHORT.values()) + "):\n")
    lines += [f"- {name}, {view}: {of['confusion']}" for name, view, of in rows[1:]]
    if record["fine-tuned against zero-shot"]:
        lines.append("\nFine-tuned against zero-shot, on the same claims:\n")
    for view, comparison in record["fine-tuned against zero-shot"].items():
        test, (low, high) = comparison["mcnemar"], comparison["interval"]
        lines.append(
            f"- {view}: LA {100 * comparison['difference']:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f}); "
            f"McNemar p = {test['p_value']:.2g} "
            f"({test['n10']} claims right only fine-tuned, {test['n01']} only zero-shot)"
        )
    lines.append("")
    lines += [f"- {key}: {json.dumps(value)}" for key, value in record["about"].items()]
    return "\n".join(lines)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".lstrip("0")


def data_file(folder: Path, name: str) -> Path:
    """A file of SciFact's, packed or not."""
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise DataError(f"{folder}: holds neither {name} nor {name}.gz, which SciFact's download has.")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="SciFact's training claims, zero-shot and fine-tuned.")
    parser.add_argument("--data", type=Path, required=True, help="folder of SciFact's files")
    parser.add_argument("--model", default="small", help="small, or the folder of a model or run")
    parser.add_argument("--out", type=Path, default=Path("runs/scifact"), help="where everything is kept")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--zero-shot", action="store_true", help="without fine-tuning")
    parser.add_argument("--limit", type=int, help="the first so many claims only")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    options = parse_arguments(arguments)
    corpus, source = (data_file(options.data, name) for name in ("corpus.jsonl", "claims_train.jsonl"))
    claims = list(islice(read_claims(source, require_labels=True), options.limit))
    command = shlex.join(["python", "reproductions/scifact.py", *arguments])
    files = Files(options.out)
    protocol = {
        "model": weights_sha256(options.model),
        "data": {path.name: sha256(path) for path in (corpus, source)},
        "claims": len(claims),
        "folds": FOLDS,
        "most sentences": DEFAULT_EVIDENCE,
        "views": VIEWS,
        "objective": OBJECTIVE.model_dump(),
        "training": TRAINING.model_dump(),
    }
    begin(files, protocol)
    prepare(files, corpus, claims, source)
    verdicts, assigned = study(files, options.model, claims, source, command, options.zero_shot)
    seconds = files.seconds()
    about = {
        "command": command,
        "protocol": protocol,
        "claims by fold": [len(places) for places in assigned],
        "machine": machine(),
        "versions": versions(),
        "seconds": seconds,
        "seconds in all": {
            kind: round(sum(taken[kind] for taken in seconds.values())) for kind in ("clock", "processor")
        },
    }
    record = {**report(claims, verdicts), "about": about}
    write_json(options.json or files.folder / "results.json", record)
    print(markdown(record))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except AdjudgeError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
