"""Options of ratings of a whole log, as a record with checked values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valmatch.errors import InputError, option
from valmatch.game_logs.reading.columns import Further
from valmatch.inputs import arguments
from valmatch.ratings.registry import batch_named
from valmatch.ratings.system import BatchSystem

DRAWS = ("davidson", "half")
HOME = ("fit", "none")
INFORMATION, SANDWICH, NONE = INTERVALS = ("information", "sandwich", "none")
TIME_UNITS = {"days": 1.0, "hours": 24.0}  # what a day is in each unit of times that are numbers

_DRIFT = "drift"

MOST_LISTED = 300  # rated players up to which all differences are written unasked


@dataclass(frozen=True)
class BatchOptions:
    """How a whole log is rated; checked."""

    system: str = "bradley_terry"  # by which system
    tune: Sequence[str] = ()  # parameters that are fitted: ``drift``, if it has one
    draws: str = ""  # ``davidson`` or ``half``; "" for the first of these where there are draws
    # ``fit`` or ``none``; "" for the first of these where the log says who is at home
    home: str = ""
    covariate: Sequence[str] = ()  # columns of covariates
    weight: str = ""  # the column of weights; "" for none
    prior: float | None = None  # standard deviation of the ratings about a common mean, in points
    anchors: Path | None = None  # a file of players whose ratings are known
    # ``information``, ``sandwich`` or ``none``; "" for what the likelihood and the clusters ask for
    interval: str = ""
    cluster: Sequence[str] = ()  # columns whose equal cells make clusters
    cluster_days: int | None = None  # days of a cluster
    time_unit: str = "days"  # of times that are numbers, ``days`` or ``hours``
    level: float = 0.95  # confidence level
    bootstrap: int = 0  # refits of resampled games
    seed: int = 1  # of all that is drawn
    differences: bool = False  # whether all differences are written, however many there are
    parameters: Mapping[str, float] = field(default_factory=dict)  # given parameters of the system

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
        if self.prior is not None:
            arguments.deviation("prior", self.prior)
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
        self._check_system()

    def _check_system(self) -> None:
        """Refuse what the system has no use for."""
        system = self.system_of
        for name in ("prior", "anchors") if system.paths else ():
            if getattr(self, name) is not None:
                what = f"{system.name} knows a first day and a drift instead"
                allowed = f"{option('parameters')} deviation=350 and drift=3.7"
                raise InputError(f"{option(name)}: {what} (allowed: {allowed})")
        if not self.tune:
            return
        if not system.paths:
            what = f"{system.name} rates a whole log at once, and goes from no game to the next"
            raise InputError(f"{option('tune')}: {what}")
        if tuple(self.tune) != (_DRIFT,):
            wrong = next((name for name in self.tune if name != _DRIFT), _DRIFT)
            raise InputError(f"{option('tune')} {wrong}: {system.name} fits {_DRIFT} alone, once")
        if _DRIFT in self.parameters:
            what = f"is given by {option('parameters')}, too (allowed: one of both)"
            raise InputError(f"{option('tune')} {_DRIFT}: {what}")

    @property
    def clustered(self) -> bool:
        """Whether games belong together."""
        return bool(self.cluster) or self.cluster_days is not None

    @property
    def system_of(self) -> BatchSystem:
        """The system."""
        return batch_named(self.system)

    @property
    def values(self) -> dict[str, float]:
        """The parameters of the system, those that are given and the others as published."""
        from valmatch.game_logs.options import values_of

        return values_of(self.system_of, self.parameters, {})

    @property
    def further(self) -> Further:
        """The columns that are read besides those of the format."""
        timed = "" if self.cluster_days is None else option("cluster_days")
        if self.system_of.paths:
            timed = f"{option('system')} {self.system}"
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
            **({"tune": list(self.tune)} if self.tune else {}),
            "covariate": list(self.covariate),
            "cluster": list(self.cluster),
        }
