"""Replications at every point of a design, under common random numbers."""

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, product, takewhile
from pathlib import Path
from typing import Any, Self

from valmatch.config.config import Config
from valmatch.config.factor_paths import dotted, parts, unit_at
from valmatch.config.identity import config_id
from valmatch.errors import InputError, option
from valmatch.execution.run_options import DEFAULT_SEED, RunOptions
from valmatch.execution.shards import WHOLE
from valmatch.experiments.replicate import Plan, Replications, open_cases
from valmatch.inputs.arguments import LARGEST, RANGES
from valmatch.inputs.fields import Factors, schema_at
from valmatch.inputs.yaml_document import parse, to_value
from valmatch.models.registry import MODELS
from valmatch.statistics.no_interval import doubtful_intervals, reason_of_each
from valmatch.storage.manifest import DesignManifest, read_manifest
from valmatch.storage.output import MANIFEST, write_csv, write_json
from valmatch.storage.results import (
    SUMMARY,
    Result,
    ResultFiles,
    among,
    columns_of,
    result_files,
    warnings_entry,
    warnings_of_parts,
)
from valmatch.storage.run_folder import RunFolder, ShardFolder
from valmatch.text.numerals import SECONDS, in_unit, real_number
from valmatch.text.terminal import Notice, shortened, shown

MOST_LEVELS = 10_000  # most values of FIRST:LAST:STEP

WITH_UNIT = re.compile(r"(.*[0-9.])\s*([a-z]+)\s*")  # the last value has a unit, for all without


@dataclass(frozen=True)
class Design:
    """Points, each a value for every factor."""

    factors: Sequence[str]  # keys as ``--set`` takes them
    points: Sequence[tuple[Any, ...]]  # values of the factors
    # what messages call the factors: where they are given
    names: Sequence[str] = field(default=(), compare=False)
    beside: bool = False  # whether the last point is the config itself, which the grid lacks

    def levels(self, point: tuple[Any, ...]) -> list[tuple[str, str]]:
        """Return a point as the name and ``KEY=VALUE`` of each factor."""
        texts = [f"{k}={json.dumps(v)}" for k, v in zip(self.factors, point, strict=True)]
        return list(zip(self.names or self.factors, texts, strict=True))


def design_of(config: Config, sweeps: Sequence[str]) -> Design | None:
    """Return the grid that sweeps span, else the design of the config, if it has one."""
    if sweeps:
        return grid_of_texts(config, sweeps, "sweep")
    if config.design.grid:
        names = [config.at(f"design.grid.{key}") for key in config.design.grid]
        return _grid(config.design.grid, config.at("design.grid"), names)
    return _sample(config) if config.design.ranges else None


def grid_of_texts(
    config: Config, texts: Sequence[str], argument: str, most: int = RANGES["points"].most
) -> Design:
    """Return the grid that texts ``KEY=VALUES`` of an argument span."""
    factors = MODELS[config.model].factors
    levels = [parse_levels(text, argument, factors) for text in texts]
    if len({key for key, _ in levels}) < len(levels):
        named = " ".join(f"{option(argument)} {text}" for text in texts)
        raise InputError(f"{named}: a key is given twice")
    names = [f"{option(argument)} {shortened(key)}" for key, _ in levels]
    return _grid(dict(levels), option(argument), names, most)


def parse_levels(
    text: str, argument: str = "sweep", factors: type[Factors] | None = None
) -> tuple[str, list[Any]]:
    """Return the key and the values of ``KEY=VALUE,...`` or ``KEY=FIRST:LAST:STEP``."""
    # LAST is among the values if a step ends there.
    key, equals, listed = text.partition("=")
    wrong = InputError(
        f"{option(argument)} {shortened(text)}: not of the form KEY=VALUE,VALUE,... or"
        " KEY=FIRST:LAST:STEP (numbers up to 1e100, at most 10,000 values)"
    )
    path, suffix = dotted(key.strip().removeprefix("factors.")), ""
    unit = (unit_at(factors, path) if factors else None) or ""
    if unit in SECONDS and (match := WITH_UNIT.fullmatch(listed)):
        listed, suffix = match.groups()
    if not (key.strip() and equals and listed.strip()):
        raise wrong
    if listed.count(":") == 2 and "," not in listed:
        numbers = span(listed)
        if numbers is None:
            raise wrong
        integers = all(value.is_integer() for value in numbers)
        values: Any = [int(v) for v in numbers] if integers else numbers
    else:
        try:
            node = parse(f"[{listed}]", "sweep")
        except InputError:
            raise wrong from None
        values = to_value(node) if node is not None else []
        if not isinstance(values, list) or not values or None in values:
            raise wrong
    written = (v if isinstance(v, str) or not suffix else f"{v}{suffix}" for v in values)
    return key.strip(), [in_unit(value, unit) for value in written]


def _grid(
    levels: Mapping[str, Sequence[Any]],
    where: str,
    names: Sequence[str],
    most: int = RANGES["points"].most,
) -> Design:
    count = math.prod(map(len, levels.values()))
    if count > most:
        raise InputError(f"{where}: the design has {shown(count)} points (allowed: at most {most})")
    return Design(list(levels), list(product(*levels.values())), names)


def _sample(config: Config) -> Design:
    """Return a space-filling sample of the ranges that a config gives."""
    from scipy.stats import qmc

    options, ranges = config.design, config.design.ranges
    sampler: Any = qmc.Sobol if options.sample == "sobol" else qmc.LatinHypercube
    seed = DEFAULT_SEED if options.seed is None else options.seed
    units = sampler(len(ranges), rng=seed).random(options.points)
    factors, paths = MODELS[config.model].factors, (k.removeprefix("factors.") for k in ranges)
    # One that does not exist is a number.
    kinds = [str(schema_at(factors, parts(path)).get("type", "number")) for path in paths]
    columns = []
    for column, of, kind in zip(units.T.tolist(), ranges.values(), kinds, strict=True):
        low, high = of.low, of.high + (kind == "integer")  # every whole number has the same share
        if of.log:
            first, last = math.log(low), math.log(high)
            column = [math.exp(first + unit * (last - first)) for unit in column]
        else:
            column = [low + unit * (high - low) for unit in column]
        columns.append(list(map(math.floor, column)) if kind == "integer" else column)
    rows = list(zip(*columns, strict=True))
    return Design(list(ranges), rows, [config.at(f"design.ranges.{key}") for key in ranges])


def span(text: str) -> list[float] | None:
    """Return the values FIRST, FIRST + STEP, ... up to LAST; None for what is not of that form."""
    # Steps are taken in decimals, so that 0.1:0.3:0.1 ends with 0.3.
    numbers = list(map(real_number, parts := [part.strip() for part in text.split(":")]))
    if any(number is None or abs(number) > LARGEST for number in numbers):
        return None
    with suppress(ValueError, ArithmeticError):
        first, last, step = map(Decimal, parts)
        if 0 <= (count := (last - first) / step) < MOST_LEVELS:
            return [float(first + k * step) for k in range(int(count) + 1)]
    return None


POINTS = "points"  # folder of the folders of the points, each named by its config id


@dataclass(frozen=True, repr=False)
class DesignReplications(Result):
    """The replications of the points of a design."""

    presented_by = "design"

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
            **warnings_entry(self.warnings),
        }

    @property
    def warnings(self) -> list[Notice]:
        """What has to be known of the points, each with the levels of those that it is of."""
        parts = {
            ", ".join(f"{key}={level}" for key, level in point.items()): result.warned
            for point, result in zip(self.points, self.results, strict=True)
        }
        return [*warnings_of_parts(parts), *self.notes_below()]

    def notes_below(self, chosen: Collection[str] = ()) -> list[Notice]:
        """Return what the means lack, and which are doubtful, of the chosen ones if any are."""
        reasons = {}
        for point, result in zip(self.points, self.results, strict=True):
            levels = (f"{key.removeprefix('factors.')}={level}" for key, level in point.items())
            reasons[f"at {', '.join(levels)}"] = result.why_no_interval(chosen)
        why = reason_of_each(reasons)
        means = (among(result.estimates, chosen).items() for result in self.results)
        fixed = any(result.sampling.fixed for result in self.results)
        notes = [Notice(f"no interval: {why}", "no_interval")] if why else []
        return [*notes, *doubtful_intervals(chain.from_iterable(means), fixed)]

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the points that a folder holds, as far as its run got."""
        design, ids = design_in(read_manifest(files.folder, DesignManifest))
        results: dict[str, Replications] = {}
        for key in dict.fromkeys(ids):
            folder = files.folder / POINTS / key
            if not (folder / MANIFEST).is_file():
                break
            results[key] = Replications.read(result_files(folder))
        made = [results[key] for key in takewhile(results.__contains__, ids)]
        stopped = "" if len(made) == len(ids) else files.status
        return cls(files.config, design, made, stopped, files.folder)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``design.csv``: a row for each point and response."""
        rows = []
        for number, (point, result) in enumerate(zip(self.points, self.results, strict=True)):
            identity = {"point": number, "config_id": config_id(result.config), **point}
            for name, estimate in result.estimates.items():
                rows.append({**identity, "response": name, **estimate.as_row()})
        return columns_of(rows)


def design_in(manifest: DesignManifest) -> tuple[Design, list[str]]:
    """Return the design of a manifest, with the ids of its points' configs."""
    part = manifest.design
    points = list(map(tuple, part.points))
    return Design(part.factors, points, beside=part.beside), part.config_ids


def run_design(
    config: Config,
    design: Design,
    configs: Sequence[Config],
    plan: Plan,
    options: RunOptions,
    shown: Sequence[str] = (),
) -> DesignReplications:
    """Run the replications of every point of a design, one point after the other."""
    # The manifest notes which responses were shown, unless all were: pages are of the same.
    # Points that are the same system (equal config ids) are simulated once.
    ids, out = list(map(config_id, configs)), options.out
    cases = dict(zip(reversed(ids), reversed(configs), strict=True))  # the first of equal ones
    folder = open_design(out, config, design, ids, plan, options.resume) if out else None
    results: dict[str, Replications] = {}
    with open_cases(cases, plan, options, folder, POINTS) as (stop, run):
        for key in dict.fromkeys(ids):
            results[key] = run(key, stop)
            if stop() or not results[key].complete:
                break
        made = [results[key] for key in takewhile(results.__contains__, ids)]
        stopped = stop.reason if len(made) < len(configs) else ""
        experiment = DesignReplications(config, design, made, stopped, out)
        if folder:
            folder.note(**({"shown": [*shown]} if shown else {}))
            write_experiment(folder, experiment)
    return experiment


def open_design(
    out: Path,
    config: Config,
    design: Design,
    ids: Sequence[str],
    plan: Plan,
    resume: bool,
    read: Sequence[Path] = (),
) -> RunFolder:
    """Return the folder of an experiment; `ids` are those of its points' configs."""
    identity = {
        "seed": plan.seed,
        "design_id": hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()[:12],
        "design": {
            "factors": list(design.factors),
            "points": [list(point) for point in design.points],
            "config_ids": list(ids),
            **({"beside": True} if design.beside else {}),
        },
    }
    kind = RunFolder if plan.shard == WHOLE else ShardFolder
    return kind(out, "design", config, identity, resume=resume, read=read, shard=plan.shard)


def write_experiment(folder: RunFolder, experiment: DesignReplications) -> None:
    """Write the files of an experiment but those of its points, and say how it ended."""
    if folder.shard == WHOLE:
        write_csv(folder.path / "design.csv", experiment.columns())
        write_json(folder.path / SUMMARY, experiment.summary())
    remarks = (result.input_remarks for result in experiment.results)
    folder.remark(chain.from_iterable(remarks))
    folder.close(experiment.status, points=len(experiment.results))
