"""What a model is: factors and random inputs in, responses out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.statistics.curve_sums import CurveSums
from valmatch.streams import Streams

__all__ = ["Axes", "Batch", "Model", "Outcome", "Record", "Response", "Table", "Window"]

Floats = NDArray[np.float64]


class Window(NamedTuple):
    """A stretch of the curve of one measure under one policy.

    Attributes
    ----------
    policy, measure : names
    games : the first and the last game, such as "1-100", or "total" for the sum over all
    """

    policy: str
    measure: str
    games: str


@dataclass(frozen=True)
class Response:
    """One number that a replication gives.

    Attributes
    ----------
    name : column of ``replications.csv``, key of ``summary.json``
    unit : unit, "" where it is a count or a share
    meaning : what it is, in one line
    whole : whether it is a whole number
    window : the stretch of a curve that it is taken over; None where it is not of a curve
    """

    name: str
    unit: str
    meaning: str
    whole: bool = False
    window: Window | None = None


@dataclass(frozen=True)
class Table:
    """One file of a recorded replication.

    Attributes
    ----------
    name : file name without suffix
    columns : equally long columns by name; None and NaN stand for a value that does not exist
    """

    name: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Record:
    """One replication in full.

    Attributes
    ----------
    responses : (len(model.responses),) float64; NaN where undefined
    tables : what happened, one table for each kind of event
    """

    responses: Floats
    tables: Sequence[Table]


@dataclass(frozen=True)
class Axes:
    """The curves that a model gives besides its responses: a measure per policy and game.

    Attributes
    ----------
    policies, measures : names
    games : games 1..games
    scales : powers of two, one a measure, of about the size of its values: curves are in these
        units, in which the fixed point of their sums is fine and wide enough
    """

    policies: Sequence[str]
    measures: Sequence[str]
    games: int
    scales: Sequence[float]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the array of curves: policies, measures, games."""
        return len(self.policies), len(self.measures), self.games


class Outcome(NamedTuple):
    """One replication in numbers.

    Attributes
    ----------
    responses : (len(model.responses),) float64; NaN where undefined
    curves : float64 of the shape of the model's axes, in units of their scales; None where it
        has none
    """

    responses: Floats
    curves: Floats | None = None


class Batch(NamedTuple):
    """Consecutive replications in numbers.

    Attributes
    ----------
    responses : (n, len(model.responses)) float64, one row a replication; NaN where undefined
    curves : sums of the curves over the replications; None where the model has none
    controls : (n, len(model.controls)) float64, the controls in each replication; None unless
        asked for
    """

    responses: Floats
    curves: CurveSums | None
    controls: Floats | None = None


class Model(ABC):
    """A matchmaking system with its factors.

    A model is built from its factors and the file of arrivals or None; it is for one thread at a
    time.

    Attributes
    ----------
    responses : what a replication gives
    drawn_by : the factors that the random inputs depend on; no rule may be among them
    axes : the curves that it gives besides, if any
    warnings : remarks on the model's input, one line each
    floors : what theory knows of the least mean of a response: (value, under which condition)
    """

    responses: Sequence[Response]
    drawn_by: frozenset[str]
    axes: Axes | None = None
    warnings: Sequence[str] = ()
    floors: Mapping[str, tuple[float, str]] = MappingProxyType({})

    @property
    def controls(self) -> Mapping[str, float]:
        """The expectation of each control: a number that the random inputs give."""
        return {}

    @abstractmethod
    def draw(self, streams: Streams, replication: int) -> Any:  # noqa: ANN401
        """Return the random inputs of a replication, to be used once."""

    def keep(self, inputs: Any) -> Any:  # noqa: ANN401
        """Return the same inputs in a form that can be used any number of times."""
        return inputs

    def observe(self, inputs: Any) -> tuple[Any, Callable[[], Floats]]:  # noqa: ANN401
        """Return the same inputs and a function that gives the controls once they are used."""
        return inputs, lambda: np.empty(0)

    @abstractmethod
    def run(self, inputs: Any) -> Outcome:  # noqa: ANN401
        """Return what comes of these inputs."""

    @abstractmethod
    def record(self, inputs: Any) -> Record:  # noqa: ANN401
        """Return the same responses with everything that happened."""
