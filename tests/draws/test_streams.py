"""Random streams are addressed, reproducible, independent of each other."""

from __future__ import annotations

import numpy as np
import pytest

from valmatch.draws.streams import Streams


def draws(seed: int, replication: int | None, source: int, n: int = 5) -> list[float]:
    numbers: list[float] = Streams(seed).stream(replication, source).random(n).tolist()
    return numbers


def test_an_address_gives_the_same_numbers_whatever_was_drawn_before() -> None:
    streams = Streams(3)
    streams.stream(4, 0).random(1000)
    streams.stream(7, 1).standard_normal(13)
    assert streams.stream(7, 1).random(5).tolist() == draws(3, 7, 1)


def test_every_part_of_the_address_matters() -> None:
    addresses = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1), (1, None, 0), (2**80, 0, 0)]
    firsts = {draws(*address)[0] for address in addresses}
    assert len(firsts) == len(addresses)


def test_numbers_are_pinned() -> None:
    # Philox4x64 with the key from SeedSequence(1): results must not change between releases.
    assert draws(1, 0, 0, 2) == [0.1083299062053753, 0.7983420160849841]


def test_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 is negative"):
        Streams(-1)


def test_streams_are_uncorrelated() -> None:
    n = 20_000
    streams = Streams(5)
    columns = [
        streams.stream(replication, source).standard_normal(n)
        for replication in (0, 1, 2)
        for source in (0, 1)
    ]
    correlations = np.asarray(np.corrcoef(columns))[np.triu_indices(6, 1)]
    # 15 correlations of standard error 1 / sqrt(n).
    assert np.abs(correlations).max() < 4 / np.sqrt(n)
