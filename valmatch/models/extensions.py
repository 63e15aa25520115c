"""Registries of this package, to which installed packages add by entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from valmatch.errors import InputError

T = TypeVar("T")


class Extended(Mapping[str, T], Generic[T]):
    """Entries of this package by name, and those that installed packages bring.

    Other packages are looked at only for a name that this one does not have.
    """

    def __init__(
        self,
        own: dict[str, T],
        group: str,
        kind: str,
        entry: Callable[[Any], T] = lambda loaded: loaded,
    ) -> None:
        self._own, self._group, self._kind, self._entry = own, group, kind, entry

    @cached_property
    def _others(self) -> dict[str, EntryPoint]:
        points = entry_points(group=self._group)
        return {point.name: point for point in points if point.name not in self._own}

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        point = self._others[name]
        try:
            return self._entry(point.load())
        except Exception as error:
            raise InputError(
                f"{self._kind} {name}: {point.value} cannot be imported:"
                f" {type(error).__name__}: {error}"
            ) from error

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._others

    def distribution(self, name: str) -> str:
        """Return the package that brings an entry, with its version; "" for one of our own."""
        dist = None if name in self._own else self._others[name].dist
        return f"{dist.name} {dist.version}" if dist else ""

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._others

    def __len__(self) -> int:
        return len(self._own) + len(self._others)
