"""Parameters are fitted to the first part of a log and judged by the rest."""

from __future__ import annotations

import json
import math
import signal
import statistics
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from tests.support.game_logs import write
from tests.support.refusals import defined
from valmatch.errors import InputError
from valmatch.game_logs import tuning as tuning_module
from valmatch.game_logs.rating import rate_games

pytestmark = pytest.mark.usefixtures("command_line_words")


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play 3,000 games between 30 players whose Elo ratings have a standard deviation of 200."""
    rng = np.random.default_rng(1)
    skill = rng.normal(0, 200, 30)
    rows = []
    for _ in range(3000):
        a, b = rng.choice(30, 2, replace=False).tolist()
        if rng.random() > 1 / (1 + 10 ** ((skill[b] - skill[a]) / 400)):
            a, b = b, a
        rows.append([[f"p{a}", f"p{b}"]])
    return write(tmp_path_factory.mktemp("ladder") / "log.csv", rows, "winner,loser")


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
    losses = []
    for trial in (tuning.published, tuning.tuned):
        whole = rate_games(ladder, "elo", parameters=trial.parameters).predictions["all"]
        assert trial.rest.log_loss is not None
        assert 3000 * defined(whole.log_loss) == pytest.approx(
            2700 * defined(trial.first.log_loss) + 300 * trial.rest.log_loss, rel=1e-12
        )
        losses.append(trial.rest.log_loss)
    assert tuning.rest_log_loss_difference.mean == pytest.approx(losses[1] - losses[0], abs=1e-12)
    # The rating itself goes on with the fitted values.
    plain = rate_games(ladder, "elo", parameters=tuning.tuned.parameters)
    assert (result.parameters, result.ranking) == (tuning.tuned.parameters, plain.ranking)
    summary = json.loads((tmp_path / "tuned" / "summary.json").read_text())
    assert summary == json.loads(json.dumps(result.summary()))
    assert summary["tuning"]["tuned"]["rest"]["games"] == 300


def test_difference_is_paired(ladder: Path, tmp_path: Path) -> None:
    tuning = defined(rate_games(ladder, "elo", tune=["K"]).tuning)
    columns: list[list[float]] = []
    for k, trial in enumerate((tuning.published, tuning.tuned)):
        rate_games(ladder, "elo", parameters=trial.parameters, out=tmp_path / f"{k}")
        rows = (tmp_path / f"{k}" / "history.csv").read_text().splitlines()[1:]
        winners = (row.split(",") for row in rows if row.split(",")[4] == "1.0")
        columns.append([-math.log(float(row[3])) for row in winners][1500:])
    gains = [tuned - published for published, tuned in zip(*columns, strict=True)]
    assert tuning.rest_log_loss_difference.mean == pytest.approx(statistics.mean(gains), abs=1e-12)
    std_error = statistics.stdev(gains) / math.sqrt(1500)
    assert tuning.rest_log_loss_difference.std_error == pytest.approx(std_error, rel=1e-9)


@pytest.mark.slow
def test_unit_of_the_ratings_cannot_be_fitted(ladder: Path, tmp_path: Path) -> None:
    """T and GAME_MULT by a common factor predict the same; so one of them is held."""
    both = defined(rate_games(ladder, tune=["T", "GAME_MULT"]).tuning)
    assert both.fitted == ["GAME_MULT"]
    assert both.tuned.parameters["T"] == 120.0
    assert both.remarks == [
        "T is held at 120.0: among new players the predictions depend only on the ratios of"
        " T, GAME_MULT"
    ]
    one = defined(rate_games(ladder, tune=["T"]).tuning)
    assert one.remarks == []
    ratios = [t.tuned.parameters["GAME_MULT"] / t.tuned.parameters["T"] for t in (both, one)]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-3)
    scaled = [{"T": 120.0 * f, "GAME_MULT": 2.0 * f} for f in (1.0, 7.0)]
    rated = [rate_games(ladder, parameters=values).predictions["all"] for values in scaled]
    assert rated[0].log_loss == pytest.approx(rated[1].log_loss, rel=1e-10)
    # Known ratings have a unit, and then both can be told.
    rate_games(ladder, out=tmp_path)
    known = defined(
        rate_games(ladder, tune=["T", "GAME_MULT"], ratings=tmp_path, again=True).tuning
    )
    assert known.fitted == ["T", "GAME_MULT"]


def test_end_of_the_range_is_remarked(tmp_path: Path) -> None:
    """Where two players win by turns, ever slower ratings predict ever better."""
    path = write(tmp_path / "log.csv", [[["a", "b"]], [["b", "a"]]] * 20, "winner,loser")
    warnings: list[str] = []
    rate_games(path, "elo", tune=["K"], warn=warnings.append)
    assert warnings == ["K = 0.4 lies at the end of the range searched"]


def test_search_ends(ladder: Path) -> None:
    tuning = defined(
        rate_games(ladder, "trueskill", tune=["sigma", "beta", "tau", "draw_probability"]).tuning
    )
    limit = 4 * (tuning_module._STEPS + tuning_module._EVALUATIONS) + 10
    assert 4 * tuning_module._STEPS < tuning.evaluations <= limit


def test_fit_stops_when_asked_to(ladder: Path, tmp_path: Path) -> None:
    loss = tuning_module._Trials.loss
    losses: list[float] = []

    def interrupted(trials: tuning_module._Trials, values: dict[str, float]) -> float:
        losses.append(loss(trials, values))
        if len(losses) == 5:
            signal.raise_signal(signal.SIGINT)
        return losses[-1]

    with (
        mock.patch.object(tuning_module._Trials, "loss", interrupted),
        pytest.raises(KeyboardInterrupt),
    ):
        rate_games(ladder, tune=["GAME_MULT"], out=tmp_path / "out")
    assert len(losses) == 5
    assert not (tmp_path / "out").exists()


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
