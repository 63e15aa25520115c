"""Small random game logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.command import Outcome, valmatch
from valmatch.game_logs.prediction import Forecast
from valmatch.ratings.registry import BATCH_NAMES

LONG = "game,player,team,score,minutes"
Rows = list[list[str]]


def random_rows(
    seed: int, games: int = 60, players: int = 15, sides: tuple[int, ...] = (2,)
) -> list[Rows]:
    """Return the rows of each game in long format: 1v1 to 3v3, or as many sides as given."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, 3, players)
    result = []
    for game in range(games):
        n_sides = int(rng.choice(sides))
        size = int(rng.integers(1, 4))
        chosen = rng.choice(players, n_sides * size, replace=False)
        rows = []
        for k, player in enumerate(chosen.tolist()):
            score = max(0, round(float(rng.normal(6 + skill[player], 3))))
            minutes = float(rng.choice([20.0, 20.0, 7.5, 31.25]))
            rows.append([f"g{game}", f"p{player}", f"t{k % n_sides}", f"{score}", f"{minutes}"])
        result.append(rows)
    return result


def duels(seed: int, games: int, players: int, spread: float) -> list[Rows]:
    """Return games of players whose Elo ratings have a standard deviation."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.0, spread, players)
    rows = []
    for _ in range(games):
        a, b = rng.choice(players, 2, replace=False).tolist()
        if rng.random() > 1.0 / (1.0 + 10.0 ** ((skill[b] - skill[a]) / 400.0)):
            a, b = b, a
        rows.append([[f"p{a}", f"p{b}"]])
    return rows


def rating_command(system: str) -> str:
    """Return the command that rates by a system."""
    return "rank" if system in BATCH_NAMES else "rate"


def of_sides(game: Forecast, name: str) -> np.ndarray:
    """Return a number of each side of a game to come; NaN where it is not known."""
    return np.array([getattr(side, name) for side in game.sides], np.float64)


def write(path: Path, games: list[Rows], header: str = LONG) -> Path:
    """Write games as CSV."""
    lines = [header, *(",".join(row) for game in games for row in game)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ranked(folder: Path, log: str, *options: object, code: int = 0) -> Outcome:
    """Write a log and rate it as a whole; return what the command says."""
    (folder / "log.csv").write_text(log, encoding="utf-8")
    done = valmatch("rank", folder / "log.csv", *options)
    assert done.code == code, done.err
    return done
