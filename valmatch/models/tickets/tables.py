"""Tables of a replication: its tickets, its matches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from valmatch.inputs.csv_columns import joined_names
from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.living.queue import PresetReport
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.matching.tickets.playing import STATUSES
from valmatch.models.model import Table
from valmatch.models.tickets.drawn import Drawn
from valmatch.models.tickets.groups import Replication
from valmatch.models.tickets.responses import REASONS


def tickets_table(
    found: Replication, homes: Sequence[str], blockers: Sequence[tuple[int, int]]
) -> Table:
    """Return a row for each ticket, in order of time."""
    drawn, played, matches = found.drawn, found.played, found.matches
    by: dict[int, list[str]] = {}
    for blocker, blocked in blockers:
        by.setdefault(blocked, []).append(str(blocker))
    ends = np.where(played.statuses > 0, played.ends, np.nan)
    teams = np.full(drawn.times.size, np.nan)
    teams[played.tickets] = played.teams
    return Table(
        "tickets",
        {
            "ticket": np.arange(drawn.times.size),
            "time": drawn.times,
            "players": drawn.sizes,
            "home": np.array(homes)[drawn.homes],
            "skill": _means(drawn, drawn.skills),
            "seen": _means(drawn, drawn.seen),
            "status": [STATUSES[int(status)] for status in played.statuses],
            "ended": ends,
            "wait": ends - drawn.times,
            "match": np.where(matches.match >= 0, matches.match, np.nan),
            "team": teams,
            "latency": matches.latency,
            "win_prob": matches.wins,
            "unmatchable": np.array([*REASONS, ""], np.str_)[found.unmatchable],
            "blocked_by": np.array(
                [joined_names(by.get(ticket, [])) for ticket in range(drawn.times.size)], np.str_
            ),
        },
        whole=("match", "team"),
    )


def matches_table(found: Replication, centres: Sequence[str]) -> Table:
    """Return a row for each match, in the order in which they were made.

    Where a living matchmaker formed them it also says what it thought of each.
    """
    played, matches, report = found.played, found.matches, found.report
    first = ~played.filled
    members = played.tickets[first].tolist()  # once: a match takes a few of very many
    ends = np.searchsorted(played.matches[first], np.arange(1, played.times.size + 1))
    starts = np.append(0, ends[:-1])[: ends.size]
    tickets = [
        joined_names([str(ticket) for ticket in sorted(members[start:end])])
        for start, end in zip(starts, ends, strict=True)
    ]
    return Table(
        "matches",
        {
            "match": np.arange(played.times.size),
            "time": played.times,
            "proposed": played.proposed,
            "tickets": np.array(tickets, np.str_),
            "players": matches.players,
            "step": matches.steps,
            "region": np.array(centres)[matches.centres],
            "true_team_diff": matches.true_diffs,
            "seen_team_diff": matches.seen_diffs,
            "win_gap": matches.gaps,
            **({} if report is None else _thoughts(report)),
        },
    )


def _thoughts(report: PresetReport) -> dict[str, Floats | Ints]:
    """Return what a rule says of its matches: value, believed win chance, skipped or not."""
    return {
        "match_value": report.values,
        "believed_win_prob": report.chances,
        "skipped": report.skipped.astype(np.int64),
    }


def backfills_table(found: Replication) -> Table:
    """Return a row for each backfill ticket, in the order in which they came."""
    backfills, played = found.backfills, found.played
    joined: dict[tuple[int, float], list[str]] = {}
    late = played.filled
    for ticket, match in zip(played.tickets[late], played.matches[late], strict=True):
        joined.setdefault((int(match), float(played.ends[ticket])), []).append(str(ticket))
    filled = backfills.statuses == COMPLETED
    return Table(
        "backfills",
        {
            "backfill": np.arange(filled.size),
            "match": backfills.matches,
            "time": backfills.times,
            "players": backfills.sizes,
            "status": [STATUSES[int(status)] for status in backfills.statuses],
            "ended": backfills.ends,
            "wait": backfills.ends - backfills.times,
            "joined": np.array(
                [
                    joined_names(joined[int(match), float(end)]) if done else ""
                    for match, end, done in zip(
                        backfills.matches, backfills.ends, filled, strict=True
                    )
                ],
                np.str_,
            ),
        },
    )


def _means(drawn: Drawn, values: Floats) -> Floats:
    """Return the mean over the players of each ticket."""
    return np.asarray(np.bincount(drawn.of, values, drawn.sizes.size) / drawn.sizes)
