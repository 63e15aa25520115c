"""Options that are declared once mean the same from Python and on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from valmatch.errors import InputError
from valmatch.execution.run_options import (
    CompareArguments,
    OptimizeArguments,
    ReplicateArguments,
    SimulateArguments,
)
from valmatch.execution.shards import Shard
from valmatch.game_logs.options import (
    NextOptions,
    PlanOptions,
    PredictOptions,
    RankOptions,
    RateOptions,
    SprtOptions,
)
from valmatch.inputs import options as o
from valmatch.inputs.arguments import RANGES

KINDS: tuple[type[o.Options], ...] = (
    RateOptions,
    RankOptions,
    PredictOptions,
    NextOptions,
    PlanOptions,
    SprtOptions,
    SimulateArguments,
    ReplicateArguments,
    CompareArguments,
    OptimizeArguments,
)


@pytest.mark.parametrize(
    ("kind", "texts", "keywords"),
    [
        (
            RateOptions,
            {"tune": "K, scale", "parameters": ("K=24", "scale=1e3"), "max_bad_rows": "40%"},
            {"tune": ["K", "scale"], "parameters": {"K": 24, "scale": 1000}, "max_bad_rows": 0.4},
        ),
        (
            RateOptions,
            {"columns": "game=id,winner=w", "separator": "tab", "out": "x", "burn_in": "1,000"},
            {"columns": {"game": "id", "winner": "w"}, "separator": "\t", "out": Path("x"),
             "burn_in": 1000},
        ),
        (RankOptions, {"cluster": "voter,day", "level": ".9"}, {"cluster": ["voter", "day"],
                                                                "level": 0.9}),
        (ReplicateArguments, {"targets": ("a=1%",), "max_seconds": "2min", "shard": "0/2"},
         {"targets": "a=1%", "max_seconds": 120.0, "shard": Shard(0, 2)}),
    ],
)  # fmt: skip
def test_texts_mean_what_python_gives(
    kind: type[o.Options], texts: dict[str, object], keywords: dict[str, object]
) -> None:
    assert o.from_texts(kind, texts) == kind(**keywords)


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_is_described_and_checked(kind: type[o.Options]) -> None:
    needed = {"half_width": 3.0} if kind is PlanOptions else {}
    for entry in o.options_of(kind):
        assert o.declared(entry).help.endswith((".", "}")), entry.name
        with pytest.raises(InputError, match=rf"^{entry.name}: .*\(allowed: "):
            kind(**{**needed, entry.name: object()})


@pytest.mark.parametrize("name", ["burn_in", "seed", "bootstrap", "batch", "players", "top"])
def test_whole_numbers_have_their_ranges(name: str) -> None:
    low, high = RANGES[name]
    of = o.declared(o.whole(name, None, "A number."))
    for text in (str(high + 1), str(low - 1), "9" * 5000, "1e400", "٣", "1.5", ""):
        with pytest.raises(InputError, match=f"allowed: a whole number from {low} to {high}"):
            of.check(name, o.value_of(name, of, text))
    assert of.check(name, o.value_of(name, of, str(high))) == high


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *((text, 300.0) for text in ("5min", "5 min", "300", "300s", "5m", "00:05:00")),
        *(("1-00:00:01", 86401.0), ("0.1h", 360.0), ("1 day", 86400.0)),
        *((text, None) for text in ("5 fortnights", "0min", "-5min", "min", "٣", "0", "-1", "")),
    ],
)
def test_times_as_people_write_them(text: str, seconds: float | None) -> None:
    assert o.seconds_of_text(text) == seconds
