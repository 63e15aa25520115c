"""Reading a config: a YAML file, the name of a shipped one, a mapping, with overrides."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from pydantic_core import PydanticUndefined
from yaml import MappingNode, Node

from valmatch.config.checking import BY_FACTOR, FILES, TOP_LEVEL, ConfigCheck, problem_names
from valmatch.config.config import Config
from valmatch.config.factor_paths import dotted, factor_at, is_open, label, section_depth
from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs.files import MAX_DOCUMENT, kind_of_text, read_document, reason, up_to
from valmatch.inputs.yaml_document import (
    MAX_DEPTH,
    Override,
    assign,
    find,
    parse,
    place,
    show,
    value_at,
)
from valmatch.models.registry import MODELS, ModelEntry
from valmatch.text.numerals import whole_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import escaped

SHOWN = 80  # characters of an override in messages


def _shown(text: str) -> str:
    """Return an override in moderate length."""
    line = " ".join(text.split())
    return escaped(line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}...")


def _override(root: Node, override: str, name: Override) -> Node:
    """Apply one ``KEY=VALUE``; what it writes is marked with `name` as its file."""
    key, equals, text = override.partition("=")
    path = dotted(key.strip()).split(".")
    if not equals or not all(path):
        raise InputError(f"{name}: not of the form KEY=VALUE (for instance team_diff=300)")
    if key.encode(errors="ignore").decode() != key:
        raise InputError(f"{name}: the key holds half a character (a surrogate)")
    if len(path) > MAX_DEPTH:
        raise InputError(f"{name}: a key of {len(path)} parts (allowed: {MAX_DEPTH})")
    entry = MODELS.get(str(value_at(root, ["model"])))
    path = _full_path(root, entry, path)
    if entry and path[0] == "factors":
        length = 2 + section_depth(entry.factors, path[1:])
        field = factor_at(entry.factors, path[1:length])
        if field is not None and len(path) > length and find(root, path[:length]) is None:
            # A part of a factor is changed, whose default is written first.
            default = field.get_default(call_default_factory=True)
            node = parse(json.dumps(None if default is PydanticUndefined else default), name)
            assert node is not None
            root = assign(root, path[:length], node)
    value = parse(text, name) or parse("null", name)
    assert value is not None
    try:
        return assign(root, path, value)
    except InputError as error:
        raise InputError(f"{name}: {label(path)}: {error}") from None


def _full_path(root: Node, entry: ModelEntry | None, path: list[str]) -> list[str]:
    """Return a path from the top: of a key there, a factor, or a name of the problem, in turn."""
    first, *rest = path
    if tuple(path[:2]) in BY_FACTOR and len(path) > 2:
        return [*path[:2], *_by_factor(entry, path[2:], BY_FACTOR[path[0], path[1]])]
    # A file has no parts: what has them is a factor of that name.
    of_factor = rest and entry and first in entry.factors.model_fields
    files = (*FILES, *(entry.files if entry else ()))
    if first in TOP_LEVEL or (first in files and not of_factor):
        return path
    if entry and entry.mappings.get(first) == first and find(root, [first]) is not None:
        return path  # a factor that stands at the top
    named = problem_names(root).get(first)
    if named is None or (entry and first in entry.factors.model_fields):
        return ["factors", *path]
    return [*named[:-1], *rest] if rest else named


def _by_factor(entry: ModelEntry | None, path: list[str], keys: Collection[str]) -> list[str]:
    """Return a path below the name of a factor with that name, dots and all, as one part."""
    length = 1 + (section_depth(entry.factors, path) if entry else 0)
    field = factor_at(entry.factors, path[:length]) if entry else None
    unknown = entry is not None and (field is None or is_open(field))
    for part in path[length:]:
        index = whole_number(part) is not None
        if part in keys or (index and not keys) or not (index or unknown):
            break
        length += 1
    return [".".join(path[:length]), *path[length:]]


ConfigLike: TypeAlias = "str | Path | Mapping[str, Any] | Config"  # what `load_config` takes


def load_config(
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
    content, name, folder = _read(source)
    if isinstance(overrides, Mapping):
        overrides = [f"{key}={_as_yaml(value)}" for key, value in overrides.items()]
    try:
        root = parse(content, name)
    except InputError:
        _refuse_others(content, name)
        raise
    if root is None:
        raise InputError(f"{name}:1:1: the config is empty (it needs at least 'model: ...')")
    if not isinstance(root, MappingNode) or find(root, ["model"]) is None:
        _refuse_others(content, name)
    if not isinstance(root, MappingNode):
        raise InputError(f"{place(root)}: the config is {show(root)} (allowed: a mapping)")
    # What an override writes is marked with what messages call it as its file.
    marks = [Override(f"{option('overrides')} {_shown(override)}") for override in overrides]
    marks += [Override(f"{called}={_shown(text.partition('=')[2])}") for called, text in levels]
    for text, mark in zip((*overrides, *(level for _, level in levels)), marks, strict=True):
        root = _override(root, text, mark)
    return ConfigCheck(root, marks).config(name, folder)


def _refuse_others(text: bytes, name: str) -> None:
    """Refuse a file that is no config but something else that is known, with what to do with it."""
    from valmatch.rule_sets.wrappers import MARKS, NoRuleSetError, body_of

    content, file = text.decode("utf-8", "replace").removeprefix("\ufeff"), shlex.quote(name)
    kind = kind_of_text(content)
    if kind in ("JSON", "YAML", "list", "text"):
        try:
            wrapped = MARKS.search(content) is not None and body_of(content) is not None
        except NoRuleSetError as error:
            raise InputError(f"{name}: no config: {error.what}") from None
        if wrapped or re.search(r'^\W*(ruleLanguageVersion|teams)"?\s*:', content, re.M):
            made = shlex.quote(f"{Path(name).stem}.yaml")
            raise InputError(
                f"{name}: this is a rule set, not a config (valmatch rules config {file} > {made}"
                " writes one that simulates it)"
            )
    what = {
        "table": f"a table: name it under arrivals of a config (valmatch check {file} --write"
        " mine.yaml writes one for a queue log)",
        "PGN": f"a file of games in PGN, not a config (valmatch rate {file} rates them)",
        "JSON lines": f"a log, not a config (valmatch check {file} says what it is good for)",
    }.get(kind)
    if what:
        raise InputError(f"{name}: this is {what}")


def shipped_configs() -> dict[str, Path]:
    """Return the files of the shipped configs by name."""
    package = Path(__file__).parents[1]
    # Installed, the configs lie inside the package; in the source tree, beside it.
    inside = package / "configs"
    folder = inside if inside.is_dir() else package.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)}


def _as_yaml(value: object) -> str:
    """Write plain values, and arrays and scalars of numpy, as JSON, which is YAML."""
    return json.dumps(value, default=lambda array: array.tolist())


def _read(source: str | Path | Mapping[str, Any]) -> tuple[bytes, str, Path]:
    """Return the bytes of a config, its name in errors, the folder its paths start from."""
    if isinstance(source, Mapping):
        return _as_yaml(source).encode(), "<mapping>", Path()
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
        others = [other.name for other in path.parent.glob(f"*{path.suffix or '.yaml'}")]
        near = hint(path.name if path.suffix else path.stem, [*others, *shipped])
        lists = "valmatch configs lists the shipped ones, valmatch check FILE says what a file is"
        near = near if near.startswith("did") else lists
        raise InputError(f"{source}: no such file or shipped config ({near})") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{source}: cannot be read: {reason(error).lower()}") from None


@cache
def _all_of(stream: TextIO) -> bytes:
    """Return all of standard input, which can be read only once."""
    try:
        return up_to(MAX_DOCUMENT, stream.buffer)
    except OSError as error:
        raise InputError(f"<stdin>: cannot be read: {reason(error).lower()}") from None


def listed() -> list[dict[str, str]]:
    """Return name, model and the first sentence of the comment that each shipped config has."""
    rows = []
    for name, path in shipped_configs().items():
        text = path.read_text(encoding="utf-8")
        comment = takewhile(lambda line: line.startswith("# "), text.splitlines())
        about = " ".join(line.removeprefix("# ") for line in comment)
        (model,) = re.findall("^model: *([a-z]+)", text, re.MULTILINE)
        rows.append({"config": name, "model": model, "about": re.split(r"(?<=\.) ", about)[0]})
    return rows
