"""Dirt of queue logs: duplicates, accounts that queue again, unknown ratings, rows of others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.experiments.simulate import Simulation, simulate
from valmatch.text.terminal import Notice

COLUMNS = {"arrival_hours": "joined", "rating": "mmr", "player": "account"}

LOG = """\
joined,account,mmr,status
1.0,ann,1500,matched
1.0,ann,1500,matched
1.1,bob,-1,Matched
1.2,cy,1480,cancelled
1.3,ann,1510,matched
1.4,dan,-1,matched
1.5,eve,1490,matched
"""


def played(folder: Path, factors: Mapping[str, object], text: str = LOG) -> Simulation:
    path = folder / "log.csv"
    path.write_text(text)
    given = {"arrivals": str(path), "log.columns": COLUMNS, "team_num": 1, **factors}
    return simulate(load_config("valorant", given))


def counts(result: Simulation) -> dict[str, int]:
    return {notice.kind: notice.n for notice in map(Notice.of, result.warned)}


def test_duplicates_are_left_out_and_what_is_doubtful_is_said(tmp_path: Path) -> None:
    result = played(tmp_path, {})
    assert result["players"]["player"].tolist() == ["ann", "bob", "cy", "ann", "dan", "eve"]
    found = counts(result)
    assert found["duplicate_rows"] == 1
    assert found["queued_again"] == 1
    assert found["doubtful_ratings"] == 2
    assert found["doubtful_status"] == 2
    text = " ".join(result.warned)
    assert "1 exact duplicate of other rows left out" in text
    assert "log.missing=[-1]" in text
    assert "'matched' 4, 'Matched' 1, 'cancelled' 1" in text
    assert "log.where.status=matched" in text


@pytest.mark.parametrize(
    "where", ["matched", ["MATCHED", "x"], {"not": "cancelled"}, {"not": ["cancelled", 3]}]
)
def test_rows_of_a_status_are_read_alone(where: object, tmp_path: Path) -> None:
    result = played(tmp_path, {"log.where": {"status": where}, "log.missing": -1})
    assert result["players"]["player"].tolist() == ["ann", "bob", "ann", "dan", "eve"]
    found = counts(result)
    assert found["rows_not_wanted"] == 1
    assert found["ratings_missing"] == 2
    assert not {"doubtful_status", "doubtful_ratings"} & found.keys()


def test_unknown_ratings_are_those_of_the_account_or_of_a_row_far_off(tmp_path: Path) -> None:
    text = "joined,account,mmr\n1,a,1\n2,b,9999\n3,a,9999\n4,c,3\n5,d,4\n6,b,9999\n7,e,7\n"
    result = played(tmp_path, {"log.missing": [9999]}, text)
    # a has 1 known; b none: of the known rows 1, 4, 5, 7 that two further on is taken.
    assert result["players"]["rating"].tolist() == [1, 7, 1, 3, 4, 3, 7]
    with pytest.raises(InputError, match="no rating is known"):
        played(tmp_path, {"log.missing": [1, 3, 4, 7, 9999]}, text)


@pytest.mark.parametrize(
    "matching", ["fifo", "team_first", pytest.param("joint", marks=pytest.mark.slow)]
)
def test_no_account_meets_itself(matching: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    hours = np.sort(rng.uniform(0, 24 * 3, 600))
    accounts = rng.integers(40, size=600)
    rows = "".join(
        f"{hour:.4f},p{account},{1500 + 10 * account}\n"
        for hour, account in zip(hours, accounts, strict=True)
    )
    path = tmp_path / "log.csv"
    path.write_text(f"joined,account,mmr\n{rows}")
    given = {"arrivals": str(path), "log.columns": COLUMNS, "team_num": 2, "matching": matching}
    for further in ({}, {"log.resample": "block", "log.block_hours": 12}, {"patience_minutes": 90}):
        for replication in (1, 2):
            result = simulate(
                load_config("valorant", {**given, **further}), replication=replication
            )
            matches = result["matches"]
            assert len(matches["match"]) > 20
            for a, b in zip(matches["team_a"], matches["team_b"], strict=True):
                members = f"{a};{b}".split(";")
                assert len({*members}) == 4
