"""Meanings of the cells of a result column: words, the winner's name, numbers and scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, option
from valmatch.game_logs.games import Names
from valmatch.kernels.arrays import Bools, Ints
from valmatch.text.numerals import real_number
from valmatch.text.terminal import VALUE, shortened, shown

SECOND, FIRST, DRAWN, UNFINISHED, UNKNOWN = 0, 1, 2, 3, -1
"""Who won a game; a game that was not played to its end is none."""

_WRITTEN = {FIRST: "1-0", SECOND: "0-1", DRAWN: "1/2-1/2", UNFINISHED: "*"}

_WORDS = {
    **dict.fromkeys(("w", "win", "won", "white", "h", "home", "a", "first"), FIRST),
    **dict.fromkeys(("l", "lose", "loss", "lost", "black", "away", "b", "second"), SECOND),
    **dict.fromkeys(("d", "draw", "drawn", "tie", "tied", "remis", "bothbad"), DRAWN),
    **dict.fromkeys(("1/2-1/2", "½-½", "1/2", "½", "tie(bothbad)"), DRAWN),
    "*": UNFINISHED,
}
"""Words in lower case and without blanks."""

_SIDE = re.compile(r"(?:model|player|team|side|competitor|engine)_?([ab12])")
_SCORE = re.compile(r"(\d+(?:\.\d+)?)[-:](\d+(?:\.\d+)?)", re.ASCII)


def check_results(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the results of words, each as 1-0, 0-1, 1/2-1/2 or *."""
    results = {}
    for word, result in given.items():
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
    number = real_number(word)
    return UNKNOWN if number is None else known.get(number, UNKNOWN)


class Results:
    """The results of a log, whose words are understood when all are known."""

    def __init__(self, given: Mapping[str, str], at_home: bool) -> None:
        self._given = {_folded(word): _folded(result) for word, result in given.items()}
        self._at_home = at_home
        self._words = Names(str)
        # what words that are none of chess mean, once all are read, and whether others are winners
        self.understood: dict[str, str] = {}
        self.by_name = False

    def read(self, cells: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of the words in some cells."""
        return self._words.read(cells).astype(np.int32)

    def outcomes(
        self, words: NDArray[np.int32], sides: Sequence[Ints], players: Names, blank: int
    ) -> NDArray[np.int8]:
        """Return who won each game; what an empty cell means is given.

        Where most of the games that are decided name one of the two sides, names are winners.
        """
        texts = self._words.texts
        folded = [_folded(text) for text in texts]
        others = frozenset(folded)
        meanings = np.array(
            [self._meaning(word, others, blank) for word in folded] or [UNKNOWN], np.int8
        )
        outcomes = meanings[words]
        winners = np.array([players.get(text, -1) for text in texts] or [-1], np.int32)[words]
        won, lost = winners == sides[0], winners == sides[1]
        decided = (outcomes != DRAWN) & (outcomes != UNFINISHED)
        named: Bools = (won | lost) & decided
        self.by_name = 2 * int(named.sum()) > int(decided.sum())
        if self.by_name:
            explained = np.array([word in self._given for word in folded])[words]
            outcomes[decided & ~explained] = UNKNOWN
            outcomes[won & decided], outcomes[lost & decided] = FIRST, SECOND
        for text, word, meaning in zip(texts, folded, meanings.tolist(), strict=False):
            own = word != _WRITTEN.get(meaning) and meaning != UNKNOWN
            given = word in self._given
            if own and (given or not self.by_name or meaning not in (FIRST, SECOND)):
                self.understood[text] = _WRITTEN[meaning]
        return outcomes

    def _meaning(self, word: str, others: frozenset[str], blank: int) -> int:
        if not word:
            return blank
        word = self._given.get(word, word)
        return _meaning(word, others, self._at_home)

    def described(self) -> str:
        """Say what the words of the log mean, "" of those that everybody knows."""
        parts = ["the winner's name"] if self.by_name else []
        for result in _WRITTEN.values():
            words = [text for text, meaning in self.understood.items() if meaning == result]
            named = ", ".join(shortened(word, VALUE) or "nothing" for word in words[:_NAMED])
            more = f" and {len(words) - _NAMED:,} more" if len(words) > _NAMED else ""
            parts += [f"{named}{more} = {result}"] if words else []
        return "; ".join(parts)


_NAMED = 4  # words of one result that are named
