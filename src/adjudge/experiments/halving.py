"""Giving up hopeless runs: successive halving, as Optuna decides it."""

from __future__ import annotations

from collections.abc import Callable

from adjudge.errors import MissingExtra
from adjudge.experiments.status import Evaluation

FIRST_RUNG = 25  # % of a training after which a run is first judged; the next rung is at twice as much
KEPT = 2  # one in so many goes on

Watch = Callable[[Evaluation], bool]
"""Told each evaluation of one run, says whether to give it up."""


def patience() -> Watch:
    """Gives nothing up."""
    return lambda evaluation: False


def halving() -> Callable[[], Watch]:
    """At a quarter and at half of its training a run must be in the better half of all that came so far.

    Runs come one after another, so the rule is the asynchronous one: the first run is never given up, and a
    run is compared with those before it. What counts is the best LA so far, as it is what a run is chosen by.
    Nothing is stored: a search that starts again replays the curves in the run folders.

    Returns:
        A function that begins to watch the next run.
    """
    try:
        import optuna
    except ImportError:
        raise MissingExtra(
            "Giving up hopeless runs needs Optuna (or say --no-early-stopping)", "tune"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=FIRST_RUNG, reduction_factor=KEPT)
    study = optuna.create_study(direction="maximize", pruner=pruner)

    def begin() -> Watch:
        trial = study.ask()
        best, reached = 0.0, -1

        def hopeless(evaluation: Evaluation) -> bool:
            nonlocal best, reached
            best = max(best, evaluation.label_accuracy)
            percent = round(100 * evaluation.done)
            if percent <= reached or percent >= 100:  # a resumed run repeats itself; a whole run is kept
                return False
            reached = percent
            trial.report(best, percent)
            return trial.should_prune()

        return hopeless

    return begin
