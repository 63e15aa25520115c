"""Files of the ladder: players with their names and skills, sessions as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.models.ladder.test_ladder import equals_the_plain_ladder
from tests.support.case_tables import cases
from valmatch import simulate
from valmatch.config.identity import config_id, resolved, restore
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.chunks import build
from valmatch.experiments.simulate import Simulation
from valmatch.models.ladder.factors import LadderFactors

pytestmark = pytest.mark.usefixtures("command_line_words")

DUELS = ("days=1", "warmup_days=0", "rule.team_num=1", "rule.player_diff=1e9", "rule.team_diff=1e9")
"""A day on which everybody may play everybody."""

ONE_GAME = ("sessions.continue_prob=0", "sessions.win_effect=0", "sessions.loss_effect=0")

SESSIONS = "player,time\nann,1\nbob,1.5\ncid,2.25\nann,9\ncid,9\nbob,9.125\n"
SKILLS = "rank,player,rating\n1,bob,1600\n2,ann,1500\n3,cid,1450.5\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text(SESSIONS)
    Path("r.csv").write_text(SKILLS)


def played(*overrides: str, out: str | None = None) -> Simulation:
    return simulate(load_config("ladder", [*DUELS, *overrides]), out=out)


def warnings(*overrides: str) -> list[str]:
    return list(build(load_config("ladder", overrides)).warnings)


def refused(*overrides: str) -> str:
    with pytest.raises(InputError) as info:
        build(load_config("ladder", overrides))
    assert "\n" not in str(info.value)
    return str(info.value)


@pytest.mark.long
def test_files_are_played_as_in_the_plain_ladder(tmp_path: Path) -> None:
    happened = equals_the_plain_ladder("team_first", 5, 40, tmp_path)
    assert min(happened[kind] for kind in ("queue", "match", "end", "give up", "drop")) > 50


def test_sessions_start_when_the_file_says() -> None:
    found = played("arrivals=s.csv", *ONE_GAME)
    assert found["tickets"]["player"].tolist() == ["ann", "bob", "cid", "ann", "bob"]
    assert found["tickets"]["queued_hours"].tolist() == [1.0, 1.5, 2.25, 9.0, 9.125]
    # cid waits from 2.25 on: the session at 9 is dropped.
    assert found.summary()["responses"]["dropped_sessions"] == 1


def test_of_arrivals_alone_the_skills_are_drawn() -> None:
    one, again, other = (
        simulate(load_config("ladder", [*DUELS, "arrivals=s.csv"]), seed=seed)["players"]
        for seed in (1, 1, 2)
    )
    assert one["player"].tolist() == ["ann", "bob", "cid"]
    assert one["skill"].tolist() == again["skill"].tolist() != other["skill"].tolist()
    assert np.isnan(one["activity"]).all()


def test_of_skills_alone_the_sessions_are_drawn_and_newcomers_join() -> None:
    Path("r.csv").write_text("player,skill\nnewcomer-1,1500\nx,1600\n")
    players = played("skills=r.csv", "sessions.per_day=5", "sessions.activity_cv=0")["players"]
    names = players["player"].tolist()
    assert names[:5] == ["newcomer-1", "x", "newcomer-0", "newcomer-2", "newcomer-3"]
    assert len(set(names)) == len(names) > 5
    assert (players["activity"] == 1.0).all()
    assert played("skills=r.csv", "population.newcomers_per_day=0")["players"]["player"].size == 2


def test_rows_may_come_in_any_order_and_hold_more_columns() -> None:
    header, *rows = SESSIONS.splitlines()
    text = "\n".join([f"{header},note", *(f"{row},x" for row in reversed(rows))])
    Path("t.csv").write_text(f"\ufeff{text}\n\n")
    one, other = (
        played(f"arrivals={file}", "skills=r.csv", "sessions.patience_minutes=60")
        for file in ("s.csv", "t.csv")
    )
    np.testing.assert_array_equal(one.values, other.values)
    assert one["tickets"]["player"].tolist() == other["tickets"]["player"].tolist()


def test_files_say_who_plays() -> None:
    population = {
        kind: load_config("ladder", [f"{kind}={file}"]).factors.population  # type: ignore[attr-defined]
        for kind, file in (("arrivals", "s.csv"), ("skills", "r.csv"))
    }
    assert (population["arrivals"].players, population["arrivals"].newcomers_per_day) == (None, 0)
    assert (population["skills"].players, population["skills"].newcomers_per_day) == (None, 10)
    bare = load_config({"model": "ladder", "arrivals": "s.csv"})
    assert bare.factors == load_config("ladder", ["arrivals=s.csv"]).factors
    assert warnings("arrivals=s.csv", "population.players=3", "warmup_days=0") == []
    assert load_config({"model": "ladder", "factors": None}).factors == LadderFactors()


def test_the_contents_of_files_count() -> None:
    Path("t.csv").write_text(SESSIONS)
    Path("u.csv").write_text(SESSIONS + "ann,20\n")
    ids = [config_id(load_config("ladder", [f"arrivals={name}.csv"])) for name in "stu"]
    assert ids[0] == ids[1] != ids[2]
    others = (config_id(load_config("ladder", files)) for files in ([], ["skills=r.csv"]))
    assert len({*ids, *others}) == 4


def test_a_run_with_files_is_found_again() -> None:
    config = load_config("ladder", ["arrivals=s.csv", "skills=r.csv", "days=20"])
    again = restore(resolved(config), "o/manifest.json")
    assert (again.factors, config_id(again)) == (config.factors, config_id(config))


def test_rows_after_the_horizon_are_left_out() -> None:
    Path("s.csv").write_text("player,time\nann,1\nbob,1.5\ncid,24\nann,24.5\n")
    (line,) = warnings(*DUELS, "arrivals=s.csv")
    assert line == "s.csv: 2 rows at or after the horizon of 24 hours left out"
    found = played("arrivals=s.csv", *ONE_GAME)
    assert found["players"]["player"].tolist() == ["ann", "bob", "cid"]
    assert found["tickets"]["player"].tolist() == ["ann", "bob"]


def test_what_has_no_effect_with_files_is_remarked_on() -> None:
    changes = ("sessions.per_day=2", "population.skill_mean=1400", "warmup_days=0")
    assert warnings("arrivals=s.csv", "skills=r.csv", *changes) == [
        "s.csv: sessions.per_day has no effect with a file of arrivals",
        "r.csv: population.skill_mean has no effect with a file of skills",
    ]
    assert warnings("arrivals=s.csv") == [
        "s.csv: every session starts within the warm-up of 336 hours, before anything is measured"
        " (set days and warmup_days)"
    ]


CONTRADICTIONS = """
arrivals=s.csv population.newcomers_per_day=3 | --set population.newcomers_per_day=3:
  factors.population.newcomers_per_day: nobody joins with a file of arrivals, whose players are
  there from the start (allowed: 0)
arrivals=s.csv population.players=4 | s.csv: 3 players, but population.players is 4 (allowed: 3,
  or null)
arrivals=s.csv days=0.01 warmup_days=0 | s.csv: no session starts before the horizon
"""
"""What is refused, and what is said of it."""


@pytest.mark.parametrize(("overrides", "message"), cases(CONTRADICTIONS))
def test_contradictions_are_refused_in_one_line(overrides: str, message: str) -> None:
    assert refused(*overrides.split(" ")).startswith(message)


BAD_FILES = r"""
s.csv | player,time\nann,1\nbob,soon\n | :3: time: 'soon' (allowed: a finite number of hours
s.csv | player,time\nann,45292.5\nann,45293\n | :2: time: '45292.5' looks like 2024-01-01
s.csv | player,time\nann,1\nbob,1\nann,3\nann,1.0\nbob,1\n | :5: player: 'ann' starts a session at
  1.0 hours in line 2 too (nobody is in two places at once)
s.csv | player,time\nann,1\n\ndan,2\n | :4: player: 'dan' is not among the players of r.csv
r.csv | player,skill\nann,1\nbob,2\nann,1\n | :4: player: 'ann' has a row above (allowed: one row a
  player)
"""


@pytest.mark.parametrize(("file", "text", "message"), cases(BAD_FILES))
def test_bad_files_are_refused_in_one_line(file: str, text: str, message: str) -> None:
    Path(file).write_text(text)
    assert refused(*DUELS, "arrivals=s.csv", "skills=r.csv").startswith(f"{file}{message}")
