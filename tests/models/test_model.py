"""Responses by name: what a model must fill, and what fails at once."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import valmatch.models.model
from tests.support.sectioned_model import ShotFactors, Shots
from valmatch.kernels.compilation import kernel
from valmatch.models.model import Response, Responses, Table
from valmatch.models.valorant.days import RESPONSES

PAIR = Responses(Response("wait", "minutes", "mean wait"), Response("n", "", "players", whole=True))


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(valmatch.models.model).failed == 0


def test_a_record_is_filled_by_name_in_any_order() -> None:
    record = PAIR.record()
    record["n"], record["wait"] = 7, 2.5
    assert PAIR.row(record).tolist() == [2.5, 7.0]
    record["wait"] = np.nan  # undefined, which is not missing
    np.testing.assert_array_equal(PAIR.row(record), [np.nan, 7.0])


def test_what_nobody_has_set_is_missing() -> None:
    record = PAIR.record()
    record["wait"] = 2.5
    with pytest.raises(ValueError, match="response 'n' is missing"):
        PAIR.row(record)
    with pytest.raises(ValueError, match="response 'wait' is missing"):
        PAIR.row(PAIR.record())


def test_records_of_other_responses_are_refused() -> None:
    with pytest.raises(ValueError, match="is not one of"):
        PAIR.row(RESPONSES.record())
    with pytest.raises(ValueError, match="is not one of"):
        PAIR.row(np.zeros(2, PAIR.dtype))


def test_compiled_code_knows_the_names() -> None:
    @kernel(allocates=True)
    def fill(out_: np.ndarray) -> None:
        out_[0]["wait"], out_[0]["n"] = 1.0, 2.0

    record = PAIR.record()
    fill(record)
    assert PAIR.row(record).tolist() == [1.0, 2.0]


def test_a_name_is_there_once() -> None:
    with pytest.raises(ValueError, match="response 'n' is there twice"):
        Responses(PAIR[1], PAIR[0], PAIR[1])


def test_tables_are_arrays_of_one_length() -> None:
    table = Table("t", {"a": [1, None, 3], "b": ["x", "y", "z"]}, whole=["a"])
    np.testing.assert_array_equal(table.columns["a"], [1.0, np.nan, 3.0])
    assert (len(table), table.whole) == (3, frozenset({"a"}))
    with pytest.raises(ValueError, match="differ in length"):
        Table("t", {"a": [1], "b": [1, 2]})


def test_draws_depend_on_factors_and_on_whole_sections() -> None:
    model = Shots(ShotFactors(), {})
    model.drawn_by = frozenset({"noise", "rule.shots"})
    drawn = ("noise.std", "noise.bias", "noise.bias.1", "rule.shots")
    assert all(map(model.draws_by, drawn))
    assert not any(map(model.draws_by, ("rule.aim", "rule", "noises.std", "rule.shots_too")))
