"""Replications of a config, summarised."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard
from valmatch.experiments.response_list import shown_by
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Axes, Response, Window
from valmatch.statistics.control_variates import Adjusted, adjust
from valmatch.statistics.curve_sums import CurveSums
from valmatch.statistics.estimates import (
    Estimate,
)
from valmatch.statistics.no_interval import (
    doubtful_intervals,
    undefined_in,
    why_no_interval,
    why_not_adjusted,
)
from valmatch.statistics.precision import Precision
from valmatch.statistics.sampling import INDEPENDENT, Sampling, sampling_of
from valmatch.statistics.windows import PolicyDifference, nested_facts, policy_differences
from valmatch.storage.result_files import ResultFiles, damaged
from valmatch.storage.results import Result, warnings_entry
from valmatch.storage.store import CONTROLS, ROWS, SUMS, RowFormat, read_sums
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Notice

SUMMARY = "summary.json"

STATISTICS = (
    "n",
    "undefined",
    "mean",
    "std",
    "std_error",
    "ci_low",
    "ci_high",
    "confidence",
    "remarks",
)
"""What tables hold of an estimate."""


@dataclass(frozen=True, repr=False)
class Replications(Result):
    """Replications of a config.

    Attributes
    ----------
    config : Config
        What was simulated.
    seed : int
        Seed of all random numbers.
    requested : int
        Number of replications asked for, in all shards together.
    responses : sequence of Response
        What each replication gives.
    indices : sequence of int
        The replications that are here, in order.
    values : numpy.ndarray
        (n, len(responses)) float64, one row a replication; NaN where undefined.
    confidence : float
        Level of the intervals.
    axes, curves : Axes or None
        What the curves of the model are, and their sums; None where it has none.
    shard : Shard
        The part of the replications asked for that this run makes.
    status : str
        "complete", or why it is not: "interrupted", "out of time", "target missed".
    precision : sequence of Precision
        For each target, how precisely the mean is known.
    controls : (n, q) ndarray of float64
        The control variates; None unless they were asked for.
    expectations : mapping of str to float
        Their expectations by name.
    remarks : sequence of str
        What has to be said of the replications, one line each.
    input_remarks : sequence of str
        What has to be said of what was read, such as rows left out.
    sampling : Sampling
        What they are samples of.
    """

    presented_by = "replicate"

    config: Config
    seed: int
    requested: int
    responses: Sequence[Response]
    indices: Sequence[int]
    values: Floats
    confidence: float
    axes: Axes | None = None
    curves: CurveSums | None = None
    shard: Shard = WHOLE
    status: str = "complete"
    precision: Sequence[Precision] = ()
    controls: Floats | None = None
    expectations: Mapping[str, float] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    input_remarks: Sequence[str] = ()
    folder: Path | None = None
    sampling: Sampling = INDEPENDENT

    @property
    def count(self) -> int:
        """Number of replications that are here."""
        return len(self.indices)

    @property
    def title(self) -> str:
        """What was replicated, in one line."""
        of = f"{self.config.model}, config {config_id(self.config)}, seed {self.seed}"
        return f"{of}, {self.count:,} replications, {self.confidence:.0%} intervals"

    @property
    def warnings_of_runs(self) -> list[Notice]:
        """What has to be known of what was read and of the replications."""
        return list(map(Notice.of, [*self.config.warnings, *self.input_remarks, *self.remarks]))

    @property
    def warnings(self) -> list[Notice]:
        """What has to be known of what was read, of the replications and of their means."""
        counts = {name: mean.undefined for name, mean in self.estimates.items()}
        warnings = [
            *self.warnings_of_runs,
            *undefined_in(counts, self.count, "replications"),
            *self.notes_below(),
        ]
        for target in self.precision:
            if not target.reached:
                text = f"target of {target.response} missed: {target.why}"
                warnings.append(Notice(text, "target_missed"))
        return list(dict.fromkeys(warnings))

    def notes_below(self, chosen: Collection[str] = ()) -> list[Notice]:
        """Return what the means lack, and which are doubtful, of the chosen ones if any are."""
        names = [name for name in self.estimates if not chosen or name in chosen]
        means = {name: self.estimates[name] for name in names}
        adjusted = {name: self.adjusted[name] for name in names if name in self.adjusted}
        lacking = {
            "no interval": self.why_no_interval(chosen) if self.count else "",
            "not adjusted": why_not_adjusted(adjusted, means, len(self.expectations)),
        }
        notes = [
            Notice(f"{what}: {why}", what.replace(" ", "_")) for what, why in lacking.items() if why
        ]
        return [*notes, *doubtful_intervals(means.items(), bool(self.sampling.fixed))]

    def why_no_interval(self, chosen: Collection[str] = ()) -> str:
        """Return why some means have no interval, of the chosen ones if any are; "" if all have."""
        means = {k: mean for k, mean in self.estimates.items() if not chosen or k in chosen}
        return why_no_interval(means, self.sampling.no_interval(self.count))

    @property
    def complete(self) -> bool:
        """Whether all replications asked for are here, or all targets reached."""
        return self.status == "complete"

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The estimated mean of each response."""
        return {
            response.name: self.sampling.estimate(
                values, self.confidence, self.indices, response.limits
            )
            for response, values in zip(self.responses, self.values.T, strict=True)
        }

    @cached_property
    def adjusted(self) -> dict[str, Adjusted]:
        """The mean of each response adjusted by the control variates; {} without them."""
        if self.controls is None:
            return {}
        known = np.array(list(self.expectations.values()))
        means = adjust(self.values, self.controls, known, self.confidence)
        rows = zip(self.responses, means, strict=True)
        return {response.name: mean.within(response.limits) for response, mean in rows}

    def __getitem__(self, response: str) -> Floats:
        """Return one number a replication; NaN where undefined."""
        names = [response.name for response in self.responses]
        if response not in names:
            raise KeyError(f"{response!r} ({hint(response, names)})")
        return self.values[:, names.index(response)]

    @cached_property
    def differences(self) -> list[PolicyDifference]:
        """The paired differences between policies; [] where the model has no windows of games."""
        windows = [response.window for response in self.responses]
        limits = [response.limits for response in self.responses]
        return policy_differences(windows, self.values, limits, self.confidence)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``summary.csv``: a row for each response."""
        facts = [mean.as_row() for mean in self.estimates.values()]
        adjusted = [mean.as_dict() for mean in self.adjusted.values()]
        return {
            "response": list(self.estimates),
            "unit": [response.unit for response in self.responses],
            **{name: [fact[name] for fact in facts] for name in STATISTICS},
            **{name: [fact[name] for fact in adjusted] for name in (adjusted or [{}])[0]},
        }

    def paired_columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``paired.csv``: a row for each difference between policies."""
        units = {response.window: response.unit for response in self.responses}
        rows = self.differences
        facts = [row.estimate.as_row() for row in rows]
        return {
            "policy": [row.policy for row in rows],
            "other": [row.other for row in rows],
            "measure": [row.measure for row in rows],
            "games": [row.games for row in rows],
            "unit": [units[Window(row.policy, row.measure, row.games)] for row in rows],
            **{name: [fact[name] for fact in facts] for name in STATISTICS},
        }

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the responses by name, one number a replication, with their indices."""
        columns = zip(self.responses, self.values.T, strict=True)
        return {"replication": np.array(self.indices)} | {r.name: v for r, v in columns}

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        optional = {
            "shard": "" if self.shard == WHOLE else str(self.shard),
            "sampling": dict(self.sampling.facts),
            "controls": dict(self.expectations),
            **warnings_entry(self.warnings),
            "no_interval": self.why_no_interval(),
            "not_adjusted": why_not_adjusted(self.adjusted, self.estimates, len(self.expectations)),
        }
        targets = [target.as_dict() for target in self.precision]
        means = {
            response.window: self.estimates[response.name]
            for response in self.responses
            if response.window
        }
        paired = [(row[:4], row.estimate) for row in self.differences]
        windows = {"windows": nested_facts(means.items()), "paired": nested_facts(paired)}
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "seed": self.seed,
            "replications": self.count,
            "requested": self.requested,
            **{name: value for name, value in optional.items() if value},
            "responses": {
                name: {
                    **mean.as_dict(),
                    **(self.adjusted[name].as_dict() if self.adjusted else {}),
                }
                for name, mean in self.estimates.items()
            },
            **({"targets": targets} if targets else {}),
            **(windows if means else {}),
        }

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the replications that a folder holds, as far as its run got."""
        config, manifest, summary = files.config, files.manifest, {}
        if files.has(SUMMARY) or files.status == "complete":
            summary = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            seed = int(files.fact("seed"))
            sampling = sampling_of(summary.get("sampling", {}), config.one_history)
            controls = {str(k): float(v) for k, v in summary.get("controls", {}).items()}
            precision = [Precision(**target) for target in summary.get("targets", ())]
            summarised = list(summary["responses"]) if "responses" in summary else None
        responses, axes = shown_by(config)
        names = [response.name for response in responses]
        if summarised is not None and summarised != names:
            what = "its responses are those of another version of the model"
            raise InputError(f"{files.folder / SUMMARY}: {what}")

        def rows_of(name: str, columns: Sequence[str], whole: Sequence[bool]) -> dict[int, Any]:
            form = RowFormat(config_id(config), seed, columns, whole)
            held = form.read([files.folder / name])
            return {index: held[index][1] for index in sorted(held)}

        rows = rows_of(ROWS, names, [response.whole for response in responses])
        known = rows_of(CONTROLS, list(controls), [False] * len(controls)) if controls else {}
        sums = read_sums(files.folder / SUMS, axes.shape, lambda text: None)[0] if axes else None
        return cls(
            config,
            seed,
            manifest.requested or len(rows),
            responses,
            list(rows),
            np.array(list(rows.values())).reshape(len(rows), len(names)),
            manifest.confidence or 0.95,
            axes,
            sums if sums and sums.n else None,
            WHOLE,
            files.status,
            precision,
            np.array([known[k] for k in rows]) if known and known.keys() >= rows.keys() else None,
            controls,
            [remark.notice for remark in manifest.remarks],
            [remark.notice for remark in manifest.input_remarks],
            files.folder,
            sampling,
        )

    def missed_expectations(self) -> list[str]:
        """Return one line for each mean that is not what the config expects."""
        lines = []
        for name, expected in self.config.replicate.expect.items():
            mean = self.estimates[name].mean
            if mean is None or abs(mean - expected.mean) > expected.tolerance:
                want = f"{expected.mean!r} ± {expected.tolerance!r}"
                lines.append(f"{name}: mean {mean!r} (expected {want})")
        return lines
