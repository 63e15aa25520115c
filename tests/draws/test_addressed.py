"""Addressed random numbers: the right ones, uniform, independent, apart from all streams."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from tests.oracles.addressed import Addressed, philox
from valmatch.draws.streams import ADDRESSED, Streams, block_of, exponential_at, uniform_at
from valmatch.kernels.arrays import Floats, Words
from valmatch.kernels.compilation import kernel

LARGEST = 2**64 - 1

KNOWN = [
    # Key, counter, block: the known answers of Random123 for philox4x64-10.
    (
        (0, 0),
        (0, 0, 0, 0),
        (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
    ),
    (
        (LARGEST, LARGEST),
        (LARGEST, LARGEST, LARGEST, LARGEST),
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]


@kernel(allocates=True)
def compiled_block(key: Words, counter: Words) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    return block_of(key[0], key[1], counter[0], counter[1], counter[2], counter[3])


@kernel(allocates=True)
def compiled_grid(rng_key: Words, sources: int, players: int, counters: int, out: Floats) -> None:
    """Fill (sources, players, counters) with uniform numbers."""
    for source in range(sources):
        for player in range(players):
            for counter in range(counters):
                out[source, player, counter] = uniform_at(rng_key, source, player, counter)


def block(key: tuple[int, ...], counter: tuple[int, ...]) -> tuple[int, ...]:
    words = compiled_block(np.array(key, np.uint64), np.array(counter, np.uint64))
    return tuple(int(word) for word in words)


def numpys_block(key: tuple[int, ...], counter: tuple[int, ...]) -> tuple[int, ...]:
    """Return the block that numpy generates next at the counter before this one."""
    number = sum(word << 64 * k for k, word in enumerate(counter))
    before = (number - 1) % 2**256
    bits = np.random.Philox(
        key=np.array(key, np.uint64),
        counter=np.array([before >> 64 * k & LARGEST for k in range(4)], np.uint64),
    )
    return tuple(bits.random_raw(4).tolist())


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN)
def test_known_answers(key: tuple[int, int], counter: tuple[int, ...], words: object) -> None:
    assert block(key, counter) == words
    assert philox(key, counter) == words  # type: ignore[arg-type]
    assert numpys_block(key, counter) == words


def test_blocks_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        a, b, c, d, key_a, key_b = rng.integers(0, 2**64, 6, np.uint64).tolist()
        counter = a % 3, b, c % 3, d
        numpys = numpys_block((key_a, key_b), counter)
        assert block((key_a, key_b), counter) == numpys
        assert philox((key_a, key_b), counter) == numpys


def random_addresses(n: int) -> list[tuple[int, int | None, int, int, int]]:
    """Return (seed, replication, source, player, counter), small and very large parts mixed."""
    rng = np.random.default_rng(2)
    addresses = []
    for _ in range(n):
        small = rng.integers(0, 40, 5).tolist()
        large = rng.integers(0, 2**63, 5).tolist()
        seed, replication, source, player, counter = (
            b if rng.random() < 0.3 else a for a, b in zip(small, large, strict=True)
        )
        addresses.append((seed, replication or None, source, player, counter))
    return addresses


@kernel(allocates=True)
def compiled_draws(rng_key: Words, source: int, player: int, counter: int) -> tuple[float, float]:
    return (
        uniform_at(rng_key, source, player, counter),
        exponential_at(rng_key, source, player, counter),
    )


def drawn(n: int) -> list[tuple[float, float]]:
    numbers = []
    for seed, replication, source, player, counter in random_addresses(n):
        rng_key = Streams(seed).place(replication)
        uniform, exponential = compiled_draws(rng_key, source, player, counter)
        numbers.append((float(uniform), float(exponential)))
    return numbers


def test_numbers_are_those_of_the_plain_twin() -> None:
    twin = []
    for seed, replication, *address in random_addresses(500):
        numbers = Addressed(seed, replication)
        twin.append((numbers.uniform(*address), numbers.exponential(*address)))
    assert drawn(500) == twin


def test_numbers_are_pinned() -> None:
    # Results must not change between releases.
    pinned = 0.6714386957364714
    assert compiled_draws(Streams(1).place(0), 0, 0, 0) == (pinned, -math.log(pinned))


SHAPE = (40, 50, 60)
"""Sources, players, counters of the grid that the statistics are made of: 120,000 numbers."""


def grid(seed: int = 7, replication: int = 0) -> Floats:
    out = np.empty(SHAPE)
    compiled_grid(Streams(seed).place(replication), *SHAPE, out)
    return out


SIGNIFICANCE = 1e-3
"""Of each of the tests below, whose seeds are fixed: they pass for good."""


def test_numbers_are_uniform() -> None:
    numbers = grid()
    counts = np.bincount((numbers.ravel() * 1000).astype(int), minlength=1000)
    assert stats.chisquare(counts).pvalue > SIGNIFICANCE
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > SIGNIFICANCE
    assert stats.kstest(-np.log(numbers.ravel()), "expon").pvalue > SIGNIFICANCE


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_numbers_are_uniform_along_each_coordinate(axis: int) -> None:
    # Each line of neighbours has a uniform p value of its own.
    lines = np.moveaxis(grid(), axis, -1).reshape(-1, SHAPE[axis])[::10]
    values = [stats.kstest(line, "uniform").pvalue for line in lines]
    assert stats.kstest(values, "uniform").pvalue > SIGNIFICANCE


def test_neighbours_are_uncorrelated() -> None:
    here = grid()
    pairs = {
        "source": (here[1:], here[:-1]),
        "player": (here[:, 1:], here[:, :-1]),
        "counter": (here[:, :, 1:], here[:, :, :-1]),
        "player and counter": (here[:, 1:, :-1], here[:, :-1, 1:]),
        "replication": (here, grid(replication=1)),
        "seed": (here, grid(seed=8)),
    }
    for name, (first, other) in pairs.items():
        for power, mean in ((1, 0.0), (2, 1 / 12)):
            x, y = ((u.ravel() - 0.5) ** power - mean for u in (first, other))
            error = x.std() * y.std() / math.sqrt(x.size)
            assert abs(np.mean(x * y)) < 4 * error, name


def test_pairs_of_neighbours_fill_the_square() -> None:
    here = grid()
    for axis in range(3):
        first, other = (np.take(here, range(k, SHAPE[axis], 2), axis).ravel() for k in (0, 1))
        cells = (first * 32).astype(int) * 32 + (other * 32).astype(int)
        assert stats.chisquare(np.bincount(cells, minlength=1024)).pvalue > SIGNIFICANCE


def test_no_address_shares_a_block_with_another_or_with_a_stream() -> None:
    # All that small addresses and streams of a seed use, by the block they are taken from.
    places = [Streams(1).place(replication) for replication in (None, 0, 1)]
    numbers = [
        compiled_draws(rng_key, *address)[0]
        for rng_key in places
        for address in itertools.product(range(8), range(8), range(8))
    ]
    for replication, source in itertools.product((None, 0, 1), range(8)):
        words = Streams(1).stream(replication, source).bit_generator.random_raw(64)
        numbers += (((words[::4] >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52).tolist()
    assert len(set(numbers)) == len(numbers)


def test_streams_leave_the_addressed_sources_alone() -> None:
    for source in (ADDRESSED, ADDRESSED + 1, -1):
        with pytest.raises(ValueError, match="has no streams"):
            Streams(1).stream(0, source)
        with pytest.raises(ValueError, match="has no streams"):
            Streams(1).words(0, source)
    Streams(1).stream(0, ADDRESSED - 1)


# Streams are addressed, reproducible, independent of each other.


def stream(seed: int, replication: int | None, source: int, n: int = 5) -> list[float]:
    numbers: list[float] = Streams(seed).stream(replication, source).random(n).tolist()
    return numbers


def test_numbers_of_streams_are_pinned() -> None:
    # Philox4x64 with the key from SeedSequence(1): results must not change between releases.
    assert stream(1, 0, 0, 2) == [0.1083299062053753, 0.7983420160849841]


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
