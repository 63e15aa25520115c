"""The files of a replay as figures and reports read them, search by search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.source import RunFiles
from valmatch.storage.result_files import FileTable

MATCHED = "COMPLETED"


class Step(NamedTuple):
    """A value that held from a second on, and how many matches were proposed meanwhile."""

    what: str
    begins: float
    value: str
    matches: float


class Judged(NamedTuple):
    """A rule, and how often it passed and failed."""

    rule: str
    passed: float
    failed: float


@dataclass(frozen=True)
class Replayed:
    """What a search did."""

    # joined, ended, waits: of each ticket when it came and went, and the seconds between; NaN where
    # it has no end
    joined: Floats
    ended: Floats
    waits: Floats
    sizes: Floats  # its players
    statuses: list[str]  # how it ended
    lacking: int  # tickets that lack an attribute
    matches: Floats  # when each match was made
    steps: list[Step]
    rules: list[Judged]

    @property
    def matched(self) -> Mapping[int, Floats]:
        """The waits of tickets that were matched, sorted, by size."""
        done = np.array([status == MATCHED for status in self.statuses], bool)
        done &= ~np.isnan(self.waits)
        sizes = np.unique(self.sizes[~np.isnan(self.sizes)])
        return {int(one): np.sort(self.waits[done & (self.sizes == one)]) for one in sizes}

    @property
    def by_size(self) -> Mapping[int, int]:
        """How many tickets there are of each size."""
        sizes, counts = np.unique(self.sizes[~np.isnan(self.sizes)], return_counts=True)
        return {int(one): int(number) for one, number in zip(sizes, counts, strict=True)}


def read_replay(run: RunFiles) -> dict[str, Replayed]:
    """Return what each search did."""
    columns = ("time", "end", "wait", "players")
    tickets = run.table("tickets.csv", columns, ("search", "status", "unmatchable"))
    matches = run.table("matches.csv", ("time",), ("search",))
    steps = run.table("steps.csv", ("from_seconds", "matches"), ("search", "what", "value"))
    rules = run.table("rules.csv", ("passed", "failed"), ("search", "rule"))
    return {
        search: _replayed(search, tickets, matches, steps, rules)
        for search in dict.fromkeys(tickets.texts["search"])
    }


def _replayed(
    search: str, tickets: FileTable, matches: FileTable, steps: FileTable, rules: FileTable
) -> Replayed:
    """Return the rows of one search."""
    own = _own(search, tickets)
    numbers, texts = tickets.numbers, tickets.texts
    return Replayed(
        numbers["time"][own],
        numbers["end"][own],
        numbers["wait"][own],
        numbers["players"][own],
        [status for status, is_own in zip(texts["status"], own, strict=True) if is_own],
        sum(bool(lack) for lack, is_own in zip(texts["unmatchable"], own, strict=True) if is_own),
        np.sort(matches.numbers["time"][_own(search, matches)]),
        [
            Step(steps.texts["what"][k], begins, steps.texts["value"][k], number)
            for k, (begins, number) in enumerate(
                zip(steps.numbers["from_seconds"], steps.numbers["matches"], strict=True)
            )
            if steps.texts["search"][k] == search
        ],
        [
            Judged(rules.texts["rule"][k], passed, failed)
            for k, (passed, failed) in enumerate(
                zip(rules.numbers["passed"], rules.numbers["failed"], strict=True)
            )
            if rules.texts["search"][k] == search
        ],
    )


def _own(search: str, table: FileTable) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which rows are of a search."""
    return np.array([one == search for one in table.texts["search"]], bool)
