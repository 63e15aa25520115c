"""The folder of a run as drawers read it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from valmatch.config.factor_paths import parts, unchecked
from valmatch.errors import InputError, option
from valmatch.inputs.csv_reader import rows_of
from valmatch.inputs.fields import schema_at
from valmatch.inputs.files import regular
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.models.registry import MODELS, load_model
from valmatch.plots.parts.bins import Lattice, lattice_of_shares
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.statistics.rounding import plus_minus
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.storage.output import FAR, read_json
from valmatch.text.suggestions import hint
from valmatch.text.terminal import escaped, labelled, shortened, shown

# Units of responses and factors, for the labels of axes.


class Units:
    """The units of the responses and factors of a model."""

    def __init__(self, model: str, factors: object = None) -> None:
        self._model, self._factors = model, factors

    @cached_property
    def responses(self) -> dict[str, Response]:
        """The responses of the model by name."""
        if not self._model:
            return {}
        model: Any = load_model(self._model)
        # Most models have the same responses whatever their factors are.
        fixed = getattr(model, "responses", None)
        if fixed is None:
            try:
                factors = MODELS[self._model].factors.model_validate(self._factors or {})
            except ValidationError as error:
                what = error.errors(include_url=False)[0]
                place = ("factors", *what["loc"])
                raise InputError(
                    f"manifest.json: config: {'.'.join(map(str, place))}: {what['msg']}"
                ) from None
            fixed = model(factors, {}).responses
        elif isinstance(self._factors, dict):
            try:
                factors = unchecked(MODELS[self._model].factors, self._factors)
                fixed = (*fixed, *model.further(factors))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise InputError(f"manifest.json: config: factors: damaged: {error}") from None
        return {response.name: response for response in fixed}

    @cached_property
    def _stems(self) -> dict[str, str]:
        """The units by the first part of a response's name, for windows of other factors."""
        return {name.partition(".")[0]: response.unit for name, response in self.responses.items()}

    @cached_property
    def _curves(self) -> Mapping[str, str]:
        """The units of what curves show and no response is."""
        axes = getattr(load_model(self._model), "axes", None) if self._model else None
        return axes.units if axes else {}

    def of_response(self, name: str) -> str:
        """Return the unit of a response; "" where it has none."""
        if name in self.responses:
            return self.responses[name].unit
        return self._stems.get(name.partition(".")[0], "")

    def of_factor(self, name: str) -> str:
        """Return the unit of a factor, given with or without ``factors.``; "" where none."""
        if self._model not in MODELS:
            return ""
        path, factors = parts(name.removeprefix("factors.")), MODELS[self._model].factors
        # The elements of a list have the unit of the list.
        schemas = (schema_at(factors, path[:length]) for length in range(len(path), 0, -1))
        return next((str(schema["unit"]) for schema in schemas if "unit" in schema), "")

    def response(self, name: str) -> str:
        """Return the label of a response."""
        return labelled(name, self.of_response(name))

    def measure(self, name: str) -> str:
        """Return the label of what a curve shows."""
        return labelled(name, self._curves.get(name) or self.of_response(name))

    def factor(self, name: str) -> str:
        """Return the label of a factor."""
        return labelled(name.removeprefix("factors."), self.of_factor(name))


class Mean(NamedTuple):
    """An estimated mean with its interval, as summaries hold it; NaN where there is none."""

    n: int
    undefined: int
    mean: float
    low: float
    high: float
    confidence: float

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Mean:
        """Return what a summary says."""
        mean, low, high = (
            math.nan if found[key] is None else float(found[key])
            for key in ("mean", "ci_low", "ci_high")
        )
        n, undefined = int(found["n"]), int(found["undefined"])
        return cls(n, undefined, mean, low, high, float(found["confidence"]))


@dataclass(frozen=True)
class FileTable:
    """Some columns of a CSV file."""

    path: Path  # the file
    numbers: Mapping[str, Floats]  # columns of numbers by name; NaN where a cell is empty
    texts: Mapping[str, list[str]]  # other columns by name, as they stand

    def __len__(self) -> int:
        columns: list[Sized] = [*self.numbers.values(), *self.texts.values()]
        return len(columns[0])


@dataclass(frozen=True)
class RunFiles:
    """The folder of a run."""

    folder: Path  # where its files are
    manifest: Manifest  # what its manifest says
    players: Sequence[str] = ()  # the players to be drawn, where that can be chosen; none: the best
    chosen: Sequence[str] = ()  # the responses to be drawn, where that can be chosen; none: all

    def choice(self, names: Collection[str]) -> list[str]:
        """Return which of some responses are to be drawn."""
        for name in self.chosen:
            if name not in names:
                raise InputError(
                    f"{option('responses')}: {shown(name)} is not in {self.folder}"
                    f" ({hint(name, names)})"
                )
        return list(self.chosen or names)

    @property
    def kind(self) -> tuple[str, str]:
        """The command and the model that made the folder; "" for no model."""
        config = self.manifest.config
        return self.manifest.command, config.model if config else ""

    @cached_property
    def units(self) -> Units:
        """The units of responses and factors."""
        config = self.manifest.config
        return Units(self.kind[1], config.factors if config else None)

    @property
    def status(self) -> str:
        """How the run ended."""
        return self.manifest.status

    @property
    def remark(self) -> str:
        """What has to be said of a run that did not end well; "" where it did."""
        return "" if self.status == "complete" else f"incomplete: the run is {self.status}"

    def heading(self, *facts: str) -> str:
        """Say which run a figure shows, with further facts."""
        config = self.manifest.config_id or "unknown"
        seed = "unknown" if self.manifest.seed is None else self.manifest.seed
        name = f"{self.kind[1]} ({shortened(Path(self.manifest.source).stem)})"
        parts = (name, self.remark, f"config {config}", f"seed {seed}", *facts)
        return ", ".join(part for part in parts if part)

    def factor(self, name: str, former: object = None) -> Any:  # noqa: ANN401 - of any type
        """Return a factor of the manifest."""
        with damaged(self.folder / MANIFEST):
            factors = self.manifest.config.factors if self.manifest.config else {}
            return factors[name] if former is None else factors.get(name, former)

    def fact(self, name: str) -> Any:  # noqa: ANN401 - a fact is of any type
        """Return an entry of the manifest."""
        found = self.manifest.get(name)
        if found is None:
            raise InputError(f"{self.folder / MANIFEST}: damaged: there is no {name!r}")
        return found

    def header(self, name: str) -> list[str]:
        """Return the names of the columns of a CSV file."""
        rows = self._rows(name)
        _, header = next(rows, (1, []))
        rows.close()
        return header

    def rows(self, name: str, columns: Sequence[str]) -> Iterator[list[str]]:
        """Yield some columns of a CSV file row by row."""
        for _, cells in self._cells(name, columns):
            yield cells

    def _cells(self, name: str, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield some cells of each row, with the line where it ends."""
        rows, path = self._rows(name), self.folder / name
        _, header = next(rows, (1, []))
        missing = [column for column in columns if column not in header]
        if missing:
            raise InputError(f"{path}: damaged: there is no column {missing[0]!r}")
        places = [header.index(column) for column in columns]
        for line, row in rows:
            if len(row) != len(header):
                what = f"the row has {len(row)} cells (allowed: {len(header)})"
                raise InputError(f"{path}:{line}: damaged: {what}")
            yield line, [row[place] for place in places]

    def table(
        self,
        name: str,
        numbers: Collection[str],
        texts: Collection[str] = (),
        *,
        infinite: bool = False,
        most: int | None = None,
    ) -> FileTable:
        """Read some columns of a CSV file, whose numbers may be infinite where that is said."""
        columns = {column: array("d") for column in numbers}
        words: dict[str, list[str]] = {column: [] for column in texts}
        count, path = len(columns), self.folder / name
        for line, row in islice(self._cells(name, [*columns, *words]), most):
            for cell, (column, values) in zip(row, columns.items(), strict=False):
                values.append(_number(cell, infinite, f"{path}:{line}: damaged: {column}"))
            for cell, word in zip(row[count:], words.values(), strict=True):
                word.append(intern(cell))
        arrays = {column: np.array(values) for column, values in columns.items()}
        return FileTable(path, arrays, words)

    def _rows(self, name: str) -> Generator[tuple[int, list[str]]]:
        """Yield the rows of a CSV file with their lines.

        A last line without an end, left by a kill, is dropped.
        """
        path = self.folder / name
        try:
            with regular(path).open(encoding="utf-8", newline="") as file:
                lines = (line for line in file if line.endswith(("\n", "\r")))
                for line, row in rows_of(lines, str(path), fault="damaged"):
                    plain = all(map(str.isprintable, row))
                    yield line, row if plain else list(map(escaped, row))
        except OSError as error:
            raise self._unreadable(path, error) from None

    def json(self, name: str) -> dict[str, Any]:
        """Read a JSON file."""
        path = self.folder / name
        try:
            return dict(_in_print(read_json(path)))
        except OSError as error:
            raise self._unreadable(path, error) from None

    def _unreadable(self, path: Path, error: OSError) -> InputError:
        why = f" ({self.remark})" if self.remark else ""
        return InputError(f"{path}: cannot be read: {error.strerror}{why}")


def _number(cell: str, infinite: bool, place: str) -> float:
    """Return the number in a cell, NaN where it is empty; it may be infinite where that is said."""
    try:
        value = float(cell or "nan")
    except ValueError:
        raise InputError(f"{place}: {shown(cell)} (allowed: a number)") from None
    if abs(value) > FAR and not (infinite and cell == "inf"):
        raise InputError(f"{place}: {shown(cell)} is too large (allowed: up to {FAR:g})")
    return value


def _in_print(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the content of a JSON file with all of its texts fit to be drawn."""
    if isinstance(value, dict):
        return {escaped(key): _in_print(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_in_print(inner) for inner in value]
    return escaped(value) if isinstance(value, str) else value


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """Turn what goes wrong when a file lacks what it should hold into an `InputError`."""
    try:
        yield
    except KeyError as error:
        raise InputError(f"{path}: damaged: there is no {error}") from None
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged: {error}") from None


def read_run_files(
    folder: Path, players: Sequence[str] = (), chosen: Sequence[str] = ()
) -> RunFiles:
    """Return the run that a folder with a manifest holds."""
    try:
        found = read_manifest(folder, Manifest).model_dump()
        manifest = Manifest.model_validate(_in_print(found))
        return RunFiles(folder, manifest, players, chosen or manifest.shown)
    except OSError as error:
        raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None


# The responses of a run of ``replicate``, with what is known of their means.

SUMMARY = "summary.json"


class ResponseSample(NamedTuple):
    """A response over the replications."""

    response: Response  # the response
    values: Floats  # its defined values, sorted
    estimate: Estimate  # what they say of the mean
    lattice: Lattice | None  # what they lie on or near, if that is known


def read_samples(
    run: RunFiles, responses: Sequence[Response], most: int | None = None
) -> list[ResponseSample]:
    """Read responses of ``replications.csv``, of which there is one at least."""
    wholes = [response.share_of for response in responses if response.share_of]
    columns = dict.fromkeys([*(r.name for r in responses), *wholes])
    table = run.table("replications.csv", columns, most=most)
    if not len(table):
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{table.path}: holds no replications{why}")
    given = _summarised(run, len(table))
    return [
        _sample(response, table, _confidence(run), given.get(response.name))
        for response in responses
    ]


def fact_of(run: RunFiles, samples: Sequence[ResponseSample]) -> str:
    """Say what is drawn of samples."""
    first = samples[0].estimate
    n = first.n + first.undefined
    made = f"{n:,} replication{'s' * (n != 1)}"
    if all(sample.estimate.half_width is None for sample in samples):
        return f"{made}, no intervals"
    return f"{made}, means with {_confidence(run):.0%} intervals"


def _confidence(run: RunFiles) -> float:
    return run.manifest.confidence or 0.95


def _summarised(run: RunFiles, replications: int) -> dict[str, Mean]:
    """Return the means of the summary by response, if it is of so many replications.

    Only whoever made a run knows what its replications are samples of. A killed run has no summary,
    or that of a shorter one.
    """
    if not (run.folder / SUMMARY).exists():
        return {}
    with damaged(run.folder / SUMMARY):
        found = {name: Mean.of(mean) for name, mean in run.json(SUMMARY)["responses"].items()}
    return {name: mean for name, mean in found.items() if mean.n + mean.undefined == replications}


def _sample(
    response: Response, table: FileTable, confidence: float, given: Mean | None
) -> ResponseSample:
    """Return a response with its estimate: that of the summary where there is one."""
    values = table.numbers[response.name]
    found = estimate(values, confidence)
    if given is not None:
        mean, low, high = (
            None if math.isnan(x) else x for x in (given.mean, given.low, given.high)
        )
        found = replace(found, mean=mean, ci_low=low, ci_high=high)
    return ResponseSample(
        response, np.sort(values[~np.isnan(values)]), found, _lattice(response, table)
    )


def _lattice(response: Response, table: FileTable) -> Lattice | None:
    """Return what whole numbers and shares of them lie on or near."""
    if response.whole:
        return Lattice(0.0, 1.0)
    if not response.share_of:
        return None
    shares, wholes = table.numbers[response.name], table.numbers[response.share_of]
    some = ~np.isnan(shares) & (wholes > 0.0)
    return lattice_of_shares(shares[some], wholes[some]) if some.any() else None


def arms_of(estimate: Estimate) -> tuple[float, float]:
    """Return how far an interval reaches below and above the mean; NaN where there is none."""
    return (math.nan, math.nan) if estimate.arms is None else estimate.arms


def in_words(estimate: Estimate) -> str:
    """Return a mean with its half-width, or with its interval where limits cut that."""
    if estimate.asymmetric and estimate.mean is not None:
        return f"{estimate.mean:.4g}, {estimate.ci_low:.3g} to {estimate.ci_high:.3g}"
    mean = math.nan if estimate.mean is None else estimate.mean
    return plus_minus(mean, math.nan if estimate.half_width is None else estimate.half_width)
