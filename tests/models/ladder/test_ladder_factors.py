"""The factors of the ladder: sections, defaults, what is refused and what is remarked on."""

from __future__ import annotations

import math

import pytest

from tests.support.case_tables import cases
from valmatch.config.loading import load_config
from valmatch.config.writing import template
from valmatch.errors import InputError
from valmatch.models.ladder.factors import LadderFactors

pytestmark = pytest.mark.usefixtures("command_line_words")


def ladder(*overrides: str) -> LadderFactors:
    factors = load_config({"model": "ladder"}, overrides).factors
    assert isinstance(factors, LadderFactors)
    return factors


def refused(*overrides: str) -> str:
    with pytest.raises(InputError) as info:
        ladder(*overrides)
    return str(info.value)


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
    assert "\n" not in line


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
