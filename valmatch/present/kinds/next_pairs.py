"""Presentation of pairs to play next."""

from __future__ import annotations

from valmatch.game_logs.next_pairs import NextPairs
from valmatch.present import document as d


def present(result: NextPairs, view: d.View) -> d.Presentation:
    """Return what pairs to play next show."""
    players = d.counted(int(result.facts["players"]), "player")
    goal = f" for {result.goal}" if result.goal else ""
    pairs = d.counted(len(result.pairs), "pair")
    return d.Presentation(
        f"Pairs to play next by {result.policy}",
        f"Which {pairs} of {players} are to play next, by {result.policy}{goal}?",
        finding=_finding(result, pairs),
        tables=[d.Block("Pairs", table=_pairs(result), items=list(result.notes))],
    )


def _finding(result: NextPairs, pairs: str) -> str:
    """Say which pair is first, and how sure it is who is the best."""
    facts = result.facts
    first = "No pair is left"
    if result.pairs:
        first = f"{result.pairs[0].player_a} against {result.pairs[0].player_b} is first"
    known = f"{facts['leader']} is the best with probability {facts['leader_best']:.2f}"
    return f"{first}; {known} (no interval, n = {pairs})."


def _pairs(result: NextPairs) -> d.TextTable:
    """Return a table of the pairs."""
    rows = result.pairs
    table = d.TextTable.of_columns(
        [
            ("place", [f"{row.place}" for row in rows]),
            ("player_a", [row.player_a for row in rows]),
            ("player_b", [row.player_b for row in rows]),
            ("value", [f"{row.value:.4g}" for row in rows]),
            ("expected", [f"{row.expected_score:.3f}" for row in rows]),
            ("std_error", [f"{row.std_error:.1f}" for row in rows]),
            ("games", [f"{row.games:,}" for row in rows]),
            ("propensity", [f"{row.propensity:.4g}" for row in rows]),
        ]
    )
    table.repeated = 3
    table.spare = "propensity" if all(row.propensity == 1.0 for row in rows) else ""
    return table
