"""One run: settings in, a run folder out. What trains a run names it; a finished one is never repeated."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.config import DataSettings, RunSettings
from adjudge.data.verdicts import write_verdicts
from adjudge.errors import AdjudgeError
from adjudge.evaluation.scoring import Scores, score
from adjudge.io.cache import user_cache
from adjudge.io.files import write_json
from adjudge.io.locks import lease
from adjudge.io.temporary import report_full_disk, sweep
from adjudge.runs.claims import check_test_files, claims_of, claims_to_judge, dev_claims
from adjudge.runs.folder import (
    EXAMPLE_FILES,
    FILES,
    TEST_FILES,
    TRAINING_FILES,
    RunFolder,
    data_files,
    judgement_id,
    run_id,
)
from adjudge.runs.held_out import fit_held_out, split_held_out
from adjudge.runs.provenance import Start, provenance
from adjudge.types import LabelSet

if TYPE_CHECKING:
    import torch

    from adjudge.encoders.dataset import Dataset
    from adjudge.judges.row_model import RowJudge
    from adjudge.objectives.loss import Objective
    from adjudge.training.distributed import Workers
    from adjudge.training.loop import Metric
    from adjudge.training.progress import TrainingProgress
    from adjudge.training.teacher import Teacher

EXAMPLES_VERSION = 3
"""Of the code that reads, draws and writes examples; raised when it makes others of the same files and settings,
so that tokens kept from before are not used any more.
"""


@dataclass(frozen=True)
class Reporter:
    """What a run says while it works; each is a function, and all do nothing by default."""

    stage: Callable[[str], None] = lambda name: None
    caching: Callable[[int, int], None] = lambda done, total: None
    metric: Callable[[Metric, int], None] = lambda metric, steps: None


class _Paused(Exception):
    """Ends a training from within its report, with its state saved."""


@dataclass(frozen=True)
class _Work:
    """What every step of an execution needs to know."""

    settings: RunSettings
    run: RunFolder
    identity: str
    resume: bool
    until: float
    cache: Path
    device: torch.device
    reporter: Reporter
    command: str


def execute(
    settings: RunSettings,
    folder: Path,
    *,
    resume: bool = False,
    until: float = 1.0,
    cache: Path | None = None,
    command: str = "",
    device: str = "auto",
    reporter: Reporter | None = None,
) -> Scores | None:
    """Make a run exist: train it, unless it is trained, and judge the test claims, unless they are judged.

    Several executions of one folder, here or on other machines, wait for each other.

    Args:
        settings: what defines the run; ``data.train`` is required.
        folder: the run folder; refused when it holds another run, unless ``resume``.
        resume: continue an interrupted run of the same settings; a trained one stays as it is.
        until: the share of its steps to train; less than all ends at the first evaluation from there on, in an
            unfinished run that can be resumed.
        cache: where outputs of frozen layers are kept; the user's cache by default.
        command: noted in the manifest.
        device: ``auto``, ``cpu`` or ``cuda``.
        reporter: called with what happens.

    Returns:
        The scores on the test claims; None without such a file, before the end of the training, and on every worker
        but the first.
    """
    from adjudge.encoders.device import pick_device
    from adjudge.training.distributed import workers

    run, identity = RunFolder(folder), run_id(settings)
    if resume and run.holds(identity) and (settings.data.test is None or is_judged(run, settings.data)):
        return read_scores(run, settings.data)
    is_first = int(os.environ.get("RANK", "0")) == 0  # of the workers of a torchrun
    work = _Work(
        settings,
        run,
        identity,
        resume,
        until,
        cache or default_cache(),
        pick_device(device),
        (is_first and reporter) or Reporter(),
        command,
    )
    work.reporter.stage("waiting for the run folder")
    with lease(folder, run.state) if is_first else nullcontext(_do_nothing) as check_lease:
        if is_first:
            _sweep_run(folder)
            check_test_files(settings.data)
        with report_full_disk(folder), workers(work.device) as team:
            team.wait()
            if not (resume and run.holds(identity)):
                _train(work, team, check_lease)
        if not (is_first and run.is_finished and settings.data.test is not None):
            return None
        if not is_judged(run, settings.data):
            work.reporter.stage("predicting")
            with report_full_disk(folder):
                _judge(work)
        return read_scores(run, settings.data)


def _sweep_run(folder: Path) -> None:
    """Remove what a killed execution was writing."""
    for path in (folder, folder / "checkpoint", *folder.glob("judgements/*")):
        sweep(path)


def _do_nothing() -> None:
    """In place of a check that only the first worker makes."""


def _train(work: _Work, team: Workers, check_lease: Callable[[], None]) -> None:
    """Train to the end or to the share of its steps that is asked for."""
    import torch

    start, run = Start(), work.run
    if team.is_first:
        run.check(work.settings, work.resume)
    team.wait()
    torch.manual_seed(work.settings.training.seed)
    try:
        progress = _train_model(work, team, check_lease)
    except _Paused:
        return
    except AdjudgeError:
        if team.is_first:
            run.discard_unbegun()
        raise
    if team.is_first:
        run.finish(_manifest(work, progress, start))


def _new_model(settings: RunSettings) -> RowJudge:
    from adjudge.judges.folder import initialise_from
    from adjudge.judges.row_model import build

    training = settings.training
    model = build(settings.model, settings.data.label_set, training.freeze_layers, training.freeze_embeddings)
    if settings.model.init is not None:
        initialise_from(model, settings.model.init)
    return model


def _read_teacher(settings: RunSettings, data: Dataset) -> Teacher | None:
    from adjudge.training.teacher import read_teacher

    path, share = settings.data.teacher, settings.objective.teacher_share
    return None if path is None else read_teacher(path, data.ids, settings.data.label_set, share)


def _train_model(work: _Work, team: Workers, check_lease: Callable[[], None]) -> TrainingProgress:
    from adjudge.encoders.dataset import shuffle_evidence
    from adjudge.encoders.frozen import cache_states
    from adjudge.encoders.tokens import store_tokens
    from adjudge.training.judge import train_judge

    settings, reporter = work.settings, work.reporter
    labels = settings.data.label_set
    reporter.stage("loading the backbone")
    model = _new_model(settings)
    model.module.to(work.device)
    reporter.stage("reading claims")
    claims, tuning = claims_of(settings)
    joined = model.writer.layout.one_row or model.writer.layout.joined_row
    if joined and settings.training.shuffle_evidence:
        # Where one row holds all sentences, a batch cannot reorder them.
        claims = shuffle_evidence(claims, settings.training.seed, model.max_evidence)
    share = getattr(model.module, "held_out", 0.0)
    training, held_out = split_held_out(claims, share)
    stored, source = work.cache / "tokens", _examples_identity(settings, joined, share)
    data = store_tokens(training, model.writer, labels, stored, f"train {source}")
    dev = None if tuning is None else store_tokens(tuning, model.writer, labels, stored, f"dev {source}")
    teacher = _read_teacher(settings, data)
    if settings.training.freeze_layers and settings.training.cache_frozen:
        reporter.stage("caching frozen layers")
        states = work.cache / "states"
        data = cache_states(model.module.backbone, data, states, reporter.caching)
        dev = None if dev is None else cache_states(model.module.backbone, dev, states, reporter.caching)
    reporter.stage("training")
    if team.is_first:
        work.run.begin(settings)
    team.wait()

    def report(metric: Metric, steps: int) -> None:
        check_lease()
        reporter.metric(metric, steps)
        if metric.split == "dev" and work.until * steps <= metric.step < steps:
            raise _Paused

    progress = train_judge(
        model,
        data,
        dev,
        objective_for(settings, data, labels),
        settings.training,
        work.run.path,
        teacher=teacher,
        identity=work.identity,
        resume=work.resume,
        workers=team,
        report=report,
    )
    if held_out and team.is_first:
        reporter.stage("fitting on held-out claims")
        accuracy = fit_held_out(
            work.run.path,
            held_out,
            dev,
            settings.training.freeze_layers,
            settings.training.seed,
            work.device,
        )
        progress = progress if accuracy is None else replace(progress, best_accuracy=accuracy)
    return progress


def _examples_identity(settings: RunSettings, joined: bool, held_out: float = 0.0) -> str:
    """All that decides which examples a run reads, beside how they are written as rows."""
    data = settings.data.model_dump(mode="json", exclude=set(FILES))
    data |= {name: file["sha256"] for name, file in data_files(settings.data, EXAMPLE_FILES).items()}
    augmentation = None if settings.augment is None else settings.augment.model_dump(mode="json")
    shuffled = joined and settings.training.shuffle_evidence
    seed = settings.training.seed if augmentation or shuffled else None
    parts = [EXAMPLES_VERSION, data, augmentation, shuffled, seed, *([held_out] if held_out else [])]
    return json.dumps(parts, sort_keys=True)


def objective_for(settings: RunSettings, data: Dataset, labels: LabelSet) -> Objective:
    """The objective of a run, its class weights counted on the claims it trains on."""
    from adjudge.objectives.loss import Objective
    from adjudge.objectives.weights import class_balanced_weights

    loss = settings.objective
    weights = None
    if loss.beta is not None:
        counts = data.class_counts(len(labels))
        # The released code leaves the weights as they come out of Eq. 11.
        weights = class_balanced_weights(counts, loss.beta, normalise=loss.variant == "paper")
    return Objective(
        loss.name,
        complement=loss.complement,
        lam=loss.lam,
        weights=weights,
        variant=loss.variant,
        labels=labels,
        weighting=loss.weighting,
        normalise=loss.normalise,
    )


def _judge(work: _Work) -> None:
    """Predict and score the test claims; and predict the dev claims, for calibration, before the first of them."""
    from adjudge.judges.folder import load_model
    from adjudge.judges.predict import predict
    from adjudge.runs.speed import model_cost

    start, run, data = Start(), work.run, work.settings.data
    model = load_model(run.path, work.settings.training.freeze_layers)
    model.module.to(work.device)
    states = work.cache / "states"
    if data.dev is not None and not run.dev_predictions.exists():
        write_verdicts(run.dev_predictions, predict(model, dev_claims(data, data.dev), states=states))
    judgement = run.judgement(judgement_id(data))
    write_verdicts(judgement.predictions, predict(model, claims_to_judge(data), states=states))
    scores = score(judgement.predictions, data.gold or data.test or "", data.label_set)
    write_json(judgement.scores, scores.to_dict())
    files = data_files(data, TEST_FILES)
    cost = model_cost(model, claims_to_judge(data))
    judgement.finish({"data": files, "command": work.command, **cost, **provenance(start)})


def is_judged(run: RunFolder, data: DataSettings) -> bool:
    """Whether a run has judged the test claims of these settings."""
    return run.judgement(judgement_id(data)).is_finished


def read_scores(run: RunFolder, data: DataSettings) -> Scores | None:
    """How a run scores on test claims that it has judged; None without such a file."""
    if data.test is None:
        return None
    predictions = run.judgement(judgement_id(data)).predictions
    return score(predictions, data.gold or data.test, data.label_set)


def default_cache() -> Path:
    """The user's cache folder for adjudge."""
    return user_cache("training")


def _manifest(work: _Work, progress: TrainingProgress, start: Start) -> dict[str, Any]:
    from adjudge.judges.folder import weights_sha256

    settings = work.settings
    return {
        "run": work.identity,
        "command": work.command,
        "seed": settings.training.seed,
        "data": data_files(settings.data, TRAINING_FILES),
        "steps": progress.step,
        "best_step": progress.best_step,
        "weights": weights_sha256(str(work.run.path)),
        "best_dev_label_accuracy": None if settings.data.dev is None else progress.best_accuracy,
        **provenance(start),
    }
