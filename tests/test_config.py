from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from adjudge.config import (
    DataSettings,
    ModelSettings,
    ObjectiveSettings,
    RunSettings,
    TrainingSettings,
    merge,
    parse_overrides,
    preset_names,
    read_preset,
    read_toml,
    settings_from,
    to_toml,
)
from adjudge.errors import ConfigError

CHANGED: dict[str, dict[str, Any]] = {
    "data": {
        "train": Path("claims/train.jsonl.gz"),
        "pages": Path("pages.jsonl"),
        "holdout": 0.25,
        "dev": Path("dev.jsonl"),
        "teacher": Path("verdicts.jsonl"),
        "test": Path("test.jsonl"),
        "gold": Path("gold.jsonl"),
        "field": "retrieved",
        "single": True,
        "selector": "fusion",
        "limit": 10,
        "dev_limit": 20,
        "labels": ("REFUTES", "SUPPORTS", "NOT ENOUGH INFO"),
        "aliases": {"yeah": "SUPPORTS"},
    },
    "model": {
        "kind": "kgat",
        "backbone": "bert-base",
        "init": "runs/ce",
        "max_length": 64,
        "max_evidence": 3,
        "pooling": "mean",
        "dropout": 0.0,
        "backbone_dropout": 0.2,
        "titles": False,
        "context": True,
        "adapters": 8,
        "options": {"attention_size": 64, "released": True},
    },
    "objective": {
        "name": "mine",
        "complement": {"SUPPORTS": ("NOT ENOUGH INFO",)},
        "lam": 0.03125,
        "beta": 0.999999,
        "variant": "paper",
        "weighting": "complement",
        "normalise": "weights",
        "teacher_share": 0.75,
    },
    "training": {
        "epochs": 1,
        "batch_size": 3,
        "accumulation": 5,
        "lr": 3e-5,
        "head_lr": 1e-3,
        "warmup": 0.0,
        "weight_decay": 0.0,
        "clip": float("inf"),
        "freeze_layers": 2,
        "cache_frozen": False,
        "freeze_embeddings": True,
        "mixup": 0.4,
        "eval_every": 7,
        "seed": 42,
        "shuffle_evidence": False,
        "shuffle_claims": False,
        "precision": "bf16",
        "recompute": True,
    },
    "augment": {
        "passes": 2,
        "sentences": 4,
        "retrieved": 0.1,
        "contrast": 0.2,
        "irrelevant": 0.0,
        "nothing": 0.01,
        "altered": 0.0,
        "title_dropout": 1.0,
        "invented": 5,
    },
}


def test_settings_survive_toml_exactly(tmp_path: Path):
    settings = settings_from(CHANGED)
    for section, values in CHANGED.items():
        known = type(getattr(settings, section)).model_fields
        assert values.keys() == known.keys()  # a new key belongs above
    path = tmp_path / "config.toml"
    path.write_text(to_toml(settings))
    assert settings_from(read_toml(path)) == settings
    assert settings.training.clip == float("inf")
    path.write_text(to_toml(RunSettings()))
    assert settings_from(read_toml(path)) == RunSettings()


def test_what_is_not_set_is_not_written():
    assert "train" not in to_toml(DataSettings())
    assert "beta" not in to_toml(ObjectiveSettings())


def test_the_defaults_are_kgats():
    training, model = TrainingSettings(), ModelSettings()
    assert (training.batch_size, training.accumulation, training.step_size) == (8, 8, 64)
    assert (training.lr, training.epochs, training.warmup, training.weight_decay) == (5e-5, 3, 0.1, 0.01)
    assert (model.kind, model.options, model.max_length) == ("kgat", {}, 130)
    assert ModelSettings(options={"released": False}) == model  # what is default need not be said
    assert DataSettings().labels == ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    assert ObjectiveSettings() == ObjectiveSettings(name="ce", lam=0.25)


def test_an_unknown_key_is_an_error():
    with pytest.raises(ConfigError, match=r"run.toml: training.learning_rate is not a setting\."):
        settings_from({"training": {"learning_rate": 1}}, location="run.toml")
    with pytest.raises(ConfigError, match="optimizer is not a setting"):
        settings_from({"optimizer": {}})


def test_every_problem_is_listed_at_once():
    wrong = {
        "training": {"lr": -1, "epochs": 0, "speed": 9},
        "model": {"kind": "lstm", "max_length": "long"},
        "objective": {"beta": 1.0},
    }
    with pytest.raises(ConfigError) as caught:
        settings_from(wrong)
    message = str(caught.value)
    assert message.startswith("settings: ") and "\n" not in message
    for part in (
        "training.lr is -1: input should be greater than 0",
        "training.epochs is 0: input should be greater than or equal to 1",
        "training.speed is not a setting",
        "model.kind is 'lstm': expected one of kgat, mixture, concat",
        "model.max_length is 'long'",
        "objective.beta is 1.0: input should be less than 1",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("training", "lr", 0),
        ("training", "lr", float("nan")),
        ("training", "lr", float("inf")),
        ("training", "head_lr", 0),
        ("training", "head_lr", float("nan")),
        ("training", "warmup", 1.0),
        ("training", "weight_decay", -0.1),
        ("training", "weight_decay", float("inf")),
        ("training", "clip", 0),
        ("training", "clip", float("nan")),
        ("training", "batch_size", 0),
        ("training", "accumulation", 1.5),
        ("training", "eval_every", 0),
        ("training", "freeze_layers", -1),
        ("training", "seed", -1),
        ("model", "max_length", 15),
        ("model", "max_length", 513),
        ("model", "dropout", 1.0),
        ("model", "dropout", -0.1),
        ("model", "pooling", "max"),
        ("model", "backbone_dropout", 1.0),
        ("data", "holdout", 1.0),
        ("augment", "passes", 0),
        ("augment", "sentences", 6),
        ("augment", "contrast", 1.5),
        ("objective", "lam", -1),
        ("objective", "lam", float("inf")),
        ("objective", "beta", -0.1),
        ("objective", "name", "hinge"),
        ("objective", "variant", "arxiv"),
        ("data", "field", "gold"),
        ("data", "limit", 0),
        ("data", "dev_limit", 0),
    ],
)
def test_values_out_of_range_are_refused_by_name(section: str, key: str, value: Any):
    with pytest.raises(ConfigError, match=f"{section}.{key} is "):
        settings_from({section: {key: value}})


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ConfigError, match="model.options: concat has no options"):
        settings_from({"model": {"kind": "concat", "options": {"released": True}}})
    with pytest.raises(ConfigError, match="model.options: released is 7: .*; colour is not a setting"):
        settings_from({"model": {"options": {"colour": "red", "released": 7}}})
    with pytest.raises(ConfigError, match="objective: variant 'released' has no other weighting"):
        settings_from({"objective": {"variant": "released", "weighting": "complement"}})


def test_augment_settings_must_fit_together():
    with pytest.raises(ConfigError, match="augment: the views' shares add up to 1.2, expected at most 1"):
        settings_from({"augment": {"retrieved": 0.8, "contrast": 0.2, "nothing": 0.1, "altered": 0.07}})
    with pytest.raises(ConfigError, match="data.holdout and data.pages need a section augment"):
        settings_from({"data": {"holdout": 0.1}})
    with pytest.raises(ConfigError, match="augment knows FEVER's three labels only"):
        settings_from({"data": {"labels": ["YES", "NO"]}, "augment": {}})


def test_a_section_that_is_no_table_is_refused():
    with pytest.raises(ConfigError, match="training is 3"):
        settings_from({"training": 3})


@pytest.mark.parametrize("section", [DataSettings, ModelSettings, ObjectiveSettings, TrainingSettings])
def test_settings_cannot_be_changed_in_place(section: type[BaseModel]):
    settings = section()
    name = next(iter(section.model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(settings, name, None)


def test_every_preset_is_valid_and_overridable():
    assert set(preset_names()) >= {"minilm", "bert-base", "bert-large", "roberta-large"}
    for name in preset_names():
        settings = settings_from(read_preset(name), name)
        expected = {"small-judge": "minilm", "large-judge": "mpnet"}.get(name, name)
        assert settings.model.backbone == ("minilm" if name.startswith("default-model") else expected)
        over = settings_from(merge(read_preset(name), {"training": {"seed": 9}}))
        assert over.training == settings.training.model_copy(update={"seed": 9})


def test_the_papers_presets_hold_the_papers_settings():
    for name, (accumulation, lr) in {
        "bert-base": (8, 5e-5),
        "bert-large": (8, 5e-5),
        "roberta-large": (4, 3e-5),
    }.items():
        training = settings_from(read_preset(name)).training
        assert (training.batch_size, training.accumulation, training.lr) == (8, accumulation, lr)
        assert (training.epochs, training.warmup, training.weight_decay) == (3, 0.1, 0.01)
        assert training.freeze_layers == 0 and not training.freeze_embeddings
        assert training.head_lr is None
        assert settings_from(read_preset(name)).model.pooling == "pooler"


def test_an_unknown_preset_is_named_with_those_that_exist():
    with pytest.raises(ConfigError, match="Preset 'gpt' is not one of .*minilm"):
        read_preset("gpt")


def test_later_layers_win_key_by_key():
    base = {"training": {"lr": 1, "seed": 2}, "model": {"kind": "kgat"}}
    assert merge(base, {"training": {"lr": 3}}, {"data": {"limit": 4}}) == {
        "training": {"lr": 3, "seed": 2},
        "model": {"kind": "kgat"},
        "data": {"limit": 4},
    }
    assert base == {"training": {"lr": 1, "seed": 2}, "model": {"kind": "kgat"}}
    assert merge() == {}


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("training.lr=2e-5", 2e-5),
        ("training.epochs=4", 4),
        ("model.titles=false", False),
        ("model.backbone=bert-base", "bert-base"),
        ('model.backbone="bert-base"', "bert-base"),
        ("data.train=/data/a=b.jsonl", "/data/a=b.jsonl"),
        ('data.labels=["YES", "NO"]', ["YES", "NO"]),
        (" training.lr = 2e-5", 2e-5),
    ],
)
def test_an_override_is_read_as_toml_else_as_text(pair: str, value: Any):
    section, _, key = pair.partition("=")[0].strip().partition(".")
    assert parse_overrides([pair]) == {section: {key: value}}


def test_overrides_of_one_section_join_and_the_last_wins():
    assert parse_overrides(["training.lr=1e-4", "training.seed=3", "training.lr=1e-5"]) == {
        "training": {"lr": 1e-5, "seed": 3}
    }
    assert parse_overrides([]) == {}


@pytest.mark.parametrize("pair", ["lr=3", "training.lr", "training.=3", ".lr=3", "=3", ""])
def test_an_override_of_another_shape_is_refused(pair: str):
    with pytest.raises(ConfigError, match=r"expected section.key=value, such as training.lr=2e-5"):
        parse_overrides([pair])


def test_an_override_of_an_unknown_key_is_refused_when_applied():
    with pytest.raises(ConfigError, match="model.a is not a setting"):
        settings_from(parse_overrides(["model.a.b=1"]))


def test_unreadable_toml_is_named(tmp_path: Path):
    path = tmp_path / "run.toml"
    with pytest.raises(ConfigError, match="run.toml: no such file"):
        read_toml(path)
    path.write_text("[training\nlr = 1")
    with pytest.raises(ConfigError, match="run.toml: not valid TOML .*line 1"):
        read_toml(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="run.toml: cannot be read"):
        read_toml(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_toml(tmp_path)


def test_the_label_set_knows_fevers_spellings_and_the_users():
    labels = DataSettings(aliases={"true": "SUPPORTS"}).label_set
    assert (labels.index("TRUE"), labels.index("NEI")) == (0, 2)
    two = DataSettings(labels=("YES", "NO"), aliases={"yeah": "YES"}).label_set
    assert two.names == ("YES", "NO") and two.index("Yeah") == 0
    with pytest.raises(ConfigError, match="'MAYBE' is not one of YES, NO"):
        _ = DataSettings(labels=("YES", "NO"), aliases={"hm": "MAYBE"}).label_set


class TestComplement:
    TABLE = {"SUPPORTS": ["REFUTES"], "REFUTES": ["SUPPORTS", "NOT ENOUGH INFO"]}

    def test_a_table_of_ones_own_is_custom_unless_it_is_named(self):
        assert settings_from({"objective": {"complement": self.TABLE}}).objective.name == "custom"
        named = settings_from({"objective": {"name": "mine", "complement": self.TABLE}}).objective
        assert (named.name, named.complement) == ("mine", {k: tuple(v) for k, v in self.TABLE.items()})

    def test_it_can_be_written_as_an_override(self):
        text = 'objective.complement={SUPPORTS = ["REFUTES"], REFUTES = ["SUPPORTS", "NOT ENOUGH INFO"]}'
        written = settings_from(parse_overrides([text]))
        assert written == settings_from({"objective": {"complement": self.TABLE}})

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"objective": {"name": "sr", "complement": TABLE}}, "objective.name is 'sr': it has its own"),
            ({"objective": {"complement": {"YES": ["REFUTES"]}}}, r"names \['YES'\], expected labels of"),
            (
                {"objective": {"complement": TABLE, "variant": "released"}},
                "defined for ce, mll, srn, sr only",
            ),
            ({"data": {"labels": ["A", "B"]}, "objective": {"name": "sr"}}, "'sr' is defined for SUPPORTS"),
        ],
    )
    def test_one_that_does_not_fit_is_refused(self, values: dict[str, Any], message: str):
        with pytest.raises(ConfigError, match=message):
            settings_from(values)
