"""Paired comparison of several variants with one system, whose intervals hold together."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np

from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.config.loading import ConfigLike, load
from valmatch.errors import InputError, option
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
from valmatch.printable import printable
from valmatch.statistics.no_interval import listed, reason_of_each, why_no_interval
from valmatch.statistics.pairs import PairedDifference, differing, paired
from valmatch.statistics.sampling import (
    INDEPENDENT,
    Sampling,
    Widened,
    no_difference_interval,
)
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result

__all__ = [
    "MOST_VARIANTS",
    "ComparedVariants",
    "Variant",
    "compare_variant_runs",
    "compare_variants",
]

BASE, *NAMES = list(ascii_lowercase)
"""What the systems are called, and the folders of their runs."""

MOST_VARIANTS = len(NAMES)

ENOUGH = 20
"""Replications that differ in another way than mostly, from which on intervals can be trusted.

Where they are fewer, joint 95% intervals may hold 10 to 90 % of the time; the others miss the truth
about as seldom as they say, those of long waits included: `tests/verification/test_variants.py`.
"""


@dataclass(frozen=True)
class Variant:
    """A system and its paired differences to the base.

    Attributes
    ----------
    name : str
        A letter, "b" for the first.
    run : Replications
        Its run.
    changed : list of tuple
        What differs: name, its value in the base, its value here.
    comparisons : mapping of str to PairedDifference
        By response; ``b`` is this system.
    """

    name: str
    run: Replications
    changed: list[Change]
    comparisons: Mapping[str, PairedDifference]

    @property
    def in_words(self) -> str:
        """What differs, as one line."""
        return "; ".join(printable(f"{name}={value}") for name, _, value in self.changed)


@dataclass(frozen=True, repr=False)
class ComparedVariants(Result):
    """Several systems, each against one base, in the same replications.

    Attributes
    ----------
    base : Replications
        The run that the others are compared with.
    variants : sequence of Variant
        The others.
    n : int
        Number of replications that all have.
    confidence : float
        Probability with which all intervals of a response hold together.
    differing : mapping of str to int
        By response, in how many replications that variant differs from the base in another way than
        mostly for which they are the fewest.
    """

    base: Replications
    variants: Sequence[Variant]
    n: int
    confidence: float
    folder: Path | None = None
    differing: Mapping[str, int] = field(default_factory=dict)

    @property
    def level(self) -> float:
        """The level of each interval, by Bonferroni: errors of all variants add up."""
        return _level(self.confidence, len(self.variants))

    @property
    def rare(self) -> dict[str, int]:
        """The responses by which some variant differs too rarely for its interval to be trusted."""
        independent = self.base.sampling == INDEPENDENT
        return {name: n for name, n in self.differing.items() if independent and n < ENOUGH}

    @property
    def intervals(self) -> str:
        """What the intervals say; "" where there are none."""
        return self.intervals_of()

    def intervals_of(self, chosen: Collection[str] = ()) -> str:
        """Return what the intervals say, of the chosen responses if any are."""
        found = (one.difference for v in self.variants for one in v.comparisons.values())
        if all(one.ci_low is None for one in found):
            return ""
        rare, few = [name for name in self.rare if not chosen or name in chosen], ""
        if rare:
            few = (
                f"; those of {listed(rare)} may not: a variant differs in fewer than"
                f" {ENOUGH} replications"
            )
        return (
            f"the {len(self.variants)} intervals of a response hold together at"
            f" {self.confidence:.4g} (Bonferroni, each at {self.level:.4g}){few}"
        )

    @property
    def no_interval(self) -> str:
        """Why some differences have no interval; "" if all have one."""
        return self.no_interval_of()

    def no_interval_of(self, chosen: Collection[str] = ()) -> str:
        """Return why differences of some variants have no interval, of the chosen responses if any.

        The reason of all differences of a variant, or else those of responses.
        """
        reasons = {}
        for one in self.variants:
            samplings = {BASE.upper(): self.base.sampling, one.name.upper(): one.run.sampling}
            if reason := no_difference_interval(samplings, self.n):
                return reason
            rows = one.comparisons.items()
            shown = {name: row.difference for name, row in rows if not chosen or name in chosen}
            reasons[f"{one.name.upper()} - {BASE.upper()}"] = why_no_interval(shown, "")
        return reason_of_each(reasons)

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        ids = ", ".join(config_id(one.run.config) for one in self.variants)
        said = f"; {self.intervals}" if self.intervals else ""
        return (
            f"{self.base.config.model}, configs {ids} against {config_id(self.base.config)}, seed"
            f" {self.base.seed}, {self.n:,} common replications{said}"
        )

    @property
    def status(self) -> str:
        """The status "complete", or why it is not."""
        return status_of([self.base, *(one.run for one in self.variants)])

    @property
    def responses(self) -> list[Response]:
        """The responses that are compared."""
        return [one for one in self.base.responses if one.name in self.variants[0].comparisons]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        reason = {"no_interval": self.no_interval} if self.no_interval else {}
        return {
            "model": self.base.config.model,
            BASE: said_of_side(self.base),
            "seed": self.base.seed,
            "replications": self.n,
            **reason,
            "confidence": self.confidence,
            "simultaneous": {
                "method": "bonferroni",
                "over": "the variants, response by response",
                "intervals": len(self.variants),
                "confidence_each": self.level,
                "differ_in_few": self.rare,
            },
            "variants": {
                one.name: {
                    **said_of_side(one.run),
                    "changed": {
                        name: {BASE: here, one.name: there} for name, here, there in one.changed
                    },
                    "differences": {
                        name: _difference(found) for name, found in one.comparisons.items()
                    },
                }
                for one in self.variants
            },
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``differences.csv``: a row for each variant and response."""
        rows = [
            {
                "variant": one.name,
                "changed": one.in_words,
                "response": response,
                **_difference(found),
                "simultaneous_confidence": self.confidence,
            }
            for one in self.variants
            for response, found in one.comparisons.items()
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def table(self) -> dict[str, list[Any]]:
        """Return the mean of the base and the difference of each variant, for each response."""
        units = {one.name: one.unit for one in self.responses}
        rows = [
            {
                "variant": one.name,
                "response": response,
                BASE: found.a.mean,
                f"- {BASE}": found.difference.mean,
                "ci_low": found.difference.ci_low,
                "ci_high": found.difference.ci_high,
                "n": found.difference.n,
                "unit": units[response],
            }
            for one in self.variants
            for response, found in one.comparisons.items()
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}


def _difference(found: PairedDifference) -> dict[str, Any]:
    return {
        **found.difference.as_dict(),
        "mean_base": found.a.mean,
        "mean_variant": found.b.mean,
        "variance_ratio": found.variance_ratio,
    }


def _level(confidence: float, variants: int) -> float:
    """Return the level at which so many intervals hold together with some confidence."""
    return 1.0 - (1.0 - confidence) / variants


def compare_variants(
    base: ConfigLike,
    variants: Sequence[ConfigLike],
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
) -> ComparedVariants:
    """Replicate several configs under common random numbers and compare each with the first.

    Parameters
    ----------
    base : Config or what `valmatch.load` takes
        The system that the others are compared with.
    variants : sequence of those
        Two to 25 others; differences are variant - base.
    n, seed, workers, executor, scheduler, max_seconds, resume, progress, warn, detail
        As for `valmatch.compare`; each system gets an equal part of the time.
    confidence : float
        Probability with which the intervals of all variants hold together, response by response.
    out : PathLike or None
        Folder for ``differences.csv``, ``summary.json``, ``manifest.json`` and the runs in the
        folders ``a`` (the base), ``b``, ``c`` and so on.

    Returns
    -------
    ComparedVariants
        The paired differences of each variant.

    Raises
    ------
    InputError
        If an argument, the input of a model or a folder cannot be used, two configs are the same,
        or nothing can be compared.
    RunError
        If a run fails; what is finished stays in the folder.
    """
    first, others = load(base), [load(one) for one in variants]
    sides = _sides([first, *others])
    plan = Plan(default_n(*sides.values()) if n is None else n, seed, confidence=confidence)
    path = None if out is None else arguments.path("out", out)
    with run_sides(
        sides,
        plan,
        {"variants": [config_id(one) for one in others]},
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
        compared = replace(compare_variant_runs(runs[0], runs[1:], confidence), folder=path)
        if folder:
            write_csv(folder.path / "differences.csv", compared.columns())
            with write_atomically(folder.path / "summary.json") as file:
                file.write(to_json(compared.summary()))
            folder.close(compared.status, replications=compared.n)
    return compared


def _sides(configs: Sequence[Config]) -> dict[str, Config]:
    """Return the configs by letter; refuse too few, too many, and the same twice."""
    if not 2 < len(configs) <= 1 + MOST_VARIANTS:
        raise InputError(
            f"{option('variants')}: {len(configs) - 1} in all (allowed: from 2 to {MOST_VARIANTS})"
        )
    sides = dict(zip((BASE, *NAMES), configs, strict=False))
    for (name, one), (other, same) in combinations(sides.items(), 2):
        if config_id(one) == config_id(same):
            raise InputError(
                f"{name.upper()} and {other.upper()} are the same, config {config_id(one)}:"
                " leave one of them out"
            )
    return sides


def _widened(sampling: Sampling) -> Sampling:
    """Return how intervals are made: of independent replications with regard to skewness."""
    return Widened() if sampling == INDEPENDENT else sampling


def compare_variant_runs(
    base: Replications, variants: Sequence[Replications], confidence: float = 0.95
) -> ComparedVariants:
    """Compare runs of one seed with one of them, in the replications that all have.

    Raises
    ------
    InputError
        If the seeds differ, two runs are of one config, or they have no response in common.
    """
    _sides([base.config, *(run.config for run in variants)])
    names, shared, (first, *others) = common_values([base, *variants])
    level = _level(confidence, len(variants))
    limits = {one.name: one.limits for one in base.responses}
    compared = []
    fewest = np.min([differing(first, values) for values in others], axis=0)
    for name, run, values in zip(NAMES, variants, others, strict=False):
        samplings = _widened(base.sampling), _widened(run.sampling)
        found = paired(first, values, level, samplings, shared)
        rows = zip(names, found, strict=True)
        by_name = {name: one.within(limits[name]) for name, one in rows}
        compared.append(Variant(name, run, changed(base.config, run.config), by_name))
    rare = dict(zip(names, fewest.tolist(), strict=True))
    return ComparedVariants(base, compared, len(shared), confidence, differing=rare)
