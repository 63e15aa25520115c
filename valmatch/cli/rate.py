"""``valmatch rate``."""

from __future__ import annotations

from dataclasses import replace

from valmatch.cli.console import log_progress, show_result, warn
from valmatch.cli.options import Json, LogArgument, MinGames, command, warn_in_job_array
from valmatch.game_logs.options import RateOptions


@command()
def rate(
    games: LogArgument, options: RateOptions, min_games: MinGames = 0, json: Json = False
) -> None:
    """Rate the players of a game log, predicting each game before it is rated.

    Long format, a row for each player of a game: game, player, score, optional team (empty: the
    player plays alone), minutes, enabled (no: the player was there, but is neither rated nor
    counts for their side), time. A row for each game: winner, loser, optional winner_score,
    loser_score, draw; or home, away, home_score, away_score; or player_a, player_b (or home, away),
    result (1-0, 1/2-1/2, 0-1; for home and away also H, D, A); all with optional game, minutes,
    time. PGN tags in a CSV file: --columns player_a=White,player_b=Black,result=Result,time=Date; a
    name with a comma stands in quotes, game="match, id". By elo, --set home_advantage=60 counts for
    the side in the column home, but where an optional column neutral says yes, --set
    draw_probability=0.3 predicts draws, and --tune home_advantage,draw_probability,K fits both.
    `valmatch rank` rates a whole log at once, with intervals.
    """
    from valmatch.game_logs.comparison import compare_systems
    from valmatch.game_logs.rating import rate_log

    warn_in_job_array("rate")
    systems = [name.strip() for name in (options.system or "").split(",")]
    with log_progress(games) as bar:
        options = replace(options, progress=bar, warn=warn)
        if len(systems) > 1:
            compared = compare_systems(games, systems, options)
        else:
            result = rate_log(games, options)
    if len(systems) > 1:
        show_result(json, compared.summary(), compared, options.out)
        return
    show_result(json, result.summary(), result, options.out, min_games=min_games)
