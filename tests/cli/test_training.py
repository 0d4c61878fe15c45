"""What the command ``train`` makes of its options; the training itself is tested elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adjudge.config import RunSettings
from adjudge.errors import ConfigError
from adjudge.runs import execute
from command import adjudge

FLAGS: dict[str, tuple[str, Any]] = {
    "--train": ("data.train", Path("t.jsonl")),
    "--dev": ("data.dev", Path("d.jsonl")),
    "--test": ("data.test", Path("e.jsonl")),
    "--gold": ("data.gold", Path("g.jsonl")),
    "--limit": ("data.limit", 3),
    "--model": ("model.kind", "mixture"),
    "--backbone": ("model.backbone", "tiny"),
    "--objective": ("objective.name", "mll"),
    "--lam": ("objective.lam", 0.5),
    "--beta": ("objective.beta", 0.9),
    "--objective-variant": ("objective.variant", "released"),
    "--epochs": ("training.epochs", 2),
    "--batch-size": ("training.batch_size", 5),
    "--accumulation": ("training.accumulation", 6),
    "--lr": ("training.lr", 0.01),
    "--freeze-layers": ("training.freeze_layers", 1),
    "--seed": ("training.seed", 7),
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs ``adjudge train`` with some options; returns the settings that it would train with."""

    def train(*options: object) -> RunSettings:
        caught: list[RunSettings] = []

        def keep(settings: RunSettings, *args: object, **options: object) -> None:
            caught.append(settings)
            raise ConfigError("far enough")

        monkeypatch.setattr(execute, "execute", keep)
        done = adjudge("train", *options)
        assert (done.returncode, done.stderr) == (2, "adjudge: far enough\n")
        return caught[0]

    return train


def test_every_option_of_a_setting_sets_it_and_nothing_else(run: Any) -> None:
    for flag, (path, value) in FLAGS.items():
        section, key = path.split(".")
        settings = run(flag, value)
        assert (
            getattr(getattr(settings, section), key) == value != getattr(getattr(RunSettings(), section), key)
        )
        assert settings.model_dump(exclude={section: {key}}) == RunSettings().model_dump(
            exclude={section: {key}}
        )


def test_options_win_over_a_file_which_wins_over_a_preset(run: Any, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[training]\nlr = 0.5\nepochs = 9\n")
    settings = run("--preset", "bert-base", "--config", tmp_path / "c.toml", "--epochs", 4).training
    assert (settings.accumulation, settings.lr, settings.epochs) == (8, 0.5, 4)


@pytest.mark.parametrize("preset", [(), ("--preset", "default-model")])  # which names an objective
def test_a_complement_table_can_be_given_on_the_command_line(run: Any, preset: tuple[str, ...]) -> None:
    objective = run(*preset, "--complement", "SUPPORTS=REFUTES;REFUTES=SUPPORTS,NOT ENOUGH INFO").objective
    assert objective.name == "custom"
    assert objective.complement == {"SUPPORTS": ("REFUTES",), "REFUTES": ("SUPPORTS", "NOT ENOUGH INFO")}


def test_options_of_a_kind_are_nested_settings(run: Any) -> None:
    assert run("--set", "model.options.released=true").model.options == {"released": True}


def test_the_help_names_the_objectives_kinds_and_presets() -> None:
    text = " ".join(adjudge("train", "--help").stdout.replace("│", " ").split())
    for part in (
        "what is penalised: ce, cross-entropy alone; mll,",
        "kgat, mixture, concat",
        "roberta-large",
    ):
        assert part.lower() in text.lower()
