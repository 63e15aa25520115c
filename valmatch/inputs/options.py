"""Options, declared once: fields of a dataclass which Python and the command line fill."""

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs.csv_reader import SEPARATORS, cells_of, parse_columns
from valmatch.text.numerals import count, in_unit, real_number
from valmatch.text.terminal import shown

_KEY = "declared"  # of what a field declares, in its metadata


class Declared(NamedTuple):
    """What a field says of its option."""

    help: str  # {name} stands for another option
    metavar: str  # what its value is called; "" of one that is there or not
    read: Callable[[Any], object] = str  # the value of a text; None where it has none
    check: Callable[[str, Any], object] = lambda name, value: value  # name and value from Python
    allowed: str = ""  # what a text may be, where `check` does not say so
    default: str = ""  # what holds where it is not given, in words
    repeated: bool = False  # the command line takes it several times; `read` gets all texts
    short: str = ""  # a short name on the command line
    argument: bool = False  # it is known by its place on the command line
    complete: Callable[[str], list[str]] | None = None  # what may follow what is typed
    identity: bool = True  # whether runs differ that differ in it
    listener: bool = False  # a function, which Python alone has


def declare(value: Any, help: str, metavar: str, **more: Any) -> Any:  # noqa: ANN401
    """Return the field of an option."""
    metadata = {_KEY: Declared(help, metavar, **more)}
    if isinstance(value, dict):
        return field(default_factory=lambda: dict(value), metadata=metadata)
    return field(default=value, metadata=metadata)


def whole(name: str, value: int | None, help: str, metavar: str = "N", **more: Any) -> Any:  # noqa: ANN401
    """Declare a whole number in the range that `arguments.RANGES` has of a name."""
    check = arguments.whole
    return declare(
        value, help, metavar, read=count, check=lambda called, x: check(called, x, name), **more
    )


def number(
    check: Callable[[str, Any], float],
    value: float | None,
    help: str,
    metavar: str,
    **more: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Declare a number that a function of `valmatch.inputs.arguments` checks."""
    return declare(value, help, metavar, read=real_number, check=check, **more)


def one_of(names: Collection[str], value: Any, help: str, **more: Any) -> Any:  # noqa: ANN401
    """Declare one of some names."""
    more = {"check": lambda called, x: arguments.one_of(called, x, names), **more}
    return declare(value, help, "NAME", complete=among(names), **more)


def among(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what completes one of some names."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def text(value: Any, help: str, metavar: str, **more: Any) -> Any:  # noqa: ANN401
    """Declare a text of any kind."""
    return declare(value, help, metavar, **{"check": arguments.text, **more})


def names(help: str, metavar: str, value: Any = (), **more: Any) -> Any:  # noqa: ANN401
    """Declare names, which stand between commas on the command line."""
    more = {"read": cells_of, "check": arguments.names, **more}
    return declare(value, help, metavar, **more)


def repeated(help: str, metavar: str, **more: Any) -> Any:  # noqa: ANN401
    """Declare texts, each an option of its own on the command line."""
    return names(help, metavar, read=tuple, repeated=True, **more)


def path(help: str, metavar: str = "FILE", value: Any = None, **more: Any) -> Any:  # noqa: ANN401
    """Declare the path of a file or folder."""
    return declare(value, help, metavar, check=arguments.path, **more)


def folders(help: str, metavar: str = "DIR...", value: Any = MISSING) -> Any:  # noqa: ANN401
    """Declare folders that stand on the command line by their place."""
    check: Any = lambda name, paths: tuple(arguments.path(name, path) for path in paths)  # noqa: E731
    return declare(value, help, metavar, check=check, read=tuple, repeated=True, argument=True)


def flag(help: str, **more: Any) -> Any:  # noqa: ANN401
    """Declare what is there or not."""
    return declare(False, help, "", read=bool, check=arguments.flag, **more)


def duration(help: str, value: float | None = None, **more: Any) -> Any:  # noqa: ANN401
    """Declare a time in seconds, which the command line takes with a unit, too."""
    more |= {"read": seconds_of_text, "check": arguments.seconds, "allowed": _TIMES}
    return declare(value, help, "TIME", **more)


def columns(help: str, example: str = "game=match_id") -> Any:  # noqa: ANN401
    """Declare the names that a file has for columns, by their meanings."""
    read = lambda text: parse_columns(text, example)  # noqa: E731
    return declare({}, help, "MEANING=NAME,...", read=read, check=arguments.mapping)


def separator(default: str = "comma") -> Any:  # noqa: ANN401
    """Declare the field separator of a CSV file."""
    help = "Field separator: comma, semicolon, tab, bar, or the character."

    def check(name: str, x: str | None) -> str | None:
        if x is None or x in SEPARATORS.values():
            return x
        return SEPARATORS[arguments.one_of("separator", x, SEPARATORS)]

    return declare(None, help, "CHAR", check=check, default=default)


def max_bad_rows(what: str) -> Any:  # noqa: ANN401
    """Declare the largest share of invalid rows or games."""
    return declare(
        None,
        f"Largest share of invalid {what} to skip, such as 0.4 or 40%.",
        "SHARE",
        read=_share,
        check=arguments.share,
        allowed="from 0 to 1, or from 0% to 100%",
        default="0.05",
        identity=False,
    )


def listener(help: str) -> Any:  # noqa: ANN401
    """Declare a function that is called while the work goes on."""
    return declare(ignore, help, "", check=arguments.function, identity=False, listener=True)


def ignore(_: object) -> None:
    """Do nothing with what a listener is called with."""


_TIMES = "a time > 0, such as 90, 30m, 5min or 01:30:00"


def seconds_of_text(text: str) -> float | None:
    """Return the seconds of a number, one with a unit, or [D-]HH:MM:SS as SLURM writes it."""
    seconds = in_unit(text, "seconds")
    if re.fullmatch(r"\d+\.?\d*|\.\d+", text, re.ASCII):
        seconds = float(text)
    elif clock := re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)", text, re.ASCII):
        days, *parts = (float(part or 0) for part in clock.groups())
        seconds = 86400.0 * days + 3600.0 * parts[0] + 60.0 * parts[1] + parts[2]
    return seconds if isinstance(seconds, float) and seconds > 0.0 else None


def _share(text: str) -> float | None:
    """Return the share that a number or a percentage is."""
    value = real_number(text.removesuffix("%"))
    share = None if value is None else value / 100.0 if text.endswith("%") else value
    return share if share is not None and 0.0 <= share <= 1.0 else None


def refuse(name: str, wrong: object, what: str) -> None:
    """Refuse an option if it does not go with others."""
    if wrong:
        raise InputError(f"{option(name)}: {what}")


@dataclass(frozen=True)
class Options:
    """Options with checked values."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if _KEY in entry.metadata and value is not entry.default:
                object.__setattr__(self, entry.name, declared(entry).check(entry.name, value))

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes a run from others of the same input."""
        names = [entry.name for entry in options_of(type(self)) if declared(entry).identity]
        values = {name: getattr(self, name) for name in names}
        return {k: list(x) if isinstance(x, tuple) else x for k, x in values.items()}


@dataclass(frozen=True)
class OutOptions(Options):
    """Where results go."""

    out: Path | None = path("Write the results to this folder.", "DIR", identity=False)


def declared(entry: Field[Any]) -> Declared:
    """Return what a field says of its option."""
    of: Declared = entry.metadata[_KEY]
    return of


def options_of(kind: type[Options]) -> Iterator[Field[Any]]:
    """Yield the fields of options, those of a class before those that it inherits."""
    by_name = {entry.name: entry for entry in fields(kind) if _KEY in entry.metadata}
    for owner in kind.__mro__:
        for name in vars(owner).get("__annotations__", {}):
            if name in by_name:
                yield by_name.pop(name)


def default_of(entry: Field[Any]) -> object:
    """Return what holds where a field is not given."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def value_of(name: str, of: Declared, text: Any) -> object:  # noqa: ANN401
    """Return the value that texts of the command line give to an option."""
    value = of.read(text)
    if value is not None:
        return value
    if of.allowed:
        raise InputError(f"{option(name)}: {shown(text)} (allowed: {of.allowed})")
    return of.check(name, text)  # refuses a text


T = TypeVar("T", bound=Options)


def from_texts(kind: type[T], texts: Mapping[str, Any]) -> T:
    """Return options by the texts of the command line that are given."""
    given = [entry for entry in options_of(kind) if entry.name in texts]
    return kind(**{e.name: value_of(e.name, declared(e), texts[e.name]) for e in given})


def help_of(of: Declared, default: object, call: Callable[[str], str]) -> str:
    """Return what is said of an option, other options called as readers know them."""
    words = of.default
    if not words and isinstance(default, int | float | str) and not isinstance(default, bool):
        words = f"{default:g}" if isinstance(default, float) else f"{default}"
    words = f"{of.help}  [default: {words}]" if words else of.help
    return re.sub(r"\{(\w+)\}", lambda match: call(match[1]), words)


F = TypeVar("F", bound=Callable[..., Any])


def takes(kind: type[Options], without: Sequence[str] = ()) -> Callable[[F], F]:
    """Describe the options of a class where the docstring of a function has ``**options``."""

    def describe(function: F) -> F:
        known = {*function.__annotations__, *without}
        lines = []
        for entry in options_of(kind):
            if entry.name not in known:
                words = help_of(declared(entry), default_of(entry), "`{}`".format)
                wrapped = textwrap.fill(words.replace("|", "\\|"), 88)
                lines += [f"{entry.name} : {entry.type}", textwrap.indent(wrapped, "    ")]
        described = textwrap.indent("\n".join(lines), "    ").lstrip()
        function.__doc__ = (function.__doc__ or "").replace("**options", described)
        return function

    return describe
