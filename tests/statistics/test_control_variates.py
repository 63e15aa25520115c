"""Control variates against exact regression, theory, and the models' known expectations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support.command import interpreted
from tests.support.refusals import defined
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model
from valmatch.models.valorant.arrivals import ArrivalProcess, rating_integrals
from valmatch.statistics.control_variates import Adjusted, adjust, regress
from valmatch.statistics.estimates import estimate, t_quantile

COVARIANCE = [[40000.0, 28.0, 950.0], [28.0, 0.04, 0.8], [950.0, 0.8, 100.0]]


def one(
    values: Floats, controls: Floats, expectations: list[float], confidence: float = 0.95
) -> Adjusted:
    (result,) = adjust(values[:, np.newaxis], controls, np.array(expectations), confidence)
    return result


def inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """Invert by Gauss and Jordan, exactly."""
    n = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def dot(a: Sequence[Fraction | int], b: Sequence[Fraction | int]) -> Fraction:
    return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))


def exact(values: list[int], controls: list[list[int]], expectations: list[int]) -> Floats:
    """Return mean, squared standard error and variance reduction by exact normal equations."""
    n, q = len(values), len(expectations)
    design = [
        [Fraction(1), *(Fraction(c - e) for c, e in zip(row, expectations, strict=True))]
        for row in controls
    ]
    columns = list(zip(*design, strict=True))
    solved = inverse([[dot(a, b) for b in columns] for a in columns])
    right = [dot(a, values) for a in columns]
    beta = [dot(row, right) for row in solved]
    rest = [y - dot(row, beta) for y, row in zip(values, design, strict=True)]
    variance = dot(rest, rest) / (n - q - 1) * solved[0][0]
    mean = Fraction(sum(values), n)
    plain = sum(((y - mean) ** 2 for y in values), Fraction(0)) / (n - 1) / n
    return np.array([float(beta[0]), float(variance), float(plain / variance)])


@pytest.mark.parametrize("q", [1, 2, 4])
def test_regression_is_that_of_exact_normal_equations(q: int) -> None:
    rng = np.random.default_rng(q)
    controls = rng.integers(0, 50, (12, q))
    values = 3 * controls.sum(axis=1) + rng.integers(0, 40, 12)
    expectations = rng.integers(20, 30, q).tolist()
    mean, variance, reduction = exact(values.tolist(), controls.tolist(), expectations).tolist()
    result = one(values.astype(float), controls.astype(float), expectations, 0.9)
    half = t_quantile(0.95, 12 - q - 1) * math.sqrt(variance)
    assert result.as_dict() == pytest.approx(
        {
            "mean_cv": mean,
            "std_error_cv": math.sqrt(variance),
            "ci_low_cv": mean - half,
            "ci_high_cv": mean + half,
            "variance_reduction": reduction,
        },
        rel=1e-12,
    )


@pytest.mark.slow
def test_intervals_of_normal_data_are_exact() -> None:
    # With R^2 explained by q controls the variance is (1 - R^2) (n - 2) / (n - q - 2) times
    # that of the plain mean (Lavenberg and Welch 1981).
    rng, runs, n, q = np.random.default_rng(1), 4000, 9, 2
    means, covered = np.empty(runs), 0
    for k in range(runs):
        controls = rng.normal([5.0, -1.0], [2.0, 0.5], (n, q))
        values = 10.0 + (controls - [5.0, -1.0]) @ [0.6, 1.6] + rng.normal(0.0, 0.6, n)
        result = one(values, controls, [5.0, -1.0])
        means[k] = defined(result.mean_cv)
        covered += defined(result.ci_low_cv) <= 10.0 <= defined(result.ci_high_cv)
    variance = 0.36 / n * (n - 2) / (n - q - 2)
    assert abs(means.mean() - 10.0) <= 4 * math.sqrt(variance / runs)
    spread = means.std(ddof=1) ** 2 / variance
    assert abs(spread - 1.0) <= 4 * ((means - 10.0) ** 2).std() / variance / math.sqrt(runs)
    assert abs(covered / runs - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / runs)


def test_controls_that_say_nothing_new_are_left_out() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(3.0, 1.0, (2, 40))
    values = a + 2 * b + rng.normal(0, 0.5, 40)
    plain = one(values, np.column_stack([a, b]), [3.0, 3.0])
    constant, double, sum_ = np.full(40, 0.1), 2 * a, a + 1e6 * b + 7.0
    more = np.column_stack([constant, a, double, b, sum_, constant])
    result = one(values, more, [5.0, 3.0, 6.0, 3.0, 3e6 + 10.0, 0.1])
    assert result.as_dict() == pytest.approx(plain.as_dict(), rel=1e-12)


def test_units_of_the_controls_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    controls = rng.normal(3.0, 1.0, (50, 2))
    values = controls @ [1.0, 2.0] + rng.normal(0, 0.5, 50)
    plain = one(values, controls, [3.0, 3.0])
    result = one(values, controls * [1e-8, 1e8] + [5.0, 0.0], [5.0 + 3e-8, 3e8])
    assert result.as_dict() == pytest.approx(plain.as_dict(), rel=1e-6)


def test_without_controls_it_is_the_plain_mean() -> None:
    values = np.random.default_rng(4).normal(3.0, 1.0, 30)
    plain = estimate(values, 0.9)
    result = one(values, np.empty((30, 0)), [], 0.9)
    expected = (plain.mean, plain.std_error, plain.ci_low, plain.ci_high, 1.0)
    assert tuple(result.as_dict().values()) == pytest.approx(expected, rel=1e-14)


def test_undefined_responses_and_few_replications_have_no_adjusted_mean() -> None:
    rng = np.random.default_rng(5)
    controls = rng.normal(0.0, 1.0, (20, 3))
    values = rng.normal(0.0, 1.0, (20, 2))
    values[7, 1] = np.nan
    defined, undefined = adjust(values, controls, np.zeros(3))
    assert defined.mean_cv is not None
    assert undefined == Adjusted()
    assert set(undefined.as_dict().values()) == {None}
    assert one(values[:5, 0], controls[:5], [0.0] * 3).std_error_cv is not None
    for n in range(5):
        assert one(values[:n, 0], controls[:n], [0.0] * 3) == Adjusted()


def test_a_regression_is_what_the_adjusted_mean_is_made_of() -> None:
    rng = np.random.default_rng(6)
    controls, expectations = rng.gamma(2.0, 1.0, (30, 3)), np.full(3, 2.0)
    values = controls @ rng.normal(0.0, 1.0, (3, 2)) + rng.normal(0.0, 1.0, (30, 2))
    both = regress(values, controls, expectations), adjust(values, controls, expectations)
    for found, adjusted in zip(*both, strict=True):
        assert found.mean == adjusted.mean_cv
        assert found.degrees == 26
        assert abs(found.residuals.sum()) < 1e-12
        variance = (found.residuals**2).sum() / found.degrees * found.leverage
        assert math.sqrt(variance) == pytest.approx(adjusted.std_error_cv)
    # With as many controls as replications there is still something to estimate an error from.
    few = regress(values[:4], controls[:4], expectations)
    assert [one.degrees for one in few] == [1, 1]


def test_what_the_controls_determine_is_known_exactly() -> None:
    controls = np.random.default_rng(6).normal(500.0, 20.0, (60, 2))
    combined = one(controls @ [2.0, -1.0] + 7.0, controls, [500.0, 500.0])
    assert combined.mean_cv == pytest.approx(507.0, rel=1e-12)
    assert (combined.std_error_cv, combined.variance_reduction) == (0.0, None)
    constant = one(np.full(60, 0.3), controls, [500.0, 500.0])
    assert constant.mean_cv == pytest.approx(0.3)
    assert constant.std_error_cv == 0.0
    assert constant.variance_reduction is None


# The controls of the valorant model.


def integrals(mean: list[float], covariance: list[list[float]], multipliers: list[float]) -> Floats:
    process = ArrivalProcess([1.0], 1.0, mean, covariance, multipliers)
    return rating_integrals(process, 0.0, 1.0)


def truncated_powers(mean: float, sd: float, low: float = 0.0) -> Floats:
    """Integrate x**k, k = 0 to 4, over a normal x above `low`, by the recursion of its moments."""
    alpha = (low - mean) / sd
    density = math.exp(-0.5 * alpha * alpha) / math.sqrt(2 * math.pi)
    powers = [0.5 * math.erfc(alpha / math.sqrt(2)), 0.0, 0.0, 0.0, 0.0]
    powers[1] = mean * powers[0] + sd * density
    for k in range(2, 5):
        border = low ** (k - 1) * sd * density
        powers[k] = mean * powers[k - 1] + (k - 1) * sd * sd * powers[k - 2] + border
    return np.array(powers)


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("mean", [[0.0, 1.0, 2.0], [-1.5, 0.5, -1.0], [30.0, -1.0, 0.1]])
def test_integrals_over_independent_components(which: int, mean: list[float]) -> None:
    sds = [1.0, 2.0, 0.7]
    parts = [truncated_powers(m, sd) for m, sd in zip(mean, sds, strict=True)]
    others = math.prod(float(part[0]) for k, part in enumerate(parts) if k != which)
    multipliers = [0.0, 0.0, 0.0]
    multipliers[which] = 1.0
    found = integrals(mean, np.diag(np.square(sds)).tolist(), multipliers)
    np.testing.assert_allclose(found, parts[which] * others, rtol=1e-9)


@pytest.mark.parametrize("correlations", [(0.3, 0.5, 0.2), (-0.4, 0.1, 0.6), (0.9, -0.2, -0.5)])
def test_integrals_over_an_orthant(correlations: tuple[float, float, float]) -> None:
    # P(all >= 0) is elementary for means of zero, and so is the mean (Tallis 1961): E[X_i; all
    # >= 0] sums, over j, r_ij times the density of X_j at 0 times P(the other two >= 0 | X_j = 0).
    a, b, c = correlations
    matrix = np.array([[1.0, a, b], [a, 1.0, c], [b, c, 1.0]])
    probability = 1 / 8 + sum(map(math.asin, correlations)) / (4 * math.pi)
    faces = []
    for j in range(3):
        k, m = (i for i in range(3) if i != j)
        partial = (matrix[k, m] - matrix[k, j] * matrix[m, j]) / math.sqrt(
            (1 - matrix[k, j] ** 2) * (1 - matrix[m, j] ** 2)
        )
        faces.append((0.25 + math.asin(partial) / (2 * math.pi)) / math.sqrt(2 * math.pi))
    multipliers = np.array([1.0, -2.0, 3.0])
    found = integrals([0.0] * 3, matrix.tolist(), multipliers.tolist())
    assert found[0] == pytest.approx(probability, rel=1e-9)
    assert found[1] == pytest.approx(multipliers @ matrix @ faces, rel=1e-9)


def test_integrals_without_refused_draws_are_plain_moments() -> None:
    process = ArrivalProcess([1.0], 1.0, [4000.0, 4.0, 200.0], COVARIANCE, [1.0, 10.0, 2.0])
    sd = math.sqrt(np.array([1.0, 10.0, 2.0]) @ COVARIANCE @ [1.0, 10.0, 2.0])
    found = rating_integrals(process, 4440.0, sd)
    np.testing.assert_allclose(found, [1.0, 0.0, 1.0, 0.0, 3.0], rtol=1e-9, atol=1e-9)


def correlated(correlation: float, signs: list[float]) -> list[list[float]]:
    """Return a covariance of standard deviations 2, 1, 3 with all correlations +-the same."""
    signed = np.array(signs) * [2.0, 1.0, 3.0]
    matrix = correlation * np.outer(signed, signed)
    np.fill_diagonal(matrix, [4.0, 1.0, 9.0])
    return list(matrix.tolist())


@pytest.mark.parametrize("signs", [[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
def test_integrals_over_singular_covariances(signs: list[float]) -> None:
    # Every component is a multiple of one normal x; each bounds it from below or above.
    mean, sds = [1.0, 0.7, -0.5], [2.0, 1.0, 3.0]
    zeros = [-m / (s * sd) for m, s, sd in zip(mean, signs, sds, strict=True)]
    low = max(z for z, s in zip(zeros, signs, strict=True) if s > 0)
    high = min([z for z, s in zip(zeros, signs, strict=True) if s < 0], default=40.0)
    multipliers = [1.0, 2.0, -0.3]
    center = sum(m * w for m, w in zip(mean, multipliers, strict=True))
    load_config = sum(w * s * sd for w, s, sd in zip(multipliers, signs, sds, strict=True))
    x, step = np.linspace(low, high, 200_001, retstep=True)
    weights = np.full(x.size, 2.0)  # Simpson's rule
    weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
    density = weights * step / 3 * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    expected = [float(density @ (center + load_config * x) ** k) for k in range(5)]
    assert expected[0] > 0.05
    found = integrals(mean, correlated(1.0, signs), multipliers)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # Nearly singular is nearly the same: the edge is then as steep as may be.
    near = integrals(mean, correlated(1.0 - 1e-10, signs), multipliers)
    np.testing.assert_allclose(near, expected, rtol=1e-4)


def test_integrals_with_components_that_do_not_vary() -> None:
    covariance = np.diag([0.0, 4.0, 0.0]).tolist()
    found = integrals([5.0, 1.0, 0.0], covariance, [1.0, 1.0, 1.0])
    # The rating is 5 + x for a normal x of mean 1 and standard deviation 2 that is >= 0.
    np.testing.assert_allclose(found, truncated_powers(6.0, 2.0, 5.0), rtol=1e-9)


def observed(model: Model[Any], seed: int, n: int) -> Floats:
    """Return the controls of n replications without running them."""
    streams = Streams(seed)
    return np.array([model.observe(model.draw(streams, k)) for k in range(n)])


CONFIGS = {
    "defaults": (),
    "part of an hour": ("horizon=2.25",),
    "hours without arrivals": ("poisson_rate=[0, 30, 0, 12, 0]", "horizon=4.5"),
    "hardly anybody": ("rate_multiplier=0.01", "horizon=3"),
    "means of zero": ("mean_matrix=[0, 0, 0]",),
    "nearly all refused": ("mean_matrix=[-300, 0.3, 5]", "multiplier_matrix=[1, 50, -20]"),
    "singular": ("mean_matrix=[100, 0.1, 5]", "cov_matrix=[[4e4, 40, 0], [40, .04, 0], [0, 0, 0]]"),
    "largest elo": ("elo_max=1250",),
    "ratings all alike": ("cov_matrix=[[0, 0, 0], [0, 0, 0], [0, 0, 0]]",),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_controls_have_their_expectations(name: str) -> None:
    model = build(load_config("valorant", CONFIGS[name]))
    rows, n = observed(model, 1, 3000), 3000
    assert list(model.controls)[:2] == ["players", "arrival_hours"]
    expectations = np.array(list(model.controls.values()))
    errors = rows.std(axis=0, ddof=1) / math.sqrt(n)
    assert (np.abs(rows.mean(axis=0) - expectations) <= 4 * errors).all()
    assert (errors[:2] > 0).all()
    assert (errors[2:] > 0).all() == (name != "ratings all alike")


@pytest.mark.parametrize("override", ["num_players=50", "gaps=poisson"])
def test_other_arrivals_than_a_poisson_process_have_no_controls(override: str) -> None:
    more = ["horizon=null"] * ("num" in override)
    model = build(load_config("valorant", [override, *more]))
    assert not model.controls
    assert not model.floors
    found = defined(run(model, 1, range(2), controls=True).controls)
    assert found.shape == (2, 0)


def test_controls_are_sums_over_the_players() -> None:
    model = build(load_config("valorant"))
    players: Any = model.draw(Streams(2), 5)
    row = observed(model, 2, 6)[5]
    z = (players.ratings - 1251.0) / math.sqrt(np.sum(COVARIANCE))
    # Hardly any draw is refused at the defaults.
    expected = [players.times.size, players.times.sum(), *((z**k).sum() for k in (1, 2, 3, 4))]
    np.testing.assert_allclose(row, expected, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("overrides", [(), ("rate_multiplier=100",), ("matching=joint",)])
def test_observing_changes_no_response(overrides: tuple[str, ...]) -> None:
    model = build(load_config("valorant", overrides))
    n = 2 if overrides == ("rate_multiplier=100",) else 20
    plain, seen = run(model, 1, range(n)), run(model, 1, range(n), controls=True)
    np.testing.assert_array_equal(plain.responses, seen.responses)
    assert plain.controls is None
    assert seen.controls is not None
    np.testing.assert_array_equal(seen.controls, observed(model, 1, n))
    names = [response.name for response in model.responses]
    np.testing.assert_array_equal(seen.controls[:, 0], seen.responses[:, names.index("n_players")])


def test_controls_depend_on_the_index_alone_and_on_no_rule() -> None:
    whole = defined(run(build(load_config("valorant")), 3, range(6), controls=True).controls)
    other = build(load_config("valorant", ["player_diff=10", "matching=joint", "team_num=2"]))
    part = run(other, 3, [4, 2], controls=True).controls
    np.testing.assert_array_equal(part, whole[[4, 2]])


@pytest.mark.slow
def test_adjusted_means_of_the_model_are_unbiased_and_cover() -> None:
    model, runs, n = build(load_config("valorant")), 150, 60
    batch = run(model, 1, range(runs * n), controls=True)
    assert batch.controls is not None
    expectations = np.array(list(model.controls.values()))
    names = [response.name for response in model.responses]
    columns = [names.index(name) for name in ("avg_wait_time", "avg_team_diff", "n_players")]
    values = batch.responses[:, columns]
    wait, team, players = adjust(values, batch.controls, expectations)
    assert players.mean_cv == pytest.approx(518.0, rel=1e-12)
    assert players.std_error_cv == 0.0
    # 1.9 and 1.8 in 8000 replications.
    assert 1.7 <= defined(wait.variance_reduction) <= 2.1
    assert 1.6 <= defined(team.variance_reduction) <= 2.1
    both = (array.reshape(runs, n, -1) for array in (values, batch.controls))
    parts = [adjust(v, c, expectations)[0] for v, c in zip(*both, strict=True)]
    means = np.array([part.mean_cv for part in parts])
    bias = means - values[:, 0].reshape(runs, n).mean(axis=1)
    assert abs(bias.mean()) <= 4 * bias.std(ddof=1) / math.sqrt(runs)
    truth = defined(wait.mean_cv)
    covered = sum(part.ci_low_cv <= truth <= part.ci_high_cv for part in parts)  # type: ignore[operator]
    assert abs(covered / runs - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / runs)


def some_controls() -> list[list[float]]:
    return list(observed(build(load_config("valorant")), 8, 3).tolist())


@pytest.mark.slow
def test_compiled_sums_equal_their_python_source() -> None:
    found = interpreted("tests.statistics.test_control_variates", "some_controls")
    assert found == repr(some_controls())
