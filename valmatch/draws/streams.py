"""Independent random streams addressed by (seed, replication, source)."""

from __future__ import annotations

from typing import Any

import numpy as np

from valmatch.draws.addressed import ADDRESSED
from valmatch.draws.philox import new_stream, rewind
from valmatch.kernels.arrays import Words


class Streams:
    """The random streams of one seed: one for each replication of each source of randomness.

    A stream is the counter-based generator Philox4x64 whose key is derived from the seed and
    whose 256-bit counter starts at (0, 0, source, replication + 1). Streams therefore never
    overlap (each has 2**128 blocks of its own), replication K can be opened without the K before
    it, and what one source draws never shifts another. The slot of replication -1 is left for
    draws that all replications share (``replication=None``).

    Sources from 2**63 on are not given out: theirs are the counters of `valmatch.draws.addressed`.

    Parameters
    ----------
    seed : int
        Any integer >= 0; hashed by `numpy.random.SeedSequence`.

    Notes
    -----
    Source: Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
    """

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise ValueError(f"seed {seed} is negative; give an integer >= 0")
        self.seed = seed
        self._key = np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
        self._open: dict[int, tuple[np.random.Philox, np.random.Generator, Any]] = {}
        self._words: dict[int, Words] = {}

    def stream(self, replication: int | None, source: int) -> np.random.Generator:
        """Position the generator of `source` at the start of its stream for `replication`.

        The generator of a source is reused (building one costs ten times a repositioning): it
        is valid until the next call with the same source.

        Parameters
        ----------
        replication : int or None
            Replication index >= 0; None for the stream that all replications share.
        source : int
            Number of the source of randomness, 0 <= source < 2**63; each model numbers its own.
        """
        if source not in self._open:
            _check(source)
            bits = np.random.Philox(key=self._key)
            self._open[source] = bits, np.random.Generator(bits), bits.state
        bits, generator, state = self._open[source]
        counter = state["state"]["counter"]
        counter[2] = source
        counter[3] = _slot(replication)
        bits.state = state
        return generator

    def words(self, replication: int | None, source: int) -> Words:
        """Position the words of the same stream at its start, for the kernels of `valmatch.draws`.

        They draw from it what the generator of `stream` would. The array of a source is reused:
        it is valid until the next call with the same source.
        """
        words = self._words.get(source)
        if words is None:
            _check(source)
            words = self._words[source] = new_stream(self._key, source)
        rewind(words, _slot(replication))
        return words

    def place(self, replication: int | None) -> Words:
        """Return where the addressed numbers of a replication lie, see `draws.addressed`."""
        return np.array([*self._key.tolist(), _slot(replication)], np.uint64)


def _check(source: int) -> None:
    """Raise unless a source has streams."""
    if not 0 <= source < ADDRESSED:
        raise ValueError(f"source {source} has no streams; give an integer from 0 to 2**63 - 1")


def _slot(replication: int | None) -> int:
    """Return the last word of the counters of a replication."""
    return 0 if replication is None else replication + 1
