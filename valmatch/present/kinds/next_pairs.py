"""Presentation of pairs to play next."""

from __future__ import annotations

from valmatch.game_logs.next_pairs import NextPairs
from valmatch.present.document import Block, Presentation, View, counted
from valmatch.text.terminal import Sheet


def present(result: NextPairs, view: View) -> Presentation:
    """Return what pairs to play next show."""
    players = counted(int(result.facts["players"]), "player")
    goal = f" for {result.goal}" if result.goal else ""
    pairs = counted(len(result.pairs), "pair")
    return Presentation(
        f"Pairs to play next by {result.policy}",
        f"Which {pairs} of {players} are to play next, by {result.policy}{goal}?",
        finding=_finding(result, pairs),
        tables=[Block("Pairs", sheet=_pairs(result), items=list(result.notes))],
    )


def _finding(result: NextPairs, pairs: str) -> str:
    """Say which pair is first, and how sure it is who is the best."""
    facts = result.facts
    first = "No pair is left"
    if result.pairs:
        first = f"{result.pairs[0].player_a} against {result.pairs[0].player_b} is first"
    known = f"{facts['leader']} is the best with probability {facts['leader_best']:.2f}"
    return f"{first}; {known} (no interval, n = {pairs})."


def _pairs(result: NextPairs) -> Sheet:
    """Return a table of the pairs."""
    heads = "place", "player_a", "player_b", "value", "expected", "std_error", "games", "propensity"
    sheet = Sheet.of(*heads, left=("player_a", "player_b"))
    for row in result.pairs:
        chances = f"{row.value:.4g}", f"{row.expected_score:.3f}", f"{row.std_error:.1f}"
        cells = f"{row.place}", row.player_a, row.player_b, *chances, f"{row.games:,}"
        sheet.add(*cells, f"{row.propensity:.4g}")
    sheet.repeated = 3
    sheet.spare = "propensity" if all(row.propensity == 1.0 for row in result.pairs) else ""
    return sheet
