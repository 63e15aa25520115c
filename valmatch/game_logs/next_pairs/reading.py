"""Reading of the joint belief about players from a folder of `rate --system bradley_terry`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.batch.posterior_file import (
    POSTERIOR,
    HeldPosterior,
    check_same,
    read_posterior,
)
from valmatch.game_logs.batch.result import ANCHOR, DRAW_WEIGHT
from valmatch.game_logs.previous_ratings import PreviousRatings
from valmatch.game_logs.writing.folder import SUMMARY
from valmatch.inputs.csv_reader import Dialect, read_rows
from valmatch.inputs.files import regular
from valmatch.kernels.arrays import Bools, Ints
from valmatch.policies.joint.belief import Belief
from valmatch.ratings.registry import BATCH_NAMES, batch_named
from valmatch.text.terminal import shown

SYSTEM = BATCH_NAMES[0]  # the system whose ratings are one for each player, all known together
MOST = 5_000  # players whose pairs, 12 million, fit into memory with what is known of them together

_NAMED = 10


@dataclass(frozen=True)
class RatedTogether:
    """Players of a rating, the best first, and what is believed of them together."""

    path: Path  # the ``ratings.csv``
    names: list[str]  # the players
    belief: Belief  # their ratings, and how sure these are
    games: Ints  # (n, n); games of each two so far; games that count in part are rounded
    prior: float | None  # deviation of the prior that they were rated by
    anchors: Bools  # whose ratings were given

    @property
    def by_name(self) -> Ints:
        """The place of each player by name."""
        order = sorted(range(len(self.names)), key=lambda k: self.names[k].encode())
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return places

    def with_new(self, names: list[str]) -> RatedTogether:
        """Return these players and newcomers, who are known by the prior alone."""
        for name in names:
            if name in self.names:
                raise InputError(f"{option('new')}: {shown(name)} is rated already")
        if not names:
            return self
        if self.prior is None:
            raise InputError(
                f"{option('new')}: {self.path} was rated without a prior, and says nothing of"
                f" newcomers (rate with {option('prior')})"
            )
        n, more = len(self.names), len(names)
        others = self.belief.mean[~self.anchors]
        common = float((others if others.size else self.belief.mean).mean())
        mean = np.concatenate([self.belief.mean, np.full(more, common)])
        covariance = np.zeros((n + more, n + more))
        covariance[:n, :n] = self.belief.covariance
        covariance[range(n, n + more), range(n, n + more)] = self.prior**2
        games = np.zeros((n + more, n + more), np.int64)
        games[:n, :n] = self.games
        whole = [*self.names, *names]
        order = sorted(
            range(n + more), key=lambda k: (-round(float(mean[k]), 6), whole[k].encode())
        )
        chosen = np.ix_(order, order)
        return replace(
            self,
            names=[whole[k] for k in order],
            belief=self.belief._replace(mean=mean[order], covariance=covariance[chosen]),
            games=games[chosen],
            anchors=np.concatenate([self.anchors, np.zeros(more, np.bool_)])[order],
        )


def read_together(path: Path, warn: Callable[[str], None]) -> RatedTogether:
    """Read the folder of a rating in which everybody has a rating."""
    previous = PreviousRatings(path)
    if previous.manifest is None:
        if not previous.path.exists():
            raise InputError(f"{previous.path}: no such file (allowed: a folder of `rate`)")
        what = f"no manifest of a rating beside it (allowed: a folder of `rate --system {SYSTEM}`)"
        raise InputError(f"{previous.path}: {what}")
    previous.check(batch_named(SYSTEM))
    players, anchors = _players(previous.path)
    folder = previous.path.parent
    facts = _facts(folder / SUMMARY)
    held = read_posterior(folder / POSTERIOR)
    if held is None:
        raise InputError(
            f"{folder / POSTERIOR}: is not there: ratings without intervals, or of more than 10,000"
            f" players (rate with {option('interval')} information or sandwich)"
        )
    rated = list(players.values())
    check_same(folder / POSTERIOR, held, previous.path, list(players), rated, anchors)
    if not 2 <= len(held.names) <= MOST:
        what = f"{len(held.names):,} players (allowed: 2 to {MOST:,})"
        raise InputError(f"{previous.path}: {what}")
    if held.pairs is None:
        warn(f"{folder / POSTERIOR}: holds no games; pairs count as if they had not met")
    return RatedTogether(
        previous.path,
        held.names,
        Belief(held.mean, 0.5 * (held.covariance + held.covariance.T), facts["draw_weight"]),
        _games(held),
        facts["prior"],
        np.array(anchors),
    )


def _games(held: HeldPosterior) -> Ints:
    """Return games of each two."""
    n = len(held.names)
    games = np.zeros((n, n), np.int64)
    if held.pairs is not None and held.games is not None:
        first, second = held.pairs.T
        games[first, second] = games[second, first] = np.round(held.games).astype(np.int64)
    return games


def _players(path: Path) -> tuple[dict[str, float], list[bool]]:
    """Return the players of a rating, all of whom must have one, and whose was given."""
    wanted = ("player", "rating", "status")

    def choose(header: object, place: str) -> tuple[str, ...]:
        assert isinstance(header, list)
        if missing := [name for name in wanted if name not in header]:
            raise InputError(f"{place}: no column {missing[0]} (allowed: as `rate` wrote it)")
        return wanted

    found, anchors, unrated = {}, [], []
    for row in read_rows(path, choose, Dialect()):
        name = row.text("player")
        if name in found:
            raise row.wrong("player", f"{shown(name)} is there twice")
        anchors.append(row.cells["status"] == ANCHOR)
        if row.cells["rating"]:
            found[name] = row.number("rating")
        else:
            found[name] = math.nan
            unrated.append(name)
    if unrated:
        more = f" and {len(unrated) - _NAMED:,} more" if len(unrated) > _NAMED else ""
        names = ", ".join(map(shown, unrated[:_NAMED]))
        raise InputError(
            f"{path}: {len(unrated):,} of {len(found):,} players have no rating: {names}{more}"
            f" (rate with {option('prior')}, which rates all)"
        )
    return found, anchors


def _facts(path: Path) -> dict[str, Any]:
    """Return from the summary of a rating what the model is: its prior and its draws."""
    try:
        held = json.loads(regular(path).read_text(encoding="utf-8"))
        prior = held["prior"]
        values = {row["name"]: float(row["value"]) for row in held["coefficients"]}
        nu = values.get(DRAW_WEIGHT, 0.0)
        facts = {"prior": None if prior is None else float(prior), "draw_weight": nu}
        if not 0.0 <= nu < 1e9 or not (prior is None or 0.0 < float(prior) <= 1e6):
            raise ValueError(f"prior {prior!r}, {DRAW_WEIGHT} {nu!r}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: damaged: {error}") from None
    return facts
