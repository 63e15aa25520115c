"""Runs the examples of the README and of docs/, and compares what they print with the pages.

    python -m tests.doc_examples [PAGE...]

An example is a fenced block of kind ``console`` or ``python``. In a ``console`` block, lines that
start with ``$`` are commands, the lines below them what they print on stdout. A ``python`` block is
run as a file; a block of kind ``text`` right below it is what it prints. ``...`` stands for any
text within a line, and alone on a line for any lines.

Each block runs in an empty folder of its own. The blocks of a page that says
``<!-- examples: one folder -->`` run one after the other in one folder, which holds the files of
the folder beside the page that has its name. Every disagreement is reported, with page and line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

ONE_FOLDER = "<!-- examples: one folder -->"
"""What a page says whose blocks go on from one another."""

FENCED = re.compile(r"^```(console|python)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.M | re.S)
"""A block, and the block of text right below it."""

EXTRAS = ("simopt",)
"""Modules that may be missing; Python blocks that import them are then left out, which is said."""

TARGET_MISSED = 3
"""An exit code that an example may show."""


class Example(NamedTuple):
    """Something to run, what it should print (None: anything), and the line where it stands."""

    command: str
    expected: str | None
    line: int
    is_python: bool = False


class Scene(NamedTuple):
    """Examples that run one after the other in a folder, which first gets the files of another."""

    page: Path
    examples: list[Example]
    files: Path | None = None


class Verdict(NamedTuple):
    """What became of a scene: its disagreements, how many examples ran, what was left out."""

    wrong: list[str]
    ran: int
    left_out: list[str]


def pages() -> list[Path]:
    """Return the pages that have examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def scenes(page: Path) -> Iterator[Scene]:
    """Yield the scenes of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = [_examples(found, text) for found in FENCED.finditer(text)]
    if ONE_FOLDER in text:
        yield Scene(page, [one for block in blocks for one in block], page.with_suffix(""))
    else:
        yield from (Scene(page, block) for block in blocks)


def _examples(block: re.Match[str], text: str) -> list[Example]:
    """Return the examples of a block."""
    first = text.count("\n", 0, block.start(2)) + 1
    if block[1] == "python":
        return [Example(block[2], block[3], first, is_python=True)]
    return [
        Example(one[1], one[2], first + block[2].count("\n", 0, one.start()))
        for one in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block[2], re.M)
    ]


def pattern(expected: str) -> str:
    """Return a regular expression for what a command prints, trailing blanks aside."""
    lines = [line.rstrip() for line in expected.rstrip("\n").split("\n")]
    return "\n".join(
        r"(?:.*\n)*?.*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*")
        for line in lines
    )


def run(example: Example, folder: Path) -> tuple[str, str]:
    """Return what an example prints on stdout, blanks at ends of lines removed, and what failed."""
    command = example.command
    if example.is_python:
        (folder / "example.py").write_text(command, encoding="utf-8")
        command = "python example.py"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = "\n".join(line.rstrip() for line in done.stdout.rstrip("\n").split("\n"))
    if done.returncode in (0, TARGET_MISSED):
        return printed, ""
    return printed, f"exit code {done.returncode}\n{done.stderr}"


def play(scene: Scene) -> Verdict:
    """Run the examples of a scene."""
    verdict = Verdict([], len(scene.examples), [])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if scene.files and scene.files.is_dir():
            shutil.copytree(scene.files, folder, dirs_exist_ok=True)
        for example in scene.examples:
            place = f"{scene.page.relative_to(ROOT)}:{example.line}"
            missing = [extra for extra in EXTRAS if f"from {extra}" in example.command]
            if example.is_python and any(find_spec(extra) is None for extra in missing):
                verdict.left_out.append(f"{place}: needs the extra {' '.join(missing)}")
                continue
            printed, failed = run(example, folder)
            head = f"{place}: {'a Python block' if example.is_python else example.command}"
            if failed:
                verdict.wrong.append(f"{head}\n{failed}")
            elif example.expected is not None and not re.fullmatch(
                pattern(example.expected), printed
            ):
                verdict.wrong.append(f"{head}\nexpected\n{example.expected}\ngot\n{printed}\n")
    return verdict


def check(chosen: Iterable[Path], workers: int | None = None) -> list[Verdict]:
    """Run the examples of pages side by side, long scenes first."""
    todo = sorted(
        (scene for page in chosen for scene in scenes(page)), key=lambda one: -len(one.examples)
    )
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        return list(pool.map(play, todo))


def main() -> None:
    """Run all examples; exit with 1 if any prints something else."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    verdicts = check(chosen)
    for verdict in verdicts:
        for line in (*verdict.left_out, *verdict.wrong):
            print(line)
    left_out = sum(len(verdict.left_out) for verdict in verdicts)
    count = sum(verdict.ran for verdict in verdicts) - left_out
    wrong = sum(len(verdict.wrong) for verdict in verdicts)
    print(f"{count} examples run on {len(chosen)} pages, {left_out} left out, {wrong} disagree")
    sys.exit(1 if wrong or not count else 0)


if __name__ == "__main__":
    main()
