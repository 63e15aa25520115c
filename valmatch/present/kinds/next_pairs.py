"""Presentation of pairs to play next."""

from __future__ import annotations

from valmatch.game_logs.next_pairs import NextPairs
from valmatch.present import document as d


def present(result: NextPairs, view: d.View) -> d.Presentation:
    """Return what pairs to play next show."""
    rows = result.pairs
    players, pairs = d.counted(result.players, "player"), d.counted(len(rows), "pair")
    goal = f" for {result.goal}" if result.goal else ""
    first = f"{rows[0].player_a} against {rows[0].player_b} is first" if rows else ""
    known = f"{result.leader} is the best with probability {result.leader_best:.2f}"
    columns: dict[str, list[str]] = {
        "place": [f"{row.place}" for row in rows],
        "player_a": [row.player_a for row in rows],
        "player_b": [row.player_b for row in rows],
        "value": [f"{row.value:.4g}" for row in rows],
        "expected": [f"{row.expected_score:.3f}" for row in rows],
        "std_error": [f"{row.std_error:.1f}" for row in rows],
        "games": [f"{row.games:,}" for row in rows],
        "propensity": [f"{row.propensity:.4g}" for row in rows],
    }
    table = d.TextTable.of_columns(columns.items())
    table.repeated = 3
    table.spare = "propensity" if all(row.propensity == 1.0 for row in rows) else ""
    return d.Presentation(
        f"Pairs to play next by {result.policy}",
        f"Which {pairs} of {players} are to play next, by {result.policy}{goal}?",
        finding=f"{first or 'No pair is left'}; {known} (no interval, n = {pairs}).",
        tables=[d.Block("Pairs", table=table)],
    )
