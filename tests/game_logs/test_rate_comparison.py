"""Systems are compared on the same games; parameters are fitted to the first part of a log."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from tests.oracles.rate import EloOracle, Game, Oracle, Row, ZoneStatsOracle
from tests.support.command import success, valmatch
from tests.support.folders import rows as table
from tests.support.game_logs import LONG, duels, random_rows, write
from tests.support.leagues import League, covered
from tests.support.refusals import defined
from valmatch.errors import InputError
from valmatch.game_logs.rating import compare_ratings, compared, rate_games
from valmatch.game_logs.roster import FIRST_BIN, GAMES, LOSS, MEASURES, difference, new_tally
from valmatch.ratings.games import Games
from valmatch.ratings.registry import system_named

pytestmark = pytest.mark.usefixtures("command_line_words")

THREE = ["zonestats", "elo", "trueskill"]


def losses_of(folder: Path) -> list[float]:
    """Return the log loss of each game of a rating by its history."""
    rows = {row["game"]: row for row in table(folder / "history.csv")}
    found = []
    for row in rows.values():
        p, s = float(row["expected"]), float(row["score"])
        found.append(-(s * math.log(p) + (1.0 - s) * math.log(1.0 - p)))
    return found


def test_scores_are_those_of_each_system_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", random_rows(1, 80, sides=(2, 3)))
    names = ["zonestats", "elo", "glicko2"]
    found = compare_ratings(path, names, burn_in=3)
    for name in names:
        alone = rate_games(path, name, burn_in=3).predictions
        for part, own in found.systems[name].predictions.items():
            assert own.games == alone[part].games
            for measure in MEASURES:
                mine, its = getattr(own, measure), getattr(alone[part], measure)
                assert mine == pytest.approx(its, rel=1e-12)
        for measure in MEASURES:
            whole = getattr(alone["all"], measure)
            assert found.systems[name].means[measure].mean == pytest.approx(whole, rel=1e-12)
    best = min(names, key=lambda name: found.systems[name].means["log_loss"].mean or 0.0)
    assert found.leader == best
    assert {one.mean for one in found.systems[best].to_best.values()} == {0.0}


def test_differences_are_paired_over_blocks(tmp_path: Path) -> None:
    """By hand: 120 games are 50 blocks of two or three."""
    path = write(tmp_path / "log.csv", random_rows(2, 120))
    found = compare_ratings(path, ["elo", "zonestats"])
    assert found.blocks == 50
    rate_games(path, "elo", out=tmp_path / "elo")
    rate_games(path, "zonestats", out=tmp_path / "zonestats")
    other = "elo" if found.leader == "zonestats" else "zonestats"
    gain = np.array(losses_of(tmp_path / other)) - np.array(losses_of(tmp_path / found.leader))
    mean = gain.mean()
    ends = [math.ceil(120 * (k + 1) / 50) for k in range(50)]
    blocks = np.split(gain - mean, ends[:-1])
    assert {len(block) for block in blocks} == {2, 3}
    sums = [block.sum() for block in blocks]
    steps = [sums[k + 1] - sums[k] for k in range(49)]
    spread = math.sqrt(sum(step**2 for step in steps) / 2 * 50 / 49) / 120
    got = found.systems[other].to_best["log_loss"]
    assert got.mean == pytest.approx(mean, rel=1e-9)
    assert got.half_width == pytest.approx(t.ppf(0.975, 2 * 49 / 3) * spread, rel=1e-6)


@pytest.mark.slow
def test_blocks_divide_no_day_where_there_are_enough(tmp_path: Path) -> None:
    """So many whole days as weigh 20 blocks; with fewer, or a day of most games, equal blocks."""

    def blocks(name: str, days: list[int], games: int = 300) -> int:
        rows = [[[*row, f"2024-01-{day:02d}"] for row in game]
                for day, game in zip(days, random_rows(3, games), strict=True)]  # fmt: skip
        log = write(tmp_path / name, rows, f"{LONG},time")
        found = compare_ratings(log, ["elo", "zonestats"])
        assert None not in {one.half_width for one in found.systems["elo"].means.values()}
        return found.blocks

    assert blocks("a.csv", [1 + k // 12 for k in range(300)]) == 25
    assert blocks("b.csv", [1 + k // 15 for k in range(300)]) == 20
    assert blocks("c.csv", [1 + k // 16 for k in range(300)]) == 50
    assert blocks("d.csv", [1 + k // 75 for k in range(300)]) == 50
    assert blocks("e.csv", [1 + max(0, k - 275) for k in range(300)]) == 50
    assert blocks("f.csv", [1] * 30, 30) == 30
    one = write(tmp_path / "one.csv", random_rows(3, 1))
    success("rate", one, "--system", "elo,zonestats")


def test_coin_and_record_are_what_they_say(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", random_rows(4, 100))
    found = compare_ratings(path, ["elo"])
    coin = found.systems["coin"].predictions["all"]
    assert coin.accuracy == 0.5
    assert coin.log_loss == pytest.approx(math.log(2.0), rel=1e-14)
    record: dict[str, tuple[float, int]] = {}
    losses = []
    rate_games(path, "elo", out=tmp_path / "elo")
    games: dict[str, list[dict[str, str]]] = {}
    for row in table(tmp_path / "elo" / "history.csv"):
        games.setdefault(row["game"], []).append(row)
    for rows in games.values():
        sides = [[row for row in rows if row["side"] == side] for side in ("1", "2")]
        shares = [[record.get(row["player"], (0.0, 0)) for row in side] for side in sides]
        r, s = (sum((1 + won) / (2 + n) for won, n in side) / len(side) for side in shares)
        p = r * (1 - s) / (r * (1 - s) + s * (1 - r))
        score = float(sides[0][0]["score"])
        losses.append(-(score * math.log(p) + (1 - score) * math.log(1 - p)))
        for row in rows:
            won, n = record.get(row["player"], (0.0, 0))
            record[row["player"]] = (won + float(row["score"]), n + 1)
    want = sum(losses) / len(losses)
    assert found.systems["better record"].predictions["all"].log_loss == pytest.approx(
        want, rel=1e-12
    )


def halo(seed: int, sizes: tuple[int, int] = (4, 12), slope: float = 4.0) -> list[list[list[str]]]:
    """Return games of large teams, whose size decides nothing."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.0, 1.0, 60)
    games = []
    for number in range(400):
        both = rng.integers(sizes[0], sizes[1] + 1, 2)
        chosen = rng.choice(60, both.sum(), replace=False)
        sides = np.split(chosen, [both[0]])
        lead = skill[sides[0]].mean() - skill[sides[1]].mean()
        won = rng.random() < 1.0 / (1.0 + math.exp(-slope * lead))
        games.append(
            [
                [f"g{number}", f"p{player}", f"t{k}", "1" if won == (k == 0) and i == 0 else "0"]
                for k, side in enumerate(sides)
                for i, player in enumerate(side.tolist())
            ]
        )
    return games


@pytest.mark.slow
def test_worse_than_a_coin_is_told_with_the_reason_and_the_way_out(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", halo(1), "game,player,team,score")
    done = valmatch("rate", path, "--system", "elo,trueskill")
    warned = [line for line in done.err.splitlines() if "worse than a coin" in line]
    assert len(warned) == 1
    assert "trueskill predicts worse than a coin (log loss" in warned[0]
    assert "the sum of its players, and " in warned[0]
    assert warned[0].endswith("games had sides of unequal size; --tune mu,sigma,beta fits it to the"
                              " log")  # fmt: skip
    assert warned[0] in valmatch("rate", path, "--system", "trueskill").err
    tuned = rate_games(path, "trueskill", tune=["mu", "sigma", "beta"]).predictions["all"]
    assert defined(tuned.log_loss) < math.log(2.0)


def test_undefined_log_loss_is_not_the_best(tmp_path: Path) -> None:
    """Neither that of a system which predicted nothing, nor one that is no number."""
    path = write(tmp_path / "log.csv", random_rows(7, 60))
    found = compare_ratings(path, ["elo"])
    row = np.zeros((1, *new_tally().shape))
    row[0, :, [GAMES, LOSS]] = np.array([[60.0], [30.0]])
    nothing, unknown = np.zeros_like(row), row.copy()
    unknown[0, :, LOSS] = math.nan
    sums = {"a": nothing, "b": unknown, "elo": row}
    games = Games(*np.zeros((11, 1), np.int64))
    result = compared(sums, dict.fromkeys(sums, found.parameters["elo"]), games, 10)
    assert (result.leader, result.best) == ("elo", None)
    assert result.systems["a"].means["log_loss"].mean is None
    assert result.systems["a"].to_best["log_loss"].mean is None


def test_fitted_systems_are_compared_on_what_they_were_not_fitted_to(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", random_rows(8, 400))
    slow = {"elo.K": 0.5}  # which any fit beats
    alone = defined(rate_games(path, "elo", parameters={"K": 0.5}, tune=["K"], train=0.4).tuning)
    assert alone.adopted
    found = compare_ratings(path, ["elo", "zonestats"], parameters=slow, tune=["elo.K"], train=0.4)
    assert found.parameters["elo"] == alone.tuned.parameters
    assert (found.games, found.fitted_to) == (240, 160)
    for measure in MEASURES:
        whole = getattr(alone.tuned.rest, measure)
        assert found.systems["elo"].means[measure].mean == pytest.approx(whole, rel=1e-12)
    assert found.systems["zonestats"].predictions["after_burn_in"].games == 240
    # From the published value the same fit is not shown to help: it stays, and that is said.
    warnings: list[str] = []
    kept = compare_ratings(path, ["elo"], tune=["elo.K"], train=0.4, warn=warnings.append)
    assert (kept.parameters["elo"]["K"], kept.systems["elo"].fitted) == (32.0, [])
    assert defined(kept.systems["elo"].tuning).tuned.parameters["K"] != 32.0
    assert any(w.startswith("elo: K = ") and "not adopted, K = 32 stays" in w for w in warnings)


# Leagues of which one system is the truth.


def league(seed: int, system: str, n_games: int = 5000) -> list[list[list[str]]]:
    """Return games decided by the very probabilities of a system; of TrueSkill by its skills."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(100, 2, replace=False).tolist() for _ in range(n_games)]
    if system == "trueskill":
        skill = rng.normal(25.0, 25.0 / 3.0, 100)
        lead = [skill[a] - skill[b] for a, b in pairs]
        lead += rng.normal(0.0, math.sqrt(2.0) * 25.0 / 6.0, n_games)
        drawn = np.abs(lead) < 0.1256613 * math.sqrt(2.0) * 25.0 / 6.0
        ends = [(a, b) if won > 0 else (b, a) for (a, b), won in zip(pairs, lead, strict=True)]
        return [
            [[f"p{a}", f"p{b}", "yes" if draw else "no"]]
            for (a, b), draw in zip(ends, drawn.tolist(), strict=True)
        ]
    values = {one.name: one.published for one in system_named(system).parameters}
    oracle: Oracle = {"elo": EloOracle, "zonestats": ZoneStatsOracle}[system](values)
    games = []
    for a, b in pairs:
        names = [f"p{a}", f"p{b}"]
        for name in names:
            oracle.beliefs.setdefault(name, oracle.newcomer())
        sides = [[Row(name, name, 0.0, 20.0)] for name in names]
        if rng.random() >= oracle.expected(Game("", sides), 0, 1):
            names.reverse()
        score = dict(zip(names, (1.0, 0.0), strict=True))
        rows = [[Row(name, name, score[name], 20.0)] for name in sorted(names)]
        oracle.beliefs.update(oracle.update(Game("", rows)))
        games.append([[*names, "no"]])
    return games


@pytest.mark.long
def test_true_system_is_found_in_19_of_20_leagues(tmp_path: Path) -> None:
    found = 0
    for seed in range(20):
        truth = THREE[seed % 3]
        path = write(tmp_path / "log.csv", league(seed, truth), "winner,loser,draw")
        result = compare_ratings(path, THREE)
        found += result.leader == truth
        if result.leader == truth:  # and far ahead of who knows nothing
            coin = result.systems["coin"].to_best["log_loss"]
            assert defined(coin.mean) > defined(coin.half_width)
    assert found >= 19


@pytest.mark.slow
def test_intervals_of_differences_hold_the_truth(tmp_path: Path) -> None:
    """The favourite scores as predicted on average: accuracy lies about as far off as it says."""
    covered: list[bool] = []
    for seed in range(40):
        path = write(tmp_path / "log.csv", league(100 + seed, "elo", 400), "winner,loser,draw")
        result = compare_ratings(path, ["elo"])
        true = result.systems["elo"].predictions["all"]
        # The mean of score - expected score of the favourite is 0 whatever the ratings are.
        excess = sum(one.games * (one.observed - one.predicted) for one in true.calibration)
        half = defined(result.systems["elo"].means["accuracy"].half_width)
        covered.append(abs(excess) / true.games <= half)
    assert sum(covered) >= 34


@pytest.mark.slow
def test_paired_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """240 intervals, of 60 leagues, on whole days and on equal blocks: within 4 standard errors."""
    found = [
        covered(League(600, 20, 150.0, days=days), 30, seed).mean()
        for seed, days in enumerate((3, 30))
    ]
    assert all(0.88 <= share <= 1.0 for share in found)
    assert sum(found) / 2 >= 0.9


# Intervals of scores of predictions end where the scores do, and say why where there is none.


@pytest.mark.parametrize(
    ("measure", "least", "largest"),
    [("accuracy", 0.0, 1.0), ("brier_score", 0.0, 1.0), ("log_loss", 0.0, np.inf)],
)
def test_intervals_end_where_scores_do(measure: str, least: float, largest: float) -> None:
    """Two blocks, one predicted as well as can be and one as badly: few degrees of freedom."""
    column, weight = MEASURES[measure]
    sums = np.zeros((2, FIRST_BIN))
    sums[:, weight], sums[0, column] = 10.0, 10.0
    found = difference(measure, sums)
    assert found.mean is not None
    assert found.half_width is not None
    assert found.mean - found.half_width < least
    assert (found.ci_low, found.ci_high) == (least, min(largest, found.mean + found.half_width))
    assert found.mean == 0.5
    assert found.arms == (0.5 - least, (found.ci_high or 0.0) - 0.5)
    paired = difference(measure, sums, sums[::-1])
    assert paired.half_width is not None
    assert paired.half_width > 1.0
    assert (paired.ci_low, paired.ci_high) == (
        (-1.0, 1.0) if largest == 1.0 else (-paired.half_width, paired.half_width)
    )


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play 3,000 games between 30 players whose Elo ratings have a standard deviation of 200."""
    games = duels(1, 3000, 30, 200.0)
    return write(tmp_path_factory.mktemp("ladder") / "log.csv", games, "winner,loser")


CASES = [("zonestats", ["GAME_MULT"]), ("elo", ["K"]), ("trueskill", ["sigma", "beta"])]


@pytest.mark.parametrize(("system", "names"), CASES)
def test_fit_is_no_worse_than_any_neighbour(system: str, names: list[str], ladder: Path) -> None:
    result = rate_games(ladder, system, tune=names)
    tuning = defined(result.tuning)
    best = defined(tuning.tuned.first.log_loss)
    assert best < defined(tuning.published.first.log_loss)
    lines = ladder.read_text().splitlines(keepends=True)
    half = ladder.parent / "half.csv"
    half.write_text("".join(lines[:1501]))
    for name in names:
        for factor in (0.5, 0.9, 1.1, 2.0):
            near = {**tuning.tuned.parameters, name: tuning.tuned.parameters[name] * factor}
            loss = defined(rate_games(half, system, parameters=near).predictions["all"].log_loss)
            assert loss > best
    assert rate_games(half, system, parameters=tuning.tuned.parameters).predictions["all"] == (
        tuning.tuned.first
    )


def test_rest_is_what_a_rating_of_the_whole_log_leaves(ladder: Path, tmp_path: Path) -> None:
    """Games after the split are predicted from all before them, fitted ones included."""
    result = rate_games(ladder, "elo", tune=["K"], train=0.9, out=tmp_path / "tuned")
    tuning = defined(result.tuning)
    assert (tuning.published.first.games, tuning.published.rest.games) == (2700, 300)
    for trial in (tuning.published, tuning.tuned):
        whole = rate_games(ladder, "elo", parameters=trial.parameters).predictions["all"]
        assert trial.rest.log_loss is not None
        assert 3000 * defined(whole.log_loss) == pytest.approx(
            2700 * defined(trial.first.log_loss) + 300 * trial.rest.log_loss, rel=1e-12
        )
    gain = defined(tuning.tuned.rest.log_loss) - defined(tuning.published.rest.log_loss)
    assert tuning.judged.mean == pytest.approx(gain, abs=1e-12)
    # The rating itself goes on with the fitted values.
    plain = rate_games(ladder, "elo", parameters=tuning.tuned.parameters)
    assert (result.parameters, result.ranking) == (tuning.tuned.parameters, plain.ranking)
    summary = json.loads((tmp_path / "tuned" / "summary.json").read_text())
    assert summary == json.loads(json.dumps(result.summary()))
    assert summary["tuning"]["tuned"]["rest"]["games"] == 300


@pytest.mark.slow
def test_unit_of_the_ratings_cannot_be_fitted(ladder: Path, tmp_path: Path) -> None:
    """T and GAME_MULT by a common factor predict the same; so one of them is held."""
    both = defined(rate_games(ladder, "zonestats", tune=["T", "GAME_MULT"]).tuning)
    assert both.fitted == ["GAME_MULT"]
    assert both.tuned.parameters["T"] == 120.0
    assert both.remarks[0].startswith("T is held at 120.0: among new players the predictions")
    scaled = [{"T": 120.0 * f, "GAME_MULT": 2.0 * f} for f in (1.0, 7.0)]
    rated = [
        rate_games(ladder, "zonestats", parameters=values).predictions["all"] for values in scaled
    ]
    assert rated[0].log_loss == pytest.approx(rated[1].log_loss, rel=1e-10)
    # Known ratings have a unit, and then both can be told.
    rate_games(ladder, "zonestats", out=tmp_path)
    known = defined(
        rate_games(
            ladder, "zonestats", tune=["T", "GAME_MULT"], ratings=tmp_path, again=True
        ).tuning
    )
    assert known.fitted == ["T", "GAME_MULT"]


@pytest.mark.parametrize("system", ["zonestats", "elo", "trueskill"])
def test_extreme_ratings_stay_finite(system: str, tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", [[["a", "b"]], [["b", "c"]], [["c", "a"]]], "winner,loser")
    earlier = tmp_path / "earlier.csv"
    rows = ["a,-1e100,-1e100,1e12", "b,1e100,1e100,1e-12", "c,0,0,1e12"]
    earlier.write_text("\n".join(["player,rating,mu,sigma", *rows]))
    result = rate_games(path, system, ratings=earlier)
    assert np.isfinite(result.ranking.ratings).all()
    assert math.isfinite(defined(result.predictions["all"].log_loss))


def test_openskill_out_of_range_is_an_error_in_words(tmp_path: Path) -> None:
    pytest.importorskip("openskill")
    path = write(tmp_path / "log.csv", [[["a", "b"]]], "winner,loser")
    small = {"mu": 1e6, "sigma": 1e-6, "beta": 1e-6, "tau": 0.0}
    with pytest.raises(InputError, match=r"openskill: math range error in a game of players with"):
        rate_games(path, "openskill", parameters=small, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
