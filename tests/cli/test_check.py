"""``valmatch check``: what files are, what is wrong with them, what is written for them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import yaml

import valmatch
from tests.support.command import success
from tests.support.command import valmatch as run
from valmatch.config.config import Config
from valmatch.config.loading import load_config, shipped_configs
from valmatch.errors import InputError
from valmatch.file_check import CheckedFile, check_file
from valmatch.game_logs.rating import rate_games

FILES = Path(__file__).parents[1] / "fixtures" / "files"

KINDS = dict.fromkeys(
    (str(path.relative_to(FILES)) for path in FILES.rglob("*.*") if path.is_file()), ("game log", 0)
) | {
    "public_cases/06-arena-votes/votes.csv": ("votes", 0),
    "public_cases/06-arena-votes/votes.jsonl": ("votes", 0),
    "public_cases/07-pgn/match.pgn": ("PGN", 0),
    "public_cases/08-rule-set-from-the-cli/described.json": ("rule set", 0),
    "public_cases/09-unity-queue/ranked.mmq": ("other service", 2),
    "public_cases/10-skill-that-no-rule-sees/duel.json": ("rule set", 0),
    "public_cases/11-and-more-first/template.yml": ("unknown", 2),
    "public_cases/12-consequent-error/relative.json": ("rule set", 2),
    "public_cases/15-alone-after-the-step/race.json": ("rule set", 0),
    "public_cases/15-alone-after-the-step/tickets.jsonl": ("tickets", 0),
    "newcomer_cases/arena-votes.csv": ("votes", 0),
    "newcomer_cases/club.pgn": ("PGN", 0),
    "newcomer_cases/european-dates.csv": ("game log", 1),
    "newcomer_cases/every-row-twice.csv": ("queue log", 1),
    "newcomer_cases/friday-rules.json": ("rule set", 0),
    "newcomer_cases/friday.yaml": ("config", 0),
    "newcomer_cases/sentinel-minus-one.csv": ("queue log", 1),
}
"""What each file is, and the exit code."""


def test_every_file_is_here() -> None:
    assert {str(path.relative_to(FILES)) for path in FILES.rglob("*.*") if path.is_file()} == {
        *KINDS
    }


@pytest.mark.parametrize("name", KINDS)
def test_files_of_users_are_what_they_are(name: str) -> None:
    kind, code = KINDS[name]
    path = FILES / name
    done = run("check", path, "--json")
    found = json.loads(done.out)
    assert (found["kind"], done.code) == (kind, code)
    assert bool(found["errors"]) == (code == 2)
    assert bool(found["dirt"]) == (code == 1)
    assert found["errors"] == done.err.splitlines()
    plain = run("check", path)
    assert plain.code == code
    assert plain.out.splitlines()[0] == f"{path}: {found['about']}"
    for line in found["next"]:
        assert shlex.split(line)[0] == "valmatch"
        assert line in plain.out


def test_shipped_configs_and_folders_are_known(tmp_path: Path) -> None:
    for name in ("valorant", "tickets", "ladder", "valorant-20min", "bar"):
        assert check_file(shipped_configs()[name]).kind == "config"
    log = FILES / "newcomer_cases/club.pgn"
    rate_games(log, "elo", out=tmp_path / "rated")
    found = check_file(tmp_path / "rated")
    assert (found.kind, found.code) == ("results folder", 0)
    assert "valmatch report" in str(found)
    assert check_file(tmp_path / "rated" / "ratings.csv").about == "a table of ratings"
    empty = check_file(tmp_path)
    assert empty.code == 2
    assert "rated" in empty.errors[0]
    with pytest.raises(InputError, match="no such file"):
        check_file(tmp_path / "nothing")


WORLD = {
    "ruleSet": {
        "ruleLanguageVersion": "1.0",
        "teams": [{"name": "all", "minPlayers": 2, "maxPlayers": 2}],
    },
    "config": {"requestTimeoutSeconds": 60, "horizon": 100},
    "tickets": [{"id": "t", "time": 0, "players": [{"id": "p"}]}],
}
HEREDOC = f'resource "x" "y" {{\n  rule_set_body = <<EOT\n{json.dumps(WORLD["ruleSet"])}\nEOT\n}}\n'

CONTENTS: Mapping[str, tuple[str, str]] = {
    "world.json": (json.dumps(WORLD), "world"),
    "short.yaml": ("teams: {red: 2, blue: 2}\n", "rule set"),
    "main.tf": (HEREDOC, "rule set"),
    "tickets.csv": ("id,time,skill\nt1,0,1500\n", "table"),
    "fixtures.csv": ("home,away\na,b\n", "table"),
    "strange.csv": ("shoe,size\nx,41\n", "unknown"),
    "object.json": ('{"x": 1}', "unknown"),
    "torn.jsonl": ('{"id": "t", "time": 0, "players": [{"id": "p"}]}\n{"id"\n', "tickets"),
    "one-line.json": ('{"model": "valorant", "factors": {"team_diff": 300}}', "config"),
    "faulty.yaml": ("model: valorant\nteams: 3\n", "config"),
    "queue.tsv": ("ts\tMMR (now)\n1772908200\t1500\n1772908260\t1510\n", "queue log"),
    "vectors.csv": ("arrival_hours,elo,kd,wr\n1,1500,1,50\n2,1500,1,50\n", "queue log"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_contents_decide_what_a_file_is(name: str, tmp_path: Path) -> None:
    content, kind = CONTENTS[name]
    path = tmp_path / name
    path.write_text(content)
    found = check_file(path)
    assert found.kind == kind
    unusable = kind == "unknown" or name in ("torn.jsonl", "faulty.yaml")
    assert found.code == (2 if unusable else 0), found
    assert all(name in line for line in found.errors)


@pytest.mark.parametrize(
    "name",
    [
        "public_cases/06-arena-votes/votes.jsonl",
        "public_cases/07-pgn/match.pgn",
        "newcomer_cases/tune-club.csv",
        "newcomer_cases/every-row-twice.csv",
        "public_cases/15-alone-after-the-step/tickets.jsonl",
    ],
)
def test_text_in_utf_16_is_read_as_in_utf_8(name: str, tmp_path: Path) -> None:
    want, path = check_file(FILES / name), tmp_path / Path(name).name
    path.write_text((FILES / name).read_text(encoding="utf-8-sig"), encoding="utf-16")
    found = check_file(path)
    assert (found.kind, found.about, found.code) == (want.kind, want.about, want.code)
    assert (found.understood, found.rows) == (want.understood, want.rows)
    if found.kind not in ("queue log", "tickets"):
        assert rate_games(path, "elo").columns() == rate_games(FILES / name, "elo").columns()


def test_what_is_no_config_says_how_to_get_one(tmp_path: Path) -> None:
    for name, words in {
        "newcomer_cases/friday-rules.json": "valmatch rules config",
        "public_cases/08-rule-set-from-the-cli/described.json": "valmatch rules config",
        "public_cases/09-unity-queue/ranked.mmq": "Unity Matchmaker queue",
        "newcomer_cases/every-row-twice.csv": "this is a table: name it under arrivals",
        "newcomer_cases/club.pgn": "valmatch rate",
        "public_cases/15-alone-after-the-step/tickets.jsonl": "valmatch check",
    }.items():
        for command in (("simulate",), ("replicate", "-n", "2")):
            done = run(*command[:1], FILES / name, *command[1:])
            assert done.code == 2
            (line,) = done.err.splitlines()
            assert words in line
            assert name in line


def test_the_mapping_of_a_game_log_is_its_options(tmp_path: Path) -> None:
    log, mapping = FILES / "newcomer_cases/tune-club.csv", tmp_path / "mine.yaml"
    found = check_file(log, write=mapping)
    options = yaml.safe_load(mapping.read_text(encoding="utf-8"))
    assert options["separator"] == ";"
    assert options["columns"]["player_a"] == "Weiß"
    guessed, given = rate_games(log, "elo"), rate_games(log, "elo", **options)
    assert given.columns() == guessed.columns()
    assert found.writes == mapping.read_text(encoding="utf-8")


def test_only_a_file_of_its_own_is_replaced(tmp_path: Path) -> None:
    rules, mine = FILES / "newcomer_cases/friday-rules.json", tmp_path / "mine.yaml"
    success("check", rules, "--write", mine)
    success("check", rules, "--write", mine)
    config = load_config(mine)
    assert config.files["rules"].path.samefile(rules)
    mine.write_text("model: valorant\n")
    done = run("check", rules, "--write", mine)
    assert (done.code, mine.read_text()) == (2, "model: valorant\n")
    assert "exists" in done.err
    assert "nothing to write" in run("check", mine, "--write", tmp_path / "x").err


# A dirty log whose clean one is known.


def clean_rows(rng: np.random.Generator, days: int) -> list[tuple[float, str, int]]:
    """Return seconds, account and rating of players of some days, fewer at night."""
    rows = []
    for hour in range(24 * days):
        rate = 25 + 20 * np.sin(2 * np.pi * (hour % 24 - 9) / 24)
        for second in rng.uniform(0, 3600, rng.poisson(rate)):
            account = int(rng.integers(4000))
            rating = int(np.random.default_rng(account).normal(1500, 300))
            rows.append((3600 * hour + float(second), f"acc{account}", rating))
    rows.sort()
    kept, latest = [], dict[str, float]()
    for row in rows:  # nobody comes twice within six hours
        if row[0] - latest.get(row[1], -1e9) > 6 * 3600:
            kept.append(row)
            latest[row[1]] = row[0]
    return kept


def written_log(path: Path, rows: Sequence[tuple[float, str, object, str]], bom: str = "") -> None:
    start = datetime(2026, 3, 2, tzinfo=UTC)
    lines = [
        f"{(start + timedelta(seconds=time)).isoformat()};{account};{rating};{status}\n"
        for time, account, rating, status in rows
    ]
    path.write_text(f"{bom}Joined At;Account ID;MMR;Status\n{''.join(lines)}", encoding="utf-8")


def dirty_rows(
    rng: np.random.Generator, rows: Sequence[tuple[float, str, int]]
) -> list[tuple[float, str, object, str]]:
    """Return rows with every kind of dirt that exports have."""
    dirty: list[tuple[float, str, object, str]] = []
    for time, account, rating in rows:
        shown: object = rating if rng.random() > 0.03 else -1
        dirty += [(time, account, shown, "matched")] * (2 if rng.random() < 0.25 else 1)
        if rng.random() < 0.06:  # impatient: queued a moment before
            dirty.append((max(0.0, time - float(rng.uniform(5, 20))), account, shown, "matched"))
    for _ in range(len(rows) // 8):
        time, _, rating = rows[int(rng.integers(len(rows)))]
        low = rating - 300
        dirty.append((time, f"x{rng.integers(10**6)}", low, "cancelled"))
    dirty += [(rows[k][0], "ghost", "n/a", "matched") for k in range(0, len(rows), 90)]
    order = rng.permutation(len(dirty))
    return [dirty[k] for k in order]


def test_a_dirty_log_gives_the_waits_of_the_clean_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(66)
    rows = clean_rows(rng, 10)
    clean, dirty, mine = (tmp_path / name for name in ("clean.csv", "dirty.csv", "mine.yaml"))
    written_log(clean, [(*row, "matched") for row in rows])
    written_log(dirty, dirty_rows(rng, rows), "\ufeff")
    found: CheckedFile = check_file(dirty, write=mine)
    kinds = {notice.kind for notice in found.dirt}
    assert {"duplicate_rows", "queued_again", "doubtful_ratings", "doubtful_status"} <= kinds
    assert {"rows_left_out", "unsorted"} <= kinds
    rule = {"team_num": 2, "player_diff": 300, "team_diff": 150, "measure": ["bands"]}
    columns = {"arrival_hours": "Joined At", "rating": "MMR", "player": "Account ID"}
    log = {"columns": columns, "separator": "semicolon"}

    def config(file: Path, how: Mapping[str, object]) -> Config:
        factors = {**rule, "log": {**log, **how}}
        return load_config({"model": "valorant", "arrivals": str(file), "factors": factors})

    truth = valmatch.replicate(config(clean, {"resample": "block", "block_hours": 24}), 60)
    cleaned = valmatch.simulate(load_config(mine, rule))
    raw = valmatch.simulate(config(dirty, {"sort": True, "skip_bad_rows": True}))
    off = []
    for name in ("avg_wait_time", "avg_wait_time.bottom_10%"):
        error = float(np.std(truth[name][1:], ddof=1))
        assert abs(value_of(cleaned, name) - truth[name][0]) < 3 * error, name
        off.append(abs(value_of(raw, name) - truth[name][0]) / error)
    assert max(off) > 3


def value_of(result: valmatch.Simulation, name: str) -> float:
    names = [response.name for response in result.responses]
    return float(result.values[names.index(name)])
