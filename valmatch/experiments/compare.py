"""Paired comparison of two systems that met the same random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.config.identity import config_id
from valmatch.config.loading import ConfigLike, load
from valmatch.experiments.plan import DEFAULT_SEED, Plan, default_n
from valmatch.experiments.replications import Replications
from valmatch.experiments.side_runs import (
    Change,
    changed,
    common_values,
    run_sides,
    said_of_side,
    status_of,
)
from valmatch.model import Response
from valmatch.statistics.no_interval import why_no_interval
from valmatch.statistics.pairs import PairedDifference, paired
from valmatch.statistics.sampling import no_difference_interval
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result

__all__ = ["Comparison", "compare", "compare_runs"]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Two runs side by side.

    Attributes
    ----------
    a, b : Replications
        The runs, of one seed.
    n : int
        Number of replications that both have.
    confidence : float
        Level of the intervals.
    comparisons : mapping of str to PairedDifference
        By response, of those that both have.
    """

    a: Replications
    b: Replications
    n: int
    confidence: float
    comparisons: Mapping[str, PairedDifference]
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        ids = f"{config_id(self.a.config)} and {config_id(self.b.config)}"
        return (
            f"{self.a.config.model}, configs {ids}, seed {self.a.seed}, {self.n:,} common"
            f" replications, b - a with {self.confidence:.0%} intervals"
        )

    @property
    def status(self) -> str:
        """The status "complete", or why it is not."""
        return status_of([self.a, self.b])

    @property
    def changed(self) -> list[Change]:
        """What differs between the configs: name, its value in a, its value in b."""
        return changed(self.a.config, self.b.config)

    @property
    def responses(self) -> list[Response]:
        """The responses that are compared."""
        return [one for one in self.a.responses if one.name in self.comparisons]

    @property
    def no_interval(self) -> str:
        """Why some differences have no interval; "" if all have one."""
        return self.no_interval_of()

    def no_interval_of(self, chosen: Collection[str] = ()) -> str:
        """Return why differences have no interval, of the chosen responses if any are."""
        of_all = no_difference_interval({"A": self.a.sampling, "B": self.b.sampling}, self.n)
        rows = self.comparisons.items()
        shown = {name: one.difference for name, one in rows if not chosen or name in chosen}
        return why_no_interval(shown, of_all)

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        reason = {"no_interval": self.no_interval} if self.no_interval else {}
        return {
            "model": self.a.config.model,
            "a": said_of_side(self.a),
            "b": said_of_side(self.b),
            "changed": {name: {"a": here, "b": there} for name, here, there in self.changed},
            "seed": self.a.seed,
            "confidence": self.confidence,
            "replications": self.n,
            **reason,
            "differences": {
                name: {
                    **one.difference.as_dict(),
                    "mean_a": one.a.mean,
                    "mean_b": one.b.mean,
                    "variance_ratio": one.variance_ratio,
                }
                for name, one in self.comparisons.items()
            },
        }

    def table(self) -> dict[str, list[Any]]:
        """Return both means and the difference of each response."""
        rows = self.comparisons.values()
        return {
            "response": list(self.comparisons),
            "a": [one.a.mean for one in rows],
            "b": [one.b.mean for one in rows],
            "b - a": [one.difference.mean for one in rows],
            "ci_low": [one.difference.ci_low for one in rows],
            "ci_high": [one.difference.ci_high for one in rows],
            "n": [one.difference.n for one in rows],
            "unit": [one.unit for one in self.responses],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``differences.csv``: a row for each response."""
        rows = [{"response": name, **one} for name, one in self.summary()["differences"].items()]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def compare(
    a: ConfigLike,
    b: ConfigLike,
    n: int | None = None,
    seed: int = DEFAULT_SEED,
    *,
    workers: int = 1,
    executor: str | None = None,
    scheduler: str | None = None,
    confidence: float = 0.95,
    max_seconds: float = math.inf,
    out: PathLike | None = None,
    resume: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
    detail: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Replicate two configs under common random numbers and compare them pair by pair.

    Parameters
    ----------
    a, b : Config or what `valmatch.load` takes
        The systems; differences are b - a.
    n, seed, workers, executor, scheduler, max_seconds, resume, progress, warn, detail
        As for `valmatch.replicate`; `n` replications of each,
        the time for both, half of it for A. n is 1 by default only if it is so for both.
    confidence : float
        Level of the intervals, in (0, 1).
    out : PathLike or None
        Folder for ``differences.csv``, ``summary.json``, ``manifest.json`` and
        the runs in the folders ``a`` and ``b``.

    Returns
    -------
    Comparison
        The paired difference of each response.

    Raises
    ------
    InputError
        If an argument, the input of a model or a folder cannot be used, or nothing can be
        compared.
    RunError
        If a run fails; what is finished stays in the folder.
    """
    first, second = load(a), load(b)
    plan = Plan(default_n(first, second) if n is None else n, seed, confidence=confidence)
    path = None if out is None else arguments.path("out", out)
    with run_sides(
        {"a": first, "b": second},
        plan,
        {"config_id_b": config_id(second)},
        workers=workers,
        executor=executor,
        scheduler=scheduler,
        max_seconds=arguments.seconds("max_seconds", max_seconds),
        out=path,
        resume=resume,
        progress=progress,
        warn=warn,
        detail=detail,
    ) as (runs, folder):
        compared = replace(compare_runs(runs[0], runs[1], confidence), folder=path)
        if folder:
            write_csv(folder.path / "differences.csv", compared.columns())
            with write_atomically(folder.path / "summary.json") as file:
                file.write(to_json(compared.summary()))
            folder.close(compared.status, replications=compared.n)
    return compared


def compare_runs(a: Replications, b: Replications, confidence: float = 0.95) -> Comparison:
    """Compare two runs of one seed in the replications that both have.

    Raises
    ------
    InputError
        If the seeds differ, or the runs have no response in common.
    """
    names, shared, values = common_values([a, b])
    found = paired(values[0], values[1], confidence, (a.sampling, b.sampling), shared)
    limits = {one.name: one.limits for one in a.responses}
    rows = zip(names, found, strict=True)
    compared = {name: one.within(limits[name]) for name, one in rows}
    return Comparison(a, b, len(shared), confidence, compared)
