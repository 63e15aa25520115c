"""The formats of game logs, and which column of a file has which meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valmatch.errors import InputError, option
from valmatch.game_logs.options import LogFormat
from valmatch.inputs.csv_text import other_separator
from valmatch.text.suggestions import closest_name, hint
from valmatch.text.terminal import VALUE, shortened, shown

# A column that is so like an unknown one that a misspelling is the likely explanation.
_ALIKE = 0.8


@dataclass(frozen=True)
class Format:
    """A shape of game logs."""

    name: str  # what it is called
    # required, optional: meanings of its columns
    required: tuple[str, ...]
    optional: tuple[str, ...]
    together: tuple[str, ...] = ()  # optional columns of which all or none must be there


LONG = Format("long", ("game", "player", "score"), ("team", "minutes", "enabled", "time"))
RESULTS = Format(
    "results",
    ("winner", "loser"),
    ("game", "winner_score", "loser_score", "draw", "minutes", "time"),
    together=("winner_score", "loser_score"),
)
SCORES = Format(
    "scores",
    ("home", "away", "home_score", "away_score"),
    ("game", "minutes", "time", "neutral"),
)
PLAYERS = Format("players", ("player_a", "player_b", "result"), ("game", "minutes", "time"))
OUTCOMES = Format("outcomes", ("home", "away", "result"), (*PLAYERS.optional, "neutral"))
FORMATS = (LONG, RESULTS, SCORES, PLAYERS, OUTCOMES)


@dataclass(frozen=True)
class Columns:
    """The columns of a log that are used."""

    format: Format  # the shape of the log
    places: Mapping[str, int]  # index in the header by meaning
    names: Sequence[str]  # all names in the header


def find_columns(
    where: str,
    header: Sequence[str],
    written: LogFormat,
    formats: Sequence[Format] = FORMATS,
    what: str = "a log has",
    used: Sequence[str] = (),
) -> Columns:
    """Find the columns of a log, or of another file of games, by its header.

    Columns without a meaning are left alone, unless their name looks like a misspelt one.
    """
    given = written.columns
    if len(header) == 1 and (other := other_separator(header, written.delimiter)):
        raise InputError(
            f"{where}: the header is one cell with {other}s in it:"
            f" {option('separator')} {other} reads it"
        )
    meanings = list(dict.fromkeys(m for f in formats for m in (*f.required, *f.optional)))
    for meaning, name in given.items():
        if meaning not in meanings:
            raise InputError(
                f"{option('columns')}: {meaning}: no such meaning ({hint(meaning, meanings)})"
            )
        if name not in header:
            raise InputError(
                f"{where}: {option('columns')}: no column {name!r} ({hint(name, header)})"
            )
    names = {meaning: meaning for meaning in meanings} | dict(given)
    format_ = _format(where, header, names, formats, what)
    wrong = [m for m in given if m not in (*format_.required, *format_.optional)]
    if wrong:
        allowed = ", ".join((*format_.required, *format_.optional))
        raise InputError(
            f"{option('columns')}: {wrong[0]}: has no meaning in a log in {format_.name} format"
            f" (allowed: {allowed})"
        )
    return Columns(format_, _places(where, header, format_, names, used), header)


def _format(
    where: str,
    header: Sequence[str],
    names: Mapping[str, str],
    formats: Sequence[Format],
    what: str,
) -> Format:
    """Return the format whose required columns are there."""
    missing = {f: [m for m in f.required if names[m] not in header] for f in formats}
    best = min(formats, key=lambda f: (len(missing[f]) / len(f.required), formats.index(f)))
    if missing[best]:
        meaning = missing[best][0]
        name = names[meaning]
        near = closest_name(name, header)
        meant = f"did you mean {shortened(near)}? " if near else ""
        needs = " or ".join(", ".join(f.required) for f in formats)
        found = shortened(", ".join(header), 2 * VALUE)
        raise InputError(
            f"{where}: no column {shown(name)} ({meant}{what} the columns {needs}; found:"
            f" {found}; {option('columns')} {meaning}=NAME says which column it is)"
        )
    return best


def _places(
    where: str,
    header: Sequence[str],
    format_: Format,
    names: Mapping[str, str],
    used: Sequence[str],
) -> dict[str, int]:
    """Return the index of each column that is there."""
    places = {}
    unused = [name for name in header if name not in names.values() and name not in used]
    for meaning in (*format_.required, *format_.optional):
        name = names[meaning]
        if header.count(name) > 1:
            raise InputError(f"{where}: there are {header.count(name)} columns {name!r}")
        if name in header:
            places[meaning] = header.index(name)
            continue
        near = closest_name(name, unused, _ALIKE)
        if near:
            raise InputError(
                f"{where}: unknown column {near!r} (did you mean {name}? {option('columns')}"
                f" {meaning}={near} says so)"
            )
    there = [meaning for meaning in format_.together if meaning in places]
    if there and len(there) < len(format_.together):
        absent = next(m for m in format_.together if m not in places)
        raise InputError(f"{where}: column {names[there[0]]!r} needs a column {names[absent]!r}")
    return places
