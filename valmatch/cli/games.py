"""Commands on game logs: `rate`, `rank`, `predict`, `plan`, `sprt`, `next`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import valmatch
from valmatch.cli.console import MISSED, is_quiet, progress, show, show_result, warn
from valmatch.cli.options import Json, command, needed, warn_in_job_array
from valmatch.errors import InputError, option
from valmatch.game_logs import options as g
from valmatch.inputs import options as o
from valmatch.kernels.plain_python import interpret
from valmatch.text.numerals import whole_number
from valmatch.text.terminal import counted, escaped, print_wrapped, shortened

if TYPE_CHECKING:
    from valmatch.game_logs.whole_log.result import BatchRating
    from valmatch.statistics.sequential_tests import SequentialTest

LogArgument = Annotated[Path, needed("A file of games, or - for stdin.", "GAMES.csv")]
MinGames = Annotated[
    int, o.whole("min_games", 0, "Print only players with this many games; files have all.")
]
RANKED = "A folder that `valmatch rank --out` wrote, in which all players are rated"


@command()
def rate(games: LogArgument, options: g.RateOptions, min_games: MinGames, json: Json) -> None:
    """Rate the players of a game log, predicting each game before it is rated.

    The log is a CSV file, JSON lines or PGN, also packed by gzip. A row for each game: winner,
    loser, optional winner_score, loser_score, draw; or home, away, home_score, away_score; or
    player_a, player_b (or home, away), result (1-0, 1/2-1/2, 0-1, and other usual words); all with
    optional game, minutes, time. Or long format, a row for each player of a game: game, player,
    score (of a team: the sum of its players'), optional team (empty: the player plays alone),
    minutes, enabled (no: the player was there, but is neither rated nor counts for their side),
    home (yes: the player's side plays at home), time. Usual names of columns, words and dates are
    known; a note says what was guessed, and --columns, --results and --date-format say otherwise.
    By elo, --set home_advantage=60 counts for the side at home, but where an optional column
    neutral says yes, --set draw_probability=0.3 predicts draws, and --tune
    home_advantage,draw_probability,K fits both. `valmatch rank` rates a whole log at once, with
    intervals.
    """
    warn_in_job_array("rate")
    systems = [name.strip() for name in (options.system or "").split(",")]
    with progress("bytes", games.stat().st_size if games.is_file() else None) as bar:
        values = vars(options) | {"progress": bar, "warn": warn}
        compared = valmatch.compare_ratings(games, systems, **values) if len(systems) > 1 else None
        result = compared or valmatch.rate_games(games, **values)
    show_result(json, result, options.out, min_games=min_games)


@command()
def rank(
    games: LogArgument,
    options: g.RankOptions,
    min_games: MinGames,
    top: Annotated[int | None, o.whole("top", None, "Print N players.", default="10")],
    markdown: Annotated[bool, o.flag("Print a table to paste.")],
    json: Json,
) -> None:
    """Rate the players of a game log by all of its games at once, with intervals.

    The log has the formats of `valmatch rate`. bradley_terry fits one rating a player, and
    coefficients such as home advantage: with intervals, differences and ranges of ranks.
    whole_history fits a rating for each player and day played, which moves by --set drift=3.7
    points a square-root day from a first day of --set deviation=350; --tune drift fits the drift.
    Exit code 3: a player can have no rating (--prior rates all).
    """
    interpret()  # no kernel is called, so that numba need not be imported
    warn_in_job_array("rank")
    with progress("bytes", games.stat().st_size if games.is_file() else None) as bar:
        result = valmatch.rank_games(games, **vars(options) | {"progress": bar, "warn": warn})
    if markdown and not json:
        show(False, {}, lambda: _print_markdown(result, top, min_games), options.out)
    else:
        show_result(json, result, options.out, top=top, min_games=min_games)
    if not result.complete:
        if json:
            warn(result.notes_below()[-1])
        raise typer.Exit(MISSED)


def _print_markdown(result: BatchRating, top: int | None, min_games: int) -> None:
    """Print the ratings of all players as a table to paste."""
    from valmatch.present.document import View
    from valmatch.present.markdown import table_of
    from valmatch.present.presenting import present

    shown = present(result, View(top=top or len(result.players), min_games=min_games))
    table = shown.tables[0].table
    assert table
    table.notes += result.notes_below()
    print("\n".join(table_of(table)).rstrip())


@command()
def predict(
    ratings: Annotated[Path, needed("A ratings.csv, or the folder of a rating.", "RATINGS")],
    fixtures: Annotated[
        Path | None,
        o.path("A CSV file with a header, or - for stdin.", "[FIXTURES.csv]", argument=True),
    ],
    options: g.PredictOptions,
    json: Json,
) -> None:
    """Predict games to come by the system that rated their players.

    A row for each game: home, away, or player_a, player_b, or side_1, side_2, side_3 ...; a side of
    several players is ann;bob. Or a row for each player: game, player, optional team. Both may have
    a time. Only a side in the column home plays at home, which elo may know to be of advantage,
    unless a column neutral says yes.
    """
    result = valmatch.predict_games(ratings, fixtures, **vars(options) | {"warn": warn})
    show_result(json, result, options.out)


@command()
def plan(
    ratings: Annotated[
        Path | None,
        o.path(
            f"{RANKED}; its games stay. Else --players and --spread.", "[RATINGS]", argument=True
        ),
    ],
    options: g.PlanOptions,
    json: Json,
) -> None:
    """Say how many games it takes to know players as well as is wanted.

    In each simulated league games go on, and the players are rated by bradley_terry at growing
    numbers of games. True strengths are drawn from the belief of RATINGS, or afresh. Exit code 3:
    --max-games does not reach what is wanted.
    """
    warn_in_job_array("plan")
    with progress("leagues", None) as bar:
        result = valmatch.plan_games(ratings, **vars(options) | {"progress": bar})
    show_result(json, result, options.out)
    if not result.reached:
        if json or is_quiet():
            warn(result.sentence)
        raise typer.Exit(MISSED)


@command()
def next(
    ratings: Annotated[Path, needed(f"{RANKED}.", "RATINGS")], options: g.NextOptions, json: Json
) -> None:
    """Suggest the next pairings from ratings and their uncertainty.

    Each pair is chosen as if those before it had been played. The table says what it is worth by
    the policy, the expected score of the first player, the standard error of the difference and
    the games of the pair, those before it included, and with which chance it was chosen. Below it
    stands how uncertain the goal is now, and what choosing does to intervals. `valmatch plan
    RATINGS --policy NAME` says how many games it takes under a policy.
    """
    warn_in_job_array("next")
    with progress("pairs", options.batch) as bar:
        result = valmatch.next_pairs(ratings, **vars(options) | {"progress": bar, "warn": warn})
    show_result(json, result, options.out)


def _counts(text: str) -> tuple[int, ...] | None:
    """Return counts between commas; None if they are none."""
    numbers = [whole_number(part.strip()) for part in text.split(",")]
    counts = tuple(n for n in numbers if n is not None)
    return counts if len(counts) == len(numbers) in (3, 5) else None


@dataclass(frozen=True)
class TestedOptions(o.Options):
    """Who is tested: two of a log, or the counts themselves."""

    counts: tuple[int, ...] | None = o.declare(
        None,
        "Losses, draws and wins; or pentanomial LL,LD,LW+DD,DW,WW, how many pairs of games made 0,"
        " 1/2, 1, 3/2 and 2 points.",
        "L,D,W",
        read=_counts,
        allowed="L,D,W, or LL,LD,LW+DD,DW,WW: whole numbers >= 0",
    )
    wins: int | None = o.whole("min_games", None, "Wins, in place of --counts.")
    draws: int | None = o.whole("min_games", None, "Draws, in place of --counts.", default="0")
    losses: int | None = o.whole("min_games", None, "Losses, in place of --counts.", default="0")
    player: str | None = o.text(None, "Count the wins of this player.", "NAME")
    against: str | None = o.text(None, "Their opponent.", "NAME")


@command()
def sprt(
    games: Annotated[
        Path | None,
        o.path(
            "A log as `valmatch rate` takes it, or - for stdin; instead of --counts.",
            "[GAMES.csv]",
            argument=True,
        ),
    ],
    tested: TestedOptions,
    options: g.SprtOptions,
    json: Json,
) -> None:
    """Say whether one player is shown to be stronger than another, while games go on.

    The sequential probability ratio test of engine testers, by wins, draws and losses, or by pairs
    of games: accept_h1 at the upper bound, accept_h0 at the lower one, else continue. It may be
    asked after every game. The exit code is 0 whatever it says.
    """
    from valmatch.statistics.sequential_tests import sequential_test

    counts, numbers = tested.counts, (tested.losses, tested.draws, tested.wins)
    if any(n is not None for n in numbers):
        o.refuse("counts", counts is not None, f"goes without {option('wins')} and the others")
        counts = tuple(n or 0 for n in numbers)
    if (games is None) == (counts is None):
        both = "one of both, not both" if counts is not None else "one of both"
        raise InputError(f"{option('games')} or {option('counts')}: {both} must be given")
    players = {"player": tested.player, "against": tested.against}
    if games is None:
        assert counts is not None
        of_log = ("pairs_by", "columns", "skip_bad_games", "max_bad_rows", "alias")
        for name, value in (players | {name: getattr(options, name) for name in of_log}).items():
            o.refuse(name, value, f"goes with {option('games')}")
        result, names = sequential_test(counts, **options.hypotheses), ""
    else:
        for name, value in players.items():
            allowed = f"a player of {games}, whom `valmatch check {games}` names"
            o.refuse(name, not value, f"is missing (allowed: {allowed})")
        with progress("bytes", None) as bar:
            values = vars(options) | {"progress": bar, "warn": warn}
            result = valmatch.sprt_games(games, str(tested.player), str(tested.against), **values)
        names = f" of {shortened(escaped(' against '.join(map(str, players.values()))))}"
    show(json, result.as_dict(), lambda: _print_test(result, names))


HEADS = {3: ("losses", "draws", "wins"), 5: ("0", "1/2", "1", "3/2", "2")}
"""What the counts of a sequential test are called, by how many there are."""


def _print_test(test: SequentialTest, names: str) -> None:
    """Print counts, where the ratio stands, what is to be expected."""
    from valmatch.present.document import TextTable
    from valmatch.present.terminal import print_table

    table = TextTable.of(*HEADS[len(test.counts)], "score", "Elo")
    table.add(*map(str, test.counts), f"{test.score:.4f}", f"{test.elo:+.1f}")
    pairs = "" if len(test.counts) == 3 else f" in {test.games // 2:,} pairs (pentanomial)"
    print_table(f"sprt{names}, {counted(test.games, 'game')}{pairs}", table)
    print()
    meaning = {
        "accept_h1": f"elo1 = {test.elo1:g} is accepted",
        "accept_h0": f"elo0 = {test.elo0:g} is accepted",
        "continue": "neither is shown yet, play on",
    }[test.decision]
    at0, at1, here = (
        f"{max(test.expected_games[name], 1.0):,.0f}" for name in ("elo0", "elo1", "estimate")
    )
    lines = {
        f"{test.decision}: {meaning}": True,
        f"log likelihood ratio {test.llr:.3f}, bounds {test.lower_bound:.3f} and"
        f" {test.upper_bound:.3f} (elo0 {test.elo0:g}, elo1 {test.elo1:g}, alpha {test.alpha:g},"
        f" beta {test.beta:g})": True,
        f"a test takes on average {at0} games at elo0, {at1} at elo1, {here} at the score"
        " found": True,
        "all results are the same: the Elo and the games to expect rest on the .001 that counts for"
        " each of the others": test.alike,
        "the Elo of the score is biased after a stop: tests end where the score happens to be far"
        " out": test.decision != "continue",
        f"{counted(test.left_out, 'game')} skipped: not in a pair of two": bool(test.left_out),
    }
    for line, holds in lines.items():
        if holds:
            print_wrapped(line)
