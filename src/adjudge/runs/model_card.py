"""The model card: what an exported model is, what it was trained on, how it does, and what it cannot do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.config import RunSettings, to_toml
from adjudge.runs.folder import FILES

if TYPE_CHECKING:
    from adjudge.runs.export import ExportReport, Figures
    from adjudge.training.mix.settings import MixSettings

_FEVER_DATA = """\
Trained on claims of FEVER's training set with sentences of English Wikipedia (2017). FEVER's annotations and
Wikipedia's text are under CC BY-SA 3.0; so are these weights, as far as they derive from them."""
_MIXED_DATA = """\
Trained on a mix of sources (`adjudge data mix`), as far as this run goes: one of
{examples:,} examples. Much of it is under CC BY-SA 3.0 or 4.0; so are these weights, as far as they derive from it.

| source | share, % | what it is |
|---|--:|---|
{rows}
"""
_FEVER_HELD = " by entity: no training claim begins with the same name or has its gold on the same page"
_MIXED_HELD = " by page, claim and sentence, from every source"
_FEVER_LIMITS = """\
- FEVER's claims are short, made by altering Wikipedia sentences, and many give themselves away (a negation is mostly
  false). On other kinds of claims and texts expect less than the figures above, and measure."""
_CONTEXT = "a sentence that begins with a pronoun or the like is read after the one before it, where search knows it."
_NO_CONTEXT = "what pronouns stand for is lost unless the page's title says it."
_MIXED_LIMITS = """\
- On kinds of claims that no source resembles, expect what the test files above show for other people's sets rather than
  the held-out figures: sources give themselves away, and a model learns that too. Measure on your own."""


WORDS_A_TOKEN = 0.7


def model_card(settings: RunSettings, report: ExportReport, mix: MixSettings | None = None) -> str:
    """The card as Markdown; every figure in it comes from the export. A mix is what the training file was drawn as."""
    everything = [*report.tuning, *report.test]
    template = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    return template.format(
        data=_FEVER_DATA if mix is None else _mixed_data(mix),
        held_out_by=_FEVER_HELD if mix is None else _MIXED_HELD,
        pronouns=_CONTEXT if settings.model.context else _NO_CONTEXT,
        limits=_FEVER_LIMITS if mix is None else _MIXED_LIMITS,
        kind=settings.model.kind,
        backbone=settings.model.backbone,
        size=report.size / 1e6,
        max_length=settings.model.max_length,
        words=int(WORDS_A_TOKEN * settings.model.max_length) // 10 * 10,
        changed=report.changed,
        recipe=to_toml(without_folders(settings)),
        training=_training(settings),
        temperature=report.temperature,
        fitted=_fitted(report),
        held_out=report.tuning[0].claims,
        table=_table(everything),
        risk=_risk([report.tuning[0], *report.test]),
    )


def without_folders(settings: RunSettings) -> RunSettings:
    """The settings without the places of files and folders, which are the user's."""
    data = settings.data.model_copy(update=dict.fromkeys(FILES))
    init = settings.model.init and Path(settings.model.init).name
    model = settings.model.model_copy(update={"init": init})
    return settings.model_copy(update={"data": data, "model": model})


def _mixed_data(mix: MixSettings) -> str:
    total = sum(source.share for source in mix.source)
    rows = [
        f"| {source.name} | {100 * source.share / total:.1f} | {source.about or source.kind} |"
        for source in mix.source
    ]
    return _MIXED_DATA.format(examples=mix.examples, rows="\n".join(rows))


def _fitted(report: ExportReport) -> str:
    if report.temperature == report.fitted:
        return "fitted"
    factor = report.temperature / report.fitted
    return f"{factor:.2f} times what was fitted, for kinds of claims that no source resembles,"


def _training(settings: RunSettings) -> str:
    if settings.augment is None:
        begun = settings.model.init is not None
        return "Training began from the weights of another run (`model.init`).\n" if begun else ""
    text = (
        "Every claim was shown in a view drawn at random: gold sentences among others, sentences as retrieved, near\n"
        "misses of the gold's page, sentences of other claims, nothing at all, or with a fact altered; some of\n"
        "them without titles, always in random order. "
    )
    if settings.model.init is not None:
        text = f"Training began from the weights of another run (`model.init`).\n{text}"
    if settings.augment.invented:
        count = f"{settings.augment.invented:,}"
        text += f"{count} claims about a made-up world (`adjudge data\nworld`) joined every pass. "
    return text


def _table(parts: list[Figures]) -> str:
    labels = list(parts[0].recall)
    lines = [
        f"| claims | number | LA | balanced | {' | '.join(labels)} | ECE | ECE at T = 1 |",
        "|---|--:|--:|--:|" + "--:|" * (len(labels) + 2),
    ]
    for part in parts:
        recalls = " | ".join(
            f"{100 * part.recall[label]:.1f}" if label in part.recall else "–" for label in labels
        )
        balanced = sum(part.recall.values()) / len(part.recall)
        lines.append(
            f"| {part.name} | {part.claims:,} | {100 * part.label_accuracy:.1f} | {100 * balanced:.1f} | {recalls} "
            f"| {100 * part.ece:.1f} | {100 * part.ece_untempered:.1f} |"
        )
    return "\n".join(lines)


def _risk(parts: list[Figures]) -> str:
    shares = [f"{100 * share:.0f}%" for share, _, _ in parts[0].risk]
    lines = [f"| claims answered | {' | '.join(shares)} |", "|---|" + "--:|" * len(shares)]
    for part in parts:
        cells = " | ".join(f"{100 * risk:.1f} ({threshold:.2f})" for _, threshold, risk in part.risk)
        lines.append(f"| {part.name} | {cells} |")
    return "\n".join(lines)
