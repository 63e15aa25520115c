"""Make the tables of this folder: how well rating systems predict the games of public logs.

    python results/rating-benchmark/make.py

measures the logs in `logs/`, such as `football.csv`; the page says where they are from and how they
are made. Rows of other logs stay. It takes some two minutes a log on a free core, with the packages
that are installed (extra `peers`). `scores` compares all systems, `fitted` those
with parameters that are fitted to the first half of a log.
"""

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from results.study import Row, Study, grid
from valmatch import compare_ratings, predict_games, rank_games
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.game_logs.options import LogOptions
from valmatch.game_logs.rating import compared, tallies
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.reading.tables import Names
from valmatch.game_logs.roster import Roster, blocks_of, new_tally, note_game, note_pair
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.baselines import COIN, RECORD
from valmatch.ratings.games import Games
from valmatch.ratings.parameters import values_of
from valmatch.ratings.registry import BATCH_NAMES, all_systems
from valmatch.ratings.system import System
from valmatch.storage.output import write_csv

study = Study(globals(), digits=17)

LOGS: dict[str, dict[str, str]] = {  # columns of each log by meaning, where they differ
    "football": {"home": "home_team", "away": "away_team", "time": "date"},
    "valorant": {
        "winner": "winning_team",
        "loser": "losing_team",
        "winner_score": "winning_team_score",
        "loser_score": "losing_team_score",
        "time": "match_timestamp",
    },
    "votes": {},
    "halo": {},
    "tennis": {"winner": "winner_name", "loser": "loser_name"},
}

# How systems that rate a whole log at once are called, where that is not without options.
BATCH_OPTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "bradley_terry": {
        "bradley_terry, prior 350": {"prior": 350.0},
        "bradley_terry, prior 100": {"prior": 100.0},
    },
    "whole_history": {
        "whole_history, deviation 350": {},
        "whole_history, deviation 100": {"parameters": {"deviation": 100.0}},
    },
}

# Logs without times whose file is sorted by who plays; their games are drawn in another order.
SHUFFLED = ("votes",)
FITTED = {  # what is fitted to the first half of a log, before all are compared on the second one
    "zonestats": ("GAME_MULT",),
    "elo": ("K",),
    "elo_margin": ("K",),
    "elo_goals": ("K",),
    "glicko": ("deviation", "c"),
    "glicko2": ("deviation", "volatility"),
    "openskill": ("beta", "tau"),
    "trueskill": ("beta", "tau"),
}

_DAY = 86_400.0


class Played(NamedTuple):
    """A log of games of one against one."""

    games: Games
    players: Names  # as `Roster` takes them
    dated: bool  # times are seconds since 1970
    timed: bool  # there are times
    scored: bool  # there are scores, and not only results
    blocks: list[tuple[int, int]]  # first and last game, exclusive, of each

    @property
    def names(self) -> list[str]:
        """The names of the players."""
        return self.players.texts

    @property
    def pairs(self) -> Ints:
        """(games, 2) the players of each game."""
        return self.games.players.reshape(-1, 2)

    @property
    def scores(self) -> Floats:
        """(games,) scores of the first players."""
        points = self.games.points.reshape(-1, 2)
        found: Floats = 0.5 * (1.0 + np.sign(points[:, 0] - points[:, 1]))
        return found


def read(path: Path, columns: Mapping[str, str]) -> Played:
    """Read a log."""
    log = GameLog(path, LogOptions(columns=columns))
    games = log.games()
    if not (np.diff(games.game_starts) == 2).all() or len(games.players) != 2 * games.n_games:
        raise SystemExit(f"{path}: holds games of more than one against one")
    blocks = blocks_of(games, log.dated)
    return Played(games, log.players, log.dated, log.timed, log.scored, blocks)


# Predictions are the expected score of the first player of each game, from games before it alone.


def refitted(name: str, more: Mapping[str, Any], log: Played) -> Floats:
    """Return predictions by a whole-log system, refitted before each block."""
    expected = np.full(log.games.n_games, 0.5)
    with tempfile.TemporaryDirectory() as scratch:
        before, after = Path(scratch, "before.csv"), Path(scratch, "after.csv")
        for first, last in log.blocks[1:]:
            _write(log, slice(first), before)
            _write(log, slice(first, last), after)
            out = Path(scratch, f"ratings{first}")
            rank_games(before, name, interval="none", out=out, warn=ignored, **more)
            found = predict_games(out, after, warn=ignored).games
            # Of players whom no game links yet nothing is predicted: even.
            sides = (game.sides[0].expected for game in found)
            of_first = np.array([0.5 if one is None else one for one in sides])
            turned = log.games.homes[first:last] == 1
            expected[first:last] = np.where(turned, 1.0 - of_first, of_first)
    return expected


def ignored(warning: str) -> None:
    """Pass over a warning."""


def _write(log: Played, which: slice, path: Path) -> None:
    """Write some games as a log: the side at home first, games on neutral ground as such."""
    homes, pairs, scores = log.games.homes[which], log.pairs[which], log.scores[which]
    turned = homes == 1
    pairs = np.where(turned[:, None], pairs[:, ::-1], pairs)
    scores = np.where(turned, 1.0 - scores, scores)
    of_home = (log.games.homes >= 0).any()
    sides = ("home", "away") if of_home else ("player_a", "player_b")
    columns: dict[str, Any] = {
        side: [log.names[k] for k in own] for side, own in zip(sides, pairs.T, strict=True)
    }
    if of_home:
        columns["neutral"] = ["no" if home >= 0 else "yes" for home in homes]
    columns["result"] = [{1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[score] for score in scores]
    if log.timed:
        times = log.games.times[which].tolist()
        moments = [datetime.fromtimestamp(at, UTC).isoformat() for at in times] if log.dated else ()
        columns["time"] = moments or times
    write_csv(path, columns)


def riix(kind: str, log: Played) -> Floats:
    """Return predictions by a system of riix: a day is a period, a game is where there are none."""
    from riix.utils.data_utils import MatchupDataset

    steps = np.floor(log.games.times / _DAY) if log.dated else np.arange(log.games.n_games)
    data = MatchupDataset.init_from_arrays(
        (steps - steps[0]).astype(np.int32), log.pairs.astype(np.int32), log.scores, log.names
    )
    system = getattr(import_module(f"riix.models.{kind.lower()}"), kind)(competitors=log.names)
    found: Floats = system.fit_dataset(data, return_pre_match_probs=True)
    return np.asarray(found, np.float64)


def elote(kind: str, log: Played) -> Floats:
    """Return predictions by a system of elote."""
    import elote as package

    players = [getattr(package, kind)() for _ in log.names]
    expected = np.empty(log.games.n_games)
    scores, times = log.scores.tolist(), log.games.times.tolist()
    more: dict[str, Any] = {}
    for k, (a, b) in enumerate(log.pairs.tolist()):
        first, second = players[a], players[b]
        expected[k] = first.expected_score(second)
        if kind == "Glicko2Competitor":
            when = datetime.fromtimestamp(times[k] if log.dated else 0.0, UTC)
            more = {"match_time": when.replace(tzinfo=None)}
        verbs = {1.0: first.beat, 0.5: first.tied, 0.0: first.lost_to}
        verbs[scores[k]](second, **more)
    return expected


def openskill(log: Played) -> Floats:
    """Return predictions by the package openskill, Plackett and Luce."""
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    players = [model.rating() for _ in log.names]
    expected = np.empty(log.games.n_games)
    scores = log.scores.tolist()
    for k, (a, b) in enumerate(log.pairs.tolist()):
        expected[k] = model.predict_win([[players[a]], [players[b]]])[0]
        ranks = {1.0: [1.0, 2.0], 0.5: [1.0, 1.0], 0.0: [2.0, 1.0]}[scores[k]]
        (players[a],), (players[b],) = model.rate([[players[a]], [players[b]]], ranks=ranks)
    return expected


def choix(log: Played) -> Floats:
    """Return predictions by choix, refitted before each block, with its regularisation of .1."""
    from choix import ilsr_pairwise_dense

    expected, n = np.full(log.games.n_games, 0.5), len(log.names)
    pairs, scores = log.pairs, log.scores
    for first, last in log.blocks[1:]:
        wins = np.zeros((n, n))
        before = pairs[:first]
        np.add.at(wins, (before[:, 0], before[:, 1]), scores[:first])
        np.add.at(wins, (before[:, 1], before[:, 0]), 1.0 - scores[:first])
        found = ilsr_pairwise_dense(wins, alpha=0.1, max_iter=1000)
        leads = found[pairs[first:last, 0]] - found[pairs[first:last, 1]]
        expected[first:last] = 1.0 / (1.0 + np.exp(-leads))
    return expected


# What predicts all games at once, with the module that it needs: whole-log systems, and other
# packages as these set them up.
PREDICTORS: dict[str, tuple[str, Callable[[Played], Floats]]] = {
    **{
        f"valmatch {label}": ("valmatch", partial(refitted, batch, more))
        for batch in BATCH_NAMES
        for label, more in BATCH_OPTIONS.get(batch, {batch: {}}).items()
    },
    **{
        f"riix {kind}": (f"riix.models.{kind.lower()}", partial(riix, kind))
        for kind in ("Elo", "Glicko", "Glicko2", "TrueSkill")
    },
    "elote Elo": ("elote", partial(elote, "EloCompetitor")),
    "elote Glicko-2": ("elote", partial(elote, "Glicko2Competitor")),
    "elote TrueSkill": ("elote", partial(elote, "TrueSkillCompetitor")),
    "openskill PlackettLuce": ("openskill.models", openskill),
    "choix ilsr_pairwise": ("choix", choix),
}


def found_log(name: str, scratch: Path) -> Path | None:
    """Return the file of a log, its games in another order where it is sorted; None without one."""
    path = study.folder / "logs" / f"{name}.csv"
    if not path.is_file():
        return None
    if name not in SHUFFLED:
        return path
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    order = Streams(1).stream(None, 0).permutation(len(lines))
    shuffled = scratch / path.name
    text = "\n".join([head, *(lines[k] for k in order)])
    shuffled.write_text(f"{text}\n", encoding="utf-8")
    return shuffled


def rating(scored: bool) -> list[System]:
    """Return the systems that rate by what a log holds."""
    return [system for system in all_systems() if scored or not system.needs_scores]


@study.table(grid(log=LOGS), workers=1)
def scores(log: str) -> list[Row]:
    """Return how well all systems predict a log, the least log loss first."""
    with tempfile.TemporaryDirectory() as scratch:
        path = found_log(log, Path(scratch))
        return [] if path is None else measured(read(path, LOGS[log]))


def measured(log: Played) -> list[Row]:
    """Return the rows of a log."""
    sums: dict[str, Floats] = {}
    seconds: dict[str, float] = {}
    scored = log.scores

    def judge(label: str, system: System) -> float:
        started = time.perf_counter()
        roster = Roster(system, values_of(system, {}, {}), log.players, ())
        sums[label] = tallies(roster, log.games, log.blocks, 0)
        return time.perf_counter() - started

    for system in rating(log.scored):
        judge(f"valmatch {system.name}", system)  # kernels are compiled
        seconds[f"valmatch {system.name}"] = judge(f"valmatch {system.name}", system)
    for label, (module, predict) in PREDICTORS.items():
        try:
            import_module(module)
            started = time.perf_counter()
            expected = predict(log)
        except (ImportError, InputError) as error:
            print(f"{label} does not run: {error}", file=sys.stderr)
            continue
        seconds[label] = time.perf_counter() - started
        sums[label] = np.array([new_tally() for _ in log.blocks])
        for tally, (first, last) in zip(sums[label], log.blocks, strict=True):
            for k in range(first, last):
                loss = note_pair(tally, 2, expected[k], math.nan, scored[k], 1.0)
                note_game(tally, 2, loss)
    for baseline in (COIN, RECORD):
        judge(baseline.name, baseline)
    found = compared(sums, {label: {} for label in seconds}, log.games, 0)
    return [
        {"system": label, "games": log.games.n_games}
        | measures(found, label)
        | {"seconds": round(seconds[label], 3) if label in seconds else None}
        for label in by_loss(found)
    ]


def by_loss(found: Any) -> list[str]:  # noqa: ANN401
    """Return the systems of a comparison, the least log loss first."""
    return sorted(found.systems, key=lambda one: found.systems[one].means["log_loss"].mean or 9.0)


def measures(found: Any, label: str) -> Row:  # noqa: ANN401
    """Return the measures of a system in a comparison, each with its excess over the best one."""
    row: Row = {}
    for name in ("accuracy", "log_loss", "brier_score"):
        excess = found.systems[label].to_best[name]
        row[name] = _rounded(found.systems[label].means[name].mean)
        row |= {f"{name}_to_best": _rounded(excess.mean)}
        row |= {f"{name}_half_width": _rounded(excess.half_width)}
    return row


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6) + 0.0


@study.table(grid(log=LOGS), workers=1)
def fitted(log: str) -> Iterator[Row]:
    """Return how well systems predict the second half of a log, fitted to the first one."""
    with tempfile.TemporaryDirectory() as scratch:
        path = found_log(log, Path(scratch))
        if path is None:
            return
        columns = LOGS[log]
        scored = read(path, columns).scored
        asked = {system.name: FITTED.get(system.name, ()) for system in rating(scored)}
        if "home" in columns:
            at_home = ("elo", "elo_margin", "elo_goals")
            asked |= {name: (*asked[name], "home_advantage") for name in at_home if name in asked}
        tune = [f"{system}.{one}" for system, own in asked.items() for one in own]
        found = compare_ratings(path, list(asked), tune=tune, columns=columns, warn=ignored)
    for label in by_loss(found):
        values = found.systems[label].parameters
        adopted = ", ".join(
            f"{one} = {values[one]:.4g}" for one in (found.systems[label].fitted or ())
        )
        row = {"system": label, "games": found.games, "fitted": adopted}
        yield row | measures(found, label)


# ---- the page ----


def leader(rows: Sequence[Row]) -> Row:
    """Return the row of the system of least log loss, to which the others are compared."""
    return next(row for row in rows if row["system"] not in (COIN.name, RECORD.name))


def others(rows: Sequence[Row], worse: bool) -> list[str]:
    """Return the systems that the log loss shows to be worse than the leader, or the rest."""
    return [
        f"`{row['system']}`"
        for row in rows
        if row["system"] != leader(rows)["system"]
        and (float(row["log_loss_to_best"]) > float(row["log_loss_half_width"])) == worse
    ]


if __name__ == "__main__":
    study.main()
