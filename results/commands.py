"""Studies whose questions are commands of valmatch: their tables, and how pages show them."""

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from results.study import Row, Study, pivot, run_command

Rows = Sequence[Row]


class Command(NamedTuple):
    """One command."""

    name: str  # on the page
    configs: str  # one, or several
    seed: int
    responses: Sequence[str]
    confidence: float  # of each interval, so that all of a table hold together
    settings: Sequence[str] = ()
    variants: Mapping[str, str] = {}  # what is compared with the first system, by name
    sweep: str = ""
    n: int = 20

    @property
    def words(self) -> list[str]:
        """The words of the command after `valmatch`."""
        more = [word for one in self.settings for word in ("--set", one)]
        more += ["--sweep", self.sweep] * bool(self.sweep)
        more += [w for one in self.variants.values() if one for w in ("--variant", one)]
        return [
            *("compare" if self.variants else "replicate", *self.configs.split(), *more),
            *("-n", str(self.n), "--seed", str(self.seed)),
            *("--confidence", f"{self.confidence:g}", "--responses", ",".join(self.responses)),
        ]

    @property
    def mark(self) -> str:
        """What tells a command from all others."""
        return sha256(" ".join(self.words).encode()).hexdigest()[:12]

    @property
    def text(self) -> str:
        """The command as it is typed."""
        return shlex.join(["valmatch", *self.words])

    def rows(self, folder: Path | None = None) -> list[Row]:
        """Return means with intervals, or differences beside the base, of each point or variant."""
        document = run_command(*self.words, folder=folder)
        if self.variants:
            systems = document["variants"].values() if "variants" in document else [document]
            found = [*zip(self.variants, (one["differences"] for one in systems), strict=True)]
        else:
            points = document.get("points", [document])
            values = (one.get("point", {}).values() for one in points)
            names = [",".join(f"{value:g}" for value in of_point) for of_point in values]
            found = [*zip(names, (one["responses"] for one in points), strict=True)]
        return [
            self._row(point, response, estimates[response])
            for point, estimates in found
            for response in self.responses
        ]

    def _row(self, point: str, response: str, found: dict[str, Any]) -> Row:
        values = [found[key] for key in ("mean", "ci_low", "ci_high")]
        values.append(found.get("mean_base", found.get("mean_a")) if self.variants else None)
        row: Row = {"run": self.name, "point": point, "response": response, "n": found["n"]}
        return row | dict(zip(("mean", "low", "high", "base"), values, strict=True))


Questions = Mapping[str, Sequence[Command]]


def read_commands(path: Path) -> dict[str, list[Command]]:
    """Return the commands of a file by question."""
    questions = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        question: [Command(name, **facts) for name, facts in commands.items()]
        for question, commands in questions.items()
    }


def add_questions(study: Study, questions: Questions) -> None:
    """Make each question a part and a table of a study, and let the template show them."""
    for question, commands in questions.items():
        cases = [{"run": command.name, "command": command.mark} for command in commands]
        study.parts[question] = partial(study.complete, question, cases, partial(rows_of, commands))
    study.parts["list"] = partial(print_commands, questions)
    study.names |= {"run_table": run_table, "value": partial(value, study)}


def rows_of(commands: Sequence[Command], run: str, command: str) -> list[Row]:
    """Return the rows of one of some commands."""
    return next(one for one in commands if one.mark == command).rows()


def print_commands(questions: Questions) -> None:
    """Print all commands, for those who want to give one by hand."""
    for question, commands in questions.items():
        print(f"# {question}", *(command.text for command in commands), sep="\n")


# ---- how responses are shown ----


class Shown(NamedTuple):
    """How a response is shown: its words and unit, digits, and what it is multiplied by."""

    words: str
    digits: int
    unit: str = ""
    factor: float = 1.0


SHOWN = {
    name: Shown(**facts)
    for name, facts in yaml.safe_load(
        Path(__file__).with_name("responses.yaml").read_text(encoding="utf-8")
    ).items()
}


def split(response: str) -> tuple[str, str]:
    """Return the measure of a response, and its group."""
    measure, _, group_name = response.partition(".")
    return measure, group_name


def headed(response: str) -> str:
    """Return what stands above a column."""
    measure, name = split(response)
    shown = SHOWN[measure]
    named = f", {name.replace('_', ' ')}" if name else ""
    if re.fullmatch(r"[\d-]+h", name):
        named = f" from {name.replace('-', ' to ')}"
    unit = f", {shown.unit}" if shown.unit else ""
    return f"{shown.words}{named}{unit}"


def base_text(row: Row) -> str:
    """Return the mean of the base of a difference; empty where nothing is compared."""
    shown = SHOWN[split(row["response"])[0]]
    return f"{float(row['base']) * shown.factor:,.{shown.digits}f}" if row["base"] else ""


def interval_text(row: Row) -> str:
    """Return a mean, or a difference with its sign, with its interval; empty where undefined."""
    shown, differs = SHOWN[split(row["response"])[0]], bool(row["base"])
    if not row["mean"] or not row["low"]:
        return ""
    mean, low, high = (float(row[key]) * shown.factor for key in ("mean", "low", "high"))
    sign, digits = "+" if differs else ",", shown.digits
    ends = f" ({low:{sign}.{digits}f} to {high:{sign}.{digits}f})"
    if abs(mean - low - (high - mean)) <= 0.01 * (high - low):
        ends = f" ± {high - mean:.{digits}f}"
    is_open = " (open)" if differs and low <= 0.0 <= high else ""
    return f"{mean:{sign}.{digits}f}{ends}{is_open}"


def run_table(rows: Rows, base: str = "as it is") -> str:
    """Return the table of a command: its systems, points or groups in rows, measures in columns.

    Of systems that are compared the first row is the base.
    """
    # What is of all beside groups stands in sentences; an hour stands beside the day.
    grouped = sum(bool(split(row["response"])[1]) for row in rows) > len(rows) / 2
    shown = [row for row in rows if not grouped or split(row["response"])[1]]
    cells = [(row, row["point"], interval_text(row)) for row in shown]
    if rows[0]["base"]:
        first = [row for row in shown if row["point"] == rows[0]["point"]]
        cells = [(row, base, base_text(row)) for row in first] + cells
    placed = []
    for row, point, text in cells:
        measure, name = split(row["response"]) if grouped else (row["response"], "")
        number = f"{float(point):,g}" if re.fullmatch(r"[\d.]+", point) else point
        line = label_of(number, name)
        placed.append({"line": line, "column": headed(measure), "text": text})
    return pivot(placed, ["line"], ["column"], itemgetter("text"), [""])


def label_of(point: str, name: str) -> str:
    """Return what a row is called."""
    return ", ".join(one.replace("_", " ") for one in (name, point) if one)


def value(
    study: Study, question: str, run: str, point: str, response: str, base: bool = False
) -> str:
    """Return a number of a table with its interval and unit, as a sentence has it."""
    row = study.row(question, run=run, point=point, response=response)
    text = base_text(row) if base else interval_text(row)
    unit = SHOWN[split(response)[0]].unit
    return f"{text.removesuffix(' (open)').removeprefix('+')} {unit}".strip()
