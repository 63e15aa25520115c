"""Days made many in a call of compiled code are those that are made one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.models.model import Batch, Model
from valmatch.models.valorant import model as valorant
from valmatch.models.valorant.days import order_waits
from valmatch.models.valorant.model import ValorantModel

SEED = 3


def day_model(*overrides: str) -> ValorantModel:
    model = build(load_config("valorant", overrides))
    assert isinstance(model, ValorantModel)
    return model


def one_by_one(model: Model[Any], replications: list[int], controls: bool) -> Batch:
    return Model.run_many(model, Streams(SEED), replications, controls, lambda: None)


def compare(many: Batch, each: Batch) -> None:
    """Compare bit for bit, NaN included."""
    assert many.responses.tobytes() == each.responses.tobytes()
    assert (many.controls is None) == (each.controls is None)
    if many.controls is not None and each.controls is not None:
        assert many.controls.shape == each.controls.shape
        assert many.controls.tobytes() == each.controls.tobytes()


def assert_same(overrides: tuple[str, ...], replications: list[int], controls: bool) -> Batch:
    """Compare days made many in a call with each; return what came of it."""
    many = run(day_model(*overrides), SEED, replications, controls)
    compare(many, one_by_one(day_model(*overrides), replications, controls))
    assert (many.controls is None) == (not controls)
    return many


def random_overrides(rng: np.random.Generator) -> tuple[str, ...]:
    """Return factors of every kind; lobbies overflow in some."""
    rates = rng.choice([0.0, 5.0, 20.0, 60.0], 24).tolist()
    return (
        f"matching={rng.choice(['team_first', 'joint'])}",
        f"review={rng.choice(['arrivals', 'continuous'])}",
        f"slack_scope={rng.choice(['team', 'pool'])}",
        f"team_num={rng.integers(1, 7)}",
        f"player_diff={rng.choice([0, 50, 400, 1e6])}",
        f"team_diff={rng.choice([0, 100, 400])}",
        f"wait_thresh={rng.choice([0.0, 0.25, 2.0])}",
        f"horizon={rng.choice([0.5, 3.0, 8.0])}",
        f"rate_multiplier={rng.choice([0.01, 0.3, 1.0, 1.5])}",
        f"gaps={rng.choice(['exponential', 'poisson'])}",
        f"poisson_rate={[20.0, *rates[1:]]}",
    )


def test_many_days_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        overrides = random_overrides(rng)
        first, step, n = (int(rng.integers(low, 6)) for low in (0, 1, 0))
        replications = list(range(first, first + n * step, step))
        assert_same(overrides, replications, controls=bool(rng.integers(2)))


@pytest.mark.parametrize("matching", ["team_first", "joint"])
def test_several_calls_are_the_same_as_one_by_one(matching: str) -> None:
    assert_same((f"matching={matching}",), list(range(1, 301, 2)), controls=True)


@pytest.mark.parametrize("matching", ["team_first", "joint"])
def test_a_queue_that_is_too_small_grows(matching: str) -> None:
    alone = ("team_num=1", "player_diff=0", "player_slack=0", "team_diff=0", "team_slack=0")
    overrides = (*alone, "horizon=12", f"matching={matching}")
    unmatched = assert_same(overrides, list(range(7)), controls=True).responses[:, -1]
    assert (unmatched > 64).all()  # the room that a queue begins with


def test_days_of_unusually_many_players_are_made_one_by_one() -> None:
    model = day_model()
    assert model._process is not None
    usual = one_by_one(day_model(), list(range(40)), True)
    players = usual.responses[:, model.responses.names.index("n_players")]
    # About half of the days do not fit, and neither do their waits.
    model._process.room = int(np.median(players)) + 1
    model._counts = model._counts._replace(waits=np.empty(8))
    compare(run(model, SEED, range(40), True), usual)


def test_days_of_several_chunks_are_not_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = run(day_model(), SEED, range(3), True)
    monkeypatch.setattr(valorant, "CHUNK", 100)
    model = day_model()
    model._make_days = None
    assert run(model, SEED, range(3), True).responses.tobytes() == usual.responses.tobytes()


def test_a_run_that_is_to_end_ends_between_two_calls() -> None:
    class Ended(Exception):  # noqa: N818
        pass

    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Ended

    with pytest.raises(Ended):
        run(day_model(), SEED, range(1000), check=check)
    calls = 0
    with pytest.raises(Ended):  # between the chunks of one day
        run(day_model("rate_multiplier=1000"), SEED, [0], check=check)


@pytest.mark.parametrize("n", [0, 1, 2, 999, 1001, 5000])
def test_waits_are_in_order_where_quantiles_read_them(n: int) -> None:
    rng = np.random.default_rng(n)
    for waits in (rng.exponential(4.0, n), np.zeros(n), rng.choice([0.1, 0.3, 2.0], n)):
        expected = np.sort(waits)
        order_waits(waits)
        for share in (0.5, 0.9, 0.95, 0.99) if n else ():
            ranks = [int(share * (n - 1)), min(int(share * (n - 1)) + 1, n - 1)]
            assert waits[ranks].tolist() == expected[ranks].tolist()
