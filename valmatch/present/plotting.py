"""Drawing runs as figures of matplotlib."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.options import takes
from valmatch.present.document import Chart, Presentation, View, blocks_of
from valmatch.present.plot_options import PlotFileOptions, PlotOptions
from valmatch.present.presenting import present
from valmatch.present.reporting import present_folder
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.storage.result_files import result_files
from valmatch.storage.results import Result
from valmatch.text.suggestions import hint

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SHOWN = 8  # folders that a refusal names

CHOSEN = ("replicate", "design", "compare")
"""Commands of whose results the responses to be drawn can be chosen."""


@takes(PlotOptions)
def plot(source: PathLike | Result, figure: str = "", **options: Any) -> Figure:  # noqa: ANN401
    """Draw a result, or what a folder holds.

    Parameters
    ----------
    source : PathLike or Result
        The result of a public function, or its folder.
    figure : str
        Its name, where there are several; "" for the first.
    **options

    Returns
    -------
    matplotlib.figure.Figure
        The figure; nothing is written.

    Raises
    ------
    InputError
        If there is nothing that can be drawn, no figure of that name, or no matplotlib.
    """
    wanted = PlotOptions(**options)
    view = View(wanted.responses, wanted.players)
    if isinstance(source, Result):
        _need_matplotlib()
        presentation, where = present(source, view), type(source).__name__
    else:
        folder = _found(arguments.path("source", source))[0]
        presentation, where = _shown(folder, view), str(folder)
        _need_matplotlib()
    figures = _figures(presentation, where, wanted)
    name = figure or next(iter(figures))
    if name not in figures:
        raise InputError(f"figure: no figure {name!r} ({hint(name, figures)})")
    return figures[name]


def plot_files(folder: Path, options: PlotFileOptions) -> list[Path]:
    """Draw what a folder holds, as files in it."""
    found = _found(folder, options.warn)
    if found != [folder]:
        if not options.recursive:
            raise InputError(_asks_which(folder, found))
        for path in found:
            options.inform(f"draws {path}")
    view = View(options.responses, options.players)
    _need_matplotlib()
    from valmatch.present.style import refuse_to_replace, save

    # All are drawn before any is written, because one may be impossible.
    drawn = [(_figures(_shown(home, view), str(home), options), home) for home in found]
    for figures, home in drawn:
        for remark in _continued(figures):
            options.inform(f"{home}: {remark}")
    for figures, home in drawn:
        refuse_to_replace(figures, home, options.formats)
    return [file for figures, home in drawn for file in save(figures, home, options.formats)]


def _continued(figures: Collection[str]) -> Iterator[str]:
    """Say of figures that have no room for all panels in which others the rest is."""
    for name in figures:
        further = [other for other in figures if re.fullmatch(rf"{re.escape(name)}-\d+", other)]
        if further:
            have = "has" if len(further) == 1 else "have"
            yield f"{name} has no room for all panels: {', '.join(further)} {have} the rest"


def _asks_which(folder: Path, found: Sequence[Path]) -> str:
    """Say that the folder of a run is wanted, and which there are."""
    names = ", ".join(str(path.relative_to(folder)) for path in found[:SHOWN])
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    return (
        f"{folder}: no {MANIFEST} here, but of runs below: {names}{more} (give the folder of one,"
        f" or {option('recursive=True')} to draw all)"
    )


def _figures(presentation: Presentation, where: str, wanted: PlotOptions) -> dict[str, Figure]:
    """Return the charts of a result as figures by name."""
    from valmatch.present.figures import figures_of
    from valmatch.present.style import style_context

    charts: dict[str, list[Chart]] = {}
    for block in blocks_of(presentation):
        if block.charts:
            charts.setdefault(block.figure, []).extend(block.charts)
    if not charts:
        raise InputError(f"{where}: nothing to draw")
    found: dict[str, Figure] = {}
    with style_context():
        for name, own in charts.items():
            found |= figures_of(name, own, wanted.title or presentation.title, wanted.inches)
    return found


def _need_matplotlib() -> None:
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise InputError(
            "plots need matplotlib, which the extra `plot` brings: pip install 'valmatch[plot]'"
        ) from None


def _shown(folder: Path, view: View) -> Presentation:
    """Return what the run in a folder shows."""
    run = result_files(folder)
    command = run.manifest.command
    if view.players and command not in ("rate", "rank"):
        raise InputError(f"{option('players')}: are drawn of a rating alone")
    if view.responses and command not in CHOSEN:
        raise InputError(f"{option('responses')}: are chosen for replicate and compare alone")
    return present_folder(run, view)


def _found(folder: Path, warn: Callable[[str], None] = lambda text: None) -> list[Path]:
    """Return the folder of a run, or else those of the runs below it, at any depth.

    Links are not followed, and what is below a run belongs to it.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / MANIFEST).is_file():
        return [folder]
    found = []
    for place, below, files in os.walk(folder):
        below.sort()
        if MANIFEST in files:
            below.clear()
            try:
                if read_manifest(Path(place), Manifest).is_ours:
                    found.append(Path(place))
            except InputError as error:
                warn(f"not drawn: {error}")
            except OSError as error:
                warn(f"not drawn: {Path(place, MANIFEST)}: cannot be read: {error.strerror}")
    if not found:
        raise InputError(f"{folder}: no {MANIFEST} here or in a folder below, so not made by a run")
    return sorted(found)
