"""Replications at every point of a design, under common random numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.execution.interruption import stop_on_signal
from valmatch.execution.listeners import NO_LISTENERS, Listeners
from valmatch.execution.run_options import DEFAULT_OPTIONS, RunOptions
from valmatch.execution.shards import WHOLE, Shard
from valmatch.experiments.design import Design
from valmatch.experiments.plan import Plan
from valmatch.experiments.replicate import check_finished, run_plan
from valmatch.experiments.replicate import claim as claim_point
from valmatch.experiments.replications import STATISTICS, Replications
from valmatch.statistics.no_interval import reason_of_each, short_intervals
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder

POINTS = "points"  # folder of the folders of the points, each named by its config id


@dataclass(frozen=True, repr=False)
class DesignReplications(Result):
    """The replications of the points of a design."""

    config: Config  # the config that the points vary
    design: Design  # the points
    results: Sequence[Replications]  # the replications of each point; fewer if the run was stopped
    stopped: str = ""  # why it was stopped between two points, "" if it was not
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was replicated, in one line."""
        points = f"{len(self.results)} of {len(self.design.points)} points"
        return f"{self.config.model}, {points} over {', '.join(self.design.factors)}"

    @property
    def status(self) -> str:
        """The status "complete", or why it is not."""
        unfinished = (result.status for result in self.results if not result.complete)
        return next(unfinished, self.stopped or "complete")

    @property
    def points(self) -> list[dict[str, Any]]:
        """The factors of each point that was simulated."""
        points = self.design.points[: len(self.results)]
        return [dict(zip(self.design.factors, point, strict=True)) for point in points]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        both = zip(self.points, self.results, strict=True)
        return {
            "model": self.config.model,
            "factors": list(self.design.factors),
            "points": [{"point": point, **result.summary()} for point, result in both],
        }

    def no_interval_of(self, chosen: Collection[str] = ()) -> str:
        """Return why some means have no interval, of the chosen ones if any are; "" if all have."""
        reasons = {}
        for point, result in zip(self.points, self.results, strict=True):
            levels = (f"{key.removeprefix('factors.')}={level}" for key, level in point.items())
            reasons[f"at {', '.join(levels)}"] = result.no_interval_of(chosen)
        return reason_of_each(reasons)

    def short_intervals_of(self, chosen: Collection[str] = ()) -> str:
        """Return which intervals may be too short at some point, of the chosen responses if any."""
        means = [pair for result in self.results for pair in result.estimates.items()]
        shown = [pair for pair in means if not chosen or pair[0] in chosen]
        return short_intervals(shown, any(result.sampling.fixed for result in self.results))

    def table(self) -> dict[str, list[Any]]:
        """Return the mean of each response at each point."""
        names = (*self.design.factors, "response", "mean", "ci_low", "ci_high", "n")
        columns = self.columns()
        return {name: columns[name] for name in names if name in columns}

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``design.csv``: a row for each point and response."""
        rows = []
        both = zip(self.points, self.results, strict=True)
        for number, (point, result) in enumerate(both):
            identity = {"point": number, "config_id": config_id(result.config), **point}
            for name, estimate in result.estimates.items():
                facts = estimate.as_row()
                rows.append({**identity, "response": name, **{k: facts[k] for k in STATISTICS}})
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def run_design(
    config: Config,
    design: Design,
    configs: Sequence[Config],
    plan: Plan,
    options: RunOptions = DEFAULT_OPTIONS,
    listeners: Listeners = NO_LISTENERS,
) -> DesignReplications:
    """Run the replications of every point of a design, one point after the other.

    Points that are the same system (equal config ids) are simulated once.
    """
    results: dict[str, Replications] = {}
    out, resume = options.out, options.resume
    with ExitStack() as stack:
        pool = stack.enter_context(options.open_pool(listeners, config))
        folder = None
        if out:
            ids = list(map(config_id, configs))
            claimed = claim(out, config, design, ids, plan.seed, plan.shard, resume=resume)
            for key, point in zip(ids, configs, strict=True):
                claim_point(out / POINTS / key, point, plan, resume)
            folder = stack.enter_context(claimed)
        if out and resume:
            for key, point in {config_id(point): point for point in configs}.items():
                if (out / POINTS / key).exists():
                    check_finished(point, plan, out / POINTS / key)
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        for point in configs:
            key = config_id(point)
            if key not in results:
                results[key] = run_plan(
                    point,
                    plan,
                    pool,
                    lambda: stop,
                    replace(options, out=out / POINTS / key if out else None),
                    listeners,
                )
            if stop() or not results[key].complete:
                break
        keys = takewhile(results.__contains__, map(config_id, configs))
        made = [results[key] for key in keys]
        stopped = stop.reason if len(made) < len(configs) else ""
        experiment = DesignReplications(config, design, made, stopped, out)
        if folder:
            write_experiment(folder, experiment)
    return experiment


def claim(
    out: Path,
    config: Config,
    design: Design,
    ids: Sequence[str],
    seed: int,
    shard: Shard,
    *,
    resume: bool,
    read: Sequence[Path] = (),
) -> RunFolder:
    """Return the folder of an experiment, claimed; `ids` are those of its points' configs."""
    identity: dict[str, Any] = {
        "seed": seed,
        "shard": None if shard == WHOLE else str(shard),
        "design_id": hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()[:12],
    }
    identity["design"] = {
        "factors": list(design.factors),
        "points": [list(point) for point in design.points],
        "config_ids": list(ids),
    }
    return RunFolder(out, "design", config, identity, resume=resume, read=read)


def write_experiment(folder: RunFolder, experiment: DesignReplications) -> None:
    """Write the files of an experiment but those of its points, and say how it ended."""
    write_csv(folder.path / "design.csv", experiment.columns())
    with write_atomically(folder.path / "summary.json") as file:
        file.write(to_json(experiment.summary()))
    found = chain.from_iterable(result.input_remarks for result in experiment.results)
    folder.remark_input(found)
    folder.close(experiment.status, points=len(experiment.results))
