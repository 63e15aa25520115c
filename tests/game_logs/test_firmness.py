"""How firm a ranking is, on the command line and from Python."""

from __future__ import annotations

import json
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from tests.support.command import success, valmatch
from tests.support.folders import rows

PLAYERS = ("ann", "bob", "cy", "dan", "eve")
HEAD = "player_a,player_b,result,question,x_a,x_b"


def votes(games: int = 240, seed: int = 1) -> list[str]:
    """Return votes on pairs; each fourth question is asked in the other order, too."""
    rng, lines = np.random.default_rng(seed), list[str]()
    for k in range(games):
        a, b = rng.permutation(len(PLAYERS))[:2].tolist()
        x = rng.integers(1, 9, 2).tolist()
        for first, second in ((0, 1), (1, 0)) if k % 4 == 0 else ((0, 1),):
            pair = ((a, x[0]), (b, x[1]))
            (one, x_one), (other, x_other) = pair[first], pair[second]
            lead = 30.0 * (other - one) + 40.0 + 4.0 * (x_one - x_other)
            draw = rng.random() < 0.1
            won = rng.random() < 1.0 / (1.0 + 10.0 ** (-lead / 400.0))
            result = "1/2-1/2" if draw else "1-0" if won else "0-1"
            lines.append(f"{PLAYERS[one]},{PLAYERS[other]},{result},q{k},{x_one},{x_other}")
    return lines


def write(path: Path, lines: list[str], head: str = HEAD) -> Path:
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "votes.csv", votes())


@pytest.mark.parametrize("options", [(), ("--draws", "half"), ("--prior", "100")])
def test_without_the_rows_of_a_boundary_the_second_is_ahead(
    options: tuple[str, ...], log: Path, tmp_path: Path
) -> None:
    success("rank", log, *options, "--firmness", "--out", tmp_path / "out")
    boundaries = rows(tmp_path / "out" / "firmness.csv")
    order = [row["player"] for row in rows(tmp_path / "out" / "ratings.csv")]
    assert [row["boundary"] for row in boundaries] == ["1", "2", "3", "4"]
    names = [(row["player_a"], row["player_b"]) for row in boundaries]
    assert names == [*pairwise(order)]
    for row in boundaries:
        gone = {int(number) for number in row["rows"].split(";")}
        assert len(gone) == int(row["games"]) == round(float(row["share"]) * len(votes()))
        assert float(row["low"]) <= float(row["expected"]) <= float(row["high"])
        left = [line for k, line in enumerate(votes(), 1) if k not in gone]
        done = valmatch("rank", write(tmp_path / "left.csv", left), *options, "--json")
        ranks = [player["player"] for player in json.loads(done.out)["ratings"]]
        assert ranks.index(row["player_b"]) < ranks.index(row["player_a"])


def test_bought_wins_make_first(log: Path, tmp_path: Path) -> None:
    firm = library.rank_games(log).firmness(bought=["eve"])
    assert firm["bought"][0]["over"] == firm["boundaries"][0]["player_a"]
    for row in firm["bought"]:
        for more, first in ((row["wins"] - 1, False), (row["wins"], True)):
            lines = votes() + [f"eve,{row['over']},1-0,,0,0"] * more
            again = library.rank_games(write(tmp_path / "more.csv", lines))
            assert (again.players[0].player == "eve") == first


def test_order_is_an_advantage_of_home(log: Path, tmp_path: Path) -> None:
    """The side at home and the one shown first are the same, whatever a column is called."""
    firm = library.rank_games(log).firmness(cluster=["question"])
    home = write(tmp_path / "home.csv", votes(), HEAD.replace("player_a,player_b", "home,away"))
    rating = library.rank_games(home, cluster=["question"])
    row = rating.coefficients[0]
    assert row.low is not None
    ends = [row.value, row.low, row.high]
    assert [firm["order"][k] for k in ("points", "low", "high")] == pytest.approx(ends, abs=1e-4)
    assert rating.firmness()["order"]["name"] == "home_advantage"
    assert firm["order"]["percent"] == pytest.approx(100.0 / (1.0 + 10.0 ** (-row.value / 400.0)))
    lines = [f"{a},{b}" if r == "1-0" else f"{b},{a}" for a, b, r, *_ in map(_cells, votes())]
    won = write(tmp_path / "won.csv", lines, "winner,loser")
    assert library.rank_games(won).firmness()["order"] is None


def _cells(line: str) -> list[str]:
    return line.split(",")


def test_judgements_that_turn_over(log: Path, tmp_path: Path) -> None:
    swapped = library.rank_games(log, firmness=True, swapped_by="question").firmness()["swapped"]
    by_question: dict[str, list[str]] = {}
    for line in votes():
        by_question.setdefault(_cells(line)[3], []).append(line)
    both = [lines for lines in by_question.values() if len(lines) == 2]
    other = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1/2-1/2"}
    steady = [two for two in both if _cells(two[0])[2] == other[_cells(two[1])[2]]]
    assert (swapped["pairs"], swapped["unpaired"]) == (60, 180)
    assert swapped["turned"] == 60 - len(steady)
    assert 0.0 < swapped["low"] < swapped["share"] < swapped["high"] < 1.0
    again = library.rank_games(write(tmp_path / "steady.csv", [*chain(*steady)]))
    expected = {row.player: row.rating for row in again.players}
    assert {row["player"]: row["rating"] for row in swapped["steady"]} == pytest.approx(
        expected, abs=1e-3
    )


def test_a_covariate_is_left_out(log: Path) -> None:
    with_it, without = library.rank_games(log, covariate=["x"]), library.rank_games(log)
    (entry,) = with_it.firmness()["covariates"]
    ranks = {row.player: row.rank for row in without.players}
    changed = [
        {"player": row.player, "rank": row.rank, "rank_without": ranks[row.player]}
        for row in with_it.players
        if row.rank != ranks[row.player]
    ]
    assert entry == {"name": "x", "changed": changed}


def test_a_gate_says_who_is_shown_and_who_needs_more(log: Path, tmp_path: Path) -> None:
    players = library.rank_games(log).players
    limit = float(np.median([0.5 * ((row.high or 0.0) - (row.low or 0.0)) for row in players]))
    least = min(row.games for row in players) + 1
    gate = f"games>={least}, half_width<={limit!r}"
    done = success("rank", log, "--show-when", gate, "--out", tmp_path / "out")
    table = rows(tmp_path / "out" / "ratings.csv")
    for row in table:
        half, games = 0.5 * (float(row["high"]) - float(row["low"])), int(row["games"])
        need = max(games * max(half / limit, 1.0) ** 2, least)
        assert int(row["games_more"]) == int(np.ceil(need)) - games
        assert row["shown"] == ("yes" if row["games_more"] == "0" else "no")
    assert {row["shown"] for row in table} == {"yes", "no"}
    hidden = [row["player"] for row in table if row["shown"] == "no"]
    seen, _, rest = done.out.partition("Not shown yet")
    assert all(f" {name} " in rest.replace("\n", " ") for name in hidden)
    assert not any(f"  {name} " in seen for name in hidden)


def test_terminal_report_and_folder_say_it(log: Path, tmp_path: Path) -> None:
    words = ("--firmness", "--swapped-by", "question", "--bought", "eve", "--best-of", "3")
    out = tmp_path / "out"
    done = success("rank", log, *words, "--covariate", "x", "--out", out)
    text = " ".join(done.out.split())
    for part in ("1-2", "an upper bound", "bought:", "shown first:", "both orders:", "(n = 3)"):
        assert part in text.lower()
    assert "would be ahead of" in text
    firm = json.loads((out / "summary.json").read_text(encoding="utf-8"))["firmness"]
    options = {"swapped_by": "question", "bought": ["eve"], "best_of": 3}
    assert library.rank_games(log, covariate=["x"]).firmness(**options) == firm
    success("report", out, "-o", tmp_path / "page.html")
    assert "How firm it is" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--firmness --system whole_history", "--firmness: goes with --system bradley_terry"),
        ("--firmness --weight x_a", "--firmness: goes without --weight"),
        ("--bought bob", "--bought: goes with --firmness"),
        ("--firmness --bought bop", "--bought: 'bop' has not played (did you mean bob?)"),
        ("--firmness --swapped-by questoin", "--swapped-by: no column 'questoin'"),
        ("--firmness --best-of 1", "--best-of: 1 (allowed:"),
        ("--firmness --best-of 2,x", "--best-of"),
        ("--show-when width<=5", "--show-when: 'width<=5' (allowed: half_width<=POINTS"),
        ("--show-when games>=nan", "--show-when: 'games>=nan' (allowed:"),
        ("--show-when half_width<=5 --interval none", "has no half-widths"),
    ],
)
def test_refusals_are_one_line(options: str, words: str, log: Path) -> None:
    done = valmatch("rank", log, *options.split())
    assert done.code == 2
    assert words in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("head", "lines", "options", "words"),
    [
        ("game,player,score", ["1,ann,3", "1,bob,1"], (), "takes games of two sides, a row each"),
        ("winner,loser,q", ["a,b,1", "b,a,1"], ("--swapped-by", "q"), "who is shown first"),
    ],
)
def test_other_logs_are_refused(
    head: str, lines: list[str], options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    done = valmatch("rank", write(tmp_path / "log.csv", lines, head), "--firmness", *options)
    assert done.code == 2
    assert words in " ".join(done.err.split())
