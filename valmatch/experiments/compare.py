"""Paired comparison of two systems that met the same random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.config.identity import changes, config_id, resolved
from valmatch.config.loading import ConfigLike, load
from valmatch.errors import InputError
from valmatch.execution.executors import open_pool
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.experiments.plan import DEFAULT_SEED, Plan, default_n
from valmatch.experiments.replicate import check_kept, run_plan
from valmatch.experiments.replications import Replications
from valmatch.model import Response
from valmatch.simulator import build, releases_gil
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.sampling import INDEPENDENT, OneHistory, Sampling
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder

__all__ = ["Comparison", "PairedDifference", "compare", "compare_runs", "paired"]

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""A difference that varies by less than this share of what it is taken of is constant."""


@dataclass(frozen=True)
class PairedDifference:
    """What common replications say about one response of systems A and B.

    All is taken over the replications in which the response is defined under both; the others
    are counted as undefined.

    Attributes
    ----------
    a, b : Estimate
        The mean under each.
    difference : Estimate
        The mean of b - a, whose interval is that of paired differences.
    variance_ratio : float or None
        (variance of a + variance of b) / variance of the difference: how many times more
        replications independent sampling would need; None where the difference is constant.
    """

    a: Estimate
    b: Estimate
    difference: Estimate
    variance_ratio: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name, ready for JSON."""
        return {
            "a": self.a.as_dict(),
            "b": self.b.as_dict(),
            "difference": self.difference.as_dict(),
            "variance_ratio": self.variance_ratio,
        }


def paired(
    values_a: Floats,
    values_b: Floats,
    confidence: float = 0.95,
    samplings: tuple[Sampling, Sampling] = (INDEPENDENT, INDEPENDENT),
) -> list[PairedDifference]:
    """Compare systems A and B, response by response.

    Parameters
    ----------
    values_a, values_b : (n, r) ndarray of float64
        One row a replication, one column a response; NaN where undefined. Row k of both comes of
        the same random numbers.
    confidence : float
        Level of the intervals, in (0, 1).
    samplings : tuple of Sampling
        What the replications of each are samples of. Where it is the same, so are the differences.

    Raises
    ------
    ValueError
        If the arrays differ in shape.
    """
    if values_a.shape != values_b.shape:
        raise ValueError(f"shapes {values_a.shape} and {values_b.shape} cannot be paired")
    columns = zip(values_a.T, values_b.T, strict=True)
    return [_compare(a, b, confidence, samplings) for a, b in columns]


def _compare(
    a: Floats, b: Floats, confidence: float, samplings: tuple[Sampling, Sampling]
) -> PairedDifference:
    undefined = np.isnan(a) | np.isnan(b)
    # Of a log and something else: neither says how far the difference may be off.
    common = samplings[0] if samplings[0] == samplings[1] else OneHistory()
    first, second, difference = (
        one.estimate(np.where(undefined, np.nan, values), confidence)
        for one, values in zip((*samplings, common), (a, b, b - a), strict=True)
    )
    return PairedDifference(first, second, difference, _variance_ratio(first, second, difference))


def _variance_ratio(a: Estimate, b: Estimate, difference: Estimate) -> float | None:
    if a.std is None or b.std is None or difference.std is None:
        return None
    apart = math.hypot(a.std, b.std)
    return (apart / difference.std) ** 2 if difference.std > ROUNDING * apart else None


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
        if self.b.status == "interrupted" or self.a.complete:
            return self.b.status
        return self.a.status

    @property
    def changed(self) -> list[tuple[str, object, object]]:
        """What differs between the configs: name, its value in a, its value in b."""
        return [
            (key.removeprefix("factors."), here, there)
            for key, here, there in changes(resolved(self.a.config), resolved(self.b.config))
        ]

    @property
    def responses(self) -> list[Response]:
        """The responses that are compared."""
        return [one for one in self.a.responses if one.name in self.comparisons]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "model": self.a.config.model,
            "a": _side(self.a),
            "b": _side(self.b),
            "changed": {name: {"a": here, "b": there} for name, here, there in self.changed},
            "seed": self.a.seed,
            "confidence": self.confidence,
            "replications": self.n,
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


def _side(run: Replications) -> dict[str, str]:
    return {"source": run.config.source, "config_id": config_id(run.config)}


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
    limit = arguments.seconds("max_seconds", max_seconds)
    path = None if out is None else arguments.path("out", out)
    _common(build(first).responses, build(second).responses, first.model, second.model)
    with ExitStack() as stack:
        threads = releases_gil(first, second)
        opened = open_pool(executor, workers, scheduler, warn, detail, threads=threads)
        pool = stack.enter_context(opened)
        folder = None
        if path:
            identity = {"config_id_b": config_id(second), "seed": seed}
            folder = stack.enter_context(
                RunFolder(path, "compare", first, identity, resume=resume, kept_in="a")
            )
        stop = stack.enter_context(stop_on_signal(limit))
        # Where the time is short, half of it leaves pairs to compare.
        sides = (("a", first, Stop(limit / 2.0, stop)), ("b", second, stop))
        if path and resume:
            for name, config, _ in sides:
                check_kept(config, plan, path / name)
        runs = [
            run_plan(
                config,
                plan,
                pool,
                lambda until=until: until,  # type: ignore[misc]
                out=path / name if path else None,
                resume=resume,
                progress=progress,
                warn=warn,
            )
            for name, config, until in sides
        ]
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
        If the seeds differ, or the runs have no response or no replication in common.
    """
    if a.seed != b.seed:
        raise InputError(
            f"seeds {a.seed} and {b.seed}: differences are taken between runs of one seed"
        )
    common = _common(a.responses, b.responses, a.config.model, b.config.model)
    shared = sorted(set(a.indices) & set(b.indices))
    columns = [_columns(run, common, shared) for run in (a, b)]
    found = paired(columns[0], columns[1], confidence, (a.sampling, b.sampling))
    return Comparison(a, b, len(shared), confidence, dict(zip(common, found, strict=True)))


def _common(a: Sequence[Response], b: Sequence[Response], model_a: str, model_b: str) -> list[str]:
    """Return the names of the responses that two models have."""
    names = [one.name for one in b]
    common = [one.name for one in a if one.name in names]
    if not common:
        raise InputError(f"{model_a} and {model_b} have no response in common")
    return common


def _columns(run: Replications, names: list[str], indices: list[int]) -> Floats:
    """Return the responses `names` of the replications `indices`, (n, r) float64."""
    rows = {index: row for row, index in enumerate(run.indices)}
    columns = [[one.name for one in run.responses].index(name) for name in names]
    return run.values[np.ix_([rows[index] for index in indices], columns)]
