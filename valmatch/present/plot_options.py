"""Options of figures: their contents and their looks, for Python and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs import options as o
from valmatch.text.numerals import real_number
from valmatch.text.terminal import escaped, shown

FORMATS = ("png", "svg", "pdf")
CENTIMETRES = (5.0, 100.0)  # least and largest width and height
INCH = 2.54

Inches = tuple[float, float] | None
"""Width and height; None for those that a figure needs."""


def _title(name: str, value: object) -> str:
    return escaped(" ".join(arguments.text(name, value).split()))


def _centimetres(name: str, value: object) -> tuple[float, float]:
    """Return width and height."""
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
        "", "Title of every figure, instead of what it shows.", "TEXT", check=_title
    )
    size: Sequence[float] | None = o.declare(
        None,
        "Size of every figure in centimetres, such as 24x14.",
        "WIDTHxHEIGHT",
        check=_centimetres,
        default="as needed",
    )

    @property
    def inches(self) -> Inches:
        """Width and height of figures."""
        return (self.size[0] / INCH, self.size[1] / INCH) if self.size else None


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
