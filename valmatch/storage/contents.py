"""The files that each command writes to the folder of a run, besides its manifest."""

from __future__ import annotations

MANIFEST = "manifest.json"  # says whose a folder is, and of which run

_CONTENTS = {
    # The tables of its model are known when they are made: `RunFolder.add`.
    "simulate": "responses.json",
    "replicate": "replications.csv controls.csv curves.npz curves.csv summary.json summary.csv"
    " paired.csv",
    "design": "design.csv summary.json",
    "compare": "differences.csv summary.json",
    "optimize": "evaluations.csv judged.csv trajectory.csv candidates.csv progress.csv"
    " frontier.csv front.csv recommended.yaml tuned_rules.json start_and_recommended.csv"
    " start_and_least_violation.csv today_and_recommended.csv today_and_least_violation.csv"
    " summary.json",
    "rate": "ratings.csv changes.csv history.csv comparison.csv summary.json",
    "rank": "ratings.csv differences.csv superiority.csv coefficients.csv bootstrap.csv days.csv"
    " firmness.csv posterior.npz summary.json",
    "predict": "predictions.csv summary.json",
    "next": "batch.csv summary.json",
    "plan": "plan.csv summary.json",
    "rules replay": "tickets.csv matches.csv players.csv rules.csv steps.csv log.csv summary.json"
    " result.json comparison.json world.json proposals.jsonl explain.jsonl",
}

CONTENTS = {command: tuple(names.split()) for command, names in _CONTENTS.items()}
"""Every file that a run of a command may write, replace or remove, by command."""

PROGRESS = {
    "replicate": "replications.csv",
    "design": "points",
    "compare": "a",
    "optimize": "evaluations.csv",
}
"""The file or folder from which a run can be resumed, by command."""
