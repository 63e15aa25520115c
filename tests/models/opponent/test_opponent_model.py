"""The opponent model: its factors, its random inputs, its games, and what the commands write."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.oracles import knowledge_gradient as oracle_kg
from tests.support.command import sets, success
from tests.support.folders import rows
from valmatch.config.config import ReplicateOptions
from valmatch.config.loading import load_config, shipped_configs
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.models.curves import draw_prior
from valmatch.models.opponent.factors import OpponentFactors
from valmatch.models.opponent.model import MEASURES, OpponentModel

POLICIES = ("point_estimate", "draw_chance", "knowledge_gradient")
ALL = (*POLICIES, "knowledge_gradient_finite", "ucb_opponent", "ucb_both", "random", "oracle")
SMALL = ["n_opponents=6", "n_games=12"]


def model(**changes: Any) -> OpponentModel:  # noqa: ANN401
    return OpponentModel(OpponentFactors(**changes))


def test_shipped_configs_are_the_figures_of_the_paper() -> None:
    by_skill = {"prior": "equal", "rank_by": "skill"}
    changed: dict[str, dict[str, object]] = {
        "kg-fig1-top": {},
        "kg-fig1-bottom": {"rank": "bottom"},
        **{f"kg-fig2-{rank}": {"rank": rank} for rank in (12, 25, 37)},
        **{f"kg-fig3-{rank}": {"rank": rank, **by_skill} for rank in (12, 25, 37)},
        "kg-fig4": {"rank": 25, **by_skill},
        **{f"kg-equal-{rank}": {"rank": rank, **by_skill} for rank in ("top", "bottom")},
    }
    shipped = {name for name in shipped_configs() if name.startswith("kg-")}
    assert shipped == {*changed, "kg-tune"}
    for name, changes in changed.items():
        config = load_config(name)
        assert config.factors == OpponentFactors().model_copy(update=changes)
        options = ReplicateOptions.model_validate({"n": 10_000, "seed": 1})
        assert (config.replicate, config.warnings) == (options, ())
        assert max(map(len, shipped_configs()[name].read_text().splitlines())) <= 100


def test_the_prior_is_drawn_once_per_seed_or_for_each_path() -> None:
    factors, streams = OpponentFactors(), Streams(5)
    first = draw_prior(factors, 50, streams, 3)
    for replication in (0, 1, 7):
        np.testing.assert_array_equal(first, model().draw(streams, replication).prior)
    assert not np.any(np.equal(first, draw_prior(factors, 50, Streams(6), 3)))
    study = model(prior_draw="path")
    paths = [study.draw(streams, replication) for replication in range(200)]
    assert not np.any(np.equal(paths[0].prior, paths[1].prior))
    # Everything else keeps its random numbers.
    fixed = model().draw(streams, 1)
    assert np.array_equal(fixed.performances, paths[1].performances)
    z = [(one.skills - one.prior.means) / np.sqrt(one.prior.variances) for one in (fixed, paths[1])]
    assert z[0] == pytest.approx(z[1], rel=1e-9, abs=1e-9)
    within([path.prior.means for path in paths], 0, 2)
    within([path.prior.variances for path in paths], 2.5, 1 / math.sqrt(12))


def within(sample: Any, mean: float, std: float) -> None:  # noqa: ANN401
    """Check a sample mean by its standard error."""
    assert abs(np.mean(sample) - mean) <= 4 * std / math.sqrt(np.size(sample))


def test_the_prior_has_the_distribution_of_the_paper() -> None:
    prior = draw_prior(OpponentFactors(n_opponents=9999), 10_000, Streams(3), 0)
    within(prior.means, 0, 2)
    within(prior.means**2, 4, 4 * math.sqrt(2))
    within(prior.variances, 2.5, 1 / math.sqrt(12))
    within((prior.variances - 2.5) ** 2, 1 / 12, 1 / math.sqrt(180))
    assert np.all((prior.variances >= 2) & (prior.variances <= 3))


def test_skills_and_performances_have_the_distributions_of_the_paper() -> None:
    study, streams = model(n_games=20), Streams(4)
    paths = [study.draw(streams, replication) for replication in range(1000)]
    z = [(path.skills - path.prior.means) / np.sqrt(path.prior.variances) for path in paths]
    for normals in (np.array(z), np.array([path.performances for path in paths])):
        within(normals, 0, 1)
        within(normals**2, 1, math.sqrt(2))
    within([path.choices for path in paths], 0.5, 1 / math.sqrt(12))


def test_rank_may_be_by_skill_path_by_path() -> None:
    zeros = []
    for rank in ("top", 3, "bottom"):
        study = model(n_opponents=6, n_games=2, rank=rank, rank_by="skill")
        for replication in range(20):
            inputs = study.draw(Streams(1), replication)
            players = study.record(inputs).tables[0].columns
            order = np.argsort(-inputs.skills)
            place = {"top": 0, "bottom": 6}.get(str(rank), 2)
            assert players["rank"].tolist() == (np.argsort(order) + 1).tolist()
            zero = players["player_0"].tolist().index(1)
            assert zero == order[place]
            zeros.append((rank, zero))
    assert len({zero for rank, zero in zeros if rank == "top"}) > 1


def choice(
    policy: str,
    game: int,
    n_games: int,
    player: int,
    mean: list[float],
    var: list[float],
    skills: list[float],
    form: str,
    uniform: float,
    margin: float,
    order: Sequence[int],
) -> int:
    """Return the opponent by the formula of the policy, evaluated directly; ties by the order."""
    noise = 2.5
    others = [j for j in order if j != player]
    multiplier = n_games - game if policy == "knowledge_gradient_finite" else 0.99 / (1 - 0.99)

    def quality(j: int) -> float:
        return oracle_kg.quality(mean[player], var[player], mean[j], var[j], noise)

    def score(j: int) -> float:
        if policy == "point_estimate":
            return -abs(mean[player] - mean[j])
        if policy == "oracle":
            return -abs(skills[player] - skills[j])
        if policy == "draw_chance":
            return quality(j)
        if policy.startswith("ucb"):
            # Moments of the draw density under the belief, by its square's.
            own = var[player] if policy == "ucb_opponent" else 0.0
            width, spread = 2 * noise + own, var[player] + var[j] - own
            square = oracle_kg.quality(mean[player], spread, mean[j], width / 2, 0.0)
            square /= 2 * math.sqrt(math.pi * width)
            return quality(j) + 0.75 * math.sqrt(square - quality(j) ** 2)
        future = oracle_kg.expected_best_quality(j, player, mean, var, noise, form, margin)
        return quality(j) + multiplier * future

    if policy == "random":
        return others[int(uniform * len(others))]
    return max(others, key=score)


@pytest.mark.parametrize("policies", [POLICIES, pytest.param(ALL, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("form", "margin"), [("corrected", 0.0), ("as_printed", 0.0), ("corrected", 1.2)]
)
@pytest.mark.parametrize(
    ("rank", "prior", "ties"),
    [
        ("top", "informative", "index"),
        ("bottom", "informative", "random"),
        (4, "informative", "index"),
        (4, "equal", "index"),
        (4, "equal", "random"),
    ],
)
def test_every_game_is_what_the_formulas_say(
    form: str, margin: float, policies: tuple[str, ...], rank: str | int, prior: str, ties: str
) -> None:
    study = model(
        n_opponents=6,
        n_games=40,
        policies=policies,
        update=form,
        rank=rank,
        draw_margin=margin,
        prior=prior,
        ties=ties,
    )
    inputs = study.draw(Streams(8), 2)
    order = inputs.order.tolist() if ties == "random" else range(7)
    record = study.record(inputs)
    players, games = (dict(table.columns) for table in record.tables)
    player = players["rank"].tolist().index({"top": 1, "bottom": 7}.get(str(rank), rank))
    skills = list(players["skill"])
    assert skills == inputs.skills.tolist()
    at = 0
    for policy in policies:
        mean, var = list(players["prior_mean"]), list(players["prior_variance"])
        for n in range(40):
            uniform = inputs.choices[n]
            j = choice(policy, n, 40, player, mean, var, skills, form, uniform, margin, order)
            z = inputs.performances[n] * math.sqrt(2.5)
            win = skills[player] + z[0] > skills[j] + z[1]
            quality = oracle_kg.quality(mean[player], var[player], mean[j], var[j], 2.5)
            drawn = abs(skills[player] + z[0] - skills[j] - z[1]) < margin
            before = mean, var
            if drawn:
                mean, var = oracle_kg.after_draw(player, j, mean, var, 2.5, margin)
            else:
                mean, var = oracle_kg.after(player, j, win, mean, var, 2.5, form, margin)
            gap = skills[player] - skills[j]
            assert games["policy"][at] == policy
            assert (games["game"][at], games["opponent"][at]) == (n + 1, j)
            assert (games["win"][at], games["draw"][at]) == (win and not drawn, drawn)
            total = before[1][player] + before[1][j] + 5
            expected = {
                "mean": mean[player],
                "variance": var[player],
                "opponent_mean": mean[j],
                "opponent_variance": var[j],
                "true_draw_probability": math.exp(-gap * gap / 10) / math.sqrt(10 * math.pi),
                "squared_error": (mean[player] - skills[player]) ** 2,
                "skill_difference": gap,
                "expected_quality": quality,
                "normalised_quality": quality
                * math.sqrt(2 * math.pi * total)
                * math.sqrt(5 / total),
            }
            for name, value in expected.items():
                assert games[name][at] == pytest.approx(value, rel=1e-10, abs=1e-10), name
            at += 1
    assert at == len(games["game"])


def test_ties_at_random_fall_on_everybody() -> None:
    """The first opponent of a point estimate that knows nothing, over 800 paths: chi squared."""
    one = {"n_opponents": 4, "n_games": 1, "policies": ("point_estimate",), "prior": "equal"}
    study, mixed = (model(**one, rank=3, ties=ties) for ties in ("index", "random"))
    firsts = np.zeros((2, 5), np.int64)
    for path in range(800):
        inputs = study.draw(Streams(5), path)
        for row, each in enumerate((study, mixed)):
            firsts[row, each.play(inputs).opponents[0, 0]] += 1
    assert sorted(firsts[0])[:4] == [0, 0, 0, 0]
    others = np.sort(firsts[1])[1:]
    assert np.sort(firsts[1])[0] == 0
    assert np.sum((others - 200.0) ** 2) / 200.0 < 16.3  # .999 of chi squared, 3 degrees


def test_responses_are_means_over_windows() -> None:
    study = model(n_opponents=5, n_games=230)
    inputs = study.draw(Streams(1), 6)
    outcome = study.run(inputs)
    record = study.record(inputs)
    assert record.responses == outcome.responses
    games = {name: np.array(column) for name, column in record.tables[1].columns.items()}
    games["win_fraction"] = games["win"].astype(float)
    games["draw_fraction"] = games["draw"].astype(float)
    values = dict(outcome.responses)
    for policy in POLICIES:
        mine = games["policy"] == policy
        total = games["expected_quality"][mine].sum()
        assert values.pop(f"expected_quality.{policy}") == pytest.approx(total, rel=1e-13)
        for measure in MEASURES.names:
            for low, high in ((0, 100), (100, 200), (200, 230)):
                mean = games[measure][mine][low:high].mean()
                value = values.pop(f"{measure}.{policy}.{low + 1}-{high}")
                assert value == pytest.approx(mean, rel=1e-12, abs=1e-14)
    assert not values


@pytest.fixture(scope="module")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return what a run prints, and its folder."""
    folder = tmp_path_factory.mktemp("run") / "out"
    done = success("replicate", "kg-fig1-top", *sets(LONGER), "-n", 40, "--out", folder)
    return done.out, folder


LONGER = [*SMALL, "n_games=120"]


def test_summary_has_windows_and_paired_differences(replicated: tuple[str, Path]) -> None:
    summary = json.loads((replicated[1] / "summary.json").read_text())
    table = rows(replicated[1] / "replications.csv")
    assert list(summary["windows"]) == [*POLICIES]
    assert {policy: list(others) for policy, others in summary["paired"].items()} == {
        "draw_chance": ["point_estimate"],
        "knowledge_gradient": ["point_estimate", "draw_chance"],
    }

    def check(facts: dict[str, Any], values: Any) -> None:  # noqa: ANN401
        assert facts["mean"] == pytest.approx(values.mean(), rel=1e-12, abs=1e-15)
        error = values.std(ddof=1) / math.sqrt(40)
        assert facts["std_error"] == pytest.approx(error, rel=1e-9, abs=1e-15)
        # 2.0227 is the 97.5% quantile of Student's t with 39 degrees.
        arms = facts["ci_high"] - facts["mean"], facts["mean"] - facts["ci_low"]
        if error > 0.0:
            assert min(arms) == pytest.approx(2.022691 * error, rel=1e-6)
            assert (max(arms) > 1.000001 * min(arms)) == ("skewed" in facts["remarks"])

    for measure in MEASURES.names:
        total = ["total"] if measure == "expected_quality" else []
        for games in [*total, "1-100", "101-120"]:
            tail = "" if games == "total" else f".{games}"
            own = {
                policy: np.array([float(row[f"{measure}.{policy}{tail}"]) for row in table])
                for policy in POLICIES
            }
            for policy in POLICIES:
                check(summary["windows"][policy][measure][games], own[policy])
            for policy, others in summary["paired"].items():
                for other, facts in others.items():
                    check(facts[measure][games], own[policy] - own[other])


def test_curves_are_means_over_replications(replicated: tuple[str, Path]) -> None:
    study, streams = build(load_config("kg-fig1-top", LONGER)), Streams(1)
    games = [study.record(study.draw(streams, k)).tables[1].columns for k in range(40)]
    table = rows(replicated[1] / "curves.csv")
    assert len(table) == 3 * 120 * len(MEASURES)
    for row in table:
        at = POLICIES.index(row["policy"]) * 120 + int(row["game"]) - 1
        name = {"win_fraction": "win", "draw_fraction": "draw"}.get(row["measure"], row["measure"])
        values = np.array([float(one[name][at]) for one in games])
        assert row["n"] == "40"
        assert float(row["mean"]) == pytest.approx(values.mean(), rel=1e-8, abs=1e-8)
        error = values.std(ddof=1) / math.sqrt(40)
        assert float(row["std_error"]) == pytest.approx(error, rel=1e-6, abs=1e-6)


DEFAULTS = """
n_opponents: 49, n_games: 500, noise_variance: 2.5, prior: informative, prior_mean_variance: 4,
prior_variance_range: [2, 3], prior_means: null, prior_variances: null, prior_draw: seed, rank: top,
rank_by: mean, policies: [point_estimate, draw_chance, knowledge_gradient], ties: index,
gamma: 0.99, kappa: 0.75, update: corrected, draw_margin: 0
"""


@pytest.mark.slow
def test_the_unit_of_skill_does_not_matter() -> None:
    """In units 2**10 times smaller every number changes by a power of two, to the last bit."""
    means, variances = (1.5, 0.3, -0.7, 2.1, -1.9), (2.5, 2.0, 3.0, 2.2, 2.8)
    unit = 2.0**10
    changes = {"n_opponents": 4, "n_games": 50, "policies": ALL}
    base = model(prior_means=means, prior_variances=variances, **changes)
    scaled = model(
        prior_means=tuple(unit * m for m in means),
        prior_variances=tuple(unit**2 * v for v in variances),
        noise_variance=2.5 * unit**2,
        **changes,
    )
    factor = {"1/skill": 1 / unit, "skill": unit, "skill squared": unit**2, "": 1.0}
    one, other = (run(study, 1, range(20)) for study in (base, scaled))
    for k, response in enumerate(base.responses):
        assert np.array_equal(one.responses[:, k] * factor[response.unit], other.responses[:, k])
    assert one.curves is not None
    assert other.curves is not None
    assert np.array_equal(one.curves.total, other.curves.total)
    assert np.array_equal(one.curves.squares, other.curves.squares)


def test_defaults_are_those_of_the_paper() -> None:
    assert OpponentFactors().model_dump(mode="json") == yaml.safe_load(f"{{{DEFAULTS}}}")
