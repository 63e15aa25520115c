"""Options of the commands that work on game logs, which Python and the command line share."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs import csv_reader as c
from valmatch.inputs import options as o
from valmatch.policies.registry import GOALS, JOINT, meanings
from valmatch.ratings import registry as systems
from valmatch.ratings.parameters import BATCH_SYSTEMS, BatchSystem, values_of
from valmatch.text.numerals import count, real_number
from valmatch.text.terminal import shown


def parse_parameters(texts: Sequence[str]) -> dict[str, float]:
    """Return the values that texts such as ``GAME_MULT=0.5`` give to parameters."""
    values: dict[str, float] = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.partition("="))
        if name in values:
            raise InputError(f"{option('parameters')} {name}: is given twice")
        number = real_number(value)
        if number is None:
            raise InputError(f"{option('parameters')} {text}: (allowed: NAME=NUMBER, such as K=24)")
        values[name] = number
    return values


def declare_parameters(help: str, default: str) -> Any:  # noqa: ANN401
    """Declare values of parameters of a rating system."""
    how = {"read": parse_parameters, "check": arguments.mapping, "repeated": True}
    return o.declare({}, help, "NAME=NUMBER", default=default, identity=False, **how)


def _distinct(name: str, value: object) -> tuple[str, ...]:
    """Return names of which none is empty or there twice."""
    names = arguments.names(name, value)
    for k, entry in enumerate(names):
        o.refuse(name, not entry, "a name is empty")
        o.refuse(name, entry in names[:k], f"{entry} is given twice")
        half = entry != entry.encode(errors="ignore").decode()
        o.refuse(name, half, f"{shown(entry)} holds half a character (a surrogate)")
    return names


def _results(name: str, meanings: Mapping[str, str]) -> Mapping[str, str]:
    """Return the results that words stand for, checked."""
    if not arguments.mapping(name, meanings):
        return {}
    from valmatch.game_logs.reading.tables import check_results

    return check_results(name, meanings)


def read_aliases(path: Path) -> dict[str, c.Row]:
    """Read a file with the columns name, alias; return its rows by alias."""
    rows: dict[str, c.Row] = {}
    what = "aliases have the columns name, alias"
    for row in c.read_table(path, ("name", "alias"), what=what):
        name, alias = row.text("name"), row.text("alias")
        if alias in rows:
            raise row.wrong("alias", f"{shown(alias)} is there twice")
        if alias == name:
            raise row.wrong("alias", f"{shown(alias)} is the name itself")
        rows[alias] = row
    for row in rows.values():
        if other := rows.get(name := row.cells["name"]):
            of = f"is itself an alias of {shown(other.cells['name'])}"
            raise row.wrong("name", f"{shown(name)} {of} (allowed: a name that is no alias)")
    if not rows:
        raise InputError(f"{path}: holds no alias")
    return rows


@dataclass(frozen=True)
class FileOptions(o.Options):
    """How a CSV file of games is read."""

    columns: Mapping[str, str] = o.columns(
        "Which columns of the file to use, such as game=match_id,home=team1,away=team2."
    )
    separator: str | None = o.separator("the one in the header")
    warn: Callable[[str], None] = o.listener("Called with each warning.")


@dataclass(frozen=True)
class LogOptions(FileOptions):
    """How a game log is read."""

    results: Mapping[str, str] = o.declare(
        {},
        "What words in the column of results mean, such as model_a=1-0,tie=1/2-1/2; usual words"
        " are known.",
        "WORD=RESULT,...",
        read=lambda text: c.parse_columns(text, "model_a=1-0", "results", "WORD=RESULT"),
        check=_results,
    )
    date_format: str | None = o.text(
        None,
        "How dates are written: dmy, mdy, ymd, a pattern such as '%d %b %Y', or numbers for times"
        " that are no dates.",
        "FORMAT",
        default="what the dates show",
        check=arguments.date_format,
    )
    skip_bad_games: bool = o.flag("Skip invalid games and report how many.")
    max_bad_rows: float | None = o.max_bad_rows("games")
    alias: Path | None = o.path(
        "A CSV file with the columns name, alias: replace each alias in the log by the name.",
        identity=False,
    )
    progress: Callable[[int], None] = o.listener("Called with the number of further bytes read.")

    @property
    def most_bad(self) -> float | None:
        """The share of all games that may be skipped; None if none may."""
        if self.max_bad_rows is None:
            return c.MOST if self.skip_bad_games else None
        return self.max_bad_rows

    @cached_property
    def aliases(self) -> dict[str, c.Row]:
        """The rows of those who go by another name, by that."""
        return {} if self.alias is None else read_aliases(self.alias)

    def spelled(self, cell: str) -> str:
        """Return the name that a cell stands for."""
        name = c.unmark(cell)
        return self.aliases[name].cells["name"] if name in self.aliases else name

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes a rating from others of the same log."""
        return {
            **super().identity,
            "skip_bad_games": self.most_bad is not None,
            "aliases": {k: row.cells["name"] for k, row in sorted(self.aliases.items())} or None,
        }


@dataclass(frozen=True)
class Further:
    """Columns that a command wants besides those of a format, by their names."""

    weight: str = ""  # as so many games each one counts; "" for none
    clusters: Sequence[str] = ()  # games with equal cells there belong together
    covariates: Sequence[str] = ()  # what is known of sides
    timed_by: str = ""  # what wants times, as messages call it; "" for nothing
    # the arguments that name some of `clusters`, where it is not ``cluster``
    named_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RateOptions(LogOptions, o.OutOptions):
    """How a log is rated game by game."""

    system: str | None = o.text(
        None,
        f"{', '.join(systems.NAMES)}. Several, such as elo,glicko2, are compared.",
        "NAME",
        default=f"the one that made {{ratings}}, else {systems.DEFAULT} of scores and minutes, else"
        f" {systems.DEFAULT_OF_RESULTS}",
        complete=o.among(systems.NAMES),
        identity=False,
    )
    ratings: Path | None = o.path(
        "Continue from an earlier ratings.csv, or its folder, with its parameters.", identity=False
    )
    again: bool = o.flag(
        "Rate games even if {ratings} seems to have rated them already.", identity=False
    )
    parameters: Mapping[str, float] = declare_parameters(
        "Set a parameter of the rating system, such as K=24, or elo.K=24 where systems are"
        " compared; may be repeated.",
        "as the ratings were made with, else as published",
    )
    tune: Sequence[str] = o.names(
        "Fit these parameters to the log loss of the first part of the log, and adopt them if they"
        " predict the rest better; elo.K where systems are compared, then by the games after that"
        " part.",
        "NAME[,NAME]",
        check=_distinct,
    )
    train: float = o.number(arguments.level, 0.5, "Share of the games in that part.", "P")
    burn_in: int = o.whole(
        "burn_in",
        10,
        "A prediction counts as one after the burn-in if all players of the game have played this"
        " many games before.",
    )
    cap: str | None = o.one_of(
        get_args(systems.Cap),
        None,
        "What caps a game of zonestats: most_distant (equation 5) or every_player (nobody beyond"
        " GAME_MULT points a minute up to MAX_GAME_LENGTH).",
        default="that of {ratings}, else most_distant",
        identity=False,
    )

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes a rating from others of the same log."""
        return {**super().identity, "train": self.train if self.tune else None}


DRAWS = ("davidson", "half")
HOME = ("fit", "none")
INFORMATION, SANDWICH, NONE = INTERVALS = ("information", "sandwich", "none")
TIME_UNITS = {"days": 1.0, "hours": 24.0}  # what a day is in each unit of times that are numbers
MOST_LISTED = 300  # rated players up to which all differences are written unasked


def _whole_log_system(name: str, value: object) -> str:
    """Return the name of a system that rates whole logs."""
    systems.refuse_system_of_other_command(value, systems.BATCH_NAMES)
    return arguments.one_of(name, value, systems.BATCH_NAMES)


def _numbers(text: str) -> tuple[int, ...] | None:
    """Return the whole numbers between commas; None where one is none."""
    numbers = tuple(n for cell in text.split(",") if (n := count(cell.strip())) is not None)
    return numbers if len(numbers) == 1 + text.count(",") else None


def _numbers_of_variants(name: str, value: object) -> tuple[int, ...]:
    """Return numbers of variants, of which there are two or more."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    numbers: Iterable[object] = value if several else (value,)  # type: ignore[assignment]
    return tuple(arguments.whole(name, n, "variants") for n in numbers)


_CONDITION = re.compile(r"\s*(half_width\s*<=|games\s*>=)\s*(\S+)\s*")


def read_conditions(text: str) -> dict[str, float] | None:
    """Return the limits of a gate by name; None where it is none."""
    limits: dict[str, float] = {}
    for part in text.split(",") if text else ():
        match = _CONDITION.fullmatch(part)
        limit = real_number(match[2]) if match else None
        if not match or limit is None or not 0.0 < limit <= 1e9:
            return None
        if (name := match[1][:-2].strip()) in limits:
            return None
        limits[name] = limit
    return limits


def _conditions(name: str, value: object) -> str:
    """Return the conditions of a gate, checked."""
    text = arguments.text(name, value)
    if read_conditions(text) is None:
        allowed = "half_width<=POINTS, games>=N, each once, with numbers > 0"
        raise InputError(f"{option(name)}: {shown(text)} (allowed: {allowed})")
    return text


@dataclass(frozen=True)
class RankOptions(LogOptions, o.OutOptions):
    """How a whole log is rated."""

    system: str = o.one_of(
        systems.BATCH_NAMES,
        systems.BATCH_NAMES[0],
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
        HOME, "", "Home advantage: fit or none.", default="fit where the log has home sides"
    )
    covariate: Sequence[str] = o.repeated(
        "Fit points per unit of this column, or of COLUMN_a less COLUMN_b; may be repeated.",
        "COLUMN",
        check=_distinct,
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
        "Cluster standard errors by these columns, such as voter.",
        "COLUMN[,COLUMN]",
        check=_distinct,
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
    firmness: bool = o.flag(
        "bradley_terry, games of two: say how few games decide who is ahead, what order does, and"
        " what is gained by entering several times."
    )
    bought: Sequence[str] = o.repeated(
        "With {firmness}: how many wins put this player first; may be repeated.",
        "PLAYER",
        check=_distinct,
    )
    swapped_by: str = o.text(
        "",
        "With {firmness}: games of two with equal cells in this column, each shown first once, are"
        " one question.",
        "COLUMN",
    )
    best_of: Sequence[int] = o.declare(
        (2, 5, 10, 30),
        "With {firmness}: numbers of equal variants of which the best is kept.",
        "N,...",
        read=_numbers,
        check=_numbers_of_variants,
        default="2,5,10,30",
    )
    show_when: str = o.text(
        "",
        "Show only players of whom this holds: half_width<=POINTS, games>=N, or both with a comma.",
        "CONDITION,...",
        check=_conditions,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        paths, none, system = self.system_of.paths, self.interval == NONE, option("system")
        for name in ("bought", "swapped_by", "best_of") if not self.firmness else ():
            usual = self.__dataclass_fields__[name].default
            o.refuse(name, getattr(self, name) != usual, f"goes with {option('firmness')}")
        if self.firmness:
            o.refuse("firmness", paths, f"goes with {system} {systems.BATCH_NAMES[0]}")
            o.refuse("firmness", self.weight, f"goes without {option('weight')}")
        no_width = f"half_width: {option('interval')} none has no half-widths"
        o.refuse("show_when", "half_width" in self.gate and none, no_width)
        both = f"goes without {option('cluster')} (allowed: one kind of clusters)"
        o.refuse("cluster_days", self.cluster and self.cluster_days is not None, both)
        for name in ("cluster", "cluster_days", "bootstrap") if none else ():
            o.refuse(name, getattr(self, name), f"{option('interval')} none has no use for it")
        if not paths:
            o.refuse("tune", self.tune, f"goes with {system} {systems.BATCH_NAMES[1]}")
            return
        allowed = f"{option('parameters')} deviation=350 and drift=3.7"
        knows = f"{self.system} knows a first day and a drift instead (allowed: {allowed})"
        for name in ("prior", "anchors"):
            o.refuse(name, getattr(self, name) is not None, knows)
        if self.tune and tuple(self.tune) != ("drift",):
            wrong = next((name for name in self.tune if name != "drift"), "drift")
            raise InputError(f"{option('tune')} {wrong}: {self.system} fits drift alone, once")
        if self.tune and "drift" in self.parameters:
            what = f"is given by {option('parameters')}, too (allowed: one of both)"
            raise InputError(f"{option('tune')} drift: {what}")

    @property
    def gate(self) -> dict[str, float]:
        """What has to hold of players who are shown."""
        return read_conditions(self.show_when) or {}

    @property
    def clustered(self) -> bool:
        """Whether games belong together."""
        return bool(self.cluster) or self.cluster_days is not None

    @property
    def system_of(self) -> BatchSystem:
        """The system."""
        return BATCH_SYSTEMS[self.system]

    @property
    def values(self) -> dict[str, float]:
        """The parameters of the system, those that are given and the others as published."""
        return values_of(self.system_of, self.parameters, {})

    @property
    def further(self) -> Further:
        """The columns that are read besides those of the format."""
        timed = "" if self.cluster_days is None else option("cluster_days")
        if self.system_of.paths:
            timed = f"{option('system')} {self.system}"
        columns = (*self.cluster, *filter(None, [self.swapped_by]))
        named_by = {self.swapped_by: "swapped_by"}
        return Further(self.weight, columns, tuple(self.covariate), timed, named_by)

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this rating from others of the same log."""
        return {**super().identity, "given": self.values}


@dataclass(frozen=True)
class PredictOptions(FileOptions, o.OutOptions):
    """How games to come are predicted."""

    pair: Sequence[str] = o.repeated(
        "A game to predict, such as ann,bob or 'ann;bob,cy;dan', nobody at home; may be repeated.",
        "SIDE,SIDE",
    )
    system: str | None = o.text(
        None,
        "The system of RATINGS, if no manifest beside it says so:"
        f" {', '.join(systems.NAMES[:-1])} or {systems.NAMES[-1]}.",
        "NAME",
        complete=o.among(systems.NAMES),
    )
    parameters: Mapping[str, float] = declare_parameters(
        "Set a parameter of the rating system, such as K=24; may be repeated.",
        "as the ratings were made with, else as published",
    )


@dataclass(frozen=True)
class SprtOptions(LogOptions):
    """What a sequential test tests, and how its log is read."""

    pairs_by: str | None = o.text(
        None,
        "Two games with equal cells in this column are a pair, such as an opening with either"
        " colour; others are skipped and counted.",
        "COLUMN",
    )
    elo0: float = o.number(arguments.number, 0.0, "The first hypothesis.", "ELO")
    elo1: float = o.number(arguments.number, 5.0, "The second one, larger.", "ELO")
    alpha: float = o.number(
        arguments.level, 0.05, "Probability of accepting elo1 where elo0 is true.", "P"
    )
    beta: float = o.number(
        arguments.level, 0.05, "Probability of accepting elo0 where elo1 is true.", "P"
    )

    @property
    def hypotheses(self) -> dict[str, float]:
        """What is tested."""
        return {name: getattr(self, name) for name in ("elo0", "elo1", "alpha", "beta")}


GRADIENT = "knowledge_gradient"  # the policy that has a goal


@dataclass(frozen=True)
class _ChoiceOptions(o.OutOptions):
    """How pairs are chosen by a belief."""

    goal: str | None = o.one_of(
        GOALS,
        None,
        "What the knowledge gradient is for: best (name the best), order (name the order of"
        " neighbours) or widest (narrow the widest difference).",
        default="best",
    )
    seed: int = o.whole("seed", 1, "Seed of all random numbers.")

    policy = GRADIENT

    def __post_init__(self) -> None:
        super().__post_init__()
        what = f"{self.goal} goes with {option('policy')} {GRADIENT} (not {self.policy})"
        o.refuse("goal", self.goal is not None and self.policy != GRADIENT, what)

    @property
    def goal_of_policy(self) -> str:
        """The goal, empty of a policy that has none."""
        return (self.goal or GOALS[0]) if self.policy == GRADIENT else ""

    @property
    def policy_in_words(self) -> str:
        """The policy, with its goal if it has one."""
        goal = self.goal_of_policy
        return f"{self.policy} ({goal})" if goal else self.policy


@dataclass(frozen=True)
class NextOptions(_ChoiceOptions):
    """How pairs to play next are chosen."""

    policy: str = o.one_of(JOINT, GRADIENT, f"What a pair is worth. {meanings(JOINT)}")
    batch: int = o.whole("batch", 10, "How many pairs.")
    once: bool = o.flag("Each player in at most one pair.")
    repeat: bool = o.flag("Choose a pair again where another game of it is worth most.")
    allowed: Path | None = o.path(
        "A CSV file of the pairs that may play: player_a, player_b.", default="all", identity=False
    )
    without: Sequence[str] = o.names("Players who are absent.", "NAME[,NAME]", check=_distinct)
    new: Sequence[str] = o.names(
        "Players who have not played yet; their belief is the prior of RATINGS.",
        "NAME[,NAME]",
        check=_distinct,
    )
    explore: float = o.number(
        arguments.share, 0.0, "Draw each pair from all that may play with this probability.", "P"
    )
    progress: Callable[[int], None] = o.listener("Called with the number of further pairs chosen.")
    warn: Callable[[str], None] = o.listener("Called with each warning.")

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes a choice from others by the same ratings."""
        return {**super().identity, "goal": self.goal_of_policy}


AIMS = {"half_width": "half_width", "best": "named_best", "shown": "shown_best"}
"""What can be planned for, by argument, with the measure that has to reach it."""


def _points(least: float, words: str) -> Callable[[str, object], float]:
    """Return what checks a number of points."""
    return lambda name, x: arguments.real(name, x, least, 1e6, f"points {words}, up to 1e6")


def _prior(name: str, value: object) -> float | None:
    """Return the deviation of a prior; None for none."""
    return None if value in (None, "none") else arguments.deviation(name, value)


@dataclass(frozen=True)
class PlanOptions(_ChoiceOptions):
    """What is planned for, for whom, and how it is simulated."""

    half_width: float | None = o.number(
        _points(5e-324, "> 0"),
        None,
        "Games until the mean half-width of the differences is W points.",
        "W",
    )
    best: float | None = o.number(
        arguments.level,
        None,
        "Games until the leader is the true best in this share of leagues.",
        "P",
    )
    shown: float | None = o.number(
        arguments.level,
        None,
        "Games until exactly one is tied for first in this share of leagues.",
        "P",
    )
    players: int | None = o.whole("players", None, "Number of players, from 2 to 500.")
    spread: float | None = o.number(
        _points(0.0, ">= 0"), None, "Standard deviation of their strengths in points.", "S"
    )
    draws: float = o.number(arguments.share, 0.0, "Share of drawn games between equals.", "P")
    home: float = o.number(
        _points(-1e6, "from -1e+06"), 0.0, "Home advantage in points, which is fitted, too.", "H"
    )
    prior: float | None = o.declare(
        350.0,
        "Deviation of the prior by which players are rated.",
        "D|none",
        read=lambda text: "none" if text == "none" else real_number(text),
        check=_prior,
        allowed="points, or none",
    )
    sides: int = o.whole("sides", 2, "Sides of a game, which ends in an order of them.", "K")
    team: int = o.whole("team", 1, "Players of a side, which is as strong as their mean.", "M")
    policy: str = o.one_of(
        JOINT, "uniform", f"Who plays, by what a pair is worth. {meanings(JOINT)}"
    )
    batch: int = o.whole("batch", 10, "Games chosen at once; not for uniform.")
    replications: int = o.whole("replications", 200, "Number of simulated leagues.")
    level: float = o.number(arguments.level, 0.95, "Confidence level of all intervals.", "P")
    max_games: int = o.whole("max_games", 1_000_000, "Give up after this many games.")
    workers: int = o.whole("workers", 1, "Workers on this machine.", "W", identity=False)
    progress: Callable[[int], None] = o.listener(
        "Called with the number of further leagues played."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        aims = [option(name) for name in AIMS if getattr(self, name) is not None]
        if len(aims) != 1:
            what = f"{' and '.join(aims) or 'none of them'} given"
            raise InputError(f"{', '.join(map(option, AIMS))}: {what} (allowed: one)")
        o.refuse("draws", self.draws == 1.0, f"{self.draws!r} (allowed: a share below 1)")
        if self.duels:
            return
        name = "sides" if self.sides > 2 else "team"
        for other, needed in (("policy", "uniform"), ("draws", 0.0), ("home", 0.0)):
            value = getattr(self, other)
            what = f"{getattr(self, name)} goes with {option(other)} {needed} (not {value})"
            o.refuse(name, value != needed, what)
        least = self.sides * self.team
        what = f"{self.players} (allowed: {least} or more, who play a game)"
        o.refuse("players", self.players is not None and self.players < least, what)

    @property
    def duels(self) -> bool:
        """Whether a game is of two players."""
        return (self.sides, self.team) == (2, 1)

    @property
    def policy_in_words(self) -> str:
        """The policy, with its goal if it has one, and who plays if more than two do."""
        return super().policy_in_words + f", {self.sides} sides of {self.team}" * (not self.duels)

    @property
    def aim(self) -> tuple[str, float]:
        """The measure that has to reach a value, and the value."""
        name = next(name for name in AIMS if getattr(self, name) is not None)
        return AIMS[name], float(getattr(self, name))

    def check_players(self, rated: bool) -> None:
        """Refuse a plan that says nothing of the players, or what their ratings say."""
        for name in OF_PLAYERS:
            value = getattr(self, name)
            missing = not rated and value is None and name in ("players", "spread")
            needed = f"{option('players')} and {option('spread')}, or a folder of ratings"
            o.refuse(name, missing, f"is missing (allowed: {needed})")
            given = rated and value != self.__dataclass_fields__[name].default
            o.refuse(name, given, "goes without a folder of ratings")

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this plan from others."""
        measure, value = self.aim
        no_option = (*AIMS, *(() if self.players else OF_PLAYERS))
        others = {k: v for k, v in super().identity.items() if k not in no_option}
        return {"aim": measure, "value": value, **others, "goal": self.goal_of_policy}


OF_PLAYERS = ("players", "spread", "draws", "home", "prior", "sides", "team")
"""Options of a plan without a folder of ratings."""
