"""The files of the systems comparison (docs/results/systems.md): python reproductions/systems.py DATA OUT.

DATA holds ``fever/`` and ``pairs/``. OUT gets, for FEVER and VitaminC, training, tuning and test claims that share no
claim, HealthVer's test claims, gold groups of FEVER's test claims, and the encoder of the judge ``fever`` as a
backbone, so that every model begins from the same fine-tuned encoder and a new head.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adjudge.io.jsonl import read_json_lines, write_json_lines

Record = dict[str, Any]
TRAIN, TUNE, TEST = 12_000, 240, 900
PAIRS_TUNE, PAIRS_TEST = 240, 600


def read(path: Path) -> list[Record]:
    """The records of a file."""
    return [record for _, record in read_json_lines(path)]


def split_claims(records: Sequence[Record], sizes: Sequence[int], seed: int = 0) -> list[list[Record]]:
    """Parts of about these sizes in random order, all records of one claim in one part."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["claim"], []).append(record)
    order = list(groups.values())
    random.Random(seed).shuffle(order)
    parts: list[list[Record]] = [[] for _ in sizes]
    for group in order:
        part = next((p for p, size in zip(parts, sizes, strict=True) if len(p) < size), None)
        if part is None:
            break
        part += group
    return parts


def with_lines(records: Iterable[Record], pages: Iterable[Record]) -> list[Record]:
    """FEVER's retrieved sentences with the line numbers that their text has on the pages at hand, else −1."""
    lines = {
        page["id"]: {
            to_letters(fields[1]): int(fields[0])
            for line in reversed(page["lines"].split("\n"))
            if len(fields := line.split("\t")) > 1 and fields[1]
        }
        for page in pages
    }
    return [
        {
            **record,
            "evidence": [
                [page, lines.get(page, {}).get(to_letters(text), -1), text, score]
                for page, _, text, score in record["evidence"]
            ],
        }
        for record in records
    ]


def to_letters(text: str) -> str:
    """Letters and digits alone, in which spellings of a sentence agree."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"-[A-Z]{3}-|-COLON-", "", text).lower())


def main(data: Path, out: Path) -> None:
    """Write all files."""
    dev = with_lines(read(data / "fever/dev_retrieved.jsonl.gz"), read(data / "fever/wiki-pages.jsonl.gz"))
    tune, test = split_claims(dev, (TUNE, TEST))
    ids = {record["id"] for record in test}
    files = {
        "fever-train": split_claims(read(data / "fever/train.jsonl.gz"), [TRAIN])[0],
        "fever-tune": tune,
        "fever-test": test,
        "fever-gold": [r for r in read(data / "fever/dev_claims.jsonl.gz") if r["id"] in ids],
        "vitaminc-train": split_claims(read(data / "pairs/train/vitaminc.jsonl.gz"), [TRAIN])[0],
    }
    sizes = (PAIRS_TUNE, PAIRS_TEST)
    pairs = split_claims(read(data / "pairs/dev/vitaminc.jsonl.gz"), sizes)
    files |= dict(zip(("vitaminc-tune", "vitaminc-test"), pairs, strict=True))
    files["healthver-test"] = split_claims(read(data / "pairs/dev/healthver.jsonl.gz"), [PAIRS_TEST])[0]
    for name, records in files.items():
        write_json_lines(out / f"{name}.jsonl", records)
    write_encoder(out / "fever-encoder")


def write_encoder(folder: Path) -> None:
    """The encoder of the judge `fever`, without its head, as a backbone."""
    from adjudge.judges.folder import load_model

    judge = load_model("fever")
    judge.module.backbone.encoder.save_pretrained(folder)
    judge.writer.tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
