from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.data.stats import GoldStats, dataset_stats
from adjudge.errors import DataError


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_examples_are_counted_by_label_evidence_and_words(tmp_path: Path) -> None:
    two = [["A", 0, "one two three", 0.0], ["A", 1, "four", 0.0]]
    stats = dataset_stats(
        lines(
            tmp_path / "a.jsonl",
            {"id": 1, "claim": "a b", "label": "SUPPORTS", "evidence": two},
            {"id": 2, "claim": "a b c d", "label": "supports", "evidence": []},
            {"id": 3, "claim": "a b c", "evidence": two[:1]},
        )
    )
    assert stats.format == "kgat"
    assert list(stats.labels.items()) == [("SUPPORTS", 2), ("REFUTES", 0), ("NOT ENOUGH INFO", 0)]
    assert (stats.total, stats.unlabelled, stats.with_evidence) == (3, 1, 2)
    assert stats.mean_evidence == 1.0  # (2 + 0 + 1) / 3
    assert stats.mean_claim_words == 3.0  # (2 + 4 + 3) / 3
    assert stats.mean_evidence_words == pytest.approx(7 / 3)  # (3 + 1 + 3) words in 3 sentences
    assert stats.gold is None


def test_gold_groups_of_several_sentences_are_counted(tmp_path: Path) -> None:
    def group(*numbers: int) -> list[list[object]]:
        return [[None, None, "A", number] for number in numbers]

    stats = dataset_stats(
        lines(
            tmp_path / "a.jsonl",
            {"id": 1, "claim": "a", "label": "SUPPORTS", "evidence": [group(0), group(0, 1)]},
            {"id": 2, "claim": "a", "label": "REFUTES", "evidence": [group(2, 3), group(4, 5, 6)]},
            {"id": 3, "claim": "a", "label": "NEI", "evidence": [[[None, None, None, None]]]},
        )
    )
    assert stats.format == "fever"
    assert stats.gold == GoldStats(groups=4, multi_sentence_groups=3, claims_needing_several=1)
    assert stats.with_evidence == 2
    assert stats.mean_evidence == pytest.approx((2 + 5 + 0) / 3)  # different sentences: {0, 1}, {2, …, 6}
    assert stats.mean_evidence_words is None


def test_a_file_nobody_knows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="format not recognised"):
        dataset_stats(lines(tmp_path / "a.jsonl", {"text": "a"}))


@pytest.mark.parametrize("format", [None, "kgat", "fever"])
def test_an_empty_file_is_an_error(tmp_path: Path, format: str | None) -> None:
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(DataError, match="the file is empty"):
        dataset_stats(tmp_path / "a.jsonl", format)


@pytest.mark.parametrize(
    ("file", "format", "counts"),
    [
        ("fever/dev_gold.jsonl.gz", "kgat", (848, 832, 841)),
        ("fever/dev_claims.jsonl.gz", "fever", (3373, 3319, 3383)),
        ("scifact/claims_train.jsonl.gz", "scifact", (332, 173, 304)),
    ],
)
def test_real_files_have_their_table_1(
    shared_data, file: str, format: str, counts: tuple[int, int, int]
) -> None:
    stats = dataset_stats(shared_data / file)
    assert (stats.format, tuple(stats.labels.values()), stats.total) == (format, counts, sum(counts))


def test_the_real_dev_claims_have_their_gold_groups(shared_data) -> None:
    # Counted with a loop over the raw JSON: 12,339 groups with a page, 1,528 of them longer than one.
    gold = dataset_stats(shared_data / "fever/dev_claims.jsonl.gz").gold
    assert gold is not None
    assert (gold.groups, gold.multi_sentence_groups) == (12_339, 1_528)
