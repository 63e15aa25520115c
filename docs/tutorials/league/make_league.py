"""Write the games of a league: last season, three weeks of this one, and fixtures of the fourth."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np

CLUBS = 24
DRAWS = 0.25  # share of drawn games between equals
HOME = 80.0  # Elo points that playing at home is worth


def result(home: float, away: float, rng: np.random.Generator) -> str:
    """Return H, D or A for clubs of two strengths."""
    chance = 1.0 / (1.0 + 10.0 ** ((away - home - HOME) / 400.0))
    drawn = DRAWS * 4.0 * chance * (1.0 - chance)
    u = rng.random()
    if u < drawn:
        return "D"
    return "H" if u < drawn + chance - drawn / 2.0 else "A"


def main() -> None:
    """Draw strengths, which change a little between seasons, and play by them."""
    rng = np.random.default_rng(7)
    names = [f"club{k:02d}" for k in range(CLUBS)]
    strength = rng.normal(1500.0, 150.0, CLUBS)
    number = 0

    def play(path: str, first: date, rounds: int, days: int) -> None:
        """Write rounds in which every club plays once."""
        nonlocal number
        rows = ["match_id,played_on,home,away,result"]
        for k in range(rounds):
            order = rng.permutation(CLUBS)
            for a, b in zip(order[::2].tolist(), order[1::2].tolist(), strict=True):
                number += 1
                day = first + timedelta(days=k * days)
                outcome = result(strength[a], strength[b], rng)
                rows.append(f"m{number:04d},{day},{names[a]},{names[b]},{outcome}")
        Path(path).write_text("\n".join(rows) + "\n", encoding="utf-8")

    play("season.csv", date(2025, 8, 2), 46, 7)
    strength += rng.normal(0.0, 40.0, CLUBS)
    for week in range(3):
        play(f"week{week + 1}.csv", date(2026, 8, 1) + timedelta(days=7 * week), 2, 3)
    order = rng.permutation(CLUBS)
    pairs = [f"{names[a]},{names[b]}" for a, b in zip(order[::2], order[1::2], strict=True)]
    Path("fixtures.csv").write_text("\n".join(["home,away", *pairs]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
