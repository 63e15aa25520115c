"""The file ``posterior.npz``: ratings, how sure they are together, and games of each pair."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.errors import InputError
from valmatch.game_logs.batch.result import DIGITS, Posterior
from valmatch.inputs.files import regular
from valmatch.kernels.arrays import Floats, Ints
from valmatch.storage.output import write_binary
from valmatch.text.terminal import shown

POSTERIOR = "posterior.npz"


class HeldPosterior(NamedTuple):
    """What the file holds, the best player first.

    Attributes
    ----------
    names : list of str
        The rated players.
    mean : (n,) numpy.ndarray
        Their ratings.
    covariance : (n, n) numpy.ndarray
        Of these.
    pairs : (pairs, 2) numpy.ndarray or None
        Places of two who met, the better first; None of a file without games.
    games : (pairs,) numpy.ndarray or None
        In how many games they did.
    """

    names: list[str]
    mean: Floats
    covariance: Floats
    pairs: Ints | None
    games: Floats | None


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
    """Read the file; None where there is none.

    Raises
    ------
    InputError
        If it is damaged.
    """
    try:
        with regular(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
            names = held["names"].tolist()
            mean, covariance = held["mean"], held["covariance"]
            counted = "pairs" in held and "games" in held
            pairs, games = (held["pairs"], held["games"]) if counted else (None, None)
    except FileNotFoundError:
        return None
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: damaged: {error}") from None
    n = len(names)
    if not all(isinstance(name, str) for name in names) or len(set(names)) != n:
        raise InputError(f"{path}: damaged: names: not one name for each player")
    for name, array, shape in (("mean", mean, (n,)), ("covariance", covariance, (n, n))):
        if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
            raise InputError(f"{path}: damaged: {name}: not numbers of {n} players")
    if (np.diag(covariance) < 0.0).any():
        raise InputError(f"{path}: damaged: covariance: a variance is below 0")
    if pairs is not None and not _fit(pairs, games, n):
        raise InputError(f"{path}: damaged: games: not those of pairs of {n} players")
    return HeldPosterior(names, mean, covariance, pairs, games)


def check_same(
    path: Path, held: HeldPosterior, ratings: Path, names: Sequence[str], rated: Sequence[float]
) -> None:
    """Check that a file is of the players of a ``ratings.csv``, in its order, with its ratings.

    Whoever puts either in another order may have left the covariance as it was: which player a row
    of it is of is not known then.

    Parameters
    ----------
    path : Path
        The file.
    held : HeldPosterior
        What it holds.
    ratings : Path
        The ``ratings.csv``.
    names : sequence of str
        The rated players there.
    rated : sequence of float
        Their ratings there, rounded to `DIGITS`.

    Raises
    ------
    InputError
        If it is of others.
    """
    if held.names != list(names):
        same = sorted(held.names) == sorted(names)
        what = "holds its players in another order than" if same else "is not of the players of"
        raise InputError(f"{path}: damaged: {what} {ratings}")
    for name, mean, rating in zip(held.names, held.mean.tolist(), rated, strict=True):
        if not math.isclose(mean, rating, rel_tol=1e-12, abs_tol=10.0**-DIGITS):
            what = f"rates {shown(name)} {mean:.{DIGITS}f}, {ratings} {rating:.{DIGITS}f}"
            raise InputError(f"{path}: damaged: {what}")


def _fit(pairs: Any, games: Any, n: int) -> bool:  # noqa: ANN401 - what a file holds
    """Return whether numbers are games of pairs of n players."""
    if pairs.dtype.kind != "i" or games.dtype.kind not in "if" or games.ndim != 1:
        return False
    if pairs.shape != (len(games), 2) or not np.isfinite(games).all() or (games < 0).any():
        return False
    return bool((pairs[:, 0] < pairs[:, 1]).all() and (pairs >= 0).all() and (pairs < n).all())
