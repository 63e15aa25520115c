"""Uniform numbers in [0, 1), bit for bit those of numpy's `Generator.random`."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import END, ONE, POSITION, ZERO, next_word, refill
from valmatch.kernels.arrays import Floats, Words
from valmatch.kernels.compilation import macro, part

DROPPED = np.uint64(11)  # bits of a word that a double has no room for

SPACING = 2.0**-53


@macro
def uniform(word: np.uint64) -> float:
    """Return the number that a word gives."""
    return np.int64(word >> DROPPED) * SPACING


@macro
def next_uniform(stream: Words) -> float:
    """Draw one number."""
    return uniform(next_word(stream))


# Poisson counts of small means, bit for bit those of numpy's `Generator.poisson`.
#
# Source: Knuth, "The art of computer programming", volume 2: uniform numbers are multiplied until
# the product falls to exp(-mean), as in numpy/random/src/distributions/distributions.c.


@part
def fill_poisson(stream: Words, mean: float, out: NDArray[np.float64]) -> None:
    """Draw as many counts as `out`, (n,), takes; `mean` is positive and below 10."""
    least = math.exp(-mean)
    for i in range(out.size):
        count = 0.0
        product = next_uniform(stream)
        while product > least:
            count += 1.0
            product *= next_uniform(stream)
        out[i] = count


# Normal and exponential numbers by ziggurats, bit for bit those of numpy's generators.
#
# They are `Generator.standard_normal` and `Generator.standard_exponential`. A word gives the layer,
# a place in it and the sign; about one word in a hundred does not settle the draw, which then takes
# further words.
#
# Each distribution has 256 layers of equal area. A point of layer i lies at u * scale[i], where u
# is a random integer of 52 bits (normal) or 53 bits (exponential). If u < inside[i], it lies under
# the density for certain. density[i] is the height of the density where the layer ends. Layer 0
# holds the tail beyond `NORMAL_END` and `EXPONENTIAL_END`.
#
# The tables of both are the file ``distributions.npy`` here, every number as its 64 bits:
# they were rounded by a computation that no platform repeats to the last bit, and a table of
# another rounding would draw other numbers.
#
# Source: Marsaglia and Tsang (2000), "The ziggurat method for generating random variables", in the
# form of numpy/random/src/distributions/distributions.c of numpy 1.21 and later; the tables `ki`,
# `wi`, `fi`, `ke`, `we`, `fe` of numpy/random/src/distributions/ziggurat_constants.h
# (BSD-3-Clause); Doornik (2005), "An improved ziggurat method to generate normal random samples".

NORMAL_END = 3.6541528853610087963519472518
NORMAL_END_INVERSE = 0.27366123732975827203338247596
EXPONENTIAL_END = 7.6971174701310497140446280481

_TABLES: Words = np.load(Path(__file__).with_suffix(".npy"))
"""(6, 256): inside, scale and density of the normal, and of the exponential distribution."""

NORMAL_INSIDE, EXPONENTIAL_INSIDE = _TABLES[0], _TABLES[3]
NORMAL_SCALE, NORMAL_DENSITY, EXPONENTIAL_SCALE, EXPONENTIAL_DENSITY = (
    _TABLES[row].view(np.float64) for row in (1, 2, 4, 5)
)

LAYER = np.uint64(0xFF)  # bits that give one of the 256 layers

NORMAL_SIDE, NORMAL_PLACE, PLACES = np.uint64(0x1FF), np.uint64(9), np.uint64(2**52 - 1)
"""A word of a normal, from its lowest bit on: layer; sign; 52 bits of place; 3 unused."""

SIDES = np.concatenate((NORMAL_SCALE, -NORMAL_SCALE))
"""The scales by layer and sign: a branch on the sign would be guessed wrong half the time."""

TAIL_SIGN = np.uint64(8)  # bit of the place that gives the sign of a normal in the tail

EXPONENTIAL_LAYER, EXPONENTIAL_PLACE = np.uint64(3), np.uint64(11)
"""A word of an exponential, from its lowest bit on: 3 unused; layer; 53 bits of place."""


@part
def fill_normal(stream: Words, out: Floats) -> None:
    """Draw as many standard normals as `out`, (n,), takes."""
    position = np.int64(stream[POSITION])
    for i in range(out.size):
        if position == END:
            position = refill(stream, out.size - i)
        word = stream[position]
        position += 1
        _, _, x, settled = _normal_point(word)
        if not settled:
            stream[POSITION] = position
            x = _normal(stream, word)
            position = np.int64(stream[POSITION])
        out[i] = x
    stream[POSITION] = position


@macro
def _normal_point(word: np.uint64) -> tuple[np.uint64, np.uint64, float, bool]:
    """Return layer, place, the number there, and whether it is under the density for certain."""
    layer = word & LAYER
    number = (word >> NORMAL_PLACE) & PLACES
    x = np.int64(number) * SIDES[word & NORMAL_SIDE]
    return layer, number, x, number < NORMAL_INSIDE[layer]


@part
def _normal(stream: Words, word: np.uint64) -> float:
    """Return the standard normal that begins with this word."""
    while True:
        layer, number, x, settled = _normal_point(word)
        if settled:
            return x
        if layer == ZERO:
            tail = _normal_tail(stream)
            return -tail if (number >> TAIL_SIGN) & ONE else tail
        below, above = NORMAL_DENSITY[layer], NORMAL_DENSITY[layer - ONE]
        if (above - below) * next_uniform(stream) + below < math.exp(-0.5 * x * x):
            return x
        word = next_word(stream)


@part
def _normal_tail(stream: Words) -> float:
    """Return a normal beyond the last layer, by Marsaglia's method of two exponentials."""
    while True:
        x = -NORMAL_END_INVERSE * math.log1p(-next_uniform(stream))
        y = -math.log1p(-next_uniform(stream))
        if y + y > x * x:
            return NORMAL_END + x


@part
def fill_exponential(stream: Words, out: Floats) -> None:
    """Draw as many standard exponentials as `out`, (n,), takes."""
    position = np.int64(stream[POSITION])
    for i in range(out.size):
        if position == END:
            position = refill(stream, out.size - i)
        word = stream[position]
        position += 1
        _, x, settled = _exponential_point(word)
        if not settled:
            stream[POSITION] = position
            x = _exponential(stream, word)
            position = np.int64(stream[POSITION])
        out[i] = x
    stream[POSITION] = position


@macro
def _exponential_point(word: np.uint64) -> tuple[np.uint64, float, bool]:
    """Return layer, the number there, and whether it is under the density for certain."""
    layer = (word >> EXPONENTIAL_LAYER) & LAYER
    number = word >> EXPONENTIAL_PLACE
    return layer, np.int64(number) * EXPONENTIAL_SCALE[layer], number < EXPONENTIAL_INSIDE[layer]


@part
def _exponential(stream: Words, word: np.uint64) -> float:
    """Return the standard exponential that begins with this word."""
    while True:
        layer, x, settled = _exponential_point(word)
        if settled:
            return x
        if layer == ZERO:
            return EXPONENTIAL_END - math.log1p(-next_uniform(stream))
        below, above = EXPONENTIAL_DENSITY[layer], EXPONENTIAL_DENSITY[layer - ONE]
        if (above - below) * next_uniform(stream) + below < math.exp(-x):
            return x
        word = next_word(stream)
