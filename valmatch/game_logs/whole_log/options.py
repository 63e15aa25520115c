"""Options of ratings of a whole log, which Python and the command line share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.errors import InputError, option
from valmatch.game_logs.options import LogOptions, declare_parameters, values_of
from valmatch.inputs import arguments
from valmatch.inputs import options as o
from valmatch.ratings.registry import BATCH_NAMES, batch_named, refuse_system_of_other_command

if TYPE_CHECKING:
    from valmatch.game_logs.reading.columns import Further
    from valmatch.ratings.system import BatchSystem

DRAWS = ("davidson", "half")
HOME = ("fit", "none")
INFORMATION, SANDWICH, NONE = INTERVALS = ("information", "sandwich", "none")
TIME_UNITS = {"days": 1.0, "hours": 24.0}  # what a day is in each unit of times that are numbers

_DRIFT = "drift"

MOST_LISTED = 300  # rated players up to which all differences are written unasked


def _whole_log_system(name: str, value: object) -> str:
    """Return the name of a system that rates whole logs."""
    refuse_system_of_other_command(value, BATCH_NAMES)
    return arguments.one_of(name, value, BATCH_NAMES)


@dataclass(frozen=True)
class RankOptions(LogOptions, o.OutOptions):
    """How a whole log is rated."""

    system: str = o.one_of(
        BATCH_NAMES,
        BATCH_NAMES[0],
        "bradley_terry: one rating a player; or whole_history: one for each day on which they"
        " played, which moves in between.",
        check=_whole_log_system,
    )
    parameters: Mapping[str, float] = declare_parameters(
        "Set a parameter of the system, such as mean=0 or drift=3.7; may be repeated.",
        "as published",
    )
    tune: Sequence[str] = o.names("whole_history: drift, to fit it by its evidence.", "NAME")
    draws: str = o.one_of(
        DRAWS,
        "",
        "Model of draws: davidson (a result of its own) or half (half a win).",
        default="davidson where there are draws",
    )
    home: str = o.one_of(
        HOME,
        "",
        "Home advantage: fit or none.",
        default="fit where the log says who is at home",
    )
    covariate: Sequence[str] = o.repeated(
        "Fit points per unit of this column, or of COLUMN_a less COLUMN_b; may be repeated.",
        "COLUMN",
    )
    weight: str = o.text("", "Each game counts as many times as this column says.", "COLUMN")
    prior: float | None = o.number(
        arguments.deviation,
        None,
        "bradley_terry: standard deviation of the ratings about a common mean, in points, so that"
        " all players can be rated.",
        "D",
        default="no prior",
    )
    anchors: Path | None = o.path(
        "bradley_terry: a CSV file of players whose ratings are known: player, rating, optional"
        " deviation.",
        identity=False,
    )
    interval: str = o.one_of(
        INTERVALS,
        "",
        "Intervals: information, sandwich or none.",
        default="sandwich with clusters, half draws or fractional weights, else information",
    )
    cluster: Sequence[str] = o.names(
        "Cluster standard errors by these columns, such as voter.", "COLUMN[,COLUMN]"
    )
    cluster_days: int | None = o.whole(
        "cluster_days", None, "Cluster standard errors by blocks of this many days."
    )
    time_unit: str = o.one_of(TIME_UNITS, "days", "Unit of times that are numbers: days or hours.")
    level: float = o.number(arguments.level, 0.95, "Confidence level of the intervals.", "P")
    bootstrap: int = o.whole(
        "bootstrap", 0, "Check the intervals by this many refits of resampled games."
    )
    seed: int = o.whole("seed", 1, "Seed of all random numbers.")
    differences: bool = o.flag(f"Write all differences, also of more than {MOST_LISTED} players.")

    def __post_init__(self) -> None:
        super().__post_init__()
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
        paths = self.system == BATCH_NAMES[1]
        for name in ("prior", "anchors") if paths else ():
            if getattr(self, name) is not None:
                what = f"{self.system} knows a first day and a drift instead"
                allowed = f"{option('parameters')} deviation=350 and drift=3.7"
                raise InputError(f"{option(name)}: {what} (allowed: {allowed})")
        if not self.tune:
            return
        if not paths:
            raise InputError(f"{option('tune')}: goes with {option('system')} {BATCH_NAMES[1]}")
        if tuple(self.tune) != (_DRIFT,):
            wrong = next((name for name in self.tune if name != _DRIFT), _DRIFT)
            raise InputError(f"{option('tune')} {wrong}: {self.system} fits {_DRIFT} alone, once")
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
        return values_of(self.system_of, self.parameters, {})

    @property
    def further(self) -> Further:
        """The columns that are read besides those of the format."""
        from valmatch.game_logs.reading.columns import Further

        timed = "" if self.cluster_days is None else option("cluster_days")
        if self.system_of.paths:
            timed = f"{option('system')} {self.system}"
        return Further(self.weight, tuple(self.cluster), tuple(self.covariate), timed)

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this rating from others of the same log."""
        return {**super().identity, "given": self.values}
