"""What the models of curves have in common: templates, refusals, draws that no rule moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.case_tables import cases
from tests.support.command import valmatch
from valmatch.config.loading import load_config
from valmatch.config.writing import template
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.models.model import Model, row_of
from valmatch.models.registry import MODELS

SMALL: dict[str, dict[str, Any]] = {
    "opponent": {"n_opponents": 6, "n_games": 12},
    "targeting": {"n_alternatives": 6, "n_measurements": 12},
    "zonestats": {"n_players": 12, "games_per_player": 6},
}
RULES: dict[str, dict[str, Any]] = {
    "opponent": {
        "rank": "bottom",
        "prior": "equal",
        "policies": ["random"],
        "gamma": 0.5,
        "update": "as_printed",
        "noise_variance": 7.0,
        "rank_by": "skill",
        "kappa": 2.0,
        "draw_margin": 1.0,
        "ties": "random",
    },
    "targeting": {
        "target": 4.0,
        "tolerance": 0.2,
        "noise_variance": 1.0,
        "policies": ["bold"],
        "kappa": 0.0,
        "prior": "equal",
    },
    "zonestats": {
        "T": 33.0,
        "GAME_MULT": 0.4,
        "MAX_GAME_LENGTH": 9.0,
        "initial_rating": 1500.0,
        "cap": "every_player",
        "compare": "score",
        "contest_time": "joint",
        "enabled_share": 0.5,
        "skill_std": 20.0,
        "true_spread": 90.0,
        "tie_chance": 0.5,
        "game_minutes": 33.0,
        "late_chance": 0.9,
        "latest_join": 0.5,
        "early_chance": 0.7,
        "earliest_leave": 0.5,
        "error_bound": 10.0,
    },
}
"""The factors that no random number depends on."""


def small(name: str, **changes: object) -> Model[Any]:
    return build(load_config({"model": name, "factors": {**SMALL[name], **changes}}))


def arrays(inputs: Any) -> list[Any]:  # noqa: ANN401 - tuples of arrays, and of tuples of them
    return [a for part in inputs for a in (part if isinstance(part, tuple) else [part])]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, "ladder"])
def test_a_template_is_a_config_of_the_defaults(name: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(template(name))
    config = load_config(path)
    assert (config.factors, config.warnings) == (MODELS[name].factors(), ())
    assert config.factors.model_fields_set == set(type(config.factors).model_fields)


BAD = {
    "kg-fig1-top": """
noise_variance=0 | factors.noise_variance: should be greater than
prior_mean_variance=-1 | factors.prior_mean_variance: should be greater than
prior_variance_range=[0, 2] | factors.prior_variance_range.0: should be greater than
prior_variance_range=[3, 2] | the least variance 3 is above the largest, 2
prior_variance_range=[2] | should have 2 items
prior_variances=[1, 0, 1, 1, 1, 1, 1] | factors.prior_variances.1: should be greater than
prior_variances=[1, 2] | 2 values for 7 players (n_opponents 6 and player 0)
prior_means=[1, 2] | factors.prior_means: 2 values for 7 players
prior_means=[.nan] | factors.prior_means.0: should be a finite number
gamma=-0.1 | factors.gamma: should be greater than
gamma=1 | factors.gamma: should be less than
kappa=-1 | factors.kappa: should be greater than
draw_margin=-1 | factors.draw_margin: should be greater than
rank_by=skil | did you mean skill?
prior_draw=paths | did you mean path?
rank=8 | factors.rank: 8 is outside the pool of 7 players (allowed: top, bottom or an
rank=0 | factors.rank: 0 is not a rank (allowed: top, bottom or an integer >= 1)
rank=true | factors.rank: True is not a rank
rank=1.5 | factors.rank: 1.5 is not a rank
rank=botom | 'botom' is not a rank (allowed: top, bottom or an integer >= 1; did you
policies=[] | factors.policies: should have at least 1 item
policies=[random, random] | factors.policies: random is named twice
policies=[knowledge_gradent] | did you mean knowledge_gradient?
update=printed | did you mean as_printed?
prior=flat | factors.prior: should be 'informative' or 'equal' (got 'flat')
n_opponents=0 | factors.n_opponents: should be greater than
n_games=0 | factors.n_games: should be greater than
arrivals=a.csv | arrivals: this model takes none
""",
    "targeting": """
tolerance=0 | factors.tolerance: should be greater than
noise_variance=0 | factors.noise_variance: should be greater than
target=.nan | factors.target: should be a finite number
n_alternatives=0 | factors.n_alternatives: should be greater than
n_measurements=0 | factors.n_measurements: should be greater than
kappa=-1 | factors.kappa: should be greater than
policies=[] | factors.policies: should have at least 1 item
policies=[bold, bold] | factors.policies: bold is named twice (each policy once)
policies=[blod] | did you mean bold?
policies=[random] | (got 'random')
prior_variance_range=[3, 2] | the least variance 3 is above the largest, 2
prior_means=[1, 2] | factors.prior_means: 2 values for 6 alternatives
prior=flat | factors.prior: should be
targt=1 | did you mean target?
""",
    "zonestats": """
T=0 | factors.T: should be greater than
GAME_MULT=-1 | factors.GAME_MULT: should be greater than
MAX_GAME_LENGTH=.inf | factors.MAX_GAME_LENGTH: should be a finite number
team_sizes=1 | did you mean team_size?
n_teams=1 | factors.n_teams: should be greater than
team_size=51 | 2 teams of 51 need 102 players, more than n_players 100
tie_chance=1.5 | factors.tie_chance: should be less than
games_per_player=1000000 | 100 players with 1000000 games each are too many
skill_std=6001 | skill_std 6001 is more than 50 times true_spread 120
cap=every_players | did you mean every_player?
enabled_share=0 | factors.enabled_share: should be greater than
enabled_share=0.01 | enabled_share 0.01 of 100 players leaves 1 to rate (allowed: 2
compare=scores | did you mean score?
arrivals=a.csv | arrivals: this model takes none
""",
}
"""What is refused, and what is said of it."""


@pytest.mark.parametrize(
    ("config", "override", "message"),
    [(config, *case) for config in BAD for case in cases(BAD[config])],
)
def test_bad_input_is_one_line_and_exit_code_2(config: str, override: str, message: str) -> None:
    few = {"kg-fig1-top": SMALL["opponent"], "targeting": SMALL["targeting"]}.get(config, {})
    overrides = [*(f"{name}={value}" for name, value in few.items()), override]
    done = valmatch("simulate", config, *(w for each in overrides for w in ("--set", each)))
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(f"--set {override}: ")
    assert message in done.err


@pytest.mark.parametrize("name", SMALL)
def test_drawn_by_names_all_but_the_rules(name: str) -> None:
    assert set(MODELS[name].factors.model_fields) == small(name).drawn_by | set(RULES[name])


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name in RULES for rule in RULES[name]])
def test_no_rule_moves_a_draw(name: str, rule: str) -> None:
    plain = small(name).draw(Streams(1), 3)
    changed = small(name, **{rule: RULES[name][rule]}).draw(Streams(1), 3)
    for before, after in zip(arrays(plain), arrays(changed), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.parametrize("name", SMALL)
def test_a_run_leaves_its_inputs_as_they_are(name: str) -> None:
    study = small(name)
    inputs = study.keep(study.draw(Streams(1), 0))
    copies = [array.copy() for array in arrays(inputs)]
    first, again = study.run(inputs), study.run(inputs)
    np.testing.assert_array_equal(row_of(study, first.responses), row_of(study, again.responses))
    np.testing.assert_array_equal(first.curves, again.curves)
    for before, after in zip(copies, arrays(inputs), strict=True):
        assert np.array_equal(before, after)
