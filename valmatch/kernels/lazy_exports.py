"""Public names of a package: listed in its stub file alone, imported when they are first used."""

import re
import sys
from collections.abc import Callable
from functools import cache

# By another name, as kernels are not compiled from all that a file imports which calls that one.
from importlib import import_module as imported
from pathlib import Path


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package."""
    modules = cache(lambda: names_of(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")))

    def get(name: str) -> object:
        if name == "__all__":
            return sorted(modules())
        if name not in modules():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(imported(modules()[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(modules())


def names_of(stub: str) -> dict[str, str]:
    """Return the public names of a stub file and the modules that they come from."""
    # It has a line for each name, as type checkers want them.
    lines = re.findall(r"^from (\S+) import (\w+) as \2$", stub, re.M)
    return {name: module for module, name in lines}
