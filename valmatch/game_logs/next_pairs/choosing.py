"""Choosing pairs to play next by the ratings of a whole log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.execution.interruption import held_signals
from valmatch.game_logs.batch.posterior_file import POSTERIOR
from valmatch.game_logs.next_pairs.allowed import allowed_pairs
from valmatch.game_logs.next_pairs.cost import BYTES, seconds_of_choice, tell_cost
from valmatch.game_logs.next_pairs.coverage import caution
from valmatch.game_logs.next_pairs.goals import Unsure, unsure_of
from valmatch.game_logs.next_pairs.options import POLICY, NextOptions
from valmatch.game_logs.next_pairs.reading import RatedTogether, read_together
from valmatch.game_logs.next_pairs.result import WIDEST, NextPairs, PairRow
from valmatch.game_logs.writing.folder import SUMMARY
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import sha256
from valmatch.kernels.arrays import Bools
from valmatch.kernels.compilation import announce_compilation
from valmatch.policies.joint.batch import Batch, choose_batch, chooser
from valmatch.policies.joint.outcomes import expected_score_at
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.run_folder import RunFolder
from valmatch.text.notes import Note

BATCH = "batch.csv"

DIGITS = 12  # significant digits of what is written, beyond which sums of floats say nothing


def next_pairs(
    ratings: PathLike,
    policy: str = POLICY,
    *,
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
) -> NextPairs:
    """Choose pairs to play next, by ratings of a whole log and how sure these are together.

    Each pair is chosen as if those before it had been played, which narrows what is known as a game
    does on average; games are on neutral ground.

    Parameters
    ----------
    ratings : PathLike
        A folder that `rate_whole_log` wrote under ``bradley_terry``, in which all are rated.
    policy : str
        What a pair is worth: ``knowledge_gradient``, ``information``, ``contenders``,
        ``closeness`` or ``uniform``.
    goal : str or None
        Of the knowledge gradient: ``best`` (to name the best, the default), ``order`` (to name the
        order of neighbours) or ``widest`` (to narrow the widest difference).
    batch : int
        How many pairs.
    once : bool
        Each player at most once: by the values of now, greedily, then by exchanges of two pairs
        until none gains, which reaches at least half of the largest sum.
    allowed : PathLike or None
        A CSV file with the columns player_a and player_b: the pairs that may play.
    without : str or sequence of str
        Players who are not there.
    new : str or sequence of str
        Players who have not played yet; they are known by the prior of the ratings.
    explore : float
        The probability with which a place goes to a pair drawn from all that may play.
    seed : int
        Of all that is drawn.
    out : PathLike or None
        Folder for ``batch.csv``, ``summary.json`` and ``manifest.json``.
    progress : callable
        Called with the number of further pairs chosen.
    warn : callable
        Called with each remark.

    Returns
    -------
    NextPairs
        The pairs, and how unsure the ratings are.

    Raises
    ------
    InputError
        If the folder, an option or a name cannot be used, or no pair may play.
    RunError
        If the results cannot be written.
    """
    options = NextOptions(
        policy,
        goal,
        batch,
        once,
        None if allowed is None else arguments.path("allowed", allowed),
        arguments.names("without", without),
        arguments.names("new", new),
        explore,
        seed,
    )
    rated = read_together(arguments.path("ratings", ratings), warn).with_new(list(options.new))
    may_play = allowed_pairs(rated.names, options.allowed, options.without)
    _tell_cost(options, may_play, warn)
    claimed: AbstractContextManager[RunFolder | None] = nullcontext()
    if out is not None:
        claimed = _claim(arguments.path("out", out), rated, options)
    with claimed as folder:
        announce_compilation(chooser(options.policy))
        chosen = choose_batch(
            rated.belief,
            options.policy,
            options.goal or "best",
            options.batch,
            once=options.once,
            allowed=may_play,
            games=rated.games,
            names=rated.by_name,
            explore=options.explore,
            streams=Streams(options.seed),
            progress=progress,
        )
        unsure = unsure_of(rated.belief, Streams(options.seed))
        result = _result(rated, options, may_play, chosen, unsure)
        if len(result.pairs) < options.batch:
            warn(Note(f"{len(result.pairs)} pairs, as no other has players who are free"))
        if folder is not None:
            result = replace(result, folder=folder.path)
            with held_signals():  # a signal finds all files or none
                write_csv(folder.path / BATCH, result.columns())
                with write_atomically(folder.path / SUMMARY) as file:
                    file.write(to_json(result.summary()))
                folder.close("complete")
    return result


def _tell_cost(options: NextOptions, may_play: Bools, warn: Callable[[str], None]) -> None:
    """Say what a choice takes."""
    n, pairs = len(may_play), int(may_play.sum()) // 2
    size = min(options.batch, n // 2) if options.once else options.batch
    policy, goal = options.policy, options.goal_of_policy
    seconds = seconds_of_choice(policy, goal, n, pairs, size, options.once)
    by = f"{policy} ({goal})" if goal else policy
    tell_cost(f"{size:,} pairs of {n:,} players by {by}", seconds, warn, BYTES * n**2)


def _claim(out: Path, rated: RatedTogether, options: NextOptions) -> RunFolder:
    """Return the folder of a choice, claimed."""
    posterior = rated.path.parent / POSTERIOR
    identity: dict[str, object] = {
        "policy": options.policy,
        "goal": options.goal_of_policy,
        "batch": options.batch,
        "once": options.once,
        "allowed_sha256": sha256(options.allowed) if options.allowed else None,
        "without": list(options.without),
        "new": list(options.new),
        "explore": options.explore,
        "seed": options.seed,
        "posterior_sha256": sha256(posterior),
    }
    beside = [rated.path, posterior, rated.path.parent / SUMMARY, rated.path.parent / MANIFEST]
    read = [*beside, *([options.allowed] if options.allowed else [])]
    facts = {"source": str(rated.path)}
    return RunFolder(out, "next", None, identity, facts=facts, read=read)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}") + 0.0


def _result(
    rated: RatedTogether,
    options: NextOptions,
    may_play: Bools,
    chosen: Batch,
    unsure: Unsure,
) -> NextPairs:
    """Return a choice as rows, with what there is to say of it."""
    belief, names = rated.belief, rated.names
    rows = [
        PairRow(
            place + 1,
            names[i],
            names[j],
            _rounded(value),
            _rounded(
                expected_score_at(
                    belief.points * (belief.mean[i] - belief.mean[j]), belief.draw_weight
                )
            ),
            _rounded(error),
            games,
            _rounded(propensity),
        )
        for place, (i, j, value, error, games, propensity) in enumerate(
            zip(*(column.tolist() for column in chosen), strict=True)
        )
    ]
    first, second = unsure.widest
    facts: dict[str, Any] = {
        "batch": options.batch,
        "once": options.once,
        "explore": options.explore,
        "seed": options.seed,
        "players": len(names),
        "pairs_allowed": int(np.triu(may_play).sum()),
        "leader": names[0],
        "leader_best": unsure.leader_best,
        "misordered": _rounded(unsure.misordered),
        "widest": dict(
            zip(WIDEST, (names[first], names[second], _rounded(unsure.widest_error)), strict=True)
        ),
    }
    lines = sentences(facts, options)
    return NextPairs(options.policy, options.goal_of_policy, rows, facts, lines)


def sentences(facts: dict[str, Any], options: NextOptions) -> list[str]:
    """Return what has to be said of a choice: how unsure the goal is, what choosing does."""
    widest = facts["widest"]
    of_goal = {
        "order": f"Of {facts['players'] - 1:,} neighbours in the ranking {facts['misordered']:.1f}"
        " are expected to be in the wrong order.",
        "widest": f"The widest difference is that of {widest['player_a']} and"
        f" {widest['player_b']}, with a standard error of {widest['std_error']:.1f} points.",
    }
    best = f"{facts['leader']} is the best with probability {facts['leader_best']:.2f}."
    lines = [of_goal.get(options.goal_of_policy, best)]
    if options.once and options.explore == 0.0:
        lines.append(
            "Each player is in one pair: their values add up to at least half of the most possible."
        )
    if options.explore > 0.0:
        lines.append(
            "propensity is the chance of a pair, given those before it: results weighted by its"
            " inverse are those of a random sample."
        )
    return [*lines, caution(options.policy, options.goal_of_policy)]
