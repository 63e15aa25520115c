"""Cells of games read as numbers, words and times."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import compress
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, option
from valmatch.inputs.csv_reader import FLAGS, unmark
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.text import durations as d
from valmatch.text.dates import ORDERS, SINCE, moment_by, moment_of
from valmatch.text.numerals import real_number
from valmatch.text.terminal import VALUE, shortened, shown


def read_each(cells: Sequence[str], read: Callable[[str], Any], dtype: type[Any]) -> NDArray[Any]:
    """Return what each cell is read as; equal ones are read once."""
    known = {cell: read(cell) for cell in set(cells)}
    return np.fromiter(map(known.__getitem__, cells), dtype, len(cells))


def _number(cell: str) -> float:
    value = real_number(cell)
    return math.nan if value is None else value


def read_numbers(cells: Sequence[str]) -> Floats:
    """Return the numbers in some cells; NaN where there is none."""
    return read_each(cells, _number, np.float64)


def read_flags(cells: Sequence[str]) -> NDArray[np.int8]:
    """Return which cells say yes (1) or no (0), in any case; -1 for another word."""
    return read_each(cells, lambda cell: FLAGS.get(cell.lower(), -1), np.int8)


class Names(dict[str, int]):
    """The numbers of names, in the order in which they first come, by the cells for them."""

    def __init__(self, spelled: Callable[[str], str] = unmark) -> None:
        super().__init__()
        self.spelled = spelled  # returns the name that a cell stands for
        self.texts: list[str] = []  # the names by their numbers
        self._numbers: dict[str, int] = {}  # by name

    def __missing__(self, cell: str) -> int:
        number = self[cell] = self.number(self.spelled(cell))
        return number

    def number(self, name: str) -> int:
        """Return the number of a name."""
        number = self._numbers.setdefault(name, len(self.texts))
        if number == len(self.texts):
            self.texts.append(name)
        return number

    def read(self, cells: Sequence[str]) -> Ints:
        """Return the numbers of the names in some cells."""
        return np.fromiter(map(self.__getitem__, cells), np.int64, len(cells))

    def ranks(self) -> Ints:
        """Return the rank of each name in the order of all, from 0."""
        ranks = np.empty(len(self.texts), np.int64)
        ranks[[self._numbers[name] for name in sorted(self.texts)]] = np.arange(len(ranks))
        return ranks


class GameNames(list[str]):
    """The names of the games of a log, in its order."""

    def __init__(self, runs: bool) -> None:
        super().__init__()
        self._runs = runs  # whether rows that follow each other belong to one game if named alike
        self._last: str | None = None

    def read(self, cells: Sequence[str]) -> Bools:
        """Return for some cells whether they are the first of a game."""
        first = np.ones(len(cells), np.bool_)
        if self._runs:
            first = np.fromiter(map(ne, cells, (self._last, *cells)), np.bool_, len(cells))
            self._last = cells[-1]
        self.extend(map(unmark, compress(cells, first)))
        return first

    def first_of_name(self) -> Ints:
        """Return for each game the first one of the same name."""
        known: dict[str, int] = {}
        firsts = (known.setdefault(name, game) for game, name in enumerate(self))
        return np.fromiter(firsts, np.int64, len(self))


# What times may be, besides seconds and milliseconds since 1970.
NUMBERS, DATES, DIGITS = "plain numbers", "date-times", "dates such as 20240131"
_EITHER = "dates of which the order has to show"
_LAST = 253_402_300_800.0  # seconds since 1970 at the end of the year 9999
_PLAIN = re.compile(r"((?!0000)\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?\n)+", re.ASCII)


def _kind_of_time(cell: str) -> str | None:
    """Return what a cell may be: a number, a moment, or a date in some order; None if none."""
    if real_number(cell) is not None:
        return NUMBERS
    if not math.isnan(moment_of(cell)):
        return DATES
    either = all(math.isnan(moment_by(cell, order)) for order in ("dmy", "mdy"))
    return None if either else _EITHER


class Times:
    """The times of a log, read some at a time; of dates in either order both readings are kept."""

    def __init__(self, sample: Sequence[str], date_format: str | None) -> None:
        # how dates are written, as the option has it; None where they need none
        self.order = date_format
        self.kind: str | None = DATES  # what times are; None where none can be read
        if date_format == "numbers":
            self.kind = NUMBERS
        elif date_format is None:
            self.kind = next(filter(None, map(_kind_of_time, sample)), None)

    def read(self, cells: Sequence[str]) -> Floats:
        """Return times as they stand; of dates in either order, those by both. NaN for none."""
        if self.kind is None:
            return np.full(len(cells), np.nan)
        if self.kind == NUMBERS:
            return read_numbers(cells)
        if self.order is None and self.kind != _EITHER:
            return read_moments(cells)
        orders = ("dmy", "mdy") if self.order is None else (self.order,)
        columns = [
            read_each(cells, partial(moment_by, order=order), np.float64) for order in orders
        ]
        return np.column_stack(columns) if len(columns) > 1 else columns[0]

    def unsettled(self, times: Floats) -> int | None:
        """Return the first row of a date whose order no date of the log shows; None for none."""
        if times.ndim == 1:
            return None
        differ = np.flatnonzero(times[:, 0] != times[:, 1])
        days_first, months_first = np.count_nonzero(times == times, axis=0).tolist()
        return int(differ[0]) if len(differ) and days_first == months_first else None

    def settled(self, times: Floats) -> Floats:
        """Return all times of the log in one unit: seconds since 1970, or numbers as they stand."""
        if self.kind == NUMBERS and self.order is None:
            numbers = np.sort(times)  # NaN at last
            middle = float(numbers[np.count_nonzero(numbers == numbers) // 2])
            self.kind = d.unit_since_1970(middle) or NUMBERS
            if d.date_of_digits(middle, SINCE):
                self.kind = DIGITS
                values, index = np.unique(times, return_inverse=True)
                return np.array([d.moment_of_digits(x, SINCE) for x in values.tolist()])[index]
            if unit := d.PER_SECOND.get(self.kind):
                seconds = times / unit
                most = d.LEAST[d.MILLISECONDS] if self.kind == d.SINCE_1970 else _LAST
                known = (times >= d.LEAST[self.kind]) & (seconds < most)
                return np.where(known, seconds, np.nan)
            return times
        if times.ndim > 1:
            days_first, months_first = np.count_nonzero(times == times, axis=0).tolist()
            self.order = "dmy" if days_first >= months_first else "mdy"
            times = times[:, 0 if days_first >= months_first else 1]
        if self.order in ORDERS:
            self.kind = f"dates as {ORDERS[self.order]}"
        return times


def read_moments(cells: Sequence[str]) -> Floats:
    """Return the seconds since 1970 of moments, UTC where no zone is given; or NaN."""
    text = "\n".join([*cells, ""])
    if _PLAIN.fullmatch(text):
        if "Z" in text:
            cells = [cell.removesuffix("Z") for cell in cells]
        with suppress(ValueError):  # no such day or hour
            return np.array(cells, "M8[s]").astype(np.float64)
    return read_each(cells, moment_of, np.float64)


def time_text(value: float, dated: bool) -> str:
    """Return the time of a game: a number, or a moment in UTC (a day starts at 0:00)."""
    if value != value:
        return ""
    if not dated:
        return repr(value)
    moment = datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
    return str(moment).removesuffix(" 00:00:00")


# Who won a game; a game that was not played to its end is none.
SECOND, FIRST, DRAWN, UNFINISHED, UNKNOWN = 0, 1, 2, 3, -1
_WRITTEN = {FIRST: "1-0", SECOND: "0-1", DRAWN: "1/2-1/2", UNFINISHED: "*"}

# Words in lower case and without blanks.
_WORDS = {
    **dict.fromkeys(("w", "win", "won", "white", "h", "home", "a", "first"), FIRST),
    **dict.fromkeys(("l", "lose", "loss", "lost", "black", "away", "b", "second"), SECOND),
    **dict.fromkeys(("d", "draw", "drawn", "tie", "tied", "remis", "bothbad", "both_bad"), DRAWN),
    **dict.fromkeys(("1/2-1/2", "½-½", "1/2", "½", "tie(bothbad)"), DRAWN),
    "*": UNFINISHED,
}

_SIDE = re.compile(r"(?:model|player|team|side|competitor|engine)_?([ab12])")
_SCORE = re.compile(r"(\d+(?:\.\d+)?)[-:](\d+(?:\.\d+)?)", re.ASCII)
_NAMED = 4  # words of one result that are named


def check_results(name: str, meanings: Mapping[str, str]) -> dict[str, str]:
    """Return the results of words, each as 1-0, 0-1, 1/2-1/2 or *."""
    results = {}
    for word, result in meanings.items():
        outcome = _meaning(_folded(str(result)), frozenset(), False)
        if outcome == UNKNOWN:
            allowed = ", ".join(_WRITTEN.values())
            raise InputError(f"{option(name)}: {word}={shown(result)} (allowed: {allowed})")
        results[str(word)] = _WRITTEN[outcome]
    return results


def _folded(word: str) -> str:
    """Return a word as it is looked up."""
    plain = re.sub(r"\s+", "", word.casefold())
    return plain.replace("\N{EN DASH}", "-").replace(",", ".")  # .5 with a decimal comma


def _meaning(word: str, others: frozenset[str], at_home: bool) -> int:
    """Return what a word means among the others of its column."""
    if word == "a" and ("h" in others or (at_home and "b" not in others)):
        return SECOND
    if word == "x" and {"1", "2"} <= others:
        return DRAWN
    if word in _WORDS:
        return _WORDS[word]
    if side := _SIDE.fullmatch(word):
        return FIRST if side[1] in "a1" else SECOND
    if score := _SCORE.fullmatch(word):
        first, second = float(score[1]), float(score[2])
        return DRAWN if first == second else FIRST if first > second else SECOND
    known = {1.0: FIRST, 0.5: DRAWN, 0.0: SECOND, -1.0: SECOND}
    if others & {"-1", "-1.0"}:
        known[0.0] = DRAWN
    elif others & {"2", "2.0"}:  # the side that won, unless 0 says that it may be something else
        known = {} if others & {"0", "0.0"} else {1.0: FIRST, 2.0: SECOND}
    return known.get(_number(word), UNKNOWN)


class Results:
    """The words for results of a log, understood when all are known."""

    def __init__(self, explained: Mapping[str, str], at_home: bool) -> None:
        self._explained = {_folded(word): _folded(result) for word, result in explained.items()}
        self._at_home = at_home
        self._words = Names(str)
        self.read = self._words.read  # returns the numbers of the words in some cells
        self.described = ""  # what the words mean; nothing of those that everybody knows

    def outcomes(
        self, words: Ints, sides: Sequence[Ints], players: Names, blank: int
    ) -> NDArray[np.int8]:
        """Return who won each game; names are winners where most decided games name a side."""
        texts = [*self._words.texts]
        folded = list(map(_folded, texts))
        others = frozenset(folded)
        explained = [self._explained.get(word, word) for word in folded]
        meanings = [_meaning(word, others, self._at_home) if word else blank for word in explained]
        outcomes = np.array(meanings, np.int8)[words]
        winners = np.array([players.get(text, -1) for text in texts], np.int64)[words]
        won, lost = winners == sides[0], winners == sides[1]
        decided = (outcomes != DRAWN) & (outcomes != UNFINISHED)
        named: Bools = (won | lost) & decided
        by_name = 2 * int(named.sum()) > int(decided.sum())
        if by_name:
            known = np.array([word in self._explained for word in folded])[words]
            outcomes[decided & ~known] = UNKNOWN
            outcomes[won & decided], outcomes[lost & decided] = FIRST, SECOND
        parts = ["the winner's name"] if by_name else []
        for result, written in _WRITTEN.items():
            named_words = [
                shortened(text, VALUE) or "nothing"
                for text, word, meaning in zip(texts, folded, meanings, strict=True)
                if meaning == result
                and word != written
                and not (by_name and result in (FIRST, SECOND) and word not in self._explained)
            ]
            left = len(named_words) - _NAMED
            more = f" and {left:,} more" if left > 0 else ""
            if named_words:
                parts.append(f"{', '.join(named_words[:_NAMED])}{more} = {written}")
        self.described = "; ".join(parts)
        return outcomes
