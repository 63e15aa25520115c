"""Ratings of a whole log as their folder has them, and how sure they are together."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.game_logs.whole_log.result import (
    ANCHOR,
    DIGITS,
    DRAW_WEIGHT,
    SUMMARY,
    PlayerRow,
    Posterior,
)
from valmatch.inputs.csv_reader import Dialect, read_rows, with_columns
from valmatch.inputs.files import regular
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.storage.curve_file import DAMAGED, read_array
from valmatch.storage.output import read_json, write_binary
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import shown

POSTERIOR = "posterior.npz"

FAR = 1e18  # beyond what any rating, variance or number of games can be
CHECKED = 5_000  # players whose covariance is checked as one matrix, which takes long for more
ROUNDED = 1e-9  # shares of the largest variance by which a covariance may be one but for rounding


class HeldPosterior(NamedTuple):
    """What the file holds, the best player first."""

    names: list[str]  # the rated players
    mean: Floats  # (n,); their ratings
    covariance: Floats  # (n, n); of these
    # (pairs, 2); places of two who met, the better first; None of a file without games
    pairs: Ints | None
    games: Floats | None  # (pairs,); in how many games they did


def write_posterior(path: Path, posterior: Posterior) -> None:
    """Write the file, of ratings with a covariance."""
    from scipy import sparse  # takes long to import; who reads the file needs none of it

    assert posterior.covariance is not None
    met = sparse.coo_array(sparse.triu(posterior.games, 1))
    order = np.lexsort((met.col, met.row))
    pairs = np.column_stack((met.row, met.col)).astype(np.int64)[order]
    with write_binary(path) as file:
        np.savez(
            file,
            names=np.array(posterior.names, np.str_),
            mean=posterior.mean,
            covariance=posterior.covariance,
            pairs=pairs,
            games=met.data[order],
        )


def read_posterior(path: Path) -> HeldPosterior | None:
    """Read the file; None where there is none."""
    try:
        with zipfile.ZipFile(regular(path)) as parts:
            return _held(parts)
    except FileNotFoundError:
        return None
    except DAMAGED as error:
        raise InputError(f"{path}: damaged: {str(error) or 'torn':.99}") from None


def posterior_of(path: Path, players: Sequence[PlayerRow]) -> Posterior:
    """Return what is known together of the players of a folder, of their ratings alone if no more.

    The rated players come first.
    """
    rated = [row for row in players if row.rating is not None]
    names, groups = [row.player for row in rated], np.array([row.group for row in rated], np.int64)
    held = read_posterior(path)
    if held is None:
        return Posterior(names, np.array([row.rating for row in rated]), None, groups, None)
    from scipy import sparse

    pairs = np.zeros((0, 2), np.int64) if held.pairs is None else held.pairs
    games = np.zeros(0) if held.games is None else held.games
    both = np.concatenate([pairs, pairs[:, ::-1]]).T
    met = sparse.csr_array((np.tile(games, 2), both), shape=(len(names), len(names)))
    return Posterior(held.names, held.mean, held.covariance, groups, met)


def _held(parts: zipfile.ZipFile) -> HeldPosterior:
    """Return what a file holds, checked; raise ValueError where `rate` writes no such thing."""
    names = read_array(parts, "names", "U", (None,))
    if names is None or len(set(names.tolist())) != len(names):
        raise ValueError("names: not one name for each player")
    n = len(names)
    mean, covariance = (
        _numbers(read_array(parts, name, "f", shape), f"{name}: not numbers of {n} players")
        for name, shape in (("mean", (n,)), ("covariance", (n, n)))
    )
    _check_covariance(covariance)
    if not {"pairs.npy", "games.npy"} <= set(parts.namelist()):
        return HeldPosterior(names.tolist(), mean, covariance, None, None)
    what = f"games: not those of pairs of {n} players"
    pairs = _numbers(read_array(parts, "pairs", "i", (None, 2)), what)
    games = _numbers(read_array(parts, "games", "if", (len(pairs),)), what)
    first, second = pairs.T
    if (games < 0).any() or not ((first >= 0) & (first < second) & (second < n)).all():
        raise ValueError(what)
    return HeldPosterior(names.tolist(), mean, covariance, pairs, games)


def _numbers(array: NDArray[Any] | None, otherwise: str) -> NDArray[Any]:
    """Return an array that is there and holds numbers of 8 bytes within `FAR`."""
    if (
        array is None
        or array.dtype.itemsize != 8
        or not (-FAR < array.min(initial=0.0) <= array.max(initial=0.0) < FAR)
    ):
        raise ValueError(otherwise)
    return array


def _check_covariance(covariance: Floats) -> None:
    """Refuse what is no covariance beyond rounding; that of ratings with sum 0 is singular."""
    rounded = ROUNDED * max(covariance.diagonal().max(initial=0.0), ROUNDED)
    if (covariance.diagonal() < 0.0).any():
        raise ValueError("covariance: a variance is below 0")
    for row, column in zip(covariance, covariance.T, strict=True):
        if abs(row - column).max() > rounded:
            raise ValueError("covariance: not symmetric")
    whole = covariance[:CHECKED, :CHECKED].copy()
    whole.flat[:: len(whole) + 1] += rounded
    try:
        np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:
        raise ValueError("covariance: not positive semidefinite") from None


class SavedRatings(NamedTuple):
    """The ratings of a whole log, from the folder that `rank` wrote."""

    path: Path  # the ``ratings.csv``
    groups: dict[str, str]  # of everybody who played: the part of the log that games link
    unrated: dict[str, str]  # the status of those who have no rating
    ratings: dict[str, float]  # of the others, the best first
    anchors: Bools  # (rated,) whose rating was given
    summary: dict[str, Any]  # what ``summary.json`` holds
    coefficients: dict[str, float]  # of it, by name
    posterior: HeldPosterior | None  # None where it was not written

    @property
    def draw_weight(self) -> float:
        """How likely draws are."""
        return self.coefficients.get(DRAW_WEIGHT, 0.0)


def read_saved(path: Path) -> SavedRatings:
    """Read a ``ratings.csv`` of a whole log and what lies beside it."""
    choose = with_columns(("player", "rating", "group", "status"), what="as `rank` writes it")
    groups, unrated, ratings = dict[str, str](), dict[str, str](), dict[str, float]()
    anchors = []
    for row in read_rows(path, choose, Dialect()):
        name = row.text("player")
        if name in groups:
            raise row.wrong("player", f"{shown(name)} is there twice")
        groups[name] = row.cells["group"]
        if row.cells["rating"]:
            ratings[name] = row.number("rating")
            anchors.append(row.cells["status"] == ANCHOR)
        else:
            unrated[name] = row.cells["status"]
    file = path.parent / SUMMARY
    try:
        summary = read_json(file)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    with damaged(file):
        coefficients = {row["name"]: float(row["value"]) for row in summary["coefficients"]}
    saved = SavedRatings(
        path,
        groups,
        unrated,
        ratings,
        np.array(anchors, np.bool_),
        summary,
        coefficients,
        read_posterior(path.parent / POSTERIOR),
    )
    with damaged(file):
        if not 0.0 <= saved.draw_weight < 1e9:
            raise ValueError(f"{DRAW_WEIGHT} {saved.draw_weight!r}")
    _check_same(saved)
    return saved


def _check_same(saved: SavedRatings) -> None:
    """Check that a posterior is of the players of a ``ratings.csv``, in order, with their ratings.

    Whoever puts either in another order may have left the covariance as it was: which player a row
    of it is of is not known then.
    """
    held, path = saved.posterior, saved.path.parent / POSTERIOR
    if held is None:
        return
    if held.names != list(saved.ratings):
        same = sorted(held.names) == sorted(saved.ratings)
        what = "holds its players in another order than" if same else "is not of the players of"
        raise InputError(f"{path}: damaged: {what} {saved.path}")
    for mean, (name, rating) in zip(held.mean.tolist(), saved.ratings.items(), strict=True):
        if not math.isclose(mean, rating, rel_tol=1e-12, abs_tol=10.0**-DIGITS):
            what = f"rates {shown(name)} {mean:.{DIGITS}f}, {saved.path} {rating:.{DIGITS}f}"
            raise InputError(f"{path}: damaged: {what}")
    if not held.covariance.any() and not saved.anchors.all():
        raise InputError(f"{path}: damaged: covariance: 0 for all, of whom some are no anchors")
