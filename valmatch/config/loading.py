"""Reading a config: a YAML file, the name of a shipped one, a mapping, with overrides."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from yaml import MappingNode

from valmatch.config.checking import checked, reason
from valmatch.config.config import Config
from valmatch.config.overriding import overridden
from valmatch.errors import InputError
from valmatch.inputs import arguments
from valmatch.inputs.files import MAX_DOCUMENT, read_document, up_to
from valmatch.inputs.yaml_document import parse, place, show
from valmatch.text.suggestions import closest_name

ConfigLike: TypeAlias = "str | Path | Mapping[str, Any] | Config"  # what `load` takes


def load(
    source: ConfigLike,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    levels: Sequence[tuple[str, str]] = (),
) -> Config:
    """Read a config, apply overrides, check everything.

    Parameters
    ----------
    source : ConfigLike
        A path; ``-`` for standard input; the name of a shipped config,
        which is any name without slash or suffix that is not a file in the working directory; or
        what such a file would hold. A `Config` is returned as it is, without overrides.
    overrides : sequence of str, or mapping
        ``KEY=VALUE`` each, the later wins. KEY is a dotted path in the config (list elements by
        index from 0), starts with the bare name of a factor or a section of factors, or is the
        name of a constraint or of a term of the objective, for its bound or weight; a factor of
        that name comes first. VALUE is YAML. As a mapping, values by key.
    levels : sequence of tuple
        The same for the point of a design, each with what messages call it; they come last.

    Raises
    ------
    InputError
        With one line for each thing that is wrong, in the order of the file, overrides last.
    """
    if isinstance(source, Config):
        if overrides or levels:
            raise InputError("a Config cannot be overridden; override what it was loaded from")
        return source
    text, name, folder = _read(source)
    if isinstance(overrides, Mapping):
        overrides = [f"{key}={_json(value)}" for key, value in overrides.items()]
    root = parse(text, name)
    if root is None:
        raise InputError(f"{name}:1:1: the config is empty (it needs at least 'model: ...')")
    if not isinstance(root, MappingNode):
        raise InputError(f"{place(root)}: the config is {show(root)} (allowed: a mapping)")
    root, marks = overridden(root, overrides, levels)
    return checked(root, marks, name, folder)


def shipped_configs() -> dict[str, Path]:
    """Return the files of the shipped configs by name."""
    package = Path(__file__).parents[1]
    # Installed, the configs lie inside the package; in the source tree, beside it.
    inside = package / "configs"
    folder = inside if inside.is_dir() else package.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)}


def _families(names: Iterable[str]) -> list[str]:
    """Return names, those that differ after the first hyphen as one: there are many of them."""
    shown = []
    for family, members in groupby(names, lambda name: name.partition("-")[0]):
        listed = list(members)
        several = len(listed) > 1
        shown += [name for name in listed if name == family or not several]
        shown += [f"{family}-*"] * several
    return shown


def _json(value: object) -> str:
    """Write plain values, and arrays and scalars of numpy, as JSON, which is YAML."""
    return json.dumps(value, default=lambda array: array.tolist())


def _read(source: str | Path | Mapping[str, Any]) -> tuple[bytes, str, Path]:
    """Return the bytes of a config, its name in errors, the folder its paths start from."""
    if isinstance(source, Mapping):
        return _json(source).encode(), "<mapping>", Path()
    source = str(source)
    if source == "-":
        return _all_of(sys.stdin), "<stdin>", Path()
    path = arguments.path("config", source)
    shipped = shipped_configs()
    if source in shipped and not path.is_file():
        path = shipped[source]
    try:
        return read_document(path), str(path), path.parent
    except FileNotFoundError:
        near = closest_name(path.name.removesuffix(path.suffix), shipped)
        meant = f"did you mean the shipped config {near!r}?" if near else ""
        others = meant or f"shipped configs: {', '.join(_families(shipped))}"
        raise InputError(f"{source}: no such file ({others})") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{source}: cannot be read: {reason(error)}") from None


@cache
def _all_of(stream: TextIO) -> bytes:
    """Return all of standard input, which can be read only once."""
    try:
        return up_to(MAX_DOCUMENT, stream.buffer)
    except OSError as error:
        raise InputError(f"<stdin>: cannot be read: {reason(error)}") from None
