"""Bad configs: the shipped ones with one thing changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from tests.bad_inputs.case import FAULTY, Case, Content, Odd
from tests.bad_inputs.damage import ESCAPES, HUGE, LONG, broken_file, items_of
from valmatch.config.loading import shipped_configs

FILE = f"{FAULTY}.yaml"

OPTIMIZING = ("optimize", FILE, "--budget", "100")

COMMANDS = (
    ("simulate", FILE),
    ("replicate", FILE, "-n", "2"),
    ("compare", FILE, "valorant", "-n", "2"),
    ("compare", "valorant", FILE, "-n", "2"),
    OPTIMIZING,
)

SECTIONS = ("", "factors", "replicate", "optimize", "design")

Document = dict[str, Any]


class Bad(NamedTuple):
    """A config, what is wrong with it, whether it is certainly refused, and by which command."""

    content: bytes | Odd
    what: str
    certain: bool = True
    argv: Sequence[str] = ()
    files: Mapping[str, Content] = {}


def config_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a command with a bad config."""
    # One smoke config will do: its means are missed, rightly, wherever a change is allowed.
    shipped = shipped_configs().items()
    source = rng.choice([path for name, path in shipped if not name.startswith("smoke-")])
    how = rng.choice((_text, _text, _key, _value, _value, _number, _section, _arrivals))
    bad = how(rng, source)
    argv = (*(bad.argv or rng.choice(COMMANDS)), "--out", "out")
    files = {FILE: bad.content, **bad.files}
    # What stands in a section may be named instead of the file.
    names = (FILE, "design: ", "/dev/stdin")
    what = f"{source.stem}: {bad.what}"
    return Case("configs", number, argv, files, names, bad.certain, what=what)


@cache
def _loaded(source: Path) -> Document:
    document: Document = yaml.safe_load(source.read_text())
    return document


def _document(source: Path) -> Document:
    """Return a copy of a shipped config."""
    copy: Document = json.loads(json.dumps(_loaded(source)))
    return copy


def _yaml(document: Document) -> bytes:
    """Return a document as JSON, which is YAML."""
    return json.dumps(document, indent=2).encode()


def _text(rng: Random, source: Path) -> Bad:
    """Damage the text."""
    if rng.random() < 0.15:
        return Bad(*broken_file(rng, source.read_bytes()))
    if rng.random() < 0.1:
        odd = rng.choice(list(Odd))
        return Bad(odd, odd.value)
    text = source.read_text()
    lines = text.splitlines()
    indented = [k for k, line in enumerate(lines) if line.startswith("  ")]
    at, where = rng.randrange(len(lines)), rng.choice(indented or [0])
    control = rng.choice("\x00\x01\x08\x1b\x7f\x80\x9b\ufffe")
    tabbed = [*lines[:where], "\t" + lines[where].lstrip(), *lines[where + 1 :]]
    ends = (
        "[", "{", "x: [1, 2", 'x: "open', "- 1", "x: *no", "x: !!python/object:os.x 1", "@", "%",
        "---\nmodel: valorant", "a: b: c", "? [1]\n: 2", "model: valorant", "<<: 3", "1: 2",
        "x: &a [*a]", "x: !!binary abc", "x: !!int abc", "? \n", "\t", "x: >\n\t", "'",
    )  # fmt: skip
    end = rng.choice(ends)
    bomb = "a0: &a0 [1, 1]\n" + "".join(
        f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}, *a{k - 1}]\n" for k in range(1, 40)
    )
    merged = "x:\n  m0: &m0 {a: 1}\n" + "".join(
        f"  m{k}: &m{k} {{<<: [*m{k - 1}, *m{k - 1}], b{k}: 1}}\n" for k in range(1, 40)
    )
    kind, content = rng.choice(
        [
            ("blank", rng.choice((" \n", "# nothing\n", "---\n", "null\n", "\ufeff"))),
            ("no mapping", rng.choice(("- 1\n", "3\n", "word\n", "[]\n", "true\n", '""\n'))),
            ("a tab", "\n".join(tabbed) if indented else f"{text}\n\t- x\n"),
            (f"a character {control!r}", "\n".join([*lines[:at], control, *lines[at:]])),
            (f"at the end {end!r}", f"{text}\n{end}\n"),
            ("nested lists", f"{text}\nx: {'[' * 5000}"),
            ("nested mappings", text + "".join(f"{' ' * k}a:\n" for k in range(500))),
            ("many aliases", text + bomb),
            ("many merges", text + merged),
            ("too large", text + "#" * (1 << 20)),
            ("many keys", text + "".join(f"k{k}: 1\n" for k in range(60_000))),
        ]
    )
    return Bad(content.encode("utf-8", "surrogatepass"), kind)


def _key(rng: Random, source: Path) -> Bad:
    """Add an unknown key to a section, or take what is needed away."""
    document = _document(source)
    section = rng.choice(SECTIONS)
    key = rng.choice((*ESCAPES, "polcy", "", " ", LONG, "Model", "\u202e", "é", "a.b", "factor"))
    inner = document.setdefault(section, {}) if section else document
    inner[key] = rng.choice((1, None, {}, [1], "x")) if section else 1
    return Bad(_yaml(document), f"unknown key {key[:20]!r} in {section or 'the config'}")


def _leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path and not isinstance(value, dict | list):
        yield path
    for key, item in items_of(value):
        yield from _leaves(item, (*path, key))


def _replaced(
    rng: Random, source: Path, kind: type | tuple[type, ...], pick: Callable[[], Any]
) -> tuple[Document, str]:
    """Return a config in which a value of some type is another, and where."""
    document = _document(source)
    paths = [path for path in _leaves(document) if isinstance(_at(document, path), kind)]
    path = rng.choice(paths or [("model",)])
    inner = _at(document, path[:-1])
    inner[path[-1]] = pick()
    return document, ".".join(map(str, path))


def _at(document: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401
    for part in path:
        document = document[part]
    return document


def _value(rng: Random, source: Path) -> Bad:
    """Replace a value by one of another type, or by a word that nothing is called."""
    if rng.random() < 0.4:
        words = (*ESCAPES, "", " ", "word", LONG, 3, True, [1], {"a": 1}, "valorant\n")
        word = rng.choice(words)
        document, where = _replaced(rng, source, str, lambda: word)
        return Bad(_yaml(document), f"{where}: {str(word)[:30]!r}", argv=_reader(where))
    other = rng.choice((True, "12", "", [1], {"a": 1}, LONG, *ESCAPES))
    document, where = _replaced(rng, source, (int, float), lambda: other)
    return Bad(_yaml(document), f"{where}: {str(other)[:30]!r}", argv=_reader(where))


def _reader(where: str) -> Sequence[str]:
    """Return the command that looks at a value."""
    return OPTIMIZING if where.startswith("optimize") else ()


def _number(rng: Random, source: Path) -> Bad:
    """Replace a number by another that is out of range, or huge."""
    numbers = {".nan": True, ".inf": True, "-.inf": True, "1e400": True, HUGE: True}
    numbers |= {"1" + "0" * 400: True, "-1e308": False, "1e308": False, "-1": False, "1e12": False}
    numbers |= {"1000000000000": False, "0": False, "1e-320": False, "4503599627370497.5": False}
    number = rng.choice(list(numbers))
    document, where = _replaced(rng, source, (int, float), lambda: "@number@")
    content = _yaml(document).replace(b'"@number@"', number.encode())
    certain = numbers[number] and not where.startswith("replicate")
    return Bad(content, f"{where}: {number[:20]}", certain, _reader(where))


DESIGNS = (
    "grid: {nothing: [1, 2]}",
    "grid: {team_diff: []}",
    "grid: {team_diff: [-1]}",
    "grid: {team_diff: 3}",
    "grid: {team_diff: [1, abc]}",
    "grid: [1]",
    'grid: {"\\e[2J": [1]}',
    f"grid: {{team_diff: {list(range(400))}, player_diff: {list(range(400))}}}",
    "ranges: {team_diff: {low: 1, high: 2}}",
    "ranges: {team_diff: {low: 3, high: 2}}\n  points: 4",
    "ranges: {team_diff: {low: 0, high: 2, log: true}}\n  points: 4",
    "ranges: {nothing: {low: 1, high: 2}}\n  points: 4",
    "ranges: {team_diff: {low: 1, high: 2}}\n  points: 0",
    "ranges: {team_diff: {low: 1, high: 2}}\n  points: 1000000000000",
    "ranges: {team_diff: {low: 1, high: 2}}\n  points: 3.5",
    "ranges: {team_diff: {low: 1, high: 2}}\n  points: 4\n  sample: dice",
    "ranges: {team_diff: {low: 1, high: 2}}\n  points: 4\n  seed: -1",
    "ranges: {team_diff: {low: -1.0e+308, high: 1.0e+308}}\n  points: 4",
    "ranges: {matching: {low: 1, high: 2}}\n  points: 4",
    "ranges: {poisson_rate: {low: 1, high: 2}}\n  points: 4",
    "ranges: {poisson_rate.99: {low: 1, high: 2}}\n  points: 4",
    "grid: {team_diff: [1]}\n  ranges: {player_diff: {low: 1, high: 2}}\n  points: 4",
    "grid: {model: [nothing]}",
    "grid: {'': [1]}",
    "points: 4",
)
"""Bad sections `design` of the model valorant."""

REPLICATE = (
    "target: [nothing=1%]", "target: [avg_wait_time]", "target: [avg_wait_time=-1%]",
    "target: avg_wait_time=1%", "target: [1]", 'target: ["\\e[2J=1%"]',
    "expect: {nothing: {mean: 1}}", "expect: {avg_wait_time: 1}",
    "expect: {avg_wait_time: {mean: abc}}", "expect: {avg_wait_time: {mean: 1, tolerance: -1}}",
    "executor: cloud", "executor: dask\n  scheduler: 3", "confidence: 1", "confidence: 95",
    "workers: 0", "n: 0", "n: 1.5", "seed: -1", "max_reps: 0\n  target: [avg_wait_time=1%]",
    "control_variates: 1",
)  # fmt: skip
"""Bad sections `replicate`."""

PROBLEM = "variables: {team_diff: {low: 0, high: 9}}\n  objective: {a: {response: avg_team_diff}}"

OPTIMIZE = (
    "variables: {}",
    "objective: {a: {response: avg_team_diff}}",
    "variables: {team_diff: {low: 0, high: 9}}",
    PROBLEM.replace("team_diff: {low", "nothing: {low", 1),
    PROBLEM.replace("high: 9", "high: -9", 1),
    PROBLEM.replace("high: 9", "high: 0", 1),
    PROBLEM.replace("low: 0", "low: -50", 1),
    PROBLEM.replace("high: 9", "high: 9, start: 10", 1),
    PROBLEM.replace("high: 9", "high: 9, scale: 0", 1),
    PROBLEM.replace("high: 9", "high: 9, std: -1", 1),
    PROBLEM.replace("team_diff: {low", "matching: {low", 1),
    PROBLEM.replace("team_diff: {low", "poisson_rate: {low", 1),
    PROBLEM.replace("response: avg_team_diff", "response: nothing"),
    PROBLEM.replace("response: avg_team_diff", 'response: "\\e[2J"'),
    PROBLEM.replace("response: avg_team_diff", "response: avg_team_diff, weight: .nan"),
    f"{PROBLEM}\n  constraints: {{c: {{response: avg_wait_time}}}}",
    f"{PROBLEM}\n  constraints: {{c: {{response: avg_wait_time, at_most: 1, at_least: 2}}}}",
    f"{PROBLEM}\n  constraints: {{c: {{response: nothing, at_most: 1}}}}",
    f"{PROBLEM}\n  constraints: {{c: {{response: avg_wait_time, at_most: .inf}}}}",
    f"{PROBLEM}\n  solver: magic",
    f"{PROBLEM}\n  budget: 1",
    f"{PROBLEM}\n  macroreps: 0",
    f"{PROBLEM}\n  confidence: 0",
    f"{PROBLEM}\n  seed: 0.5",
)
"""Bad sections `optimize`."""


def _section(rng: Random, source: Path) -> Bad:
    """Return a config with a bad section, and the command that reads that."""
    name, bad, argv = rng.choice(
        [
            ("design", DESIGNS, ("replicate", FILE, "-n", "2")),
            ("replicate", REPLICATE, ("replicate", FILE, "-n", "2")),
            ("optimize", OPTIMIZE, ("optimize", FILE)),
        ]
    )
    section = rng.choice(bad)
    content = f"model: valorant\n{name}:\n  {section}\n".encode()
    return Bad(content, f"{name}: {section[:90]}", argv=argv)


def _arrivals(rng: Random, source: Path) -> Bad:
    """Return a config whose arrivals cannot be read."""
    names = (
        "missing.csv", "a\0b", "n" * 300, "n" * 5000, ".", "..", "/dev/null", "/dev/zero",
        "\x1b[2J.csv", "/dev/stdin", "~/x", "missing/../x.csv", "/proc/self/mem", "x\ny",
    )  # fmt: skip
    others: dict[str, Content] = {"a pipe": Odd.PIPE, "a folder": Odd.FOLDER, "zeros": Odd.ZEROS}
    others |= {"binary": bytes(range(256)), "empty": b"", "an archive": b"PK\3\4" + b"\0" * 90}
    if rng.random() < 0.6:
        name: Any = rng.choice((*names, "", 3, True, ["a"], {"a": 1}))
        config = {"model": "valorant", "arrivals": name}
        return Bad(_yaml(config), f"arrivals: {str(name)[:30]!r}", argv=("simulate", FILE))
    what, content = rng.choice(list(others.items()))
    config, file = {"model": "valorant", "arrivals": f"{FILE}.csv"}, {f"{FILE}.csv": content}
    return Bad(_yaml(config), f"arrivals: {what}", argv=("simulate", FILE), files=file)
