"""Verdicts end to end on the made-up encyclopedia: search, selection, model.

python benchmarks/bench_verify.py --worlds 4000 --claims 64
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from pathlib import Path

from adjudge.data.wiki import write_pages
from adjudge.data.world import generate
from adjudge.errors import AdjudgeError
from adjudge.retrieval.build import build_index
from adjudge.serving.verifier import Verifier
from harness import machine, ratio, side_by_side, table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--worlds", type=int, default=400, help="claims of the encyclopedia, which decide its size"
    )
    parser.add_argument("--claims", type=int, default=16, help="claims to verify in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", help="a trained model; by default the one of the package")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    world = generate(arguments.worlds, seed=0)
    texts = [claim.text for claim in itertools.islice(world.claims, arguments.claims)]
    with tempfile.TemporaryDirectory() as folder:
        write_pages(Path(folder) / "wiki-001.jsonl", world.pages)
        build_index([Path(folder) / "wiki-001.jsonl"], Path(folder) / "index")
        contestants = {}
        for name, selector, precision in (
            ("fusion, fp32", "fusion", "fp32"),
            ("fusion, auto", "fusion", "auto"),
            ("lexical, auto", "lexical", "auto"),
        ):
            try:
                verifier = Verifier.load(
                    arguments.model, Path(folder) / "index", selector=selector, precision=precision
                )
            except AdjudgeError as error:
                print(error)
                return

            def run(verifier: Verifier = verifier) -> None:
                verifier.clear_cache()  # sentences embedded in an earlier round
                for _ in verifier.verify_many(texts):
                    pass

            contestants[name] = run
        measured = side_by_side(contestants, len(texts), arguments.rounds)
    baseline = "fusion, fp32"
    print(
        table(
            f"verify, {sum(len(p.sentences) for p in world.pages):,} sentences", measured, "claims", baseline
        )
    )
    if arguments.json:
        figures = {
            name: {**one.record(), "times": ratio(measured, name, baseline)} for name, one in measured.items()
        }
        arguments.json.write_text(
            json.dumps({"machine": machine(), **figures}, indent=2) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
