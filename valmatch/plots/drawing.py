"""Drawing a run: which module draws which kind of folder."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING

from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.errors import InputError, option
from valmatch.nearest import hint
from valmatch.plots.look import AS_USUAL, Look, Size, look_of
from valmatch.plots.source import RunFiles, read_run_files
from valmatch.storage.manifest import MANIFEST
from valmatch.storage.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot", "plot_files"]

DRAWERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("simulate", "valorant"): ("simulate_valorant",),
    ("simulate", "opponent"): ("simulate_opponent",),
    ("simulate", "zonestats"): ("simulate_zonestats",),
    ("simulate", "ladder"): ("ladder_queue", "ladder_days", "ladder_ratings"),
    ("replicate", "valorant"): ("responses", "bands", "hours"),
    ("replicate", "opponent"): ("opponent", "responses"),
    ("replicate", "zonestats"): ("curves", "responses"),
    ("replicate", "ladder"): ("curves", "responses"),
    ("replicate", ""): ("responses",),
    ("compare", ""): ("compare",),
    ("design", "opponent"): ("opponent_design", "design"),
    ("design", ""): ("design",),
    ("optimize", ""): ("optimize",),
    ("rate", ""): ("rate",),
}
"""Modules whose `draw` makes the figures of what a command wrote of a model ("": of any)."""

SIDE_BY_SIDE = {("replicate", "opponent"): "opponent"}
"""The module whose `draw_all` draws several runs in one figure."""


CHOSEN = ("replicate", "design", "compare")
"""Commands of whose results the responses to be drawn can be chosen."""


def plot(
    source: PathLike | Result,
    figure: str = "",
    *,
    players: str | Sequence[str] = (),
    responses: str | Sequence[str] = (),
    title: str = "",
    size: Size = "",
) -> Figure:
    """Draw a result, or what a folder holds.

    Parameters
    ----------
    source : PathLike or Result
        The result of a public function, or its folder. Of `optimize` and `rate_games` only what
        was written to a folder can be drawn.
    figure : str
        Its name, where there are several; "" for the first.
    players : str or sequence of str
        The players of a rating to be drawn; none: the best.
    responses : str or sequence of str
        The responses of a run of `replicate` or `compare` to be drawn; none: all.
    title : str
        Stands above the figure, in two lines at most; "": what it shows.
    size : str or sequence of float
        Width and height in centimetres, ``"16x9"`` or ``(16, 9)``; "": as large as it needs.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; nothing is written.

    Raises
    ------
    InputError
        If there is nothing that can be drawn, no figure of that name, or no matplotlib.
    """
    chosen = arguments.names("players", players), arguments.names("responses", responses)
    wanted = look_of(title, size)
    with _folder_of(source) as folder:
        runs = _runs(folder, *chosen)
        _need_matplotlib()
        found: dict[str, Figure] = {}
        for drawn, _ in _figures(runs, folder, wanted):
            found = {**drawn, **found}
    name = figure or next(iter(found))
    if name not in found:
        raise InputError(f"figure: no figure {name!r} ({hint(name, found)})")
    return found[name]


def plot_files(
    folder: Path,
    players: Sequence[str] = (),
    responses: Sequence[str] = (),
    wanted: Look = AS_USUAL,
) -> list[Path]:
    """Draw what a folder holds, as files in it, PNG and SVG unless others are asked for.

    Parameters
    ----------
    folder : Path
        The folder of a run, or one whose subfolders are runs of one kind, in the order of their
        names. Replications of the opponent model are then drawn side by side in `folder`, other
        runs each in its own folder.
    players : sequence of str
        The players of a rating to be drawn; none: the best.
    responses : sequence of str
        The responses of runs of `replicate` or `compare` to be drawn; none: all.
    wanted : Look
        What is asked of the figures.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If the folder does not hold what can be drawn, or if matplotlib is missing.
    RunError
        If a file cannot be written.
    """
    runs = _runs(folder, players, responses)
    _drawers(runs, folder)
    _need_matplotlib()
    from valmatch.plots.style import save

    # All are drawn before any is written, because one may be impossible.
    drawn = list(_figures(runs, folder, wanted))
    return [file for found, home in drawn for file in save(found, home, wanted.formats)]


@contextmanager
def _folder_of(source: PathLike | Result) -> Iterator[Path]:
    """Give a result without files a folder for as long as it is drawn."""
    if not isinstance(source, Result):
        yield arguments.path("source", source)
    elif source.folder is not None:
        yield source.folder
    else:
        from valmatch.plots.result_files import write_result_files

        with TemporaryDirectory() as folder:
            write_result_files(source, Path(folder))
            yield Path(folder)


def _figures(
    runs: Sequence[RunFiles], folder: Path, wanted: Look
) -> Iterator[tuple[dict[str, Figure], Path]]:
    """Yield figures by name, with the folder that they belong to."""
    from valmatch.plots.style import style_context

    names = _drawers(runs, folder)
    with style_context(wanted):
        if runs[0].kind in SIDE_BY_SIDE and runs[0].folder != folder:
            yield _drawer(SIDE_BY_SIDE[runs[0].kind]).draw_all(runs), folder
            return
        for run in runs:
            figures: dict[str, Figure] = {}
            for name in names:
                figures.update(_drawer(name).draw(run))
            yield figures, run.folder


def _drawers(runs: Sequence[RunFiles], folder: Path) -> tuple[str, ...]:
    """Return the modules that draw runs of one kind."""
    kinds = {run.kind for run in runs}
    if len(kinds) > 1:
        made = " and ".join(sorted(" ".join(kind).strip() for kind in kinds))
        raise InputError(f"{folder}: holds runs of different kinds ({made}); draw them one by one")
    kind = kinds.pop()
    names = DRAWERS.get(kind) or DRAWERS.get((kind[0], ""))
    if names is None:
        raise InputError(
            f"{folder}: nothing is drawn of {' '.join(kind).strip()} (allowed: {_allowed()})"
        )
    return names


def _allowed() -> str:
    """Say what is drawn."""
    return ", ".join(dict.fromkeys(" ".join(kind).strip() for kind in DRAWERS))


def _need_matplotlib() -> None:
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise InputError(
            "plots need matplotlib, which the extra `plot` brings: pip install 'valmatch[plot]'"
        ) from None


def _drawer(name: str) -> ModuleType:
    return importlib.import_module(f"valmatch.plots.{name}")


def _runs(
    folder: Path, players: Sequence[str] = (), responses: Sequence[str] = ()
) -> Sequence[RunFiles]:
    """Return the run in a folder, or the runs in its subfolders."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / MANIFEST).is_file():
        found = [folder]
    else:
        found = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not found:
        raise InputError(f"{folder}: no {MANIFEST} here or one level below, so not made by a run")
    runs = [read_run_files(path, players, responses) for path in found]
    if players and any(run.kind[0] != "rate" for run in runs):
        raise InputError(f"{option('players')}: are drawn of a rating alone")
    if responses and any(run.kind[0] not in CHOSEN for run in runs):
        raise InputError(f"{option('responses')}: are chosen for replicate and compare alone")
    return runs
