"""The package is as CONTRIBUTING.md says; docstrings are whole on public names, and true."""

from __future__ import annotations

import ast
import doctest
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import valmatch
from valmatch import matching, policies, ratings, statistics

PACKAGE = Path(valmatch.__file__).parent
PAGE = PACKAGE.parent / "CONTRIBUTING.md"

ENTRY = re.compile(r"^    (\w+)/? {2,}\S", re.M)
"""A line of the picture that names a folder or a module."""

MOST = 25
"""Most entries of a folder, so that it can be read at a glance."""


def picture() -> list[str]:
    """Return the entries of the package in the order of the picture, from top to bottom."""
    text = PAGE.read_text(encoding="utf-8")
    return ENTRY.findall(text.split("## The house")[1].split("A model never sees")[0])


def entries() -> list[str]:
    """Return the names of what the package's folder holds."""
    return sorted(path.name for path in PACKAGE.iterdir() if path.name != "__pycache__")


IMPORT = re.compile(r"^[ \t]*(?:from|import) valmatch(?:\.(\w+)| import ([\w, ]+))", re.M)
"""An import of something of the package, also within functions."""


def imported(path: Path) -> set[str]:
    """Return the entries of the package that a file imports from."""
    found = IMPORT.findall(path.read_text(encoding="utf-8"))
    return {name for entry, names in found for name in (entry, *names.split(", ")) if name}


def test_every_entry_of_the_package_is_in_the_picture() -> None:
    names = [name.removesuffix(".py") for name in entries() if not name.startswith("__")]
    assert sorted(picture()) == [name for name in names if name != "py.typed"]
    assert len(entries()) <= MOST


def test_every_import_goes_down() -> None:
    below = picture()
    for place, entry in enumerate(below):
        home = PACKAGE / entry
        for path in home.rglob("*.py") if home.is_dir() else [home.with_suffix(".py")]:
            allowed = {entry, *below[place + 1 :]}
            assert imported(path) <= allowed, f"{path.relative_to(PACKAGE)}"


SHARED = {"bad_inputs", "benchmarks", "fixtures", "oracles", "support", "verification"}
"""Folders of what tests have in common."""


def test_tests_are_laid_out_like_the_package() -> None:
    for path in Path(__file__).parent.rglob("test_*.py"):
        folder = path.parent.relative_to(Path(__file__).parent)
        assert folder.parts[:1] in {(name,) for name in SHARED} or (PACKAGE / folder).is_dir(), path


PUBLIC = matching, policies, ratings, statistics

MODULES = [
    name
    for package in PUBLIC
    for name in (
        package.__name__,
        *(f"{package.__name__}.{found.name}" for found in pkgutil.iter_modules(package.__path__)),
    )
]

WITH_EXAMPLES = {
    "control_variates", "decisions", "estimates", "matches", "matching", "policies", "precision",
    "ratings", "sequential_tests", "statistics",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.failed == 0
    room, _, module = name.removeprefix("valmatch.").rpartition(".")
    wanted = WITH_EXAMPLES | ({"pairs"} if room == "statistics" else set())
    assert found.attempted > 0 or module not in wanted


PARAMETERS = re.compile(r"^([*\w]+(?:, [*\w]+)*)(?: : .*)?$", re.M)
"""The line of one or more parameters in a section of them."""

SECTION = re.compile(r"^ *(\w+)\n *-{3,}$", re.M)


def exported() -> set[tuple[str, str]]:
    """Return the modules and names that the stub files export."""
    imports = (
        node
        for stub in PACKAGE.rglob("*.pyi")
        for node in ast.walk(ast.parse(stub.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    )
    return {(str(node.module), alias.name) for node in imports for alias in node.names}


def undescribed(function: ast.FunctionDef) -> set[str]:
    """Return the parameters that the docstring of a public function does not describe."""
    text, given = ast.get_docstring(function) or "", function.args
    names = {arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return names - set(re.findall(r"\w+", " ".join(PARAMETERS.findall(text))))


def test_docstrings_are_whole_on_public_names_alone() -> None:
    public = exported()
    homes = {module for module, _ in public}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        text = path.read_text("utf-8")
        if module not in homes and "Attributes\n" not in text:
            continue
        top = ast.parse(text).body
        inside = [node for one in top if isinstance(one, ast.ClassDef) for node in one.body]
        for node in (*top, *inside):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            shown = (module, node.name) in public
            if shown and isinstance(node, ast.FunctionDef):
                assert not undescribed(node), f"{module}.{node.name}"
            if not shown:  # fields are said on their lines
                sections = SECTION.findall(ast.get_docstring(node) or "")
                assert "Attributes" not in sections, f"{module}.{node.name}"
