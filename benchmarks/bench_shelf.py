"""A judge on our runtimes and on those of the shelf: the same weights, the same claims, in turn, in one process.

    python benchmarks/bench_shelf.py --model small --claims 64 --rounds 3 --json shelf.json

Processor time of one thread. All but CrossEncoder begin with token rows, those of claims of similar length together;
the shelf's runtimes pad them. What is not installed takes no part: onnxruntime, onnx and onnxscript, openvino,
sentence-transformers. `--avx2` holds our library, PyTorch and OpenVINO to AVX2 on a processor that has wider vectors;
onnxruntime has no such switch and keeps the widest.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from adjudge.data.formats import read_examples
from adjudge.data.text import clean_text, evidence_title
from adjudge.encoders import native
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.precision import set_precision
from adjudge.judges.folder import load_judge, load_model
from adjudge.judges.light import LightJudge
from adjudge.judges.predict import log_probabilities, predict
from adjudge.judges.row_model import RowJudge
from adjudge.types import Example
from harness import machine, side_by_side, table
from shelf import cross_encoder, shelf_judges

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "fever" / "dev_gold.jsonl.gz"
FP32 = "adjudge fp32"
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
Judges = dict[str, RowJudge | LightJudge]


def hold_to_avx2() -> None:
    """Begin again with the libraries held to AVX2, which they read when they are loaded; build ours for it."""
    if any(os.environ.get(name) != value for name, value in AVX2.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | AVX2)
    native.FLAGS = tuple(flag.replace("-march=native", "-march=haswell") for flag in native.FLAGS)


def our_judges(name: str, judge: RowJudge) -> Judges:
    """fp32 and int16 on torch, and the light runtime, where they are to be had."""
    judges: Judges = {FP32: judge}
    whole = load_model(name)
    if set_precision(whole.module, "auto") == "int16":
        judges["adjudge int16"] = replace(whole, precision="int16")
        light = load_judge(name, runtime="light")
        if isinstance(light, LightJudge):
            judges["adjudge light (int16)"] = light
    return judges


def run_of(judge: RowJudge | LightJudge, examples: list[Example]) -> Callable[[], Any]:
    """From token rows to probabilities; the light runtime writes its rows within, which counts against it."""
    if isinstance(judge, LightJudge):
        return lambda: list(judge.judge(examples))
    data = tokenize((replace(e, label=None) for e in examples), judge.writer, judge.labels)
    return lambda: log_probabilities(judge, data)


def pairs_of(examples: list[Example]) -> list[tuple[str, str]]:
    return [
        (clean_text(example.claim), f"{evidence_title(evidence)} {clean_text(evidence.text)}")
        for example in examples
        for evidence in example.evidence[:5]
    ]


def labels_changed(judges: Judges, examples: list[Example]) -> dict[str, float]:
    """The share of the labels that differ from fp32's."""
    labels = {}
    for name, judge in judges.items():
        verdicts = predict(judge, examples) if isinstance(judge, RowJudge) else judge.judge(examples)
        labels[name] = [verdict.label for verdict in verdicts]
    exact = labels[FP32]
    return {
        name: sum(a != b for a, b in zip(exact, own, strict=True)) / len(exact)
        for name, own in labels.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="small")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--claims", type=int, default=64, help="of a round")
    parser.add_argument("--labels", type=int, default=300, help="claims whose labels are compared")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--compile", action="store_true", help="torch.compile takes part (minutes to compile)"
    )
    parser.add_argument("--avx2", action="store_true", help="no wider vectors than AVX2's")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    if not arguments.data.is_file():
        print(f"{arguments.data}: no such file; name claims with evidence by --data.", file=sys.stderr)
        return
    torch.set_num_threads(1)
    examples = list(islice(read_examples(arguments.data), max(arguments.claims, arguments.labels)))
    bulk = examples[: arguments.claims]
    with tempfile.TemporaryDirectory() as folder:
        judge = load_model(arguments.model)
        judge = judge.on("cpu", "fp32")
        judges: Judges = our_judges(arguments.model, judge)
        judges |= shelf_judges(judge, Path(folder), 1, arguments.compile)
        changed = labels_changed(judges, examples[: arguments.labels])
        runs = {name: run_of(one, bulk) for name, one in judges.items()}
        singles = {name: run_of(one, bulk[:1]) for name, one in judges.items()}
        try:
            model, pairs = cross_encoder(judge, judge.writer.tokenizer), pairs_of(bulk)
            runs["CrossEncoder"] = lambda: model.predict(pairs, batch_size=32, show_progress_bar=False)
            singles["CrossEncoder"] = lambda: model.predict(pairs[:5], show_progress_bar=False)
        except ImportError as error:
            print(f"CrossEncoder takes no part: {error}.", file=sys.stderr)
        measured = side_by_side(runs, len(bulk), arguments.rounds, time.process_time)
        single = side_by_side(singles, 1, 3 * arguments.rounds, time.process_time)
    print(machine())
    print(table(f"bulk, {arguments.model}", measured, "claims", "hugging face"))
    print()
    print(table(f"one claim, {arguments.model}", single, "claims", "hugging face"))
    print()
    print("| labels that differ from fp32's | |\n|---|---:|")
    for name, share in changed.items():
        print(f"| {name} | {share:.1%} |")
    if arguments.json:
        figures = {
            "machine": machine(),
            "model": arguments.model,
            "bulk": {name: one.record() for name, one in measured.items()},
            "one claim": {name: one.record() for name, one in single.items()},
            "labels changed": changed,
        }
        arguments.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
