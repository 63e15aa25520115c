"""Paired comparison of variants with a base system that met the same random numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Self

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import changes, config_id, resolved
from valmatch.config.loading import ConfigLike, load_config
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.execution.run_options import (
    DEFAULT_SEED,
    CompareArguments,
    RunOptions,
    first_given,
)
from valmatch.experiments.replicate import (
    Plan,
    check_folders,
    default_n,
    run_plan,
)
from valmatch.experiments.replications import Replications
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import (
    doubtful_intervals,
    listed,
    reason_of_each,
    short_intervals,
    undefined_in,
    why_no_interval,
)
from valmatch.statistics.pairs import PairedDifference, differing, paired
from valmatch.statistics.sampling import INDEPENDENT, Sampling, Widened, no_difference_interval
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import write_csv, write_json
from valmatch.storage.result_files import ResultFiles, damaged, result_files
from valmatch.storage.results import Result, warnings_entry, warnings_of_parts
from valmatch.storage.run_folder import RunFolder, files_of
from valmatch.text.terminal import Notice, escaped

# Runs of several systems on the same random numbers, each in a folder of its own.

Change = tuple[str, object, object]
"""What differs: its name, its value in one config, its value in the other."""


@contextmanager
def paired_runs(
    sides: Mapping[str, Config],
    plan: Plan,
    identity: Mapping[str, object],
    options: RunOptions,
) -> Iterator[tuple[list[Replications], RunFolder | None]]:
    """Make the same replications of several configs; yield the runs and the folder around them."""
    configs, out, resume = list(sides.values()), options.out, options.resume
    _common([(config, build(config).responses) for config in configs])
    with ExitStack() as stack:
        pool = stack.enter_context(options.open_pool(*configs))
        folder = None
        if out:
            identity = {**identity, "seed": plan.seed}
            read = [file for config in configs for file in files_of(config)]
            opened = RunFolder(out, "compare", configs[0], identity, resume=resume, read=read)
            check_folders({out / name: sides[name] for name in sides}, plan, resume, read)
            folder = stack.enter_context(opened)
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        # Where the time is short, an equal part of it for each leaves replications to compare.
        parts = [options.max_seconds * k / len(sides) for k in range(1, len(sides))]
        stops = [*(Stop(part, stop) for part in parts), stop]
        runs = [
            run_plan(
                config,
                plan,
                pool,
                lambda until=until: until,  # type: ignore[misc]
                replace(options, out=out / name if out else None),
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
    """A system and its paired differences to the base."""

    name: str  # a letter, "b" for the first
    run: Replications  # its run
    changed: list[Change]  # what differs: name, its value in the base, its value here
    # by response; ``a`` is the base, ``b`` is this system
    comparisons: Mapping[str, PairedDifference]

    @property
    def in_words(self) -> str:
        """What differs, as one line."""
        return "; ".join(escaped(f"{name}={value}") for name, _, value in self.changed)


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """One or several systems, each against one base, in the same replications.

    Attributes
    ----------
    base : Replications
        The run that the others are compared with.
    variants : sequence of Variant
        The others, of the same seed.
    n : int
        Number of replications that all have.
    confidence : float
        Probability with which all intervals of a response hold together.
    differing : mapping of str to int
        By response, in how many replications that variant differs from the base in another way than
        mostly for which they are the fewest.
    """

    presented_by = "compare"

    base: Replications
    variants: Sequence[Variant]
    n: int
    confidence: float
    folder: Path | None = None
    differing: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_pair(self) -> bool:
        """Whether a single system is compared with the base."""
        return len(self.variants) == 1

    @property
    def a(self) -> Replications:
        """The base."""
        return self.base

    @property
    def b(self) -> Replications:
        """The run of the first variant."""
        return self.variants[0].run

    @property
    def comparisons(self) -> Mapping[str, PairedDifference]:
        """The differences of the first variant by response."""
        return self.variants[0].comparisons

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
        """What the intervals of several variants say; "" where there are none."""
        return self.intervals_of()

    def intervals_of(self, chosen: Collection[str] = ()) -> str:
        """Return what the intervals say, of the chosen responses if any are."""
        differences = [
            pair.difference for variant in self.variants for pair in variant.comparisons.values()
        ]
        if self.is_pair or all(difference.ci_low is None for difference in differences):
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
        """Return why differences have no interval, of the chosen responses if any are.

        The reason of all differences of a variant, or else those of responses.
        """
        reasons = {}
        for variant in self.variants:
            name = variant.name.upper()
            samplings = {BASE.upper(): self.base.sampling, name: variant.run.sampling}
            of_all = no_difference_interval(samplings, self.n)
            pairs = variant.comparisons.items()
            shown = {key: pair.difference for key, pair in pairs if not chosen or key in chosen}
            if of_all and not self.is_pair:
                return of_all
            reasons[f"{name} - {BASE.upper()}"] = why_no_interval(shown, of_all)
        return next(iter(reasons.values())) if self.is_pair else reason_of_each(reasons)

    def short_intervals_of(self, chosen: Collection[str] = ()) -> str:
        """Return which differences may have too short intervals, of the chosen responses if any.

        Without those of which `intervals` says it.
        """
        return short_intervals(self._doubtful(chosen), bool(self.base.sampling.fixed))

    def _doubtful(self, chosen: Collection[str]) -> list[tuple[str, Estimate]]:
        """Return the differences of responses but for those of which `intervals` says it."""
        left_out = () if self.is_pair else self.rare
        return [
            (name, pair.difference)
            for variant in self.variants
            for name, pair in variant.comparisons.items()
            if name not in left_out and (not chosen or name in chosen)
        ]

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        model, base = self.base.config.model, config_id(self.base.config)
        ids = ", ".join(config_id(variant.run.config) for variant in self.variants)
        made = f"seed {self.base.seed}, {self.n:,} common replications"
        if self.is_pair:
            of = f"{model}, configs {base} and {ids}, {made}"
            return f"{of}, b - a with {self.confidence:.0%} intervals"
        said = f"; {self.intervals}" if self.intervals else ""
        return f"{model}, configs {ids} against {base}, {made}{said}"

    @property
    def status(self) -> str:
        """The status "complete", or why it is not."""
        return status_of([self.base, *(variant.run for variant in self.variants)])

    @property
    def responses(self) -> list[Response]:
        """The responses that are compared."""
        return [response for response in self.base.responses if response.name in self.comparisons]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return self._summary_of_pair() if self.is_pair else self._summary_of_several()

    def _summary_of_pair(self) -> dict[str, Any]:
        reason = {"no_interval": self.no_interval} if self.no_interval else {}
        (variant,) = self.variants
        return {
            "model": self.base.config.model,
            BASE: said_of_side(self.base),
            **self._said_of(variant),
            "seed": self.base.seed,
            "confidence": self.confidence,
            "replications": self.n,
            **reason,
            **warnings_entry(self.warnings),
            "differences": self._differences(variant),
        }

    def _summary_of_several(self) -> dict[str, Any]:
        reason = {"no_interval": self.no_interval} if self.no_interval else {}
        return {
            "model": self.base.config.model,
            BASE: said_of_side(self.base),
            "seed": self.base.seed,
            "replications": self.n,
            **reason,
            **warnings_entry(self.warnings),
            "confidence": self.confidence,
            "simultaneous": {
                "method": "bonferroni",
                "over": "the variants, response by response",
                "intervals": len(self.variants),
                "confidence_each": self.level,
                "differ_in_few": self.rare,
            },
            "variants": {
                variant.name: {
                    **said_of_side(variant.run),
                    "changed": _changes_of(variant),
                    "differences": self._differences(variant),
                }
                for variant in self.variants
            },
        }

    def _said_of(self, variant: Variant) -> dict[str, Any]:
        return {variant.name: said_of_side(variant.run), "changed": _changes_of(variant)}

    def _differences(self, variant: Variant) -> dict[str, dict[str, Any]]:
        """Return the differences of a variant as files hold them, by response."""
        base, other = ("mean_a", "mean_b") if self.is_pair else ("mean_base", "mean_variant")
        return {
            response: {
                **pair.difference.as_dict(),
                base: pair.a.mean,
                other: pair.b.mean,
                "variance_ratio": pair.variance_ratio,
            }
            for response, pair in variant.comparisons.items()
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``differences.csv``: a row for each variant and response."""
        rows = [
            {
                "variant": variant.name,
                "changed": variant.in_words,
                "response": response,
                **facts,
                "remarks": " ".join(facts["remarks"]),
            }
            for variant in self.variants
            for response, facts in self._differences(variant).items()
        ]
        columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
        if self.is_pair:
            return {name: columns[name] for name in columns if name not in ("variant", "changed")}
        return {**columns, "simultaneous_confidence": [self.confidence] * len(rows)}

    @property
    def warnings(self) -> list[Notice]:
        """What has to be known of the systems, and of their differences."""
        sides = {BASE: self.base, **{one.name: one.run for one in self.variants}}
        said = warnings_of_parts({side: run.warnings_of_runs for side, run in sides.items()})
        for variant in self.variants:
            pairs = variant.comparisons.items()
            counts = {name: pair.difference.undefined for name, pair in pairs}
            undefined = undefined_in(counts, self.n, "pairs")
            said += undefined if self.is_pair else [one.after(variant.name) for one in undefined]
        return [*said, *doubtful_intervals(self._doubtful(()))]

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the comparison that a folder holds, of the replications of its systems."""
        confidence = 0.95
        if files.has("summary.json") or files.status == "complete":
            with damaged(files.folder / "summary.json"):
                confidence = float(files.json("summary.json")["confidence"])
        letters = [name for name in (BASE, *NAMES) if (files.folder / name / MANIFEST).is_file()]
        if len(letters) < 2:
            raise InputError(f"{files.folder}: holds no two systems ({files.remark or 'damaged'})")
        runs = [Replications.read(result_files(files.folder / name)) for name in letters]
        found = compare_runs(runs[0], runs[1:], confidence)
        return cls(**{**vars(found), "folder": files.folder})


def _changes_of(variant: Variant) -> dict[str, dict[str, object]]:
    return {name: {BASE: here, variant.name: there} for name, here, there in variant.changed}


def _level(confidence: float, variants: int) -> float:
    """Return the level at which so many intervals hold together with some confidence."""
    return confidence if variants == 1 else 1.0 - (1.0 - confidence) / variants


@takes(CompareArguments)
def compare(
    base: ConfigLike,
    variants: ConfigLike | Sequence[ConfigLike],
    n: int | None = None,
    seed: int | None = None,
    **options: Any,  # noqa: ANN401
) -> Comparison:
    """Replicate systems under common random numbers and compare them with the first, in pairs.

    Parameters
    ----------
    base : Config or what `valmatch.load_config` takes
        The system that others are compared with.
    variants : Config or what `valmatch.load_config` takes, or list of them
        The other system, or 1 to 25 of them in a list; differences are variant - base.
    n, seed : int or None
        As for `valmatch.replicate`, of each; n is 1 by default only if it is so for all.
    **options

    Returns
    -------
    Comparison
        The paired differences of each variant.

    Raises
    ------
    InputError
        If an argument, the input of a model or a folder cannot be used, two of several variants
        are the same, or nothing can be compared.
    RunError
        If a run fails; what is finished stays in the folder.
    """
    configs = [load_config(base), *(load_config(variant) for variant in _several(variants))]
    return compare_configs(configs, CompareArguments(n=n, seed=seed, **options))


def pairs_plan(configs: Sequence[Config], options: CompareArguments) -> Plan:
    """Return the plan of each run; what is not given, the first config gives, or a default."""
    given, least = configs[0].replicate, default_n(*configs)
    n = first_given(options.n, None if least == 1 else given.n, least)
    seed = first_given(options.seed, given.seed, DEFAULT_SEED)
    return Plan(n, seed, confidence=options.confidence)


def compare_configs(
    configs: Sequence[Config], options: CompareArguments, shown: Sequence[str] = ()
) -> Comparison:
    """Replicate configs and compare them with the first of them; see `compare`.

    The manifest notes which responses were shown, unless all were: figures are of the same.
    """
    sides, plan = _sides(configs), pairs_plan(configs, options)
    options = options.in_config(configs[0].replicate)
    ids = [config_id(config) for config in configs[1:]]
    identity = {"config_id_b": ids[0]} if len(ids) == 1 else {"variants": ids}
    with paired_runs(sides, plan, identity, options) as (runs, folder):
        compared = compare_runs(runs[0], runs[1:], plan.confidence)
        compared = replace(compared, folder=options.out)
        if folder:
            write_csv(folder.path / "differences.csv", compared.columns())
            write_json(folder.path / "summary.json", compared.summary())
            folder.note(**({"shown": [*shown]} if shown else {}))
            folder.remark_input(chain.from_iterable(run.input_remarks for run in runs))
            folder.close(compared.status, replications=compared.n)
    return compared


def _several(variants: ConfigLike | Sequence[ConfigLike]) -> Sequence[ConfigLike]:
    """Return one or several configs as several."""
    return variants if isinstance(variants, list | tuple) else [variants]  # type: ignore[list-item]


def _sides(configs: Sequence[Config]) -> dict[str, Config]:
    """Return the configs by letter; refuse too few, too many, and the same twice of several."""
    if not 2 <= len(configs) <= 1 + MOST_VARIANTS:
        raise InputError(
            f"{option('variants')}: {len(configs) - 1} in all (allowed: from 1 to {MOST_VARIANTS})"
        )
    sides = dict(zip((BASE, *NAMES), configs, strict=False))
    for (name, config), (other, same) in combinations(sides.items(), 2):
        if len(sides) > 2 and config_id(config) == config_id(same):
            raise InputError(
                f"{name.upper()} and {other.upper()} are the same, config {config_id(config)}:"
                " leave one of them out"
            )
    return sides


def compare_runs(
    base: Replications, others: Sequence[Replications], confidence: float = 0.95
) -> Comparison:
    """Compare runs of one seed with one of them, in the replications that all have.

    The intervals of a single difference are those of its sampling; those of several, which hold
    together, are of higher levels and regard skewness.
    """
    _sides([base.config, *(run.config for run in others)])
    names, shared, (first, *rest) = common_values([base, *others])
    level = _level(confidence, len(others))
    by_name = {response.name: response.limits for response in base.responses}
    limits = [by_name[name] for name in names]
    fewest = np.min([differing(first, values) for values in rest], axis=0)
    variants = []
    for letter, run, values in zip(NAMES, others, rest, strict=False):
        samplings = base.sampling, run.sampling
        if len(others) > 1:
            samplings = _widened(base.sampling), _widened(run.sampling)
        found = paired(first, values, level, samplings, shared, limits)
        comparisons = dict(zip(names, found, strict=True))
        variants.append(Variant(letter, run, changed(base.config, run.config), comparisons))
    rare = dict(zip(names, fewest.tolist(), strict=True))
    return Comparison(base, variants, len(shared), confidence, differing=rare)


def _widened(sampling: Sampling) -> Sampling:
    """Return how intervals are made: of independent replications with regard to skewness."""
    return Widened() if sampling == INDEPENDENT else sampling
