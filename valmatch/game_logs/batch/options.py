"""Options of ratings of a whole log, as a record with checked values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valmatch.errors import InputError, option
from valmatch.game_logs.reading.further import Further
from valmatch.inputs import arguments
from valmatch.ratings.registry import batch_named

DRAWS = ("davidson", "half")
HOME = ("fit", "none")
INFORMATION, SANDWICH, NONE = INTERVALS = ("information", "sandwich", "none")
TIME_UNITS = {"days": 1.0, "hours": 24.0}
"""What a day is in each unit of times that are numbers."""

MOST_LISTED = 300
"""Rated players up to which all differences are written unasked."""


@dataclass(frozen=True)
class BatchOptions:
    """How a whole log is rated; checked.

    Attributes
    ----------
    draws : str
        ``davidson`` or ``half``; "" for the first of these where there are draws.
    home : str
        ``fit`` or ``none``; "" for the first of these where the log says who is at home.
    covariate : sequence of str
        Columns of covariates.
    weight : str
        The column of weights; "" for none.
    prior : float or None
        Standard deviation of the ratings about a common mean, in points.
    anchors : Path or None
        A file of players whose ratings are known.
    interval : str
        ``information``, ``sandwich`` or ``none``; "" for what the likelihood and the clusters ask
        for.
    cluster : sequence of str
        Columns whose equal cells make clusters.
    cluster_days : int or None
        Days of a cluster.
    time_unit : str
        Of times that are numbers, ``days`` or ``hours``.
    level : float
        Confidence level.
    bootstrap : int
        Refits of resampled games.
    seed : int
        Of all that is drawn.
    differences : bool
        Whether all differences are written, however many there are.
    parameters : mapping
        Given parameters of the system.

    Raises
    ------
    InputError
        If one of them cannot be used.
    """

    draws: str = ""
    home: str = ""
    covariate: Sequence[str] = ()
    weight: str = ""
    prior: float | None = None
    anchors: Path | None = None
    interval: str = ""
    cluster: Sequence[str] = ()
    cluster_days: int | None = None
    time_unit: str = "days"
    level: float = 0.95
    bootstrap: int = 0
    seed: int = 1
    differences: bool = False
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choices = {"draws": DRAWS, "home": HOME, "interval": INTERVALS, "time_unit": TIME_UNITS}
        for name, allowed in choices.items():
            if value := getattr(self, name):
                arguments.one_of(name, value, allowed)
        arguments.level("level", self.level)
        arguments.whole("bootstrap", self.bootstrap)
        arguments.whole("seed", self.seed)
        if self.cluster_days is not None:
            arguments.whole("cluster_days", self.cluster_days)
        if self.prior is not None and not (0.0 < self.prior < math.inf):
            raise InputError(f"{option('prior')}: {self.prior!r} (allowed: points > 0)")
        for name in ("covariate", "cluster"):
            given = getattr(self, name)
            if again := next((one for one in given if given.count(one) > 1), None):
                raise InputError(f"{option(name)}: {again} is given twice")
        if self.cluster and self.cluster_days is not None:
            what = f"goes without {option('cluster')} (allowed: one kind of clusters)"
            raise InputError(f"{option('cluster_days')}: {what}")
        if self.interval == NONE:
            for name in ("cluster", "cluster_days", "bootstrap"):
                if getattr(self, name):
                    raise InputError(f"{option(name)}: {option('interval')} none has no use for it")

    @property
    def clustered(self) -> bool:
        """Whether games belong together."""
        return bool(self.cluster) or self.cluster_days is not None

    @property
    def mean(self) -> float:
        """The mean of the ratings without anchors."""
        return float(self.values("bradley_terry")["mean"])

    def values(self, system: str) -> dict[str, float]:
        """Return the parameters of a system, those that are given and the others as published."""
        from valmatch.game_logs.parameters import values_of

        return values_of(batch_named(system), self.parameters, {})

    @property
    def further(self) -> Further:
        """The columns that are read besides those of the format."""
        timed = self.cluster_days is not None
        return Further(self.weight, tuple(self.cluster), tuple(self.covariate), timed)

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this rating from others of the same log."""
        names = ("draws", "home", "weight", "prior", "interval", "cluster_days", "time_unit")
        return {
            **{name: getattr(self, name) for name in names},
            "level": self.level,
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            "differences": self.differences,
            "covariate": list(self.covariate),
            "cluster": list(self.cluster),
        }
