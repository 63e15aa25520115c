"""Protocol of models: factors and random inputs in, responses by name out."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valmatch.draws.streams import Streams
from valmatch.errors import RunError
from valmatch.inputs.fields import Factors
from valmatch.kernels.arrays import Floats
from valmatch.statistics.curves import CurveSums
from valmatch.statistics.estimates import UNLIMITED
from valmatch.statistics.sampling import INDEPENDENT, Sampling

Inputs = TypeVar("Inputs")  # the random inputs of a replication, of whatever type a model likes

Values: TypeAlias = "Mapping[str, float] | NDArray[np.void]"
"""The responses of a replication by name: a mapping, or a record of `Responses.record`."""


class Window(NamedTuple):
    """A stretch of the curve of one measure under one policy.

    Attributes
    ----------
    policy : str
        One of several systems that a replication compares on the same random inputs.
    measure : str
        What is measured.
    games : str
        The first and the last game, such as "1-100", "total" for the sum over all, or a single
        number, such as "50", for the value after so many.
    """

    policy: str
    measure: str
    games: str


class Part(NamedTuple):
    """Some of what a measure is otherwise taken over."""

    measure: str  # what is measured
    of: str  # what is divided: "rating" for bands of players, "hour" for the day
    name: str  # which part it is


ANY, NOT_NEGATIVE, SHARE = UNLIMITED, (0.0, math.inf), (0.0, 1.0)
"""Limits of responses: of any number, of waits and counts, of shares."""

WIN_GAP = (0.0, 0.5)  # limits of |p - 1/2|


@dataclass(frozen=True)
class Response:
    """One number that a replication gives.

    Attributes
    ----------
    name : str
        Column of ``replications.csv``, key of ``summary.json``.
    unit : str
        Unit, "" where it is a count or a share.
    meaning : str
        What it is, in one line.
    limits : tuple of float
        The least and the largest value that it can have; intervals end there.
    whole : bool
        Whether it is a whole number.
    window : Window or None
        The stretch of a curve that it is taken over; None where it is not of a curve.
    part : Part or None
        The part of the players or of the day that it is taken over; None for all.
    """

    name: str
    unit: str
    meaning: str
    limits: tuple[float, float] = ANY
    whole: bool = False
    window: Window | None = None
    part: Part | None = None


def of_part(measure: Response, division: str, name: str, meaning: str) -> Response:
    """Return the response that is a measure of one part of what is divided, see `Part`."""
    part = Part(measure.name, division, name)
    return replace(measure, name=f"{measure.name}.{name}", meaning=meaning, part=part)


def amount(name: str, unit: str, meaning: str) -> Response:
    """Return the response that is a wait, a difference or another number from 0 on."""
    return Response(name, unit, meaning, NOT_NEGATIVE)


def share(name: str, meaning: str) -> Response:
    """Return the response that is a share."""
    return Response(name, "", meaning, SHARE)


def count(name: str, meaning: str) -> Response:
    """Return the response that is a whole number from 0 on."""
    return Response(name, "", meaning, NOT_NEGATIVE, whole=True)


NO_FILES: Mapping[str, Path] = MappingProxyType({})
"""What a model is built with whose config names no files."""

UNSET = 0x7FF8_0000_5E77_1E55
"""Bits of the NaN of a response that nobody has set; those of an undefined one are others."""


class Responses(tuple[Response, ...]):
    """The responses of a model, in order; makes the record that a model fills and reads it.

    Parameters
    ----------
    *responses : Response
        What a replication gives, each name once.

    Attributes
    ----------
    names : tuple of str
        Their names in order.
    dtype : numpy.dtype
        A float64 field for each name: compiled code fills a record of it by name.

    Examples
    --------
    >>> responses = Responses(Response("wait", "minutes", "mean"), Response("n", "", "players"))
    >>> responses.row({"wait": 2.5, "n": 7})
    array([2.5, 7. ])
    >>> responses.row({"wait": 2.5})
    Traceback (most recent call last):
        ...
    ValueError: response 'n' is missing
    """

    names: tuple[str, ...]
    dtype: np.dtype[np.void]

    def __new__(cls, *responses: Response) -> Self:
        """Return responses, each name once."""
        made = super().__new__(cls, responses)
        made.names = tuple(response.name for response in responses)
        for k, name in enumerate(made.names):
            if name in made.names[:k]:
                raise ValueError(f"response {name!r} is there twice")
        made.dtype = np.dtype([(name, np.float64) for name in made.names])
        return made

    def __repr__(self) -> str:
        return f"Responses({', '.join(self.names)})"

    def record(self, count: int = 1) -> NDArray[np.void]:
        """Return records in which nothing is set, (count,) of `dtype`."""
        blank = np.full(len(self), UNSET, np.int64).view(self.dtype)
        return np.repeat(blank, count)

    def row(self, values: Values) -> Floats:
        """Return the responses in order, (len(self),) float64; NaN where undefined.

        A `ValueError` names the first that is missing, unknown, or not one number.
        """
        if isinstance(values, np.ndarray):
            if values.dtype != self.dtype or values.shape != (1,):
                raise ValueError(f"a record of {values.dtype.names} is not one of {self.names}")
            return np.array(self.rows(values)[0])
        for name in self.names:
            if name not in values:
                raise ValueError(f"response {name!r} is missing")
        for name, value in values.items():
            if name not in self.names:
                raise ValueError(f"response {name!r} is none of {', '.join(self.names)}")
            if np.ndim(value) > 0:
                raise ValueError(f"response {name!r} is an array of shape {np.shape(value)}")
        return np.array([values[name] for name in self.names], dtype=np.float64)

    def rows(self, records: NDArray[np.void]) -> Floats:
        """Return the responses of records, (n, len(self)) float64; NaN where undefined."""
        unset = (records.view(np.int64).reshape(-1, len(self)) == UNSET).any(axis=0)
        if unset.any():
            raise ValueError(f"response {self.names[unset.argmax()]!r} is missing")
        return records.view(np.float64).reshape(-1, len(self))


class Table:
    """One file of a recorded replication.

    Parameters
    ----------
    name : str
        File name without suffix.
    columns : mapping of str to array_like
        Equally long columns by name; None in a list of numbers stands for no value.
    whole : collection of str
        Columns that hold whole numbers, NaN for no value.

    Attributes
    ----------
    name : str
        As given.
    whole : frozenset of str
        As given.
    """

    def __init__(
        self, name: str, columns: Mapping[str, ArrayLike | Sequence[Any]], whole: Sequence[str] = ()
    ) -> None:
        self.name = name
        arrays = {key: np.asarray(values) for key, values in columns.items()}
        self._columns: dict[str, NDArray[Any]] = {
            key: array.astype(np.float64) if array.dtype == object else array  # None becomes NaN
            for key, array in arrays.items()
        }
        self.whole = frozenset(whole)
        sizes = {key: column.shape for key, column in self._columns.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"the columns of table {name!r} differ in length: {sizes}")

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Equally long arrays by name, NaN where there is no value."""
        return self._columns

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return max((len(column) for column in self._columns.values()), default=0)

    def __repr__(self) -> str:
        return f"Table({self.name}: {len(self)} rows of {', '.join(self.names)})"

    def part(self, rows: slice) -> Mapping[str, NDArray[Any]]:
        """Return some rows of all columns."""
        return {name: column[rows] for name, column in self._columns.items()}

    def parts(self, count: int) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Yield all rows, so many at a time."""
        for first in range(0, len(self), count):
            yield self.part(slice(first, min(first + count, len(self))))


class LargeTable(Table):
    """A table whose rows are worked out when they are asked for, as all of them are large."""

    def __init__(
        self,
        name: str,
        size: int,
        part: Callable[[slice], Mapping[str, NDArray[Any]]],
        whole: Sequence[str] = (),
    ) -> None:
        super().__init__(name, part(slice(0, 0)), whole)
        self._size, self._part = size, part

    def __len__(self) -> int:
        return self._size

    def part(self, rows: slice) -> Mapping[str, NDArray[Any]]:
        """Return some rows of all columns."""
        return self._part(slice(*rows.indices(self._size)[:2]))

    @cached_property
    def columns(self) -> dict[str, NDArray[Any]]:
        """All rows, worked out when they are first asked for."""
        return dict(self.part(slice(None)))


class Outcome(NamedTuple):
    """One replication in numbers.

    Attributes
    ----------
    responses : Values
        All responses of the model by name; NaN where undefined.
    curves : numpy.ndarray or None
        float64 of the shape of the model's axes, in units of their scales; None where it has none.
    remarks : sequence of str
        What has to be said of it; without numbers, so that the replications can be counted of
        which the same is said.
    """

    responses: Values
    curves: Floats | None = None
    remarks: Sequence[str] = ()


class Record(NamedTuple):
    """One replication in full.

    Attributes
    ----------
    responses : Values
        All responses of the model by name; NaN where undefined.
    tables : sequence of Table
        What happened, one table for each kind of event.
    remarks : sequence of str
        As in its `Outcome`.
    """

    responses: Values
    tables: Sequence[Table]
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Axes:
    """The curves that a model gives besides its responses: a measure per policy and game.

    Attributes
    ----------
    policies : sequence of str
        The systems that a replication compares; one name where there is nothing to compare.
    measures : sequence of str
        What is measured.
    games : int
        Length of the curves: games 1..games.
    scales : sequence of float
        Powers of two, one a measure, of about the size of its values: curves are in these units,
        in which the fixed point of their sums is fine and wide enough.
    units : mapping of str to str
        The units of measures that are no responses.
    """

    policies: Sequence[str]
    measures: Sequence[str]
    games: int
    scales: Sequence[float]
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the array of curves: policies, measures, games."""
        return len(self.policies), len(self.measures), self.games


class Batch(NamedTuple):
    """Consecutive replications in numbers."""

    responses: Floats  # shape (n, len(model.responses)): one row a replication; NaN where undefined
    curves: CurveSums | None  # their sums over the replications; None where the model has none
    controls: Floats | None = None  # shape (n, len(model.controls)); None unless asked for
    remarks: Sequence[str] = ()  # those of all replications


class Model(ABC, Generic[Inputs]):
    """A matchmaking system with its factors.

    A model is built as ``model(factors, files)``, with the files of its `ModelEntry` that the
    config names; it is for one thread at a time.

    Attributes
    ----------
    responses : Responses
        What a replication gives.
    drawn_by : frozenset of str
        The factors that the random inputs depend on, by dotted name, or whole sections of them;
        no rule may be among them.
    axes : Axes or None
        The curves that it gives besides, if any.
    warnings : sequence of str
        Remarks on the model's input, one line each.
    floors : mapping of str to tuple
        What theory knows of the least mean of a response: (value, under which condition).
    releases_gil : bool
        Whether replications are made by compiled code that lets other threads of Python run:
        then threads rather than processes share the work on one machine.
    sampling : Sampling
        What replications are samples of.
    measures : sequence of str
        Groups of further responses, which the factor `measure` asks for.
    """

    responses: Responses
    drawn_by: frozenset[str]
    axes: Axes | None = None
    warnings: Sequence[str] = ()
    floors: Mapping[str, tuple[float, str]] = MappingProxyType({})
    releases_gil: bool = False
    sampling: Sampling = INDEPENDENT
    measures: Sequence[str] = ()
    _check: Callable[[], None] = staticmethod(lambda: None)

    def draws_by(self, factor: str) -> bool:
        """Return whether the random inputs depend on a factor, or on a part of it."""
        return any(factor == name or factor.startswith(f"{name}.") for name in self.drawn_by)

    @classmethod
    def further(cls, factors: Factors) -> Sequence[Response]:
        """Return the responses that factors ask for besides those of the class."""
        return ()

    @property
    def controls(self) -> Mapping[str, float]:
        """The expectation of each control: a number that the random inputs give."""
        return {}

    @abstractmethod
    def draw(self, streams: Streams, replication: int) -> Inputs:
        """Return the random inputs of a replication."""

    def observe(self, inputs: Inputs) -> Floats:
        """Return the controls that these inputs give."""
        return np.empty(0)

    @abstractmethod
    def run(self, inputs: Inputs) -> Outcome:
        """Return what comes of these inputs."""

    def run_many(
        self,
        streams: Streams,
        replications: Sequence[int],
        controls: bool,
        check: Callable[[], None],
    ) -> Batch:
        """Run replications, here one by one; a model that can make many at once does so.

        `check` is called between two pieces of work, and ends the run by what it raises.
        """
        curves = CurveSums.zeros(self.axes.shape) if self.axes else None
        rows, seen, remarks = [], [], list[str]()
        self._check = check
        for replication in replications:
            check()
            inputs = self.draw(streams, replication)
            outcome = self.run(inputs)
            rows.append(row_of(self, outcome.responses))
            remarks += outcome.remarks
            if controls:
                seen.append(self.observe(inputs))
            if curves is not None and outcome.curves is not None:
                curves.add(outcome.curves)
        made = np.reshape(rows, (len(rows), len(self.responses)))
        observations = np.reshape(seen, (len(seen), len(self.controls))) if controls else None
        return Batch(made, curves, observations, remarks)

    @abstractmethod
    def record(self, inputs: Inputs) -> Record:
        """Return the same responses with everything that happened."""


def row_of(model: Model[Inputs], values: Values) -> Floats:
    """Return the responses of a replication in their order; see `Responses.row`."""
    try:
        return model.responses.row(values)
    except ValueError as error:
        raise RunError(f"{type(model).__name__}: {error}") from None
