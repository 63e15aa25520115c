"""The files that each command writes to the folder of a run."""

from __future__ import annotations

from typing import NamedTuple

MANIFEST = "manifest.json"
"""Says whose a folder is, and of which run; see `valmatch.storage.manifest`."""


class Contents(NamedTuple):
    """What a command writes to its folder, besides its manifest."""

    # every file that a run of the command may write, replace or remove; those of its parts, such as
    # the points of a design, are in folders of their own, each a run with a manifest
    files: tuple[str, ...]
    # the files or folders from one of which a run can be resumed, () where none can
    progress: tuple[str, ...] = ()


CONTENTS = {
    # The tables of its model are known when they are made: `RunFolder.add`.
    "simulate": Contents(("responses.json",)),
    "replicate": Contents(
        (
            "replications.csv",
            "controls.csv",
            "curves.npz",
            "curves.csv",
            "summary.json",
            "summary.csv",
            "paired.csv",
        ),
        ("replications.csv",),
    ),
    "design": Contents(("design.csv", "summary.json"), ("points",)),
    "compare": Contents(("differences.csv", "summary.json"), ("a",)),
    "optimize": Contents(
        (
            "evaluations.csv",
            "judged.csv",
            "trajectory.csv",
            "candidates.csv",
            "progress.csv",
            "frontier.csv",
            "front.csv",
            "recommended.yaml",
            "tuned_rules.json",
            "start_and_recommended.csv",
            "summary.json",
        ),
        ("evaluations.csv",),
    ),
    "rate": Contents(
        ("ratings.csv", "changes.csv", "history.csv", "comparison.csv", "summary.json")
    ),
    "rank": Contents(
        (
            "ratings.csv",
            "differences.csv",
            "superiority.csv",
            "coefficients.csv",
            "bootstrap.csv",
            "days.csv",
            "posterior.npz",
            "summary.json",
        )
    ),
    "predict": Contents(("predictions.csv", "summary.json")),
    "next": Contents(("batch.csv", "summary.json")),
    "plan": Contents(("plan.csv", "summary.json")),
    "rules replay": Contents(
        (
            "tickets.csv",
            "matches.csv",
            "players.csv",
            "rules.csv",
            "steps.csv",
            "log.csv",
            "summary.json",
            "result.json",
            "comparison.json",
            "world.json",
            "proposals.jsonl",
            "explain.jsonl",
        )
    ),
}
"""By command; a folder whose manifest names none of them is none of ours."""
