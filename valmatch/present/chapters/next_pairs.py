"""The chapter on pairs to play next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from valmatch.present.document import Block, Presentation, counted
from valmatch.present.source import RunFiles
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import Sheet

BATCH, SUMMARY = "batch.csv", "summary.json"

COLUMNS = ("place", "player_a", "player_b", "value", "expected_score", "std_error", "games")


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `next`."""
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Presentation("Pairs to play next", "Which pairs are to play next?")
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        return _chosen(run, given)


def _chosen(run: RunFiles, given: Mapping[str, Any]) -> Presentation:
    """Return the chapter on a batch."""
    players, policy = counted(int(given["players"]), "player"), str(given["policy"])
    goal = f" for {given['goal']}" if given["goal"] else ""
    sheet = Sheet.of(
        "place",
        "player a",
        "player b",
        "value",
        "expected",
        "std error",
        "games",
        left=("player a", "player b"),
    )
    pairs = []
    for place, first, second, value, expected, error, games in run.rows(BATCH, COLUMNS):
        numbers = f"{float(value):.4g}", f"{float(expected):.3f}", f"{float(error):.1f}"
        sheet.add(place, first, second, *numbers, games)
        pairs.append((first, second))
    asked = f"Which {counted(len(pairs), 'pair')} of {players} are to play next, by {policy}{goal}?"
    made = Presentation(f"Pairs to play next by {policy}", asked)
    first_pair = f"{pairs[0][0]} against {pairs[0][1]} is first" if pairs else "No pair is left"
    known = f"{given['leader']} is the best with probability {float(given['leader_best']):.2f}"
    made.finding = f"{first_pair}; {known} (no interval, n = {counted(len(pairs), 'pair')})."
    made.blocks += [Block("Pairs", sheet=sheet), Block("Notes", items=[*map(str, given["notes"])])]
    return made
