"""Training and inference of KGAT: adjudge beside the published recipe and a plain Hugging Face one.

    python benchmarks/bench_model.py --rounds 5 --json model.json
    python benchmarks/bench_model.py --only accuracy --run runs/mine

All three share one set of weights (MiniLM's, a random head) and read the same claims: FEVER's, five sentences each,
where ``--data`` holds them, else those of the made-up encyclopedia. Before anything is timed, the probabilities of
the published recipe are held against adjudge's ``released`` variant.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from adjudge.config import ModelSettings, TrainingSettings
from adjudge.data.formats import read_examples
from adjudge.data.world import examples as world_examples
from adjudge.data.world import generate
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.dropout import Dropout
from adjudge.encoders.frozen import cache_states
from adjudge.encoders.precision import set_precision
from adjudge.encoders.rows import RowWriter
from adjudge.judges.folder import load_model
from adjudge.judges.predict import log_probabilities, predict
from adjudge.judges.row_model import RowJudge, build
from adjudge.objectives.loss import Objective
from adjudge.training.loop import make_optimizer, mixed_precision
from adjudge.types import FEVER_LABELS, Example
from dynamic import Dynamic
from harness import (
    available_mb,
    gemm_peak,
    machine,
    multiplies_bf16,
    peak_memory,
    ratio,
    resident_mb,
    side_by_side,
    table,
)
from published import ROWS, Batcher, Published

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "fever"
PUBLISHED, WITHOUT_GRADIENTS, PLAIN, PLAIN_BF16, OURS, OURS_BF16, FROZEN, INT16 = (
    "published",
    "published, gradients off",
    "hugging face",
    "hugging face, bf16",
    "adjudge",
    "adjudge, bf16",
    "adjudge, half frozen",
    "adjudge int16",
)
TRAIN_BATCH, BULK = 8, 32
PARITY = 1e-5
MEMORY_NEEDED = 14_000


@dataclass(frozen=True)
class Bench:
    """The contestants, on one set of weights."""

    examples: list[Example]
    model: RowJudge
    published: Published
    batcher: Batcher
    dynamic: Dynamic
    rounds: int
    clock: Callable[[], float]


Section = tuple[str, dict[str, Any]]


def read_claims(folder: Path, count: int) -> list[Example]:
    """Claims with five sentences each."""
    if (folder / "train.jsonl.gz").is_file():
        found = read_examples(folder / "train.jsonl.gz", labels=FEVER_LABELS)
    else:
        found = iter(world_examples(generate(4 * count, seed=0), "retrieved", seed=0))
    return list(itertools.islice((e for e in found if len(e.evidence) == ROWS), count))


def prepare(folder: Path, rounds: int = 0, clock: Callable[[], float] = time.perf_counter) -> Bench:
    torch.manual_seed(0)
    model = build(ModelSettings(), FEVER_LABELS)
    model.module.eval()
    tokenizer = model.writer.tokenizer
    published, dynamic = Published(model.module).eval(), Dynamic(model.module, tokenizer).eval()
    return Bench(read_claims(folder, 64), model, published, Batcher(tokenizer), dynamic, rounds, clock)


def quantized(model: RowJudge) -> RowJudge | None:
    """The same in whole numbers, None where that is not faster."""
    twin = replace(model, module=copy.deepcopy(model.module))
    return twin if set_precision(twin.module, "auto") == "int16" else None


def parity(bench: Bench) -> Section:
    """The published recipe against the released variant, on claims of one to five sentences."""
    claims = [replace(e, evidence=e.evidence[: 1 + i % ROWS]) for i, e in enumerate(bench.examples[:6])]
    writer = RowWriter(bench.model.writer.tokenizer, replace(bench.model.writer.layout, empty_rows=ROWS))
    ours = log_probabilities(
        replace(bench.model, writer=writer), tokenize(claims, writer, FEVER_LABELS)
    ).exp()
    with torch.inference_mode():
        theirs = bench.published(*bench.batcher(claims)).exp()
        plain = bench.dynamic(claims).exp()
    own = log_probabilities(bench.model, tokenize(claims, bench.model.writer, FEVER_LABELS)).exp()
    apart = {PUBLISHED: float((ours - theirs).abs().max()), PLAIN: float((own - plain).abs().max())}
    if max(apart.values()) > PARITY:
        raise SystemExit(f"The contestants do not compute the same: probabilities differ by {apart}.")
    said = ", ".join(f"{name} {value:.1e}" for name, value in apart.items())
    return f"Largest difference of a probability to adjudge: {said}.", apart


def with_plain_dropout(module: torch.nn.Module) -> torch.nn.Module:
    """The module with PyTorch's own dropout, which the other contestants use."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, Dropout):
                setattr(parent, name, torch.nn.Dropout(child.p))
    return module


def trainers(bench: Bench, cache: Path, alone: str | None = None) -> dict[str, Callable[[], None]]:
    """A forward and backward pass over eight claims and an optimizer step, each contestant with its own weights.

    One that is ``alone`` uses up those of the bench, so that its memory is its own.
    """
    claims = bench.examples[:TRAIN_BATCH]
    gold = torch.tensor([FEVER_LABELS.index(e.label or "") for e in claims])
    objective = Objective("sr", lam=0.25)

    def stepper(
        module: torch.nn.Module, log_probs: Callable[[], Any], fused: bool, precision: str = "fp32"
    ) -> Callable[[], None]:
        optimizer: torch.optim.Optimizer = torch.optim.AdamW(module.parameters(), lr=1e-9, foreach=False)
        if fused:
            optimizer = make_optimizer(module, TrainingSettings(lr=1e-9))

        def step() -> None:
            module.train()
            with mixed_precision(torch.device("cpu"), precision):
                answers = log_probs()
            objective(answers, gold).backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        return step

    module = bench.model.module
    order = range(len(claims))

    def published() -> Callable[[], None]:
        theirs = Published(with_plain_dropout(module if alone else copy.deepcopy(module)))
        return stepper(theirs, lambda: theirs(*bench.batcher(claims)), fused=False)

    def plain(precision: str = "fp32") -> Callable[[], None]:
        own = with_plain_dropout(module if alone else copy.deepcopy(module))
        theirs = Dynamic(own, bench.model.writer.tokenizer)
        return stepper(theirs, lambda: theirs(claims), fused=False, precision=precision)

    def whole(precision: str = "fp32") -> Callable[[], None]:
        ours = module if alone else copy.deepcopy(module)
        data = tokenize(claims, bench.model.writer, FEVER_LABELS)
        return stepper(ours, lambda: ours(data.batch(order)).log_probs, fused=True, precision=precision)

    def half_frozen() -> Callable[[], None]:
        torch.manual_seed(0)
        ours = build(ModelSettings(), FEVER_LABELS, freeze_layers=3).module
        data = cache_states(ours.backbone, tokenize(claims, bench.model.writer, FEVER_LABELS), cache)
        return stepper(ours, lambda: ours(data.batch(order)).log_probs, fused=True)

    sides = {PUBLISHED: published, PLAIN: plain, OURS: whole, FROZEN: half_frozen}
    if multiplies_bf16():
        sides |= {PLAIN_BF16: lambda: plain("bf16"), OURS_BF16: lambda: whole("bf16")}
    return {side: make() for side, make in sides.items() if alone in (None, side)}


def predictors(bench: Bench, claims: list[Example], alone: bool = False) -> dict[str, Callable[[], Any]]:
    """Text in, probabilities out. The published code leaves gradients on."""

    def published() -> Any:
        return bench.published(*bench.batcher(claims)).exp()

    @torch.inference_mode()
    def dynamic() -> Any:
        return bench.dynamic(claims).exp()

    bench.model.module.eval()
    contestants = {
        PUBLISHED: published,
        WITHOUT_GRADIENTS: torch.inference_mode()(published),
        PLAIN: dynamic,
        OURS: lambda: list(predict(bench.model, claims)),
    }
    if not alone and (whole_numbers := quantized(bench.model)) is not None:
        contestants[INT16] = lambda: list(predict(whole_numbers, claims))
    return contestants


def compare(
    bench: Bench, title: str, contestants: dict[str, Callable[[], Any]], work: float, unit: str, rounds: int
) -> Section:
    measured = side_by_side(contestants, work, rounds, bench.clock)
    baseline = next(iter(contestants))
    record = {
        name: {**one.record(), f"times_{baseline.replace(' ', '_')}": ratio(measured, name, baseline)}
        for name, one in measured.items()
    }
    return table(title, measured, unit, baseline), record


def training(bench: Bench) -> Section:
    with tempfile.TemporaryDirectory() as cache:
        contestants = trainers(bench, Path(cache))
        return compare(
            bench, f"training, {TRAIN_BATCH} claims", contestants, TRAIN_BATCH, "claims", bench.rounds
        )


def inference(bench: Bench) -> Section:
    claims = bench.examples[:BULK]
    text, record = compare(
        bench, f"inference, {BULK} claims", predictors(bench, claims), BULK, "claims", bench.rounds
    )
    data = tokenize(claims, bench.model.writer, FEVER_LABELS)
    encoder = bench.model.module.backbone.encoder.config
    d, wide, layers = encoder.hidden_size, encoder.intermediate_size, encoder.num_hidden_layers
    lengths = torch.from_numpy(data.row_start).diff().double()
    # Per token and layer: four d × d and two d × wide products, and attention over the row's own tokens.
    useful = float(layers * (lengths.sum() * 2 * (4 * d * d + 2 * d * wide) + 4 * d * (lengths**2).sum()))
    peak = gemm_peak(2048, d, wide, clock=bench.clock)
    share = useful / record[OURS]["median_s"] / peak
    record |= {"useful_gflop": useful / 1e9, "gemm_peak_gflops": peak / 1e9, "share_of_peak": share}
    note = f"adjudge fp32: {share:.0%} of the measured peak of {peak / 1e9:.0f} GFLOP/s, on real tokens only."
    return f"{text}\n\n{note}", record


def latency(bench: Bench) -> Section:
    contestants = predictors(bench, bench.examples[:1])
    return compare(bench, "one claim, five sentences", contestants, 1, "claims", 4 * bench.rounds)


def head(bench: Bench) -> Section:
    """Forward and backward of what stands on the encoder's states, eight claims."""
    claims = bench.examples[:TRAIN_BATCH]
    ids, mask, segments = bench.batcher(claims)
    data = tokenize(claims, bench.model.writer, FEVER_LABELS).batch(range(TRAIN_BATCH))
    module, backbone = bench.model.module, bench.model.module.backbone
    with torch.no_grad():
        states, pooled = bench.published.encode(ids, mask, segments)
        encoded = backbone(data)

    def published() -> None:
        given = states.detach().requires_grad_()
        bench.published.decide(given, pooled, mask, segments).sum().backward()

    def ours() -> None:
        given = encoded._replace(states=encoded.states.detach().requires_grad_())
        module.backbone = lambda batch: given
        module(data).log_probs.sum().backward()

    del module._modules["backbone"]  # so that it can be stood in for
    try:
        return compare(
            bench, "head alone", {PUBLISHED: published, OURS: ours}, TRAIN_BATCH, "claims", bench.rounds
        )
    finally:
        del module.backbone
        module.backbone = backbone


def tokens(bench: Bench) -> Section:
    """Tokenisation: in Python for every batch, or in one call."""
    claims = bench.examples
    contestants = {
        PUBLISHED: lambda: bench.batcher(claims),
        OURS: lambda: tokenize(claims, bench.model.writer, FEVER_LABELS),
    }
    return compare(bench, "tokenisation", contestants, len(claims), "claims", bench.rounds)


def loss(bench: Bench) -> Section:
    """SR over 1,024 claims, forward and backward, beside cross-entropy."""
    log_probs = torch.randn(1024, 3).log_softmax(-1).requires_grad_()
    gold = torch.arange(1024) % 3
    objective = Objective("sr", lam=0.25)
    contestants = {
        "torch's NLL": lambda: [torch.nn.functional.nll_loss(log_probs, gold).backward() for _ in range(100)],
        "adjudge's SR": lambda: [objective(log_probs, gold).backward() for _ in range(100)],
    }
    return compare(bench, "loss, 1,024 claims", contestants, 100, "losses", bench.rounds)


KINDS = {
    "matrix products": ("aten::mm", "aten::addmm"),
    "attention": ("aten::_scaled_dot", "aten::_softmax", "aten::bmm"),
    "kernels": ("_NativePooling", "_GaussianPooling"),
    "normalisation, GELU, dropout": (
        "aten::native_layer_norm",
        "aten::gelu",
        "aten::bernoulli",
        "aten::native_dropout",
        "_NativeDropout",
    ),
    "optimizer, clipping": ("aten::_fused_adamw", "Optimizer", "aten::_foreach", "aten::linalg_vector_norm"),
}


def profile(bench: Bench) -> Section:
    """Where the time of adjudge goes."""
    record: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as cache:
        runs = {
            "training": trainers(bench, Path(cache))[OURS],
            "inference fp32": predictors(bench, bench.examples[:BULK])[OURS],
        }
        for what, run in runs.items():
            run()
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
                run()
            shares = dict.fromkeys((*KINDS, "the rest"), 0.0)
            for event in profiled.key_averages():
                kind = next((k for k, names in KINDS.items() if event.key.startswith(names)), "the rest")
                shares[kind] += event.self_cpu_time_total
            total = sum(shares.values())
            record[what] = {kind: share / total for kind, share in shares.items()}
    lines = [f"| share of the time | {' | '.join(record)} |", "|---|" + "---:|" * len(record)]
    for kind in (*KINDS, "the rest"):
        lines.append(f"| {kind} | {' | '.join(f'{found[kind]:.0%}' for found in record.values())} |")
    return "\n".join(lines), record


def memory(bench: Bench, arguments: argparse.Namespace) -> Section:
    lines, record = (
        [f"| peak memory, MB | {PUBLISHED} | {PLAIN} | {OURS} | ratio |", "|---|---:|---:|---:|---:|"],
        {},
    )
    if available_mb() < MEMORY_NEEDED:
        return f"Peak memory is not measured: that needs {MEMORY_NEEDED / 1000:.0f} GB free.", {}
    for what, claims in (("training", TRAIN_BATCH), ("inference", BULK)):
        found = {
            side: peak_memory(__file__, "--peak", what, side, "--data", str(arguments.data))
            for side in (PUBLISHED, PLAIN, OURS)
        }
        record[what] = {**found, "ratio": found[OURS] / found[PUBLISHED]}
        cells = " | ".join(f"{found[side]:.0f}" for side in (PUBLISHED, PLAIN, OURS))
        lines.append(f"| {what}, {claims} claims | {cells} | {record[what]['ratio']:.3f} |")
    return "\n".join(lines), record


def print_peak(what: str, side: str, folder: Path) -> None:
    """In a process of its own: do it once, and say how much memory that took."""
    bench = prepare(folder)
    with tempfile.TemporaryDirectory() as cache:
        if what == "training":
            trainers(bench, Path(cache), alone=side)[side]()
        else:
            predictors(bench, bench.examples[:BULK], alone=True)[side]()
    sys.stdout.write(f"{resident_mb()}\n")


def accuracy(bench: Bench, arguments: argparse.Namespace) -> Section:
    """How far int16 moves the verdicts of a trained model."""
    model = load_model(arguments.run)
    file = arguments.data / "dev_gold.jsonl.gz"
    found = (
        read_examples(file, labels=model.labels)
        if file.is_file()
        else world_examples(generate(arguments.claims, seed=1), "retrieved", seed=1)
    )
    data = tokenize(itertools.islice(found, arguments.claims), model.writer, model.labels)
    model.module.eval()
    exact = log_probabilities(model, data).exp()
    if set_precision(model.module, "auto") != "int16":
        return "int16 is not faster on this processor.", {}
    apart = log_probabilities(model, data).exp() - exact
    moved = float(((exact + apart).argmax(-1) != exact.argmax(-1)).double().mean())
    largest = apart.abs().amax(dim=-1)
    record = {
        "claims": len(data),
        "labels_changed": moved,
        "probability_moved_99": float(largest.quantile(0.99)),
        "probability_moved_most": float(largest.max()),
    }
    return (
        f"int16 on {len(data):,} claims: {moved:.2%} of the labels change; 99% of the claims move by at most "
        f"{record['probability_moved_99']:.4f} in any probability, all by at most {float(largest.max()):.4f}."
    ), record


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA, help="FEVER's files, where they are")
    parser.add_argument("--run", default="small", help="a trained model, for the effect of int16")
    parser.add_argument("--claims", type=int, default=2521, help="how many claims show it")
    parser.add_argument("--only", nargs="*", help="some of the sections")
    parser.add_argument(
        "--cpu", action="store_true", help="one thread, CPU time: for a machine that others use"
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        print_peak(*arguments.peak, arguments.data)
        return
    sections: dict[str, Callable[[Bench], Section]] = {
        "parity": parity,
        "training": training,
        "inference": inference,
        "latency": latency,
        "head": head,
        "tokens": tokens,
        "loss": loss,
        "profile": profile,
        "memory": lambda bench: memory(bench, arguments),
        "accuracy": lambda bench: accuracy(bench, arguments),
    }
    if arguments.cpu:
        torch.set_num_threads(1)
    bench = prepare(
        arguments.data, arguments.rounds, time.process_time if arguments.cpu else time.perf_counter
    )
    report: dict[str, Any] = {"machine": machine()}
    print(", ".join(f"{key} {value}" for key, value in report["machine"].items()), flush=True)
    for name, measure in sections.items():
        if arguments.only is None or name in arguments.only:
            text, report[name] = measure(bench)
            print(f"\n{text}", flush=True)
            bench.model.module.eval()
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
