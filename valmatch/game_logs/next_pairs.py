"""Choosing pairs to play next by the ratings of a whole log."""

import csv
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.game_logs.options import GRADIENT, NextOptions
from valmatch.game_logs.rating_files import PreviousRatings, write_result
from valmatch.game_logs.whole_log import result as r
from valmatch.inputs import arguments
from valmatch.inputs.csv_reader import read_table
from valmatch.inputs.files import sha256
from valmatch.inputs.options import refuse, takes
from valmatch.kernels.arrays import Bools, Ints
from valmatch.policies.joint.batch import Choice, choose_batch
from valmatch.policies.joint.belief import Belief, expected_score_at, unsure_of
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.ratings.parameters import BATCH_SYSTEMS
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.storage.output import MANIFEST
from valmatch.storage.results import (
    SUMMARY,
    DocumentedResult,
    ResultFiles,
    Warnings,
    damaged,
    plain,
)
from valmatch.storage.run_folder import RunFolder
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, counted, shown

SYSTEM = BATCH_NAMES[0]  # the system whose ratings are one for each player, all known together
MOST_PLAYERS = 5_000  # whose pairs, 12 million, fit into memory with what is known of them


@dataclass(frozen=True)
class RatedTogether:
    """Players of a rating, the best first, and what is believed of them together."""

    path: Path  # the ``ratings.csv``
    names: list[str]  # the players
    belief: Belief  # their ratings, and how sure these are
    games: Ints  # (n, n); games of each two so far; games that count in part are rounded
    prior: float | None  # deviation of the prior that they were rated by
    anchors: Bools  # whose ratings were given

    def folder(
        self, out: Path, command: str, identity: Mapping[str, object], read: Sequence[Path] = ()
    ) -> RunFolder:
        """Return the folder of what is made by these ratings and other files, claimed."""
        home, facts = self.path.parent, {"source": str(self.path)}
        identity = {**identity, "posterior_sha256": sha256(home / r.POSTERIOR)}
        read = [self.path, *(home / name for name in (r.POSTERIOR, SUMMARY, MANIFEST)), *read]
        return RunFolder(out, command, None, identity, facts=facts, read=read)

    def with_new(self, names: Sequence[str]) -> "RatedTogether":
        """Return these players and newcomers, who are known by the prior alone."""
        for name in names:
            refuse("new", name in self.names, f"{shown(name)} is rated already")
        if not names:
            return self
        if self.prior is None:
            raise InputError(
                f"{option('new')}: {self.path} was rated without a prior, and says nothing of"
                f" newcomers (rank with {option('prior')})"
            )
        n, more, belief = len(self.names), (0, len(names)), self.belief
        known = belief.mean if self.anchors.all() else belief.mean[~self.anchors]
        everybody = [*self.names, *names]
        mean = np.pad(belief.mean, more, constant_values=float(known.mean()))
        covariance = np.pad(belief.covariance, more)
        np.fill_diagonal(covariance[n:, n:], self.prior**2)
        keys = [(-round(x, 6), everybody[k].encode()) for k, x in enumerate(mean.tolist())]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return replace(
            self,
            names=[everybody[k] for k in order],
            belief=belief._replace(mean=mean[order], covariance=covariance[order][:, order]),
            games=np.pad(self.games, more)[order][:, order],
            anchors=np.pad(self.anchors, more)[order],
        )


def read_together(path: Path) -> RatedTogether:
    """Read the folder of a rating in which everybody has a rating."""
    previous = PreviousRatings(path)
    rating, path = previous.of_whole_log(BATCH_SYSTEMS[SYSTEM]), previous.path
    posterior, n = rating.posterior, len(rating.rated)
    if not rating.complete:
        unrated = [row.player for row in rating.players if row.rating is None]
        raise InputError(
            f"{path}: {len(unrated):,} of {len(rating.players):,} players have no rating:"
            f" {r.listed(unrated)} (rank with {option('prior')}, which rates all)"
        )
    if posterior.covariance is None:
        raise InputError(
            f"{path.parent / r.POSTERIOR}: is not there: ratings without intervals, or of more than"
            f" 10,000 players (rank with {option('interval')} information or sandwich)"
        )
    if not 2 <= n <= MOST_PLAYERS:
        raise InputError(f"{path}: {n:,} players (allowed: 2 to {MOST_PLAYERS:,})")
    with damaged(path.parent / SUMMARY):
        prior = rating.facts["prior"]
        if prior is not None and not 0.0 < float(prior) <= 1e6:
            raise ValueError(f"prior {prior!r}")
    games = np.zeros((n, n), np.int64)
    first, second = posterior.pairs.T
    games[first, second] = games[second, first] = np.round(posterior.games).astype(np.int64)
    covariance = 0.5 * (posterior.covariance + posterior.covariance.T)
    try:
        np.linalg.cholesky(covariance + (1e-9 * covariance.max() + 1e-12) * np.eye(n))
    except np.linalg.LinAlgError:
        what = "damaged: covariance: not positive semidefinite"
        raise InputError(f"{path.parent / r.POSTERIOR}: {what}") from None
    belief = Belief(posterior.mean, covariance, rating.values.get(r.DRAW_WEIGHT, 0.0))
    anchors = np.array([row.status == r.ANCHOR for row in rating.rated.values()])
    return RatedTogether(path, posterior.names, belief, games, prior, anchors)


_COLUMNS = ("player_a", "player_b")
_SHOWN = 10  # names that a message lists; of more it says what is near alone


def allowed_pairs(names: Sequence[str], path: Path | None, without: Sequence[str]) -> Bools:
    """Return which pairs may play, (n, n) and symmetric."""
    places = {name: k for k, name in enumerate(names)}

    def unrated(name: str) -> str:
        near = hint(name, names)
        near = "" if near.startswith("allowed") and len(names) > _SHOWN else f" ({near})"
        return f"{shown(name)} is not rated{near}"

    allowed = ~np.eye(len(names), dtype=np.bool_)
    if path is not None:
        allowed[:] = False
        what = f"pairs that may play have {' and '.join(_COLUMNS)}"
        for row in read_table(path, _COLUMNS, what=what):
            pair = [row.text(column) for column in _COLUMNS]
            for column, name in zip(_COLUMNS, pair, strict=True):
                if name not in places:
                    raise row.wrong(column, unrated(name))
            if pair[0] == pair[1]:
                raise row.wrong("player_b", f"{shown(pair[1])} cannot play themselves")
            first, second = (places[name] for name in pair)
            allowed[first, second] = allowed[second, first] = True
    for name in without:
        if name not in places:
            raise InputError(f"{option('without')}: {unrated(name)}")
        allowed[places[name], :] = allowed[:, places[name]] = False
    if not allowed.any():
        reasons = [str(path)] * bool(path) + [option("without")] * bool(without)
        what = ", ".join(reasons) or "fewer than two players"
        raise InputError(f"{option('allowed')}: no pair is left to play ({what})")
    return allowed


def caution(policy: str, goal: str) -> str:
    """Say what choosing does to intervals under a policy; `goal` is empty unless it has one."""
    package = Path(__file__).parents[1]
    table = package / "configs" / "next-pair.csv"  # where it lies once it is installed
    if not table.is_file():
        table = package.parent / "results" / "next-pair" / "trial.csv"
    name = f"{policy} ({goal})" if goal else policy
    study = f"By how much under {name} has not been measured."
    with table.open(encoding="utf-8", newline="") as file:
        rows = {(row["policy"], row["goal"]): row for row in csv.DictReader(file)}
    if row := rows.get((policy, goal)):
        study = (
            f"In our study (12 players, {int(row['games']):,} games) {name} overstated the leader's"
            f" lead by {float(row['lead_bias']):.0f} points, and its 95 % intervals held in"
            f" {float(row['leader_covered']):.0%} of cases; yours may differ."
        )
    return f"Pairs chosen by earlier results are no random sample: intervals can be wrong. {study}"


BATCH = "batch.csv"
_AS_ASKED = ("policy", "batch", "once", "repeat", "explore", "seed")
DIGITS = 12  # significant digits of what is written, beyond which sums of floats say nothing


class PairRow(NamedTuple):
    """A row of ``batch.csv``: the first player is the higher."""

    place: int
    player_a: str
    player_b: str
    value: float
    expected_score: float
    std_error: float
    games: int
    propensity: float


@dataclass(frozen=True)
class WidestDifference:
    """The two players whose difference is known the least."""

    player_a: str
    player_b: str
    std_error: float


@dataclass(frozen=True, repr=False)
class NextPairs(DocumentedResult):
    """Pairs to play next, and how unsure the ratings are that they are chosen by.

    Attributes
    ----------
    policy : str
        What they are chosen by.
    goal : str or None
        What for, where the policy has a goal.
    batch, once, repeat, explore, seed : int, bool, bool, float, int
        What was asked for.
    players, pairs_allowed : int
        How many players there are, and pairs that may play.
    leader, leader_best : str, float
        The player of the highest rating, and how likely they are the best.
    misordered : float
        Expected number of neighbours by rating who are in the wrong order.
    widest : WidestDifference
        The difference that is known the least.
    pairs : sequence of PairRow
        The pairs in order.
    warnings : sequence of str
        What has to be known of the ratings and the pairs: how unsure the goal is, and what choosing
        pairs does to intervals, among it.
    """

    presented_by = "next_pairs"
    documented = (
        *("policy", "goal", "batch", "once", "repeat", "explore", "seed"),
        *("players", "pairs_allowed", "leader", "leader_best", "misordered", "widest"),
    )

    policy: str
    goal: str | None
    batch: int
    once: bool
    repeat: bool
    explore: float
    seed: int
    players: int
    pairs_allowed: int
    leader: str
    leader_best: float
    misordered: float
    widest: WidestDifference
    pairs: Sequence[PairRow]
    warnings: Sequence[str] = ()
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was chosen, in one line."""
        pairs, goal = counted(len(self.pairs), "pair"), f", {self.goal}" if self.goal else ""
        return f"{pairs} to play next of {self.players:,} players, by {self.policy}{goal}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each pair, as ``batch.csv`` has them."""
        return r.columns_of(PairRow, self.pairs)

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return the pairs."""
        return {"pairs": r.rows_of(files, BATCH, PairRow)}

    def as_json(self) -> dict[str, Any]:
        """Return the summary with the pairs."""
        return {**self.summary(), "pairs": plain(self.pairs)}


@takes(NextOptions)
def next_pairs(
    ratings: arguments.PathLike,
    policy: str = GRADIENT,
    **options: Any,  # noqa: ANN401
) -> NextPairs:
    """Choose pairs to play next, by ratings of a whole log and how sure these are together.

    Each pair is chosen as if those before it had been played, which narrows what is known as a game
    does on average; games are on neutral ground. With `once`, pairs are chosen greedily by their
    values of now, then improved by exchanges of two pairs until none gains, which reaches at least
    half of the largest sum.

    Parameters
    ----------
    ratings : PathLike
        A folder that `rank_games` wrote under ``bradley_terry``, in which all are rated.
    policy : str
        What a pair is worth: ``knowledge_gradient``, ``information``, ``contenders``,
        ``closeness`` or ``uniform``.
    **options

    Raises
    ------
    InputError
        If the folder, an option or a name cannot be used, or no pair may play.
    RunError
        If the results cannot be written.
    """
    settings = NextOptions(policy=policy, **options)
    warn, rated = Warnings(settings.warn), read_together(arguments.path("ratings", ratings))
    rated = rated.with_new(settings.new)
    names, belief = rated.names, rated.belief
    may_play = allowed_pairs(names, settings.allowed, settings.without)
    claimed: AbstractContextManager[RunFolder | None] = nullcontext()
    if settings.out is not None:
        allowed = [settings.allowed] if settings.allowed else []
        identity = {**settings.identity, "allowed_sha256": sha256(*allowed) if allowed else None}
        claimed = rated.folder(settings.out, "next", identity, allowed)
    with claimed as folder:
        pairs = _chosen(rated, settings, may_play)
        if len(pairs) < settings.batch:
            helps = "" if settings.once else f" ({option('repeat')} lets pairs play again)"
            few = f"{len(pairs)} pairs, as no other has players who are free{helps}"
            warn(Note(few, "few_pairs", settings.batch - len(pairs)))
        unsure = unsure_of(belief, Streams(settings.seed))
        first, second = (names[k] for k in unsure.widest)
        result = NextPairs(
            **{name: getattr(settings, name) for name in _AS_ASKED},
            goal=settings.goal_of_policy or None,
            players=len(names),
            pairs_allowed=int(np.triu(may_play).sum()),
            leader=names[0],
            leader_best=unsure.leader_best,
            misordered=_rounded(unsure.misordered),
            widest=WidestDifference(first, second, _rounded(unsure.widest_error)),
            pairs=pairs,
        )
        notes = [Notice(text, "note") for text in _notes(result)]
        result = replace(result, warnings=[*warn, *notes])
        if folder is not None:
            result = write_result(folder, result, {BATCH: result.columns()})
    return result


def _chosen(rated: RatedTogether, settings: NextOptions, may_play: Bools) -> list[PairRow]:
    """Return the pairs that are worth most, in order."""
    names, belief = rated.names, rated.belief
    pairings = settings.policy, settings.goal or "best", settings.once, settings.repeat
    chosen = choose_batch(
        belief,
        Choice(*pairings, settings.explore, Streams(settings.seed).place(0)),
        settings.batch,
        allowed=may_play,
        games=rated.games,
        names=np.argsort(sorted(range(len(names)), key=lambda k: names[k].encode())),
        progress=settings.progress,
    )
    pairs = []
    columns = zip(*(column.tolist() for column in chosen), strict=True)
    for place, (i, j, value, error, games, propensity) in enumerate(columns, 1):
        lead = POINTS * (belief.mean[i] - belief.mean[j])
        score = expected_score_at(lead, belief.draw_weight)
        numbers = (*map(_rounded, (value, score, error)), games, _rounded(propensity))
        pairs.append(PairRow(place, names[i], names[j], *numbers))
    return pairs


def _rounded(value: float) -> float:
    """Return a number without the digits that sums of floats leave."""
    return 0.0 if abs(value) < 10.0**-DIGITS else float(f"{value:.{DIGITS}g}")


def _notes(result: NextPairs) -> list[str]:
    """Return what has to be said of a choice: how unsure the goal is, what choosing does."""
    widest = result.widest
    of_goal = {
        "order": f"Of {result.players - 1:,} neighbours in the ranking {result.misordered:.1f}"
        " are expected to be in the wrong order.",
        "widest": f"The widest difference is that of {widest.player_a} and {widest.player_b}, with"
        f" a standard error of {widest.std_error:.1f} points.",
    }
    lines = [of_goal[result.goal]] if result.goal in of_goal else []  # else the finding says it
    if result.once and result.explore == 0.0:
        lines.append(
            "Each player is in one pair: their values add up to at least half of the most possible."
        )
    if result.explore > 0.0:
        lines.append(
            "propensity is the chance of a pair, given those before it: results weighted by its"
            " inverse are those of a random sample."
        )
    return [*lines, caution(result.policy, result.goal or "")]
