"""Drawing runs as figures of matplotlib: what is drawn, how, and into which files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs import options as o
from valmatch.inputs.arguments import PathLike
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import escaped, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from valmatch.present.document import Chart, Presentation
    from valmatch.storage.results import Result

CHOSEN = ("replicate", "design", "compare")  # commands of whose responses some can be drawn

FORMATS = ("png", "svg", "pdf")
CENTIMETRES = (5.0, 100.0)  # least and largest width and height


def _centimetres(name: str, value: object) -> tuple[float, float]:
    parts = value.split("x") if isinstance(value, str) else value
    low, high = CENTIMETRES
    if isinstance(parts, Sequence) and len(parts) == 2:
        width, height = (real_number(str(part)) or 0.0 for part in parts)
        if low <= width <= high and low <= height <= high:
            return width, height
    what = f"WIDTHxHEIGHT in centimetres, each from {low:g} to {high:g}"
    raise InputError(f"{option(name)}: {shown(value)} (allowed: {what})")


def _formats(name: str, value: object) -> tuple[str, ...]:
    names = arguments.names(name, value) or ("",)
    return tuple(dict.fromkeys(arguments.one_of(name, format, FORMATS) for format in names))


@dataclass(frozen=True)
class PlotOptions(o.Options):
    """What is drawn, and how."""

    players: Sequence[str] = o.names(
        "Players of a rating to draw, instead of the best.", "NAME,..."
    )
    responses: Sequence[str] = o.names(
        "Responses of `replicate` or `compare` to draw.",
        "NAME,...",
        default="those that `compare` was asked for, or all",
    )
    title: str = o.declare(
        "",
        "Title of every figure, instead of what it shows.",
        "TEXT",
        check=lambda name, value: escaped(" ".join(arguments.text(name, value).split())),
    )
    size: Sequence[float] | None = o.declare(
        None,
        "Size of every figure in centimetres, such as 24x14.",
        "WIDTHxHEIGHT",
        check=_centimetres,
        default="as needed",
    )


@dataclass(frozen=True)
class PlotFileOptions(PlotOptions):
    """Also which files are written."""

    formats: Sequence[str] = o.names(
        "Formats of the files: png, svg, pdf.",
        "NAME,...",
        FORMATS[:2],
        check=_formats,
        default="png,svg",
    )


@o.takes(PlotOptions)
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
    figures = _figures(*_presented(source, wanted), wanted)
    chosen = figure or next(iter(figures))
    if chosen not in figures:
        raise InputError(f"figure: no figure {chosen!r} ({hint(chosen, figures)})")
    return figures[chosen]


def plot_files(folder: Path, options: PlotFileOptions) -> list[Path]:
    """Draw what a folder holds, as files in it."""
    figures = _figures(*_presented(folder, options), options)
    from valmatch.present.figures import refuse_to_replace, save

    refuse_to_replace(figures, folder, options.formats)
    return save(figures, folder, options.formats)


def _figures(presentation: Presentation, source: str, wanted: PlotOptions) -> dict[str, Figure]:
    if find_spec("matplotlib") is None:
        raise InputError(
            "plots need matplotlib, which the extra `plot` brings: pip install 'valmatch[plot]'"
        )
    from valmatch.present.figures import figures_of, style_context

    charts: dict[str, list[Chart]] = {}
    for block in presentation.page:
        if block.charts:
            charts.setdefault(block.figure, []).extend(block.charts)
    if not charts:
        raise InputError(f"{source}: nothing to draw")
    figures, heading = dict[str, "Figure"](), wanted.title or presentation.title
    with style_context():
        for name, of_figure in charts.items():
            figures |= figures_of(name, of_figure, heading, wanted.size)
    return figures


def _presented(source: PathLike | Result, wanted: PlotOptions) -> tuple[Presentation, str]:
    """Return what a result or the run in a folder shows, and what it is called."""
    from valmatch.present.document import View
    from valmatch.present.presenting import present, run_folder
    from valmatch.present.reporting import present_folder
    from valmatch.storage.results import Result, result_files

    view = View(wanted.responses, wanted.players)
    if isinstance(source, Result):
        return present(source, view), type(source).__name__
    run = result_files(run_folder("source", source))
    command = run.manifest.command
    unrated, what = command not in ("rate", "rank"), "are chosen for replicate and compare alone"
    o.refuse("players", view.players and unrated, "are drawn of a rating alone")
    o.refuse("responses", view.responses and command not in CHOSEN, what)
    return present_folder(run, view), str(source)
