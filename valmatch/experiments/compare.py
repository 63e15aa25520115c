"""Paired comparison of variants with a base system that met the same random numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import changes, config_id, resolved
from valmatch.config.loading import ConfigLike, load_config
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.execution.interruption import Stop
from valmatch.execution.run_options import DEFAULT_SEED, CompareArguments, first_given
from valmatch.experiments.replicate import Plan, Replications, default_n, open_cases
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import (
    doubtful_intervals,
    listed,
    reason_of_each,
    undefined_in,
    why_no_interval,
)
from valmatch.statistics.pairs import PairedDifference, differing, paired
from valmatch.statistics.sampling import INDEPENDENT, Widened, no_difference_interval
from valmatch.storage.output import MANIFEST, write_csv, write_json
from valmatch.storage.results import (
    SUMMARY,
    Result,
    ResultFiles,
    among,
    columns_of,
    damaged,
    result_files,
    warnings_entry,
    warnings_of_parts,
)
from valmatch.storage.run_folder import RunFolder, files_of
from valmatch.text.terminal import Notice, counted, escaped

BASE, *NAMES = list(ascii_lowercase)
"""What the systems are called, and the folders of their runs."""

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
    # what differs: name, its value in the base, its value here
    changed: list[tuple[str, object, object]]
    # by response; ``a`` is the base, ``b`` is this system
    comparisons: Mapping[str, PairedDifference]

    def differences(self, chosen: Collection[str] = ()) -> dict[str, Estimate]:
        """Return the differences by response, of the chosen ones if any are."""
        pairs = among(self.comparisons, chosen).items()
        return {name: pair.difference for name, pair in pairs}

    def as_dict(self) -> dict[str, Any]:
        """Return what ``summary.json`` says of the system."""
        changed = {name: {BASE: here, self.name: there} for name, here, there in self.changed}
        return {**_side(self.run), "changed": changed}


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
    def joint(self) -> str:
        """What the intervals of several variants say together, "" where there are none."""
        differences = [
            difference for variant in self.variants for difference in variant.differences().values()
        ]
        if self.is_pair or all(difference.ci_low is None for difference in differences):
            return ""
        return (
            f"the {len(self.variants)} intervals of a response hold together at"
            f" {self.confidence:.4g} (Bonferroni, each at {self.level:.4g})"
        )

    def why_no_interval(self, chosen: Collection[str] = ()) -> str:
        """Return why some differences have no interval, of the chosen responses if any are.

        The reason of all differences of a variant, or else those of responses.
        """
        reasons = {}
        for variant in self.variants:
            name = variant.name.upper()
            samplings = {BASE.upper(): self.base.sampling, name: variant.run.sampling}
            if of_all := no_difference_interval(samplings, self.n):
                return of_all
            reasons[f"{name} - {BASE.upper()}"] = why_no_interval(variant.differences(chosen), "")
        return reason_of_each(reasons)

    @property
    def replications_in_words(self) -> str:
        """Of how many replications differences are, and whether systems share random numbers."""
        if all(variant.run.config.model == self.base.config.model for variant in self.variants):
            return counted(self.n, "common replication")
        return f"{self.n:,} independent replications of each model (no common random numbers)"

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        model, base = self.base.config.model, config_id(self.base.config)
        ids = ", ".join(config_id(variant.run.config) for variant in self.variants)
        made = f"seed {self.base.seed}, {self.replications_in_words}"
        if self.is_pair:
            of = f"{model}, configs {base} and {ids}, {made}"
            return f"{of}, b - a with {self.confidence:.0%} intervals"
        return f"{model}, configs {ids} against {base}, {made}{self.joint and f'; {self.joint}'}"

    @property
    def status(self) -> str:
        """The status "complete", or why it is not."""
        runs = [self.base, *(variant.run for variant in self.variants)]
        if runs[-1].status == "interrupted":
            return "interrupted"
        return next((run.status for run in runs if not run.complete), "complete")

    @property
    def responses(self) -> list[Response]:
        """The responses that are compared."""
        return [response for response in self.base.responses if response.name in self.comparisons]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        reason = self.why_no_interval()
        of_all = {
            "seed": self.base.seed,
            "replications": self.n,
            **({"no_interval": reason} if reason else {}),
            **warnings_entry(self.warnings),
            "confidence": self.confidence,
        }
        start = {"model": self.base.config.model, BASE: _side(self.base)}
        rows = {
            variant.name: {**variant.as_dict(), "differences": self._rows(variant)}
            for variant in self.variants
        }
        if self.is_pair:
            ((name, of),) = rows.items()
            changed, differences = of.pop("changed"), of.pop("differences")
            return {**start, name: of, "changed": changed, **of_all, "differences": differences}
        return {
            **start,
            **of_all,
            "simultaneous": {
                "method": "bonferroni",
                "over": "the variants, response by response",
                "intervals": len(self.variants),
                "confidence_each": self.level,
                "differ_in_few": self.rare,
            },
            "variants": rows,
        }

    def _rows(self, variant: Variant) -> dict[str, dict[str, Any]]:
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
        rows = []
        for variant in self.variants:
            changed = "; ".join(escaped(f"{name}={there}") for name, _, there in variant.changed)
            of = {} if self.is_pair else {"variant": variant.name, "changed": changed}
            for response, facts in self._rows(variant).items():
                remarks = " ".join(facts["remarks"])
                rows.append({**of, "response": response, **facts, "remarks": remarks})
        joint = {} if self.is_pair else {"simultaneous_confidence": [self.confidence] * len(rows)}
        return columns_of(rows) | joint

    @property
    def warnings(self) -> list[Notice]:
        """What has to be known of the systems, and of their differences."""
        sides = {BASE: self.base, **{variant.name: variant.run for variant in self.variants}}
        warnings = warnings_of_parts({side: run.warnings_of_runs for side, run in sides.items()})
        for variant in self.variants:
            counts = {name: mean.undefined for name, mean in variant.differences().items()}
            for sentence in undefined_in(counts, self.n, "pairs"):
                warnings.append(sentence if self.is_pair else sentence.after(variant.name))
        return [*warnings, *self.notes_below()]

    def notes_below(self, chosen: Collection[str] = ()) -> list[Notice]:
        """Return what the differences lack, and which are doubtful, of the chosen ones if any."""
        notes = []
        if self.n and (why := self.why_no_interval(chosen)):
            notes.append(Notice(f"no interval: {why}", "no_interval"))
        rare = self.rare if self.joint else {}
        if names := list(among(rare, chosen)):
            what = "intervals may not hold together: a variant differs in fewer than"
            text = f"{listed(names)}: {what} {ENOUGH} replications"
            notes.append(Notice(text, "differ_in_few", len(names)))
        means = [pair for variant in self.variants for pair in variant.differences(chosen).items()]
        doubtful = [pair for pair in means if pair[0] not in rare]
        return [*notes, *doubtful_intervals(doubtful, bool(self.base.sampling.fixed))]

    @classmethod
    def read(cls, files: ResultFiles) -> Comparison:
        """Return the comparison that a folder holds, of the replications of its systems."""
        confidence = 0.95
        if files.has(SUMMARY) or files.status == "complete":
            with damaged(files.folder / SUMMARY):
                confidence = float(files.json(SUMMARY)["confidence"])
        letters = [name for name in (BASE, *NAMES) if (files.folder / name / MANIFEST).is_file()]
        if len(letters) < 2:
            raise InputError(f"{files.folder}: holds no two systems ({files.remark or 'damaged'})")
        runs = [Replications.read(result_files(files.folder / name)) for name in letters]
        return replace(compare_runs(runs[0], runs[1:], confidence), folder=files.folder)


def _side(run: Replications) -> dict[str, Any]:
    """Return what ``summary.json`` says of the config of a run, and of what it is a sample of."""
    sampling = {"sampling": dict(run.sampling.facts)} if run.sampling.facts else {}
    return {"source": run.config.source, "config_id": config_id(run.config), **sampling}


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
    several = variants if isinstance(variants, list | tuple) else [variants]
    configs = [load_config(base), *map(load_config, several)]
    return compare_configs(configs, CompareArguments(n=n, seed=seed, **options))


def pairs_plan(configs: Sequence[Config], options: CompareArguments) -> Plan:
    """Return the plan of each run; what is not given, the first config gives, or a default."""
    section, least = configs[0].replicate, default_n(*configs)
    n = first_given(options.n, None if least == 1 else section.n, least)
    seed = first_given(options.seed, section.seed, DEFAULT_SEED)
    return Plan(n, seed, confidence=options.confidence)


def compare_configs(
    configs: Sequence[Config], options: CompareArguments, shown: Sequence[str] = ()
) -> Comparison:
    """Replicate configs and compare them with the first of them; see `compare`."""
    # The manifest notes which responses were shown, unless all were: figures are of the same.
    sides, plan, out = _sides(configs), pairs_plan(configs, options), options.out
    options = options.in_config(configs[0].replicate)
    _common([(config, build(config).responses) for config in configs])
    folder = None
    if out:
        ids = list(map(config_id, configs[1:]))
        variants = {"config_id_b": ids[0]} if len(ids) == 1 else {"variants": ids}
        read = list(chain.from_iterable(map(files_of, configs)))
        identity = {**variants, "seed": plan.seed}
        folder = RunFolder(out, "compare", configs[0], identity, resume=options.resume, read=read)
    with open_cases(sides, plan, options, folder) as (stop, run):
        # Where the time is short, an equal part of it for each leaves replications to compare.
        parts = [options.max_seconds * k / len(sides) for k in range(1, len(sides))]
        stops = [*(Stop(part, stop) for part in parts), stop]
        runs = [run(name, until) for name, until in zip(sides, stops, strict=True)]
        compared = replace(compare_runs(runs[0], runs[1:], plan.confidence), folder=out)
        if folder:
            write_csv(folder.path / "differences.csv", compared.columns())
            write_json(folder.path / SUMMARY, compared.summary())
            folder.note(**({"shown": [*shown]} if shown else {}))
            folder.remark(chain.from_iterable(run.input_remarks for run in runs))
            folder.close(compared.status, replications=compared.n)
    return compared


def _sides(configs: Sequence[Config]) -> dict[str, Config]:
    """Return the configs by letter; refuse too few, too many, and the same twice of several."""
    if not 2 <= len(configs) <= 1 + len(NAMES):
        raise InputError(
            f"{option('variants')}: {len(configs) - 1} in all (allowed: from 1 to {len(NAMES)})"
        )
    sides = dict(zip((BASE, *NAMES), configs, strict=False))
    for (name, config), (other, same) in combinations(sides.items(), 2):
        if len(sides) > 2 and config_id(config) == config_id(same):
            raise InputError(
                f"{name.upper()} and {other.upper()} are the same, config {config_id(config)}:"
                " leave one of them out"
            )
    return sides


def _common(responses: Sequence[tuple[Config, Sequence[Response]]]) -> list[str]:
    """Return the names of the responses that the models of all configs have."""
    first, *others = ([response.name for response in of_model] for _, of_model in responses)
    names = [name for name in first if all(name in other for other in others)]
    if not names:
        models = dict.fromkeys(config.model for config, _ in responses)
        raise InputError(f"{' and '.join(models)} have no response in common")
    return names


def compare_runs(
    base: Replications, others: Sequence[Replications], confidence: float = 0.95
) -> Comparison:
    """Compare runs of one seed with one of them, in the replications that all have."""
    # The intervals of a single difference are those of its sampling; those of several, which hold
    # together, are of higher levels and regard skewness.
    runs = [base, *others]
    _sides([run.config for run in runs])
    for run in others:
        if run.seed != base.seed:
            raise InputError(
                f"seeds {base.seed} and {run.seed}: differences are taken between runs of one seed"
            )
    names = _common([(run.config, run.responses) for run in runs])
    indices = sorted(set.intersection(*(set(run.indices) for run in runs)))
    first, *rest = (_values(run, names, indices) for run in runs)
    by_name = {response.name: response.limits for response in base.responses}
    level, limits = _level(confidence, len(others)), [by_name[name] for name in names]
    variants = []
    for letter, run, values in zip(NAMES, others, rest, strict=False):
        samplings = [base.sampling, run.sampling]
        if len(others) > 1:  # intervals of independent replications then regard skewness
            samplings = [Widened() if how == INDEPENDENT else how for how in samplings]
        pairs = paired(first, values, level, (samplings[0], samplings[1]), indices, limits)
        changed = [
            (key.removeprefix("factors."), here, there)
            for key, here, there in changes(resolved(base.config), resolved(run.config))
        ]
        variants.append(Variant(letter, run, changed, dict(zip(names, pairs, strict=True))))
    fewest = np.min([differing(first, values) for values in rest], axis=0)
    rare = dict(zip(names, fewest.tolist(), strict=True))
    return Comparison(base, variants, len(indices), confidence, differing=rare)


def _values(run: Replications, names: Sequence[str], indices: Sequence[int]) -> Floats:
    """Return some responses of some replications, (n, r) float64."""
    rows = np.searchsorted(run.indices, indices)
    return np.column_stack([run[name][rows] for name in names])
