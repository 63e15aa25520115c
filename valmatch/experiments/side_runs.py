"""Runs of several systems on the same random numbers, each in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import changes, config_id, resolved
from valmatch.errors import InputError
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.execution.listeners import Listeners
from valmatch.execution.run_options import RunOptions
from valmatch.execution.simulator import build
from valmatch.experiments.plan import Plan
from valmatch.experiments.replicate import check_finished, claim, run_plan
from valmatch.experiments.replications import Replications
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.storage.run_folder import RunFolder, files_of

Change = tuple[str, object, object]
"""What differs: its name, its value in one config, its value in the other."""


@contextmanager
def run_sides(
    sides: Mapping[str, Config],
    plan: Plan,
    identity: Mapping[str, object],
    options: RunOptions,
    listeners: Listeners,
) -> Iterator[tuple[list[Replications], RunFolder | None]]:
    """Make the same replications of several configs; yield the runs and the folder around them."""
    configs, out, resume = list(sides.values()), options.out, options.resume
    _common([(config, build(config).responses) for config in configs])
    with ExitStack() as stack:
        pool = stack.enter_context(options.open_pool(listeners, *configs))
        folder = None
        if out:
            identity = {**identity, "seed": plan.seed}
            read = [file for config in configs for file in files_of(config)]
            claimed = RunFolder(out, "compare", configs[0], identity, resume=resume, read=read)
            for name, config in sides.items():
                claim(out / name, config, plan, resume, read=read)
            folder = stack.enter_context(claimed)
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        # Where the time is short, an equal part of it for each leaves replications to compare.
        parts = [options.max_seconds * k / len(sides) for k in range(1, len(sides))]
        stops = [*(Stop(part, stop) for part in parts), stop]
        if out and resume:
            for name, config in sides.items():
                check_finished(config, plan, out / name)
        runs = [
            run_plan(
                config,
                plan,
                pool,
                lambda until=until: until,  # type: ignore[misc]
                replace(options, out=out / name if out else None),
                listeners,
            )
            for (name, config), until in zip(sides.items(), stops, strict=True)
        ]
        yield runs, folder


def status_of(runs: Sequence[Replications]) -> str:
    """Return the status "complete", or why not all runs are."""
    if runs[-1].status == "interrupted":
        return "interrupted"
    return next((run.status for run in runs if not run.complete), "complete")


def changed(a: Config, b: Config) -> list[Change]:
    """Return what differs between two configs."""
    return [
        (key.removeprefix("factors."), here, there)
        for key, here, there in changes(resolved(a), resolved(b))
    ]


def said_of_side(run: Replications) -> dict[str, Any]:
    """Return what ``summary.json`` says of the config of a run, and of what it is a sample of."""
    sampling = {"sampling": dict(run.sampling.facts)} if run.sampling.facts else {}
    return {"source": run.config.source, "config_id": config_id(run.config), **sampling}


def common_values(runs: Sequence[Replications]) -> tuple[list[str], list[int], list[Floats]]:
    """Return what some runs of one seed have in common.

    Shapes: returns (n, r).
    """
    for run in runs:
        if run.seed != runs[0].seed:
            raise InputError(
                f"seeds {runs[0].seed} and {run.seed}: differences are taken between runs of one"
                " seed"
            )
    names = _common([(run.config, run.responses) for run in runs])
    shared = sorted(set.intersection(*(set(run.indices) for run in runs)))
    return names, shared, [_columns(run, names, shared) for run in runs]


def _common(responses: Sequence[tuple[Config, Sequence[Response]]]) -> list[str]:
    """Return the names of the responses that the models of all configs have."""
    first, *others = ([response.name for response in own] for _, own in responses)
    names = [name for name in first if all(name in other for other in others)]
    if not names:
        models = dict.fromkeys(config.model for config, _ in responses)
        raise InputError(f"{' and '.join(models)} have no response in common")
    return names


def _columns(run: Replications, names: list[str], indices: list[int]) -> Floats:
    """Return the responses `names` of the replications `indices`, (n, r) float64."""
    rows = {index: row for row, index in enumerate(run.indices)}
    columns = [[response.name for response in run.responses].index(name) for name in names]
    return run.values[np.ix_([rows[index] for index in indices], columns)]
