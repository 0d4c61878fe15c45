"""The objectives on real FEVER claims: python reproductions/objectives/run.py DATA OUT [JOBS].

DATA holds train.jsonl.gz, dev_retrieved.jsonl.gz, dev_gold.jsonl.gz, dev_claims.jsonl.gz and wiki-pages.jsonl.gz.
Chooses the claims, tunes λ of MLL, SRN and SR without weighting (it also serves with weighting, and for the variant
released), compares all arms on dev_retrieved, and judges the chosen run of each on dev_gold and end to end on the small
wiki, for the FEVER score of a closed world. Reports lie in OUT/retrieved, OUT/gold and OUT/end-to-end. Given again, it
goes on where it was.
"""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
from pathlib import Path

from claims import write_claims

PLAN = str(Path(__file__).with_name("plan.toml"))
EVERY = 5
"""Of the dev claims, so many are judged end to end: one of five."""


def adjudge(*arguments: object) -> None:
    command = ["adjudge", *map(str, arguments)]
    print("$", shlex.join(command), flush=True)
    subprocess.run([sys.executable, "-m", *command], check=True)


def main(data: Path, out: Path, jobs: int = 2) -> None:
    train, tune = write_claims(data / "train.jsonl.gz", out / "claims")
    files = ("--train", train, "--dev", tune)
    lam = {}
    for objective in ("mll", "srn", "sr"):
        tuned = out / f"tune-{objective}"
        adjudge(
            "tune", PLAN, "--objective", objective, "--unweighted", *files, "--set", 'grid.variants=["paper"]',
            "--out", tuned, "--cache", out / "cache", "--jobs", jobs,
        )  # fmt: skip
        lam[objective] = json.loads((tuned / "tuning.json").read_text())["selected"]["lam"]
    table = ", ".join(f"{objective} = {value}" for objective, value in lam.items())
    compare = (
        "compare", PLAN, *files, "--set", f"grid.lam={{{table}}}", "--runs", out / "runs",
        "--cache", out / "cache", "--jobs", jobs,
    )  # fmt: skip
    adjudge(*compare, "--test", data / "dev_retrieved.jsonl.gz", "--out", out / "retrieved")
    adjudge(*compare, "--best-only", "--test", data / "dev_gold.jsonl.gz", "--out", out / "gold")
    claims, evidence = out / "wiki" / "claims.jsonl", out / "wiki" / "evidence.jsonl"
    if not evidence.exists():
        claims.parent.mkdir(exist_ok=True)
        with gzip.open(data / "dev_claims.jsonl.gz", "rt", encoding="utf-8") as lines:
            claims.write_text("".join(line for number, line in enumerate(lines) if number % EVERY == 0))
        adjudge("index", data / "wiki-pages.jsonl.gz", "--out", out / "wiki" / "index")
        adjudge("assemble", claims, "--corpus", out / "wiki" / "index", "--out", evidence)
    adjudge(*compare, "--best-only", "--test", evidence, "--gold", claims, "--out", out / "end-to-end")
    tunings = [part for objective in lam for part in ("--tuning", out / f"tune-{objective}")]
    for name, more in (("retrieved", tunings), ("gold", []), ("end-to-end", [])):
        adjudge("report", out / name, "--between", "CE", "SR + weighting", *more)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:4]))
