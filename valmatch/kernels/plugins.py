"""Entry points of installed packages: models, rules, policies, systems, solvers."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from valmatch.errors import InputError

T = TypeVar("T")


class Extended(Mapping[str, T], Generic[T]):
    """Entries of this package by name, and those that installed packages bring under a group."""

    # Other packages are looked at only for a name that this one does not have.

    def __init__(
        self,
        entries: dict[str, T],
        group: str,
        kind: str,
        entry: Callable[[Any], T] = lambda loaded: loaded,
    ) -> None:
        self.entries, self.group, self._kind, self._entry = entries, group, kind, entry

    @cached_property
    def others(self) -> dict[str, EntryPoint]:
        """The entry points by which other packages bring entries."""
        points = entry_points(group=self.group)
        return {point.name: point for point in points if point.name not in self.entries}

    def __getitem__(self, name: str) -> T:
        if name in self.entries:
            return self.entries[name]
        point = self.others[name]
        try:
            return self._entry(point.load())
        except Exception as error:
            raise InputError(
                f"{self._kind} {name}: {point.value} cannot be imported:"
                f" {type(error).__name__}: {error}"
            ) from error

    def __contains__(self, name: object) -> bool:
        return name in self.entries or name in self.others

    def distribution(self, name: str) -> str:
        """Return the package that brings an entry, with its version; "" for one of our own."""
        dist = None if name in self.entries else self.others[name].dist
        return f"{dist.name} {dist.version}" if dist else ""

    def origin(self, name: str, *modules: str) -> dict[str, str]:
        """Return where an entry of another package is from, and a digest of its code."""
        files = {
            file for module in (self.others[name].module, *modules) for file in code_of(module)
        }
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files)))
        return {"distribution": self.distribution(name), "source": digest.hexdigest()[:12]}

    def __iter__(self) -> Iterator[str]:
        yield from self.entries
        yield from self.others

    def __len__(self) -> int:
        return len(self.entries) + len(self.others)


def an(kind: type[T]) -> Callable[[Any], T]:
    """Return what takes an entry of a class alone."""

    def check(loaded: Any) -> T:  # noqa: ANN401
        if not isinstance(loaded, kind):
            raise TypeError(f"it is no {kind.__name__}")
        return loaded

    return check


def code_of(module: str) -> list[Path]:
    """Return the file of a module, with those beside it in its package."""
    spec = find_spec(module)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return []
    file = Path(spec.origin)
    return sorted(file.parent.glob("*.py")) if (file.parent / "__init__.py").exists() else [file]


COMPILED_IN: dict[Path, set[Path]] = {}
"""Files of other packages that kernels are compiled from, by the registry that names them."""
