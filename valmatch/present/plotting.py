"""Drawing runs as figures of matplotlib."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.errors import InputError, option
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.options import takes
from valmatch.present.document import Chart, Presentation, View
from valmatch.present.loading import run_folder
from valmatch.present.plot_options import PlotFileOptions, PlotOptions
from valmatch.present.presenting import present
from valmatch.present.reporting import present_folder
from valmatch.storage.result_files import result_files
from valmatch.storage.results import Result
from valmatch.text.suggestions import hint

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        presentation, name = present(source, view), type(source).__name__
    else:
        folder = run_folder("source", source)
        presentation, name = _shown(folder, view), str(folder)
    figures = _figures(presentation, name, wanted)
    chosen = figure or next(iter(figures))
    if chosen not in figures:
        raise InputError(f"figure: no figure {chosen!r} ({hint(chosen, figures)})")
    return figures[chosen]


def plot_files(folder: Path, options: PlotFileOptions) -> list[Path]:
    """Draw what a folder holds, as files in it."""
    view = View(options.responses, options.players)
    figures = _figures(_shown(run_folder("source", folder), view), str(folder), options)
    from valmatch.present.style import refuse_to_replace, save

    refuse_to_replace(figures, folder, options.formats)
    return save(figures, folder, options.formats)


def _figures(presentation: Presentation, source: str, wanted: PlotOptions) -> dict[str, Figure]:
    """Return the charts of a result as figures by name."""
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise InputError(
            "plots need matplotlib, which the extra `plot` brings: pip install 'valmatch[plot]'"
        ) from None
    from valmatch.present.figures import figures_of
    from valmatch.present.style import style_context

    charts: dict[str, list[Chart]] = {}
    for block in presentation.page:
        if block.charts:
            charts.setdefault(block.figure, []).extend(block.charts)
    if not charts:
        raise InputError(f"{source}: nothing to draw")
    figures: dict[str, Figure] = {}
    with style_context():
        for name, of_figure in charts.items():
            heading = wanted.title or presentation.title
            figures |= figures_of(name, of_figure, heading, wanted.inches)
    return figures


def _shown(folder: Path, view: View) -> Presentation:
    """Return what the run in a folder shows."""
    run = result_files(folder)
    command = run.manifest.command
    if view.players and command not in ("rate", "rank"):
        raise InputError(f"{option('players')}: are drawn of a rating alone")
    if view.responses and command not in CHOSEN:
        raise InputError(f"{option('responses')}: are chosen for replicate and compare alone")
    return present_folder(run, view)
