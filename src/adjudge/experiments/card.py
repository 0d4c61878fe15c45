"""The model card: what a shipped model is, what it was trained on, how it does, and what it cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.config import RunSettings, to_toml

if TYPE_CHECKING:
    from adjudge.experiments.export import ExportReport, Figures

_CARD = """# Model card: {kind} on {backbone}

A verdict model of adjudge: given a claim and up to five sentences, how likely is it that they support the claim,
refute it, or do not say enough. The folder holds what differs from the public backbone
([all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2) where the backbone is `minilm`),
{size:.1f} MB, large matrices as 8-bit differences; that rounding changed the label of {changed:.2%} of the held-out
claims.

## Intended use
Checking short factual claims in English, of the kind an encyclopedia could settle, against sentences retrieved from
documents of the user's choice; teaching; a baseline for research. A verdict says what the sentences say, not what is
true: it is as good as the documents. Read the evidence it shows before acting on it.

## Data and licence
Trained on claims of FEVER's training set with sentences of English Wikipedia (2017). FEVER's annotations and
Wikipedia's text are under CC BY-SA 3.0; so are these weights, as far as they derive from them. The backbone is under
Apache 2.0.

## Recipe
```toml
{recipe}```
{training}The probabilities are tempered by T = {temperature:.3f}, fitted on {held:,} examples that were held out by
entity: no training claim begins with the same name or has its gold on the same page.

## Figures
Label accuracy (LA), recall by label and expected calibration error (ECE, 15 bins, with and without the temperature),
in per cent. The held-out examples chose the checkpoint and the temperature; the files below them chose nothing.

{table}

Risk and coverage: answering only the surest claims, the share of wrong answers among them (and the smallest
confidence answered, which `--min-confidence` takes).

{risk}

## Limits
- Small: 23 million parameters, trained on a laptop's budget. It reads word by word what the sentences say, and often
  fails where arithmetic, time spans, geography or common knowledge would be needed.
- Related is not sufficient, and telling the two apart is what it does worst: see the recall of NOT ENOUGH INFO.
- Evidence is at most five sentences of about a hundred words; what pronouns stand for is lost unless the page's title
  says it.
- FEVER's claims are short, made by altering Wikipedia sentences, and many give themselves away (a negation is mostly
  false). On other kinds of claims and texts expect less than the figures above, and measure.
- English only. No claim about living people should be decided by it alone.
"""


def model_card(settings: RunSettings, report: ExportReport) -> str:
    """The card as Markdown; every figure in it comes from the export."""
    everything = [*report.tuning, *report.test]
    return _CARD.format(
        kind=settings.model.kind,
        backbone=settings.model.backbone,
        size=report.size / 1e6,
        changed=report.changed,
        recipe=_recipe(settings),
        training=_training(settings),
        temperature=report.temperature,
        held=report.tuning[0].claims,
        table=_table(everything),
        risk=_risk(everything),
    )


def _recipe(settings: RunSettings) -> str:
    """The settings without the places of files, which are the user's."""
    data = settings.data.model_copy(update=dict.fromkeys(("train", "pages", "dev", "test", "gold")))
    return to_toml(settings.model_copy(update={"data": data}))


def _training(settings: RunSettings) -> str:
    if settings.augment is None:
        return ""
    said = (
        "Every claim was shown in a view drawn at random: gold sentences among others, sentences as retrieved, near\n"
        "misses of the gold's page, sentences of other claims, nothing at all, or with a fact altered; some of\n"
        "them without titles, always in random order. "
    )
    if settings.model.init is not None:
        said = f"Training began from the weights of another run (`model.init`).\n{said}"
    if settings.augment.invented:
        count = f"{settings.augment.invented:,}"
        said += f"{count} claims about a made-up world (`adjudge data\nworld`) joined every pass. "
    return said


def _table(parts: list[Figures]) -> str:
    labels = list(parts[0].recall)
    lines = [
        f"| claims | number | LA | {' | '.join(labels)} | ECE | ECE at T = 1 |",
        "|---|--:|--:|" + "--:|" * (len(labels) + 2),
    ]
    for part in parts:
        recalls = " | ".join(
            f"{100 * part.recall[label]:.1f}" if label in part.recall else "–" for label in labels
        )
        lines.append(
            f"| {part.name} | {part.claims:,} | {100 * part.label_accuracy:.1f} | {recalls} "
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
