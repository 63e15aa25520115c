"""``valmatch next``."""

from __future__ import annotations

from dataclasses import replace

from valmatch.cli.console import progress, show_result, warn
from valmatch.cli.options import Json, RatingsArgument, command, warn_in_job_array
from valmatch.game_logs.options import NextOptions


@command()
def next(ratings: RatingsArgument, options: NextOptions, json: Json) -> None:
    """Suggest the next pairings from ratings and their uncertainty.

    Each pair is chosen as if those before it had been played. The table says what it is worth by
    the policy, the expected score of the first player, the standard error of the difference and
    the games of the pair, those before it included, and with which chance it was chosen. Below it
    stands how uncertain the goal is now, and what choosing does to intervals. `valmatch plan
    RATINGS --policy NAME` says how many games it takes under a policy.
    """
    from valmatch.game_logs.next_pairs import next_of

    warn_in_job_array("next")
    with progress("pairs", options.batch) as advance:
        found = next_of(ratings, replace(options, progress=advance, warn=warn))
    show_result(json, found.document(), found, options.out)
