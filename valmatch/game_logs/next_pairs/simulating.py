"""Simulation of the next games under each policy, in worlds that the ratings leave possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals, stop_on_signal
from valmatch.game_logs.batch.result import columns_of
from valmatch.game_logs.next_pairs.allowed import allowed_pairs
from valmatch.game_logs.next_pairs.choosing import claim
from valmatch.game_logs.next_pairs.cost import BYTES, FIT, seconds_of_choice, tell_cost
from valmatch.game_logs.next_pairs.coverage import caution_of_several
from valmatch.game_logs.next_pairs.options import POLICY, NextOptions
from valmatch.game_logs.next_pairs.reading import read_together
from valmatch.game_logs.next_pairs.world import MEASURES, OF_GOAL, Plan, play_world
from valmatch.game_logs.writing.folder import SUMMARY
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import announce_compilation
from valmatch.policies.joint.batch import chooser
from valmatch.policies.registry import JOINT
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder

SIMULATED = "simulated.csv"

MARKS = 20  # marks at which curves are measured, besides the start

DIGITS = 9


class CurveRow(NamedTuple):
    """A row of ``simulated.csv``: means over worlds, and their standard errors."""

    policy: str
    games: int
    named_best: float
    named_best_std_error: float
    misordered: float
    misordered_std_error: float
    widest: float
    widest_std_error: float


@dataclass(frozen=True, repr=False)
class SimulatedPairs(Result):
    """What the next games would bring under each policy.

    Attributes
    ----------
    goal : str
        The goal of the knowledge gradient.
    curves : sequence of CurveRow
        A row for each policy and number of games.
    facts : dict
        Further entries of ``summary.json``.
    lines : list of str
        What has to be said, a line each.
    """

    goal: str
    curves: Sequence[CurveRow]
    facts: dict[str, Any]
    lines: Sequence[str]
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was simulated, in one line."""
        facts = self.facts
        return (
            f"the next {facts['games']:,} games of {facts['players']:,} players, in"
            f" {facts['replications']:,} worlds"
        )

    @property
    def measure(self) -> str:
        """The column that the goal is measured by."""
        return OF_GOAL[self.goal]

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each policy and number of games, as ``simulated.csv`` has them."""
        return columns_of(CurveRow, self.curves)

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {"goal": self.goal, **self.facts, "notes": list(self.lines)}

    def document(self) -> dict[str, Any]:
        """Return the summary with the curves."""
        return {**self.summary(), "curves": [row._asdict() for row in self.curves]}


def simulate_next_pairs(
    ratings: PathLike,
    policies: str | Sequence[str] = (),
    *,
    games: int = 1_000,
    replications: int = 100,
    goal: str | None = None,
    batch: int = 10,
    once: bool = False,
    allowed: PathLike | None = None,
    without: str | Sequence[str] = (),
    new: str | Sequence[str] = (),
    explore: float = 0.0,
    seed: int = 1,
    out: PathLike | None = None,
    progress: Callable[[int], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
) -> SimulatedPairs:
    """Simulate what the next games bring under each policy, by the ratings of a whole log.

    In each world true strengths are drawn from what the ratings leave possible. Batches of pairs
    are chosen, played and rated with all games before. All policies have the same worlds, and the
    same luck in the first game, the second, and so on.

    Parameters
    ----------
    ratings : PathLike
        A folder as `next_pairs` takes it.
    policies : str or sequence of str
        The policies; all of them, if there are none.
    games : int
        How many games.
    replications : int
        How many worlds.
    goal : str or None
        What the knowledge gradient is for, and what is told first: ``best``, ``order``,
        ``widest``.
    batch : int
        Games between one rating and the next.
    once, allowed, without, new, explore, seed
        As `next_pairs` takes them.
    out : PathLike or None
        Folder for ``simulated.csv``, ``summary.json`` and ``manifest.json``.
    progress : callable
        Called with the number of further worlds played.
    warn : callable
        Called with each remark.

    Raises
    ------
    InputError
        If the folder, an option or a name cannot be used, or no pair may play.
    RunError
        If the results cannot be written.
    """
    names = arguments.names("policies", policies) or tuple(JOINT)
    for name in names:
        arguments.one_of("policy", name, JOINT)
        if names.count(name) > 1:
            raise InputError(f"{option('policy')}: {name} is there twice")
    arguments.whole("simulated_games", games)
    arguments.whole("replications", replications)
    options = NextOptions(
        goal=goal,
        batch=batch,
        once=once,
        allowed=None if allowed is None else arguments.path("allowed", allowed),
        without=arguments.names("without", without),
        new=arguments.names("new", new),
        explore=explore,
        seed=seed,
    )
    rated = read_together(arguments.path("ratings", ratings), warn).with_new(list(options.new))
    may_play = allowed_pairs(rated.names, options.allowed, options.without)
    n, batches = len(rated.names), replications * math.ceil(games / batch)
    choices = sum(
        seconds_of_choice(name, options.goal, n, int(may_play.sum()) // 2, batch, once)
        for name in names
    )
    what = f"{replications:,} worlds of {n:,} players, {games:,} games under each policy"
    tell_cost(what, batches * (choices + len(names) * FIT * n**3), warn, BYTES * n**2)
    marks = np.linspace(0, math.ceil(games / batch), MARKS + 1).round().astype(int) * batch
    aim = options.goal or "best"
    plan = Plan(
        rated.belief,
        rated.games,
        may_play,
        rated.by_name,
        aim,
        batch,
        once,
        explore,
        tuple(dict.fromkeys(np.minimum(marks, games).tolist())),
    )
    claimed: AbstractContextManager[RunFolder | None] = nullcontext()
    if out is not None:
        further = {"policies": list(names), "games": games, "replications": replications}
        claimed = claim(arguments.path("out", out), rated, options, **further)
    with claimed as folder:
        found = _worlds(plan, names, Streams(seed), replications, progress)
        facts = {
            "policies": list(names),
            "games": games,
            "replications": replications,
            "batch": batch,
            "once": once,
            "explore": explore,
            "seed": seed,
            "players": len(rated.names),
        }
        rows = [row for name in names for row in _rows(name, plan.marks, found[name])]
        lines = [caution_of_several([(name, aim * (name == POLICY)) for name in names])]
        result = SimulatedPairs(aim, rows, facts, lines)
        if folder is not None:
            result = replace(result, folder=folder.path)
            with held_signals():  # a signal finds all files or none
                write_csv(folder.path / SIMULATED, result.columns())
                with write_atomically(folder.path / SUMMARY) as file:
                    file.write(to_json(result.summary()))
                folder.close("complete")
    return result


def _worlds(
    plan: Plan,
    names: Sequence[str],
    streams: Streams,
    replications: int,
    progress: Callable[[int], None],
) -> dict[str, Floats]:
    """Play all worlds; return (worlds, marks, measures) of each policy."""
    found: dict[str, list[Floats]] = {name: [] for name in names}
    for name in names:
        announce_compilation(chooser(name))
    with stop_on_signal() as stopped:

        def stop() -> None:
            if stopped():
                raise KeyboardInterrupt

        for replication in range(replications):
            for name in names:
                found[name].append(play_world(plan, name, streams, replication, stop))
            progress(1)
    return {name: np.array(worlds) for name, worlds in found.items()}


def _rows(policy: str, marks: Sequence[int], found: Floats) -> list[CurveRow]:
    """Return the rows of a policy."""
    n, means = len(found), found.mean(axis=0)
    errors = found.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.full_like(means, math.nan)
    both = np.stack((means, errors), axis=2).reshape(len(marks), 2 * len(MEASURES))
    return [
        CurveRow(policy, games, *(round(value, DIGITS) for value in row))
        for games, row in zip(marks, both.tolist(), strict=True)
    ]
