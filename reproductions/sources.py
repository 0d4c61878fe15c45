"""What each source of the judges' mix brings, CE beside SR with weighting: python reproductions/sources.py DATA OUT.

DATA holds ``fever/``, ``pairs/`` and ``scifact/``. Every arm is the small encoder, begun from the model `fever`; its
two upper layers and the head are trained on the same number of examples in one pass: the whole mix, the mix without
some sources (the shares of the others grow), or the whole mix under SR with class weights, over some seeds. All are
judged on the same held-out examples, the first 2,000 of the whole mix; 200 of them choose each arm's checkpoint and are
left out of the figures. The last columns are the temperatures that suit an arm on sources that it learned from and on
those left out: how much surer of itself a judge is than it may be where it has learned nothing. With ``--part tuning``
λ and then β of SR are chosen among the paper's values by the accuracy on the 800 examples after those that choose the
checkpoint, and CE and SR are reported on the others. Given again, it goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from adjudge import Verifier
from adjudge.data.formats import read_examples
from adjudge.evaluation.calibration import fit_temperature
from adjudge.io.files import write_text
from adjudge.types import FEVER_LABELS

HERE = Path(__file__).parent
RULES = ("documents", "sentences")
PAIRS = (
    "vitaminc",
    "cad_snli",
    "snli",
    "semiauto_wiki",
    "infotabs",
    "creak",
    "conjnli",
    "check_covid",
    "breaking_nli",
    "wice_partial",
)
CHOOSING = 200
FROZEN = 4
"""Of the six layers; those above are trained."""
LAST = 2000
"""Held-out examples are judged up to this one."""
TUNING = 1000
"""λ and β are chosen on the held-out examples up to this one."""
LAMBDAS = ("0.03125", "0.0625", "0.125", "0.25", "0.5", "1")
BETAS = ("0", "0.999", "0.9999", "0.99999", "0.999999")
SEEN, UNSEEN = "temperature, seen", "unseen"
SR = ("--objective", "sr", "--lam", "0.25", "--beta", "0.9999")


class Arm(NamedTuple):
    name: str
    without: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    seed: int = 0


def list_arms(part: str, seeds: int) -> list[Arm]:
    """The whole mix and what is left out of it, or CE and SR with weighting on the whole mix over the seeds."""
    if part == "objectives":
        objectives = [Arm("all sources"), Arm("SR + weighting", options=SR)]
        return [arm._replace(seed=seed) for seed in range(seeds) for arm in objectives]
    return [
        Arm("all sources"),
        Arm("without passages", ("passages",)),
        Arm("without written", ("written",)),
        Arm("without both", ("passages", "written")),
        Arm("without rules", RULES),
        Arm("without other people's pairs", PAIRS),
        Arm("without FEVER", ("fever",)),
    ]


def sr(lam: str, beta: str, seed: int = 0) -> Arm:
    """SR under this λ and β."""
    options = ("--objective", "sr", "--lam", lam, "--beta", beta)
    return Arm(f"SR, λ {lam}, β {beta}", options=options, seed=seed)


def tune(data: Path, out: Path, examples: int, precision: str, seeds: int) -> None:
    """Choose λ under the middle β, then β under that λ, and print CE beside the SR that was chosen."""
    held_out = out / "mix-all" / "held_out.jsonl.gz"

    def accuracy(arm: Arm) -> float:
        run = train(arm, data, out, examples, precision)
        figures = judge(run, held_out, (), CHOOSING, TUNING)
        print(f"| {arm.name} | {figures['all']:.1f} | {figures['turned round']:.1f} |", flush=True)
        return figures["all"]

    print(
        f"| to choose by, held-out examples {CHOOSING + 1} to {TUNING} | LA | turned round |\n|---|--:|--:|"
    )
    lam = max(LAMBDAS, key=lambda value: accuracy(sr(value, "0.9999")))
    beta = max(BETAS, key=lambda value: accuracy(sr(lam, value)))
    print(f"\n| reported, {TUNING + 1} to {LAST} | seed | LA | turned round |\n|---|--:|--:|--:|")
    for seed in range(seeds):
        for arm in (Arm("all sources", seed=seed), sr(lam, beta, seed)):
            run = train(arm, data, out, examples, precision)
            figures = judge(run, held_out, (), TUNING, LAST)
            name = "CE" if not arm.options else arm.name
            print(f"| {name} | {seed} | {figures['all']:.1f} | {figures['turned round']:.1f} |", flush=True)


def train(arm: Arm, data: Path, out: Path, examples: int, precision: str) -> Path:
    """The arm's finished run."""
    key = "-".join(arm.without) or "all"
    mix, run = out / f"mix-{key}", out / f"{arm.name.replace(' ', '-').replace(',', '')}-{arm.seed}"
    if not (mix / "held_out.jsonl.gz").exists():
        left_out = [option for name in arm.without for option in ("--without", name)]
        folders = ("--data", data, "--data", HERE)
        call("data", "mix", "judges", *folders, "--out", mix, "--examples", examples, *left_out)
    if not (run / "manifest.json").exists():
        call(
            *("train", "--preset", "small-judge", "--train", mix / "train.jsonl.gz"),
            *("--dev", out / "mix-all" / "held_out.jsonl.gz", "--set", f"data.dev_limit={CHOOSING}"),
            *("--set", f"training.freeze_layers={FROZEN}", "--set", "training.cache_frozen=true"),
            *("--cache", out / "cache", "--set", "training.eval_every=60", "--seed", arm.seed),
            *("--set", f"training.precision={precision}"),
            *(*arm.options, "--out", run, "--resume"),
        )
    return run


def call(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "adjudge", *map(str, words)], check=True)


def judge(
    run: Path, held_out: Path, left_out: Collection[str], first: int = CHOOSING, last: int = LAST
) -> dict[str, float]:
    """Label accuracy by source, over all, how often SUPPORTS and REFUTES are confused, and two temperatures."""
    stored = run / f"held-out-{first}-{last}.json"
    if not stored.exists():
        examples = list(read_examples(held_out))[first:last]
        verdicts = Verifier.load(run).classify_many(examples)
        right: dict[str, list[bool]] = defaultdict(list)
        turned: list[bool] = []
        log_probs: dict[str, list[list[float]]] = defaultdict(list)
        gold: dict[str, list[int]] = defaultdict(list)
        for example, verdict in zip(examples, verdicts, strict=True):
            correct = verdict.label == example.label
            source = str(example.id).partition(":")[0]
            right[source].append(correct)
            right["all"].append(correct)
            kind = UNSEEN if source in left_out else SEEN
            log_probs[kind].append(
                [math.log(max(verdict.probabilities[label], 1e-9)) for label in FEVER_LABELS]
            )
            gold[kind].append(list(FEVER_LABELS).index(str(example.label)))
            if example.label != "NOT ENOUGH INFO":
                turned.append(not correct and verdict.label != "NOT ENOUGH INFO")
        figures = {name: 100 * sum(hits) / len(hits) for name, hits in right.items()}
        figures["turned round"] = 100 * sum(turned) / len(turned)
        figures |= {kind: fit_temperature(log_probs[kind], gold[kind]) for kind in gold}
        write_text(stored, json.dumps(figures))
    stored_figures: dict[str, float] = json.loads(stored.read_text("utf-8"))
    return stored_figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", choices=("sources", "objectives", "tuning"), default="sources")
    parser.add_argument("--examples", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3, help="of CE and of SR on all sources")
    parser.add_argument(
        "--precision", default="auto", help="of the training's matrix products; bf16 where it is fast"
    )
    options = parser.parse_args()
    if options.part == "tuning":
        tune(options.data, options.out, options.examples, options.precision, options.seeds)
        return
    columns = ["all", "turned round", "fever", "vitaminc", "written", "passages", *RULES, *PAIRS[1:]]
    columns += [SEEN, UNSEEN]
    print("| arm | seed |", " | ".join(columns), "|")
    print("|---|--:|" + "--:|" * len(columns))
    for arm in list_arms(options.part, options.seeds):
        run = train(arm, options.data, options.out, options.examples, options.precision)
        figures = judge(run, options.out / "mix-all" / "held_out.jsonl.gz", arm.without)
        cells = [
            f"{figures[column]:.{2 if column in (SEEN, UNSEEN) else 1}f}" if column in figures else ""
            for column in columns
        ]
        print(f"| {arm.name} | {arm.seed} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
