"""Options of figures: a title, a size, the formats of their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.text.numerals import real_number
from valmatch.text.terminal import escaped, shown

FORMATS = ("png", "svg", "pdf")

DEFAULT_FORMATS = FORMATS[:2]  # formats of files where none are asked for
CENTIMETRES = (5.0, 100.0)  # least and largest width and height
LEAST = 0.75  # share of its own width and height below which a figure has no room for its texts

INCH = 2.54

Size = str | Sequence[float]
"""What a size may be given as: "WIDTHxHEIGHT" or the two numbers, in centimetres; "" for none."""


class FigureOptions(NamedTuple):
    """Options of figures."""

    title: str = ""  # stands above each of them; "" for what they show
    # width and height in inches; None for those of each figure
    size: tuple[float, float] | None = None
    formats: tuple[str, ...] = DEFAULT_FORMATS  # of the files


DEFAULTS = FigureOptions()

_current: ContextVar[FigureOptions] = ContextVar("figure options", default=DEFAULTS)


def current_options() -> FigureOptions:
    """Return the options of the figures that are drawn now."""
    return _current.get()


@contextmanager
def drawn_with(wanted: FigureOptions) -> Iterator[None]:
    """Draw figures with these options."""
    before = _current.set(wanted)
    try:
        yield
    finally:
        _current.reset(before)


def figure_options(
    title: object = "", size: object = "", formats: Sequence[str] = DEFAULT_FORMATS
) -> FigureOptions:
    """Return options of figures, checked."""
    if not isinstance(title, str):
        raise InputError(f"{option('title')}: {shown(title)} (allowed: a text)")
    for name in formats or ("",):
        arguments.one_of("formats", name, FORMATS)
    text = escaped(" ".join(title.split()))
    return FigureOptions(text, _inches(size), tuple(dict.fromkeys(formats)))


def _inches(size: object) -> tuple[float, float] | None:
    """Return a size in inches; None for none."""
    if isinstance(size, str) and not size:
        return None
    parts = size.split("x") if isinstance(size, str) else size
    numbers: list[float] = []
    if isinstance(parts, Sequence):
        numbers = [found for part in parts if (found := real_number(str(part))) is not None]
    low, high = CENTIMETRES
    if len(numbers) == 2 == len(parts) and all(low <= number <= high for number in numbers):  # type: ignore[arg-type]
        return numbers[0] / INCH, numbers[1] / INCH
    what = f"WIDTHxHEIGHT in centimetres, each from {low:g} to {high:g}"
    raise InputError(f"{option('size')}: {shown(size)} (allowed: {what})")


def sized(width: float, height: float) -> tuple[float, float]:
    """Return the size of a figure in inches: its own, or the one that is asked for."""
    wanted = current_options().size
    if wanted is None:
        return width, height
    if wanted[0] < LEAST * width or wanted[1] < LEAST * height:
        given, least = (
            "x".join(f"{INCH * side:.3g}" for side in sides)
            for sides in (wanted, (LEAST * width + 0.02, LEAST * height + 0.02))
        )
        raise InputError(
            f"{option('size')}: {given} is too small for what is drawn (allowed: {least} and more)"
        )
    return wanted
