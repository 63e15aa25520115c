"""Chapters on games to come: how likely each side is to win."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from valmatch.present.chapters.rate import parameters_sheet
from valmatch.present.document import Block, Presentation, counted, joined
from valmatch.present.source import RunFiles
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import Sheet

SUMMARY, ROWS = "summary.json", "predictions.csv"

NAMED = 3  # games that a finding names


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `predict`."""
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Presentation("Games to come", "Who wins the games to come?")
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        return _chapter(run, given)


def _chapter(run: RunFiles, given: Mapping[str, Any]) -> Presentation:
    """Return the chapter on what was predicted."""
    games, system = len(given["games"]), given["system"]
    asked = f"Who wins {counted(games, 'game')} to come, by the ratings of {system}?"
    chapter = Presentation("Games to come", asked)
    table = run.table(
        ROWS, ("win", "draw", "win_low", "win_high"), ("game", "players", "newcomers")
    )
    numbers, texts = table.numbers, table.texts
    known = bool((numbers["win_low"] == numbers["win_low"]).any())
    draws = bool((numbers["draw"] == numbers["draw"]).any())
    heads = ["game", "side", "win", *(["95%"] if known else []), *(["draw"] if draws else [])]
    sheet = Sheet.of(*heads, "newcomers")
    favourites: dict[str, tuple[float, str]] = {}
    for row in range(len(table)):
        win, low, high = (numbers[key][row] for key in ("win", "win_low", "win_high"))
        side, game = texts["players"][row], texts["game"][row]
        cells = [f"{win:.1%}" if win == win else ""]
        cells += [f"{low:.1%} to {high:.1%}" if low == low else ""] if known else []
        draw = numbers["draw"][row]
        cells += [f"{draw:.1%}" if draw == draw else ""] if draws else []
        sheet.add(game, side, *cells, texts["newcomers"][row])
        if win != win:
            continue
        interval = f" (95% interval {low:.1%} to {high:.1%})" if low == low else ""
        best = favourites.get(game, (-1.0, ""))
        favourites[game] = max(best, (win, f"{side} wins game {game} with {win:.1%}{interval}"))
    said = [text for _, text in favourites.values()]
    more = [f"{len(said) - NAMED} more below"] if len(said) > NAMED else []
    chapter.finding = f"{joined([*said[:NAMED], *more])}." if said else ""
    chapter.blocks.append(Block("Predictions", sheet=sheet))
    parameters = parameters_sheet({str(system): given["parameters"]})
    chapter.blocks.append(Block("Parameters", sheet=parameters, folded=True))
    return chapter
