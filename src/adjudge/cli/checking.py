"""The commands that check whole texts, and fit a judge to a user's own claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.evidence import SEARCHING
from adjudge.cli.options import NO_CORPUS, JsonOption, LabelOption, aliases, takes
from adjudge.cli.output import note_cut, progress_console, refuse_overwrite, show
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from adjudge.judges.calibrated import Calibration
    from adjudge.serving.check.check import CheckOptions
    from adjudge.serving.check.records import Check

FORMATS = ("terminal", "json", "jsonl", "md", "html", "sarif", "github")
_IN_PARTS = "Check its parts one by one."
FAILED = 1
"""The exit code of ``--fail-on``; bad input exits with 2."""


@takes(VerifierSettings)
def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="The text, or several: Markdown, plain text, any document; - reads standard input."
        ),
    ],
    *,
    settings: VerifierSettings,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DOC",
            help="Instead of --corpus: a document or folder to check against; repeat for several.",
        ),
    ] = None,
    rules_only: Annotated[
        bool,
        typer.Option("--rules-only", help="Compare numbers, dates, names and words by rules; load no model."),
    ] = False,
    split: Annotated[
        bool,
        typer.Option("--split/--no-split", help="Judge the parts of a sentence that joins several facts."),
    ] = True,
    splitter_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Let a language model split sentences: an OpenAI-compatible address, …/v1."
        ),
    ] = None,
    splitter_model: Annotated[
        str, typer.Option(help="With --splitter-url: the model's name there.")
    ] = "default",
    marks: Annotated[
        bool, typer.Option("--marks/--no-marks", help="Mark the words that the evidence does not back.")
    ] = True,
    max_sentences: Annotated[int, typer.Option(min=1, help="Check at most so many sentences.")] = 1000,
    format: Annotated[
        str, typer.Option(metavar="|".join(FORMATS), help="What to print or to write to --out.")
    ] = "terminal",
    out: Annotated[
        Path | None, typer.Option(help="Write there; the ending says the format (.html, .sarif, …).")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="refuted|unsupported", help="Exit with 1 if there is such a sentence."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check a whole text against documents, sentence by sentence, and mark the words that are wrong.

    Each sentence is SUPPORTS, REFUTES, NOT ENOUGH INFO, NO EVIDENCE FOUND, NOT CHECKED (a question, an opinion, a
    heading, …) or ERROR. A sentence that joins several facts is refuted if one of its parts is, and supported if all
    are. Numbers, dates and names are also compared exactly, whatever the model thinks.

    **Examples**

    `adjudge check article.md --corpus documents/`

    `adjudge check answer.md --against source.pdf --against notes.txt --model large`

    `adjudge check article.md --corpus documents/ --out article.html`

    `adjudge check README.md --against specification.md --rules-only --format github --fail-on refuted`
    """
    from adjudge.errors import ConfigError
    from adjudge.serving.check.records import FAIL_ON

    if out is not None:
        refuse_overwrite(out, force)
    name = _format_name(format, out, json)
    if fail_on is not None and fail_on not in FAIL_ON:
        raise ConfigError(f"--fail-on {fail_on!r}: expected one of {', '.join(FAIL_ON)}.")
    if bool(against) == (settings.corpus is not None):
        raise ConfigError(f"{NO_CORPUS[:-1]}; or --against DOC (one of the two).")
    if name == "html" and len(files) > 1:
        raise ConfigError(f"An HTML page shows one text, found {len(files)}: check them one by one.")
    if splitter_url and not split:
        raise ConfigError("--splitter-url splits sentences, --no-split does not: leave out one of the two.")
    options = _options(split, splitter_url, splitter_model, marks, max_sentences, settings.min_confidence)
    if rules_only:
        settings = settings.with_(model="rules", selector="lexical")
    results = _check([(file, *_read(file)) for file in files], settings, against, options)
    _deliver(results, name, out)
    parts = (part for result in results for sentence in result.sentences for part in sentence.parts)
    note_cut([part.verdict for part in parts if part.verdict is not None])
    if fail_on is not None and (failures := [one for result in results for one in result.failures(fail_on)]):
        sentences = "1 sentence" if len(failures) == 1 else f"{len(failures)} sentences"
        progress_console().print(f"--fail-on {fail_on}: {sentences}.", highlight=False, markup=False)
        raise typer.Exit(FAILED)


@takes(VerifierSettings, "model", *SEARCHING, "k")
def calibrate(
    *,
    settings: VerifierSettings,
    examples: Annotated[
        Path | None,
        typer.Option(
            help="Labelled claims as JSON lines, a few dozen; with evidence, unless --corpus finds it."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write; then use --model FOLDER.")] = None,
    max_risk: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Abstain so that at most this share of the answers is wrong, if reachable."
        ),
    ] = 0.2,
    force: Annotated[bool, typer.Option(help="Replace an existing folder's calibration.")] = False,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Fit a judge to your own claims: temperature, label thresholds, and when to abstain.

    Facts are compared too if that helps on your claims. All figures are cross-validated. At least 30 claims are
    needed, 5 of each label that occurs.

    **Examples**

    `adjudge calibrate --examples labelled.jsonl --out mine`

    `adjudge calibrate --examples labelled.jsonl --corpus documents/ --out mine`

    `adjudge check article.md --corpus documents/ --model mine`
    """
    from adjudge.cli.output import show_json
    from adjudge.errors import ConfigError
    from adjudge.judges.calibrated import CALIBRATION, refuse_model_folder, write_calibration
    from adjudge.serving.calibrate import fit_judge, read_labelled
    from adjudge.serving.verifier import Verifier

    if examples is None:
        raise ConfigError("Say which labelled claims to fit to: --examples FILE.")
    if out is None:
        raise ConfigError("Say where the calibration goes: --out FOLDER.")
    refuse_model_folder(out, str(settings.model))
    refuse_overwrite(out / CALIBRATION, force)
    verifier = Verifier(settings)
    labelled = read_labelled(examples, verifier, aliases(label))
    calibration = fit_judge(verifier.judge, settings.model, labelled, max_risk)
    write_calibration(out, calibration)
    if json:
        show_json(calibration.model_dump(mode="json"))
    else:
        progress_console().print(_calibration_summary(out, calibration), highlight=False, markup=False)


def _calibration_summary(out: Path, calibration: Calibration) -> str:
    before, after = calibration.figures["before"], calibration.figures["after"]
    answered, risk = calibration.figures["answered"], calibration.figures["risk"]
    rows = (
        ("right", "accuracy"),
        ("right, mean over labels", "balanced_accuracy"),
        ("calibration error", "ece"),
    )
    lines = [f"{name}: {100 * before[key]:.1f}% → {100 * after[key]:.1f}%" for name, key in rows]
    facts = "facts compared too" if calibration.facts else "facts not compared: no gain"
    biases = ", ".join(
        f"{label} {bias:+.2f}" for label, bias in zip(calibration.labels, calibration.biases, strict=True)
    )
    abstains = (
        f"abstains below {calibration.min_confidence:.2f}: answers {100 * answered:.0f}%, "
        f"{100 * risk:.0f}% of them wrong"
        if calibration.min_confidence
        else f"abstains from nothing: {100 * risk:.0f}% of the answers are wrong"
    )
    return "\n".join(
        [
            f"{out}: fitted to {calibration.claims} claims ({facts}); cross-validated:",
            *lines,
            f"temperature {calibration.temperature:.2f}; {biases}; {abstains}.",
            f"Use it: --model {out}",
        ]
    )


def _format_name(format: str, out: Path | None, json: bool) -> str:
    from adjudge.errors import ConfigError

    if json:
        format = "json"
    endings = {"htm": "html", "markdown": "md", "ndjson": "jsonl", "txt": "terminal"}
    if out is not None and format == "terminal":
        ending = out.suffix.lower().lstrip(".")
        format = endings.get(ending, ending)
    if format not in FORMATS:
        raise ConfigError(f"Format {format!r} is not one of {', '.join(FORMATS)}: pass --format.")
    return format


def _options(
    split: bool, url: str | None, model: str, marks: bool, max_sentences: int, min_confidence: float
) -> CheckOptions:
    from adjudge.data.clauses import Splitter, split_by_rules
    from adjudge.serving.check.check import CheckOptions

    splitter: Splitter | None = split_by_rules if split else None
    if url is not None:
        from adjudge.serving.check.splitter import ModelSplitter

        splitter = ModelSplitter(url, model)
    return CheckOptions(True, splitter, marks, max_sentences, min_confidence)


def _read(file: Path) -> tuple[str, bool]:
    """The text to check, and whether it is Markdown."""
    import sys

    from adjudge.data.documents import SUFFIXES, source_text
    from adjudge.data.documents.kinds import suffix_of
    from adjudge.data.documents.text import decode
    from adjudge.errors import DataError
    from adjudge.io.files import open_bytes, read_bounded

    if str(file) == "-":
        if sys.stdin is None:
            raise DataError("standard input: is closed, expected a text to check.")
        return decode(read_bounded(sys.stdin.buffer, "standard input", _IN_PARTS)), True
    suffix = suffix_of(file.name)
    if suffix in ("", ".txt", ".md", ".markdown"):
        with open_bytes(file) as stream:
            return decode(read_bounded(stream, str(file), _IN_PARTS)), suffix != ".txt"
    kind = SUFFIXES[suffix].name
    return source_text(file), kind == "Markdown"


def _check(
    texts: list[tuple[Path, str, bool]],
    settings: VerifierSettings,
    against: list[Path] | None,
    options: CheckOptions,
) -> list[Check]:
    """Check (file, text, whether it is Markdown) one after another against one index."""
    from contextlib import ExitStack
    from dataclasses import replace

    from adjudge.cli.evidence import open_with_progress
    from adjudge.retrieval.index import Index
    from adjudge.retrieval.retriever import searches_by_meaning
    from adjudge.serving.check.check import documents_index
    from adjudge.serving.verifier import Verifier

    verifier = Verifier(settings)
    with ExitStack() as stack:
        if against:
            index = Index.open(
                stack.enter_context(documents_index(against, searches_by_meaning(settings.selector)))
            )
        else:
            index = open_with_progress(settings.corpus, settings.selector)
        retriever = verifier.search(index)
        return [
            verifier.check(
                text,
                retriever,
                options=replace(options, markdown=markdown),
                name="standard input" if str(file) == "-" else str(file),
            )
            for file, text, markdown in texts
        ]


def _deliver(results: list[Check], format: str, out: Path | None) -> None:
    from adjudge.io.files import write_text
    from adjudge.serving.check.export import EXPORTS

    if format == "terminal" and out is None:
        from adjudge.cli.views.check import checks_view

        show(checks_view(results))
        return
    if format == "html":
        from adjudge.serving.check.html import to_html

        content = to_html(results[0])
    else:
        content = _terminal_text(results) if format == "terminal" else EXPORTS[format](results)
    if out is None:
        typer.echo(content, nl=False)
        return
    write_text(out, content)
    summaries = "; ".join(result.summary for result in results)
    progress_console().print(f"{out}: {summaries}.", highlight=False, markup=False)


def _terminal_text(results: list[Check]) -> str:
    from io import StringIO

    from rich.console import Console

    from adjudge.cli.views.check import checks_view

    stream = StringIO()
    Console(file=stream, width=120).print(checks_view(results))
    return stream.getvalue()
