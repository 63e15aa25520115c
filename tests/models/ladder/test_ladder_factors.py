"""The factors and files of the ladder: defaults, what is refused, what is remarked on."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.models.ladder.test_ladder import equals_the_plain_ladder
from tests.support.case_tables import cases
from valmatch import simulate
from valmatch.config.loading import load_config
from valmatch.config.writing import template
from valmatch.errors import InputError
from valmatch.execution.chunks import build
from valmatch.experiments.simulate import Simulation
from valmatch.models.ladder.factors import LadderFactors

pytestmark = pytest.mark.usefixtures("command_line_words")


def ladder(*overrides: str) -> LadderFactors:
    factors = load_config({"model": "ladder"}, overrides).factors
    assert isinstance(factors, LadderFactors)
    return factors


def refused(*overrides: str) -> str:
    with pytest.raises(InputError) as info:
        build(load_config({"model": "ladder"}, overrides))
    (line,) = str(info.value).splitlines()
    return line


def test_the_template_says_what_factors_are_used_with() -> None:
    text = template("ladder")
    assert max(map(len, text.splitlines())) <= 80
    joined = " ".join(line.strip(" #") for line in text.splitlines())
    assert "Most that a game can move a rating. Used with elo alone." in joined
    assert "Used with knowledge_gradient and knowledge_gradient_variance alone." in joined


def test_pairs_are_one_against_one() -> None:
    assert ladder("rule.matching=pairs").rule.team_num == 1
    assert ladder("rule.matching=pairs", "rule.team_num=1") == ladder("rule.matching=pairs")
    assert ladder("rule.matching=team_first").rule.team_num == 5
    assert refused("rule.matching=pairs", "rule.team_num=5") == (
        "--set rule.team_num=5: factors.rule.team_num: 5 players on a team, but pairs matches one"
        " against one (allowed with pairs: 1; team_first, joint, fifo, flexmatch and preset match"
        " teams)"
    )


def test_the_noise_that_fits_the_outcome() -> None:
    assert ladder().rating_beta == pytest.approx(1.7 * 173.7177927613007 * math.sqrt(2.5))
    assert ladder("rule.team_num=2", "match.spread=100").rating_beta == 170.0
    assert ladder("rule.matching=pairs", "match.spread=1").rating_beta == 1.7 * math.sqrt(0.5)
    assert ladder("match.outcome=normal", "match.beta=90").rating_beta == 90.0
    assert ladder("match.outcome=normal", "rating.beta=70").rating_beta == 70.0


REFUSED = """
days=14 | factors.days: 14 days of warm-up are not below the 14 days of the run
rule.matching=joint rule.team_num=17 | 17 players on a team are too many for joint
sessions.per_day=0 population.newcomers_per_day=0 | factors.population.newcomers_per_day: nobody
  would ever queue: there are no newcomers, and 1000 players with 0 sessions a day
beta=3 | factors.beta: unknown key (did you mean match.beta or rule.beta or rating.beta?)
"""
"""What is refused, and what is said of it."""


@pytest.mark.parametrize(("overrides", "message"), cases(REFUSED))
def test_bad_factors_are_one_located_line(overrides: str, message: str) -> None:
    given = overrides.split(" ") if "[" not in overrides else [overrides]
    line = refused(*given)
    assert line.startswith(tuple(f"--set {one}"[:80] for one in given))
    assert message in line


REMARKED = """
population.skill_mean=17 population.skill_std=8 | 17, but newcomers have skills about 1500
  (population.newcomer_skill_mean)
rating.system=elo rating.match_by=conservative | factors.rating.match_by: has no effect with
  system elo (used with trueskill or glicko2 or openskill or glicko)
rule.widening=50 | factors.rule.widening: has no effect with matching team_first (used with pairs)
"""
"""What is accepted with a remark."""


@pytest.mark.parametrize(("overrides", "remark"), cases(REMARKED))
def test_what_is_probably_not_meant_is_remarked_on(overrides: str, remark: str) -> None:
    (line,) = load_config({"model": "ladder"}, overrides.split(" ")).warnings
    assert line.startswith(tuple(f"--set {one}: factors." for one in overrides.split(" ")))
    assert remark in line


# Files: players with their names and skills, sessions as they were.

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


def played(*overrides: str) -> Simulation:
    return simulate(load_config("ladder", [*DUELS, *overrides]))


@pytest.mark.slow
def test_files_are_played_as_in_the_plain_ladder(tmp_path: Path) -> None:
    happened = equals_the_plain_ladder("team_first", 5, 40, tmp_path)
    assert min(happened[kind] for kind in ("queue", "match", "end", "give up", "drop")) > 50


def test_sessions_start_when_the_file_says() -> None:
    found = played("arrivals=s.csv", *ONE_GAME)
    assert found["tickets"]["player"].tolist() == ["ann", "bob", "cid", "ann", "bob"]
    assert found["tickets"]["queued_hours"].tolist() == [1.0, 1.5, 2.25, 9.0, 9.125]
    # cid waits from 2.25 on: the session at 9 is dropped.
    assert found.summary()["responses"]["dropped_sessions"] == 1


def test_of_skills_alone_the_sessions_are_drawn_and_newcomers_join() -> None:
    Path("r.csv").write_text("player,skill\nnewcomer-1,1500\nx,1600\n")
    players = played("skills=r.csv", "sessions.per_day=5", "sessions.activity_cv=0")["players"]
    names = players["player"].tolist()
    assert names[:5] == ["newcomer-1", "x", "newcomer-0", "newcomer-2", "newcomer-3"]
    assert len(set(names)) == len(names) > 5
    assert (players["activity"] == 1.0).all()
    assert played("skills=r.csv", "population.newcomers_per_day=0")["players"]["player"].size == 2


def test_rows_after_the_horizon_are_left_out() -> None:
    Path("s.csv").write_text("player,time\nann,1\nbob,1.5\ncid,24\nann,24.5\n")
    (line,) = build(load_config("ladder", [*DUELS, "arrivals=s.csv"])).warnings
    assert line == "s.csv: 2 rows at or after the horizon of 24 hours skipped"
    found = played("arrivals=s.csv", *ONE_GAME)
    assert found["players"]["player"].tolist() == ["ann", "bob", "cid"]
    assert found["tickets"]["player"].tolist() == ["ann", "bob"]


CONTRADICTIONS = """
arrivals=s.csv population.newcomers_per_day=3 | --set population.newcomers_per_day=3:
  factors.population.newcomers_per_day: nobody joins with a file of arrivals, whose players are
  there from the start (allowed: 0)
arrivals=s.csv population.players=4 | s.csv: 3 players, but population.players is 4 (allowed: 3,
  or null)
"""
"""What is refused, and what is said of it."""


@pytest.mark.parametrize(("overrides", "message"), cases(CONTRADICTIONS))
def test_contradictions_are_refused_in_one_line(overrides: str, message: str) -> None:
    assert refused(*overrides.split(" ")).startswith(message)


BAD_FILES = r"""
s.csv | player,time\nann,1\nbob,soon\n | :3: time: 'soon' (allowed: a finite number of hours
s.csv | player,time\nann,1\nbob,1\nann,3\nann,1.0\nbob,1\n | :5: player: 'ann' starts a session at
  1.0 hours in line 2 too (nobody is in two places at once)
s.csv | player,time\nann,1\n\ndan,2\n | :4: player: 'dan' is not among the players of r.csv
"""


@pytest.mark.parametrize(("file", "text", "message"), cases(BAD_FILES))
def test_bad_files_are_refused_in_one_line(file: str, text: str, message: str) -> None:
    Path(file).write_text(text)
    assert refused(*DUELS, "arrivals=s.csv", "skills=r.csv").startswith(f"{file}{message}")
