"""Presentation of pairs to play next."""

from __future__ import annotations

from collections import Counter

from valmatch.game_logs.next_pairs import NextPairs
from valmatch.present import document as d


def present(result: NextPairs, view: d.View) -> d.Presentation:
    """Return what pairs to play next show."""
    players, pairs = d.counted(result.players, "player"), d.counted(len(result.pairs), "pair")
    times = Counter((row.player_a, row.player_b) for row in result.pairs)
    rows = {(row.player_a, row.player_b): row for row in reversed(result.pairs)}
    shown = [rows[pair] for pair in times]  # each pair as it was first chosen
    goal = f" for {result.goal}" if result.goal else ""
    first = f"{shown[0].player_a} against {shown[0].player_b} is first" if shown else ""
    known = f"{result.leader} is the best with probability {result.leader_best:.2f}"
    columns: dict[str, list[str]] = {
        "place": [f"{row.place}" for row in shown],
        "player_a": [row.player_a for row in shown],
        "player_b": [row.player_b for row in shown],
        "times": [f"{n}" for n in times.values()],
        "value": [f"{row.value:.4g}" for row in shown],
        "expected": [f"{row.expected_score:.3f}" for row in shown],
        "std_error": [f"{row.std_error:.1f}" for row in shown],
        "games": [f"{row.games:,}" for row in shown],
        "propensity": [f"{row.propensity:.4g}" for row in shown],
    }
    if not result.repeat:
        del columns["times"]
    table = d.TextTable.of_columns(columns.items())
    table.repeated = 3
    table.spare = "propensity" if all(row.propensity == 1.0 for row in shown) else ""
    return d.Presentation(
        f"Pairs to play next by {result.policy}",
        f"Which {pairs} of {players} are to play next, by {result.policy}{goal}?",
        finding=f"{first or 'No pair is left'}; {known} (no interval, n = {pairs}).",
        tables=[d.Block("Pairs", table=table)],
    )
