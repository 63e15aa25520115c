"""The rows of a piece of a game log, their cells read as numbers, times, flags and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs.names import Names
from valmatch.game_logs.reading.arrange import Entries, Reason
from valmatch.game_logs.reading.cells import Cells, read_flags, read_numbers, read_results
from valmatch.game_logs.reading.datetimes import read_times
from valmatch.game_logs.reading.further import Facts, FurtherColumns
from valmatch.kernels.arrays import Bools, Bytes, Floats, Ints
from valmatch.ratings.system import FAR

_HEAVIEST = 1e12  # of weights and covariates, whose squares and sums keep their digits

DEFAULT_MINUTES = 20.0  # in a game whose minutes are unknown


class Rows:
    """The rows of a piece of a log.

    Shapes: `buffer` (bytes,).
    """

    def __init__(self, buffer: Bytes, cells: Cells, slots: Mapping[str, int], width: int) -> None:
        self._buffer = buffer
        self._cells = cells
        self._slot = slots
        # reasons, slots: (rows,): the first thing that is wrong with each row, and in which cell
        self.reasons = np.zeros(len(cells.widths), np.int64)
        self.slots = np.zeros(len(cells.widths), np.int64)
        self._note(cells.widths != width, Reason.WIDTH, 0)
        for meaning, slot in slots.items():
            if meaning != "team":
                self._note(cells.starts[:, slot] == cells.ends[:, slot], Reason.MISSING, slot)

    def long(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows in long format."""
        score = self._scores("score")
        minutes = self._minutes()
        with np.errstate(all="ignore"):  # of rows that are wrong anyway
            rates = 60.0 * np.abs(score) / minutes
        self._note(~(rates <= FAR), Reason.RATE, self._slot["score"])
        enabled = self._flags("enabled", default=1)
        team = "team" if "team" in self._slot else "player"
        return self._entries(game_rows, players, ["player"], [team], score, minutes, score, enabled)

    def results(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows in results format, the winner's and the loser's by turns."""
        drawn = self._drawn()
        sides = "winner", "loser"
        return self._pairs(game_rows, players, sides, ~drawn, np.zeros_like(drawn))

    def scores(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows with the scores of home and away, by turns."""
        lead = self._scores("home_score") - self._scores("away_score")
        return self._pairs(game_rows, players, ("home", "away"), lead > 0.0, lead < 0.0)

    def outcomes(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows with two players and the result, by turns."""
        slot = self._slot["result"]
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        results = read_results(self._buffer, starts, ends, at_home="home" in self._slot)
        self._note(results < 0, Reason.OUTCOME, slot)
        sides = ("home", "away") if "home" in self._slot else ("player_a", "player_b")
        return self._pairs(game_rows, players, sides, results == 1, results == 0)

    def _pairs(
        self,
        game_rows: Ints,
        players: Names,
        sides: Sequence[str],
        first_won: Bools,
        second_won: Bools,
    ) -> Entries:
        """Return the entries of rows with two players each; the winner has the score 1."""
        scores = np.column_stack([first_won, second_won]).ravel().astype(np.float64)
        minutes = np.repeat(self._minutes(), 2)
        enabled = np.ones(len(scores), np.int64)
        recorded = self._recorded(sides)
        return self._entries(game_rows, players, sides, sides, scores, minutes, recorded, enabled)

    def _recorded(self, sides: Sequence[str]) -> Floats:
        """Return the scores of two sides by turns, NaN in logs without them."""
        columns = [f"{side}_score" for side in sides]
        if any(column not in self._slot for column in columns):
            return np.full(2 * len(self.reasons), np.nan)
        return np.column_stack([self._scores(column) for column in columns]).ravel()

    def times(self, kind: str | None) -> Floats:
        """Return the time of each row, see `read_times`; 0 where the log has none."""
        slot = self._slot.get("time")
        if slot is None:
            return np.zeros(len(self.reasons))
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        values = read_times(kind, self._buffer, starts, ends)
        self._note(np.isnan(values), Reason.TIME, slot)
        return values

    def _entries(
        self,
        game_rows: Ints,
        players: Names,
        people: Sequence[str],
        teams: Sequence[str],
        scores: Floats,
        minutes: Floats,
        recorded: Floats,
        enabled: Ints,
    ) -> Entries:
        name_starts, name_ends = self._limits(people)
        team_starts, team_ends = self._limits(teams)
        return Entries(
            game_rows,
            len(people),
            self.reasons,
            self.slots,
            name_starts,
            name_ends,
            team_starts,
            team_ends,
            teams != people,
            players.numbers(self._buffer, name_starts, name_ends)[0],
            scores,
            minutes,
            recorded,
            enabled == 1,
            self._at_home(len(game_rows) - 1),
        )

    def _at_home(self, games: int) -> Bools:
        """Return whether the first entry of each game plays at home; in long format nobody does."""
        if "home" not in self._slot or "player" in self._slot:
            return np.zeros(games, np.bool_)
        neutral: Bools = self._flags("neutral", default=0) == 1
        return ~neutral

    def further(self, game_rows: Ints, columns: FurtherColumns, clusters: Sequence[Names]) -> Facts:
        """Return what else is known of the games, and note what differs within one.

        Shapes: `game_rows` (games + 1,).
        """
        first, n = game_rows[:-1], len(self.reasons)
        weights = np.ones(n)
        if columns.weight:
            slot = self._slot[columns.weight]
            weights = self._numbers(columns.weight)
            self._note((weights < 0.0) | (weights > _HEAVIEST), Reason.WEIGHT, slot)
            self._note_differing(game_rows, weights, slot)
        cells = np.empty((n, len(clusters)), np.int64)
        for k, (key, names) in enumerate(zip(columns.clusters, clusters, strict=True)):
            slot = self._slot[key]
            starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
            cells[:, k] = names.numbers(self._buffer, starts, ends)[0]
            self._note_differing(game_rows, cells[:, k], slot)
        homes = self._homes(game_rows)
        covariates = np.empty((len(homes), len(columns.covariates)))
        for k, keys in enumerate(columns.covariates):
            values = [self._covariate(key) for key in keys]
            if len(homes) > n and len(values) == 1:  # the lead of the first side
                values.append(np.zeros(n))
            covariates[:, k] = np.column_stack(values).ravel()
        return Facts(weights[first], cells[first], covariates, homes)

    def _covariate(self, key: str) -> Floats:
        values = self._numbers(key)
        self._note(np.abs(values) > _HEAVIEST, Reason.COVARIATE, self._slot[key])
        return values

    def _homes(self, game_rows: Ints) -> Floats:
        """Return 1 for each entry that plays at home, else 0."""
        neutral = self._flags("neutral", default=0)
        if "neutral" in self._slot:
            self._note_differing(game_rows, neutral, self._slot["neutral"])
        if "player" in self._slot:
            own: Bools = (self._flags("home", default=0) == 1) & (neutral != 1)
            return own.astype(np.float64)
        at_home = (neutral != 1) & ("home" in self._slot)
        both: Bools = np.column_stack([at_home, np.zeros_like(at_home)])
        return both.ravel().astype(np.float64)

    def _note_differing(self, game_rows: Ints, values: Floats | Ints, slot: int) -> None:
        """Note rows that contradict the first one of their game."""
        first = np.repeat(game_rows[:-1], np.diff(game_rows))
        self._note(values != values[first], Reason.DIFFERS, slot)

    def _limits(self, columns: Sequence[str]) -> tuple[Ints, Ints]:
        """Return the limits of the cells of some columns, row by row."""
        slots = [self._slot[column] for column in columns]
        return self._cells.starts[:, slots].ravel(), self._cells.ends[:, slots].ravel()

    def _numbers(self, column: str) -> Floats:
        slot = self._slot[column]
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        values = read_numbers(self._buffer, starts, ends)
        self._note(np.isnan(values), Reason.NUMBER, slot)
        return values

    def _scores(self, column: str) -> Floats:
        """Return scores, of which neither sums nor differences overflow."""
        values = self._numbers(column)
        self._note(np.abs(values) > FAR, Reason.SCORE, self._slot[column])
        return np.clip(values, -FAR, FAR)

    def _minutes(self) -> Floats:
        if "minutes" not in self._slot:
            return np.full(len(self.reasons), DEFAULT_MINUTES)
        minutes = self._numbers("minutes")
        self._note(minutes <= 0.0, Reason.MINUTES, self._slot["minutes"])
        return minutes

    def _flags(self, column: str, default: int) -> Ints:
        slot = self._slot.get(column)
        if slot is None:
            return np.full(len(self.reasons), default)
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        flags = read_flags(self._buffer, starts, ends)
        self._note(flags < 0, Reason.FLAG, slot)
        return flags

    def _drawn(self) -> NDArray[np.bool_]:
        """Return which games are drawn, and note scores that contradict it."""
        draw = self._flags("draw", default=-1)
        drawn: NDArray[np.bool_] = draw == 1
        if "winner_score" not in self._slot:
            return drawn
        lead = self._scores("winner_score") - self._scores("loser_score")
        if "draw" not in self._slot:
            drawn = lead == 0
        self._note((lead < 0) | drawn & (lead != 0), Reason.RESULT, self._slot["winner_score"])
        return drawn

    def _note(self, wrong: NDArray[np.bool_], reason: Reason, slot: int) -> None:
        """Note what is wrong with rows of which nothing is known yet."""
        first = wrong & (self.reasons == 0)
        self.reasons[first] = reason
        self.slots[first] = slot
