"""Numbers drawn in compiled code are those of numpy's generators, bit for bit.

Where one of these tests fails, numpy draws other numbers than on the platform that the package was
verified on (Linux on x86-64, numpy 2.0 to 2.4). The days of the `valorant` model are then still
those of the package everywhere, but not those that numpy would draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.command import interpreted
from valmatch.draws.distributions import (
    EXPONENTIAL_DENSITY,
    EXPONENTIAL_END,
    EXPONENTIAL_INSIDE,
    EXPONENTIAL_SCALE,
    NORMAL_DENSITY,
    NORMAL_END,
    NORMAL_INSIDE,
    NORMAL_SCALE,
    fill_exponential,
    fill_normal,
    fill_poisson,
    next_uniform,
)
from valmatch.draws.streams import BLOCK, END, POSITION, Streams, rewind
from valmatch.kernels.arrays import Floats, Words
from valmatch.kernels.compilation import kernel


@kernel(allocates=True)
def fill_uniform(stream: Words, out: Floats) -> None:
    for i in range(out.size):
        out[i] = next_uniform(stream)


Fill = Callable[[Words, Floats], None]

FILLS: dict[str, Fill] = {
    "random": fill_uniform,
    "standard_exponential": fill_exponential,
    "standard_normal": fill_normal,
}
"""By the name of the method of numpy's generator."""

PLACES = {"standard_exponential": 2**53, "standard_normal": 2**52}
"""Places in a layer."""

LARGEST = 2**64 - 1


def drawn(name: str, words: Words, n: int) -> Floats:
    out = np.full(n, np.nan)
    FILLS[name](words, out)
    return out


def expect_same(name: str, ours: Floats, numpys: Floats) -> None:
    """Compare bits, so that -0.0 is not 0.0."""
    np.testing.assert_array_equal(ours.view(np.uint64), numpys.view(np.uint64), err_msg=name)


def expect_same_place(name: str, words: Words, generator: np.random.Generator) -> None:
    """Compare how many words the numbers have taken."""
    state: Any = generator.bit_generator.state
    used = 4 * int(state["state"]["counter"][0]) - (4 - int(state["buffer_pos"]))
    assert words_used(words) == used, name


def words_used(words: Words) -> int:
    return 4 * (int(words[BLOCK]) - 1) - (END - int(words[POSITION]))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILLS)
def test_thousands_of_streams_are_those_of_numpy(name: str) -> None:
    rng = np.random.default_rng(1)
    for seed in [0, 1, 2**63, 2**200, *rng.integers(0, 2**63, 36).tolist()]:
        streams = Streams(seed)
        for _ in range(50):
            source = int(rng.integers(0, 9))
            replication = [None, 0, 2**63 - 1, int(rng.integers(0, 10**6))][rng.integers(0, 4)]
            words = streams.words(replication, source)
            generator = streams.stream(replication, source)
            for n in rng.choice([0, 1, 2, 3, 5, 63, 64, 65, 255, 256, 257, 1000], 3).tolist():
                expect_same(name, drawn(name, words, n), getattr(generator, name)(n))
                expect_same_place(name, words, generator)


@pytest.mark.slow
def test_poisson_counts_are_those_of_numpy() -> None:
    streams = Streams(5)
    for replication, mean in enumerate(np.linspace(0.05, 9.95, 100).tolist()):
        words, generator = streams.words(replication, 2), streams.stream(replication, 2)
        for n in (1, 64, 700):
            out = np.full(n, np.nan)
            fill_poisson(words, mean, out)
            expect_same("poisson", out, generator.poisson(mean, n).astype(np.float64))
            expect_same_place("poisson", words, generator)
    words = streams.words(0, 3)
    twin, out = words.copy(), np.empty(50)
    fill_poisson(words, 1.0, out)
    plain = interpreted("tests.draws.test_draws", "poisson_counts", twin.tolist(), 50)
    assert plain == repr(out.tolist())


def poisson_counts(words: list[int], n: int) -> list[float]:
    """Return counts of mean 1 of a stream, for a process where nothing is compiled."""
    out = np.empty(n)
    fill_poisson(np.array(words, np.uint64), 1.0, out)
    return out.tolist()


def test_kinds_of_numbers_may_take_turns() -> None:
    rng = np.random.default_rng(3)
    streams = Streams(3)
    for replication in range(200):
        words, generator = streams.words(replication, 1), streams.stream(replication, 1)
        for _ in range(20):
            name, n = str(rng.choice(list(FILLS))), int(rng.integers(0, 40))
            expect_same(name, drawn(name, words, n), getattr(generator, name)(n))


def word(name: str, layer: int, point: int, negative: bool = False) -> int:
    """Return the word that leads to a place of a layer; bits without a meaning are set."""
    if name == "standard_exponential":
        return point << 11 | layer << 3 | 0b111
    return 0b111 << 61 | point << 9 | negative << 8 | layer


def expect_same_from(name: str, planted: list[int]) -> tuple[float, int]:
    """Compare the number that begins with four planted words; return it and the words used."""
    streams = Streams(5)
    words = streams.words(0, 0)
    words[END - 4 :] = planted
    words[POSITION] = END - 4
    generator = streams.stream(0, 0)
    bits: Any = generator.bit_generator
    bits.state = {**bits.state, "buffer": np.array(planted, np.uint64), "buffer_pos": 0}
    ours = drawn(name, words, 1)
    expect_same(name, ours, getattr(generator, name)(1))
    expect_same_place(name, words, generator)
    return float(ours[0]), words_used(words) + 4


INSIDE = {"standard_exponential": EXPONENTIAL_INSIDE, "standard_normal": NORMAL_INSIDE}
SCALES = {"standard_exponential": EXPONENTIAL_SCALE, "standard_normal": NORMAL_SCALE}


@pytest.mark.slow
@pytest.mark.parametrize("name", INSIDE)
def test_layers_have_the_scales_and_borders_of_numpy(name: str) -> None:
    for layer in range(256):
        inside = int(INSIDE[name][layer])
        for negative in (False, True):
            for point in {0, 1, max(inside - 1, 0), inside, PLACES[name] - 1}:
                for second in (0, 2**63, LARGEST):
                    planted = [word(name, layer, point, negative), second, 2**62, 12345]
                    _, used = expect_same_from(name, planted)
                    assert (used == 1) == (point < inside)


@pytest.mark.slow
@pytest.mark.parametrize("name", INSIDE)
def test_layers_have_the_densities_of_numpy(name: str) -> None:
    # Where a wedge begins to refuse, its uniform number is known to the last bit.
    rng = np.random.default_rng(6)
    borders = 0
    for layer in range(1, 256):
        inside, places = int(INSIDE[name][layer]), PLACES[name]
        for point in (places - 1, *rng.integers(inside, places, 8).tolist()):
            planted = [word(name, layer, point), 0, word(name, 9, 1), 0]
            x = point * float(SCALES[name][layer])
            uniform = first_refused(name, layer, x)
            for near in (uniform - 1, uniform):
                if 0 <= near < 2**53:
                    planted[1] = near << 11
                    number, used = expect_same_from(name, planted)
                    assert (used, number == x) == ((2, True) if near < uniform else (3, False))
                    borders += 1
    assert borders > 4000


def first_refused(name: str, layer: int, x: float) -> int:
    """Return the smallest uniform number, times 2**53, with which a wedge refuses x."""
    density = NORMAL_DENSITY if name == "standard_normal" else EXPONENTIAL_DENSITY
    below, above = float(density[layer]), float(density[layer - 1])
    height = math.exp(-0.5 * x * x if name == "standard_normal" else -x)
    low, high = -1, 2**53
    while high - low > 1:
        middle = (low + high) // 2
        if (above - below) * (middle * 2.0**-53) + below < height:
            low = middle
        else:
            high = middle
    return high


def test_tails_are_those_of_numpy() -> None:
    refused = 0
    for second in range(0, 2**64, 2**58):
        for third in (0, 2**30, 2**60, 2**62, LARGEST):
            for point in (NORMAL_INSIDE[0], NORMAL_INSIDE[0] | np.uint64(2**8)):
                planted = [word("standard_normal", 0, int(point)), second, third, 0]
                number, used = expect_same_from("standard_normal", planted)
                assert abs(number) >= NORMAL_END
                assert (number < 0) == bool(int(point) >> 8 & 1)
                refused += used > 3
        planted = [word("standard_exponential", 0, 2**53 - 1), second, 0, 0]
        number, used = expect_same_from("standard_exponential", planted)
        assert number >= EXPONENTIAL_END
        assert used == 2
    assert refused > 100


@kernel(allocates=True)
def normals_of_slots(words: Words, out: Floats) -> None:
    for slot in range(out.shape[0]):
        rewind(words, slot)
        fill_normal(words, out[slot])


def test_kernels_go_from_replication_to_replication() -> None:
    streams = Streams(7)
    out = np.empty((4, 3))
    normals_of_slots(streams.words(None, 2), out)
    for replication, ours in zip((None, 0, 1, 2), out, strict=True):
        expect_same("standard_normal", ours, streams.stream(replication, 2).standard_normal(3))
