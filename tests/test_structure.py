"""The picture of the package in CONTRIBUTING.md: every entry is in it, every import goes down."""

from __future__ import annotations

import re
from pathlib import Path

import valmatch

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
