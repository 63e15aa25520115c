"""Files of the ladder: who plays, how well, and when."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.inputs.csv_reader import Row, read_rows
from valmatch.inputs.files import MAX_FILE
from valmatch.kernels.arrays import Floats
from valmatch.models.ladder.factors import MAX_PLAYERS, MAX_STARTS, LadderFactors
from valmatch.models.ladder.loop import NO_SESSIONS, Sessions
from valmatch.models.valorant.queue_log import check_digits, check_serial_days
from valmatch.text.terminal import Notice, shown

MAX_NAME = 100  # characters of a name: tables hold as many for every player
HOURS = "hours since the start of the run"

UNUSED = {
    "skills": ("population.skill_mean",),
    "arrivals": ("sessions.per_day", "sessions.activity_cv", "sessions.hourly_profile"),
}
"""Factors whose place a file takes."""


class FileContents(NamedTuple):
    """The players and the sessions that files give."""

    names: Sequence[str]  # the players at the start, in the order of the files; none without files
    players: int  # how many there are at the start, by the files or by the factors
    skills: Floats | None  # their skills, if these are given
    sessions: Sessions  # their session starts before the horizon, if these are given
    remarks: tuple[str, ...]  # what is probably not meant


def read_files(factors: LadderFactors, files: Mapping[str, Path]) -> FileContents:
    """Read the files of a config: ``skills``, ``arrivals``, both or none."""
    # Other columns than the wanted ones are ignored; rows may come in any order.
    skills, numbers, sessions, remarks = None, dict[str, int](), NO_SESSIONS, list[str]()
    for key, path in files.items():
        for name in UNUSED[key]:
            if factors.is_changed(name):
                text = f"{path}: {name} has no effect with a file of {key}"
                remarks.append(Notice(text, "ignored_factor"))
    if "skills" in files:
        by_name = _skills(files["skills"])
        skills = np.array(list(by_name.values()))
        numbers = {name: number for number, name in enumerate(by_name)}
    if "arrivals" in files:
        path, horizon = files["arrivals"], 24.0 * factors.days
        players, times = _starts(path, files.get("skills"), numbers)
        within = times < horizon
        if not within.any():
            text = f"no session starts before the horizon of {horizon:g} hours"
            raise InputError(f"{path}: {text}")
        firsts = np.searchsorted(players[within], np.arange(len(numbers) + 1))
        sessions = Sessions(times[within], firsts.astype(np.int64))
        if n := int(np.count_nonzero(~within)):
            text = f"{n} row{'s' * (n > 1)} at or after the horizon of {horizon:g} hours skipped"
            remarks.append(Notice(f"{path}: {text}", "rows_left_out", n))
        warmup = 24.0 * factors.warmup_days
        if sessions.times.max() < warmup:
            text = f"every session starts within the warm-up of {warmup:g} hours, before anything"
            remarks.append(f"{path}: {text} is measured (set days and warmup_days)")
    at_start, n = factors.population.players, len(numbers)
    if files:
        path = files.get("skills", files.get("arrivals", Path()))
        if at_start not in (None, n):
            text = f"{n} players, but population.players is {at_start} (allowed: {n}, or null)"
            raise InputError(f"{path}: {text}")
        starts = factors.session_starts(n)
        if "arrivals" not in files and starts > MAX_STARTS:
            text = f"about {starts:.1e} sessions of {n} players would start"
            raise InputError(f"{path}: {text} (at most {MAX_STARTS:.0e})")
    return FileContents(
        list(numbers), n if files else at_start or 0, skills, sessions, tuple(remarks)
    )


def _skills(path: Path) -> dict[str, float]:
    skills: dict[str, float] = {}
    what = "the skills of players have the columns player, and skill or rating"
    for row, name, column in _rows(path, ("skill", "rating"), what, skills):
        if name in skills:
            raise row.wrong("player", f"{shown(name)} has a row above (allowed: one row a player)")
        skill = row.number(column)
        if abs(skill) > 1e6:
            raise row.wrong(column, f"{skill!r} (allowed: a number from -1000000 to 1000000)")
        skills[name] = skill
    return skills


def _starts(
    path: Path, skills: Path | None, numbers: dict[str, int]
) -> tuple[NDArray[np.int64], Floats]:
    """Return player and hour of the session starts, by player, those of each in order."""
    # Without a file of skills, the players are numbered here.
    rows: list[Row] = []
    of, hours = list[int](), list[float]()
    column, what = "", "session starts have the columns player, and arrival_hours or time"
    for row, name, column in _rows(path, ("arrival_hours", "time"), what, numbers):
        if skills is not None and name not in numbers:
            raise row.wrong("player", f"{shown(name)} is not among the players of {skills}")
        hour = row.number(column, f" of {HOURS}")
        check_digits(row, column, hour, HOURS)
        if hour < 0:
            raise row.wrong(column, f"{hour!r} is negative (allowed: hours >= 0)")
        of.append(numbers.setdefault(name, len(numbers)))
        hours.append(hour)
        rows.append(row)
    players, times = np.array(of), np.array(hours)
    check_serial_days(rows[0], column, times, HOURS)
    order = np.lexsort((times, players))
    earlier, later = order[:-1], order[1:]
    same = (players[earlier] == players[later]) & (times[earlier] == times[later])
    if same.any():
        repeated, other = min(zip(later[same].tolist(), earlier[same].tolist(), strict=True))
        text = f"{shown(list(numbers)[of[repeated]])} starts a session at {hours[repeated]!r}"
        text += f" hours in line {rows[other].line} too (nobody is in two places at once)"
        raise InputError(f"{path}:{rows[repeated].line}: player: {text}")
    return players[order], times[order]


def _rows(
    path: Path, either: Sequence[str], what: str, players: Mapping[str, object]
) -> Iterator[tuple[Row, str, str]]:
    """Yield the rows of a file of players, with the player and the name of the other column."""
    # The second of the columns counts where there is no first. `players` are those that are read.

    def choose(header: Sequence[str], position: str) -> list[str]:
        second = next((name for name in either if name in header), None)
        if "player" not in header or second is None:
            missing = " or ".join(either) if "player" in header else "player"
            # Any file might be named here: nothing of it is shown.
            raise InputError(f"{position}: column {missing} is missing ({what})")
        return ["player", second]

    empty = True
    for row in read_rows(path, choose, None, most=MAX_FILE):
        player, column = row.cells
        name, empty = row.cells[player].strip(), False
        if not 0 < len(name) <= MAX_NAME or "\0" in name:
            cell = shown(name) if name else "empty"
            raise row.wrong(player, f"{cell} (allowed: a name of 1 to {MAX_NAME} characters)")
        yield row, name, column
    if empty:
        raise InputError(f"{path}: no players (at least one row is needed below the header)")
    if len(players) > MAX_PLAYERS:
        raise InputError(f"{path}: {len(players):,} players (at most {MAX_PLAYERS:,})")
