"""Training the ranker on claims whose gold sentence a word gives away."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from adjudge.config import TrainingSettings
from adjudge.errors import ConfigError, DataError, TrainingError
from adjudge.retrieval import Index, index_pages
from adjudge.retrieval.pipeline import RankingExample
from adjudge.retrieval.ranker import RankerSettings, TrainedRanker, build_ranker, load_ranker, save_ranker
from adjudge.training.distributed import Workers
from adjudge.training.loop import Metric, Quality
from adjudge.training.ranker import (
    RankingData,
    pair_sums,
    ranking_data,
    train_ranker,
    train_ranker_on,
)
from adjudge.training.ranker_task import RankerTask, pair_quality
from adjudge.types import Claim, Evidence, Page, Sentence, SentenceRef
from hf_tiny import load_tiny

SETTINGS = RankerSettings(backbone="tiny", max_length=32, dropout=0.0)
TRAINING = TrainingSettings(epochs=4, batch_size=4, accumulation=2, lr=3e-3, eval_every=6, seed=3)
NAMES = "ab cd ef gh ij kl mn op qr st".split()


def example(n: int) -> RankingExample:
    """Gold sentences say yes, the others no."""
    name = NAMES[n % 10]
    gold = (Evidence(f"yes {name}", f"Page_{n}", 0),)
    others = tuple(
        Evidence(f"no {NAMES[(n + m) % 10]}", f"p{n + m}", m, title=f"Page {n + m}") for m in range(1, 7)
    )
    return RankingExample(f"{name} it is", gold, others)


EXAMPLES = [example(n) for n in range(48)]
HELD_OUT = [example(n) for n in range(100, 112)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TrainedRanker, list[Metric]]:
    folder, seen = tmp_path_factory.mktemp("ranker") / "r", []
    torch.set_num_threads(1)
    ranker, _ = train_ranker(EXAMPLES, HELD_OUT, folder, SETTINGS, TRAINING, report=into(seen))
    return folder, ranker, seen


def into(seen: list[Metric]) -> Callable[[Metric, int], None]:
    return lambda metric, steps: seen.append(metric)


def quality(ranker: TrainedRanker, data: RankingData) -> Quality:
    return pair_quality(ranker.module, partial(pair_sums, ranker), data)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_ranker(folder).module.state_dict())


def test_training_puts_gold_first(trained: tuple[Path, TrainedRanker, list[Metric]]) -> None:
    _, ranker, seen = trained
    assert seen[0].loss == pytest.approx(1.0, abs=0.3)  # equal scores miss the margin by 1
    assert [metric.accuracy for metric in seen if metric.split == "dev"][-1] > 0.95
    [[yes, no]] = ranker.score_many(["zz it is"], [[Evidence("yes zz"), Evidence("no ab")]])
    assert yes > no


def test_the_ranker_read_back_gives_the_same_scores(
    trained: tuple[Path, TrainedRanker, list[Metric]],
) -> None:
    folder, ranker, _ = trained
    sentences = [Evidence(f"yes {name}", "Page_1") for name in NAMES] * 8  # more than one batch
    again = load_ranker(folder)
    assert again.score_many(["ab it is"], [sentences])[0] == ranker.score_many(["ab it is"], [sentences])[0]
    assert len(set(again.score_many(["ab it is"], [sentences])[0])) == len(NAMES)
    assert again.settings == SETTINGS
    assert ranker.score_many(["ab it is"], [[]])[0] == []


def test_a_sentence_scores_the_same_alone_and_among_others(
    trained: tuple[Path, TrainedRanker, list[Metric]],
) -> None:
    _, ranker, _ = trained
    sentences = [
        Evidence("yes ab"),
        Evidence("no cd and much more text", title="A long title"),
        Evidence("ef", "T"),
    ]
    alone = [ranker.score_many(["ab it is"], [[sentence]])[0][0] for sentence in sentences]
    assert ranker.score_many(["ab it is"], [sentences])[0] == pytest.approx(alone, abs=1e-5)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    short = TRAINING.model_copy(update={"epochs": 1})
    for name, training in (("a", short), ("b", short), ("c", short.model_copy(update={"seed": 4}))):
        train_ranker(EXAMPLES[:16], HELD_OUT[:4], tmp_path / name, SETTINGS, training)
    a, b, c = (weights(tmp_path / name) for name in "abc")
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["score.weight"], c["score.weight"])


class Killed(Exception):
    """What ends a training in the middle."""


def test_a_training_that_was_killed_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"dropout": 0.2})
    training = TRAINING.model_copy(update={"epochs": 2, "eval_every": 3})

    def kill_at_5(metric: Metric, steps: int) -> None:
        if metric.step == 5:
            raise Killed

    train_ranker(EXAMPLES[:24], HELD_OUT[:4], tmp_path / "whole", settings, training)
    with pytest.raises(Killed):
        train_ranker(EXAMPLES[:24], HELD_OUT[:4], tmp_path / "cut", settings, training, report=kill_at_5)
    seen: list[Metric] = []
    train_ranker(
        EXAMPLES[:24],
        HELD_OUT[:4],
        tmp_path / "cut",
        settings,
        training,
        resume=True,
        report=into(seen),
    )
    assert seen[0].step == 4
    whole, cut = ((tmp_path / name / "resume.safetensors").read_bytes() for name in ("whole", "cut"))
    assert whole == cut


def test_the_folder_keeps_a_log_and_of_equally_good_weights_the_last(
    trained: tuple[Path, TrainedRanker, list[Metric]],
) -> None:
    folder, ranker, seen = trained
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [(line["step"], line["split"]) for line in lines] == [(m.step, m.split) for m in seen]
    evaluations = [(line["accuracy"], line["step"]) for line in lines if line["split"] == "dev"]
    best = max(evaluations)  # by accuracy, then by step
    held = ranking_data(
        HELD_OUT, ranker.writer, SETTINGS.model_copy(update={"title_dropout": 0.0}), TRAINING.seed
    )
    assert sum(accuracy == best[0] for accuracy, _ in evaluations) > 1
    (loss,) = (line["loss"] for line in lines if (line["split"], line["step"]) == ("dev", best[1]))
    assert quality(ranker, held).loss == pytest.approx(loss, abs=1e-5)


def test_workers_share_the_claims_of_a_step_and_add_up_its_gradient() -> None:
    """Two workers that only count their own part: together they have the gradient of one that does it all."""
    gradients = []
    for team in (Workers(), Workers(0, 2), Workers(1, 2)):
        torch.manual_seed(0)
        ranker = build_ranker(SETTINGS)
        data = ranking_data(EXAMPLES[:6], ranker.writer, SETTINGS, seed=0)
        task = RankerTask(ranker, data, data, partial(pair_sums, ranker), TRAINING.batch_size)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Workers, "add", lambda self, value: value)
            ranker.module.eval()  # no dropout, whose draws would differ
            task.backward(range(6), torch.Generator(), team)
        gradients.append(ranker.module.score.weight.grad)
    whole, first, second = gradients
    assert whole is not None and first is not None and second is not None
    torch.testing.assert_close(first + second, whole)


def test_a_state_of_other_settings_is_not_resumed(tmp_path: Path) -> None:
    short = TRAINING.model_copy(update={"epochs": 1})
    train_ranker(EXAMPLES[:8], HELD_OUT[:2], tmp_path, SETTINGS, short)
    with pytest.raises(TrainingError, match="other settings"):
        train_ranker(EXAMPLES[:9], HELD_OUT[:2], tmp_path, SETTINGS, short, resume=True)


def test_frozen_layers_stay_and_their_cache_gives_the_same_training(tmp_path: Path) -> None:
    training = TRAINING.model_copy(update={"epochs": 1, "freeze_layers": 1})
    torch.manual_seed(training.seed)
    before = dict(build_ranker(SETTINGS, 1).module.named_parameters())
    train_ranker(EXAMPLES[:16], HELD_OUT[:4], tmp_path / "plain", SETTINGS, training)
    train_ranker(EXAMPLES[:16], HELD_OUT[:4], tmp_path / "cached", SETTINGS, training, cache=tmp_path / "c")
    plain, cached = weights(tmp_path / "plain"), weights(tmp_path / "cached")
    frozen = [name for name, parameter in before.items() if not parameter.requires_grad]
    assert any("layer.0" in name for name in frozen) and not any("layer.1" in name for name in frozen)
    assert all(torch.equal(before[name], plain[name]) for name in frozen)
    assert not torch.equal(before["score.weight"], plain["score.weight"])
    for name in plain:  # half precision in the cache
        torch.testing.assert_close(plain[name], cached[name], atol=2e-2, rtol=0)


class TestRankingData:
    WRITER = build_ranker(SETTINGS).writer

    def rows(self, **changes: object) -> list[list[str]]:
        settings = SETTINGS.model_copy(update=changes)
        data = ranking_data([EXAMPLES[0]], self.WRITER, settings, seed=0).rows
        ends = data.row_start
        decode = load_tiny()[1].convert_ids_to_tokens
        return [decode(data.tokens[ends[n] : ends[n + 1]].tolist()) for n in range(len(ends) - 1)]

    def test_gold_comes_first_then_the_hardest_half_of_the_others(self) -> None:
        rows = self.rows(titles=False, title_dropout=1.0, negatives=4)
        said = ["".join(row).split("[SEP]")[1].replace("##", "") for row in rows]
        assert said[:3] == ["yesab", "nocd", "noef"]  # others[0], others[1] are the hardest
        assert len(set(said[3:])) == 2 and set(said[3:]) <= {f"no{name}" for name in NAMES[3:7]}

    def test_titles_are_dropped_for_all_sentences_of_a_claim_or_for_none(self) -> None:
        assert {row.count("[SEP]") for row in self.rows(title_dropout=0.0)} == {3}
        assert {row.count("[SEP]") for row in self.rows(title_dropout=1.0)} == {2}

    def test_no_more_gold_than_asked_for(self) -> None:
        many = replace(EXAMPLES[0], gold=tuple(Evidence(f"yes {n}") for n in range(5)))
        data = ranking_data([many, EXAMPLES[1]], self.WRITER, SETTINGS, seed=0)
        assert data.gold.tolist() == [2, 1]
        assert data.rows.claim_start.tolist() == [0, 6, 11]


def test_pair_accuracy_counts_every_pair_once(
    trained: tuple[Path, TrainedRanker, list[Metric]],
) -> None:
    _, ranker, _ = trained
    mixed = [EXAMPLES[0], RankingExample("ab it is", EXAMPLES[0].others[:1], EXAMPLES[0].gold)]
    data = ranking_data(mixed, ranker.writer, SETTINGS.model_copy(update={"title_dropout": 0.0}), 0)
    # The first claim has four pairs, all right; the second calls a "no" gold, so its one pair is wrong.
    assert quality(ranker, data).accuracy == pytest.approx(0.8)


class TestOnACorpus:
    PAGES = [
        Page(
            f"Page_{n}",
            f"Page {n}",
            tuple(
                Sentence(f"{word} {NAMES[n % 10]}", line)
                for line, word in enumerate(("no", "no it is", "yes", "no is"))
            ),
        )
        for n in range(40)
    ]
    CLAIMS = [
        Claim(n, f"{NAMES[n % 10]} it is", "SUPPORTS", ((SentenceRef(f"Page_{n}", 2),),)) for n in range(40)
    ]

    def test_the_folder_holds_a_ranker_with_a_weight_chosen_on_the_held_out_claims(
        self, tmp_path: Path
    ) -> None:
        index_pages(self.PAGES, tmp_path / "index")
        training = TRAINING.model_copy(update={"epochs": 2})
        found = train_ranker_on(
            [*self.CLAIMS, Claim(99, "no gold")],
            Index.open(tmp_path / "index"),
            tmp_path / "r",
            SETTINGS,
            training,
            held_out=8,
            limit=24,
        )
        assert (found.claims, found.held_out) == (24, 8)
        ranker = load_ranker(tmp_path / "r")
        assert ranker.weight == found.weight
        assert found.group_recall[found.weight] == max(found.group_recall.values())
        assert json.loads((tmp_path / "r" / "adjudge.json").read_text())["weight"] == found.weight

    def test_of_two_trainings_of_one_folder_the_second_waits_and_is_refused(self, tmp_path: Path) -> None:
        index_pages(self.PAGES, tmp_path / "index")
        index, refusals = Index.open(tmp_path / "index"), []

        def train_again() -> None:
            with pytest.raises(ConfigError, match="holds a ranker"):
                train_ranker_on(self.CLAIMS, index, tmp_path / "r", SETTINGS, TRAINING, held_out=8)
            refusals.append(load_ranker(tmp_path / "r").weight)

        second = threading.Thread(target=train_again)

        def begin_second(metric: Metric, steps: int) -> None:
            if not second.ident:
                second.start()
            assert not refusals

        report = train_ranker_on(
            self.CLAIMS, index, tmp_path / "r", SETTINGS, TRAINING, held_out=8, report=begin_second
        )
        second.join()
        assert refusals == [report.weight]  # after the last file was written

    def test_claims_of_another_corpus_are_refused(self, tmp_path: Path) -> None:
        index_pages(self.PAGES, tmp_path / "index")
        stranger = [Claim(n, "ab it is", "SUPPORTS", ((SentenceRef("Elsewhere", n),),)) for n in range(9)]
        with pytest.raises(DataError, match="No training claim has gold text"):
            train_ranker_on(stranger, Index.open(tmp_path / "index"), tmp_path / "r", SETTINGS, held_out=3)


class TestLoading:
    def test_a_folder_without_a_ranker_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"no trained ranker here \(no adjudge.json"):
            load_ranker(tmp_path)

    @pytest.mark.parametrize(
        "content", ["{", "[]", '{"format": 2}', '{"format": 2, "type": "ranker", "settings": {"x": 1}}']
    )
    def test_a_damaged_description_is_one_clear_line(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "adjudge.json").write_text(content)
        with pytest.raises(ConfigError, match="damaged"):
            load_ranker(tmp_path)

    def test_another_format_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "adjudge.json").write_text('{"format": 99}')
        with pytest.raises(ConfigError, match="format 99"):
            load_ranker(tmp_path)

    def test_damaged_weights_are_refused(self, tmp_path: Path) -> None:
        save_ranker(build_ranker(SETTINGS), tmp_path)
        (tmp_path / "model.safetensors").write_bytes(b"\0" * 64)
        with pytest.raises(ConfigError, match="The file was damaged or replaced"):
            load_ranker(tmp_path)

    def test_rows_longer_than_the_backbone_reads_are_refused(self) -> None:
        long = RankerSettings(backbone="tiny", max_length=512)
        encoder_reads = build_ranker(long).module.backbone.max_length
        assert encoder_reads == 512
        with pytest.raises(ValueError, match="less than or equal to 512"):
            RankerSettings(max_length=513)
