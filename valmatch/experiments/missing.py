"""The missing replications of a run, counted without being listed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any


class Missing(Sequence[int]):
    """Replications that should be there and are not, in order; counted without being listed."""

    def __init__(self, wanted: range, there: Collection[int], n: int) -> None:
        self._wanted, self._there, self._n = wanted, there, n

    def __len__(self) -> int:
        return len(self._wanted) - self._n

    def __iter__(self) -> Iterator[int]:
        return (index for index in self._wanted if index not in self._there)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - of an index or a slice
        if isinstance(place, slice):
            return list(islice(self, *place.indices(len(self))))
        return next(islice(self, range(len(self))[place], None))
