"""Tutorials, concepts and the notebook: pages are linked, pictures and cells are what runs make."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import python

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOK = DOCS / "notebooks" / "from-python.ipynb"
MOST = 40_000
"""Bytes of a picture of a concept, at most."""


def toctree(page: Path) -> list[str]:
    """Return the pages of the first toctree of a page."""
    found = re.search(r"```\{toctree\}\n(?::\w+:[^\n]*\n)*\n?(.*?)```", page.read_text(), re.S)
    assert found is not None
    return found[1].split()


def test_concepts_have_their_pictures() -> None:
    pages = toctree(DOCS / "concepts" / "index.md")
    pictures = {path.stem for path in (DOCS / "concepts").glob("*.svg")}
    assert pictures == set(pages)
    for name in pages:
        text = (DOCS / "concepts" / f"{name}.md").read_text(encoding="utf-8")
        assert text.count(f"]({name}.svg)") == 1
        assert (DOCS / "concepts" / f"{name}.svg").stat().st_size < MOST


@pytest.mark.slow
def test_pictures_of_concepts_are_made_again(tmp_path: Path) -> None:
    made = python(DOCS / "concepts" / "make_pictures.py", "--out", tmp_path)
    assert made.returncode == 0, made.stderr
    for path in sorted((DOCS / "concepts").glob("*.svg")):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.long
@pytest.mark.parametrize("page", ["league", "paper-figure", "queue-log"])
def test_figures_of_tutorials_are_made_again(page: str, tmp_path: Path) -> None:
    made = python(DOCS / "tutorials" / "make_pictures.py", page, "--out", tmp_path)
    assert made.returncode == 0, made.stderr
    kept = sorted((DOCS / "tutorials" / page).glob("*.png"))
    assert [path.name for path in sorted((tmp_path / page).iterdir())] == [p.name for p in kept]
    for path in kept:
        assert (tmp_path / page / path.name).read_bytes() == path.read_bytes(), path.name


def sources(kind: str) -> list[str]:
    """Return the cells of a kind of the notebook."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert {cell["cell_type"] for cell in cells} == {"code", "markdown"}
    for cell in cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.slow
def test_the_cells_of_the_notebook_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(sources("code"), 1):
        exec(compile(source, f"cell {number}", "exec"), names)
    printed = capsys.readouterr().out
    assert re.search(r"^\d+ players, \d+ matches$", printed, re.MULTILINE)
    wait, change = names["wait"], names["comparison"].comparisons["avg_wait_time"].difference
    assert wait.ci_low < wait.mean < wait.ci_high
    assert change.ci_high < 0.0  # the looser rule makes waits shorter
    moved = abs(names["after"] - names["before"])[:, 0]
    assert min(moved[:2]) > max(moved[2:])  # those of whom least is known
    assert len(names["figure"].axes) == 1
