"""Factors of the ZoneStats model."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from valmatch.inputs.fields import (
    Factors,
    Level,
    Minutes,
    Share,
    factor,
    plain_number,
    real,
    refuse,
    up_to,
    whole,
)
from valmatch.ratings.registry import MOST_DISTANT, Cap

# The bounds lie far outside any use; within them no kernel overflows.
Points = Annotated[float, *real(1e-3, 1e6)]
Rate = Annotated[float, *real(1e-6, 1e6)]

MAX_SEATS = 50_000_000
"""Most players times games in one replication: its random numbers take 32 bytes each."""

MAX_SKILL_STD = 50
"""Largest skill_std in units of true_spread; far beyond, scores leave the range of numbers."""


class ZoneStatsFactors(Factors):
    """A population with latent skills on the rating scale whose games are rated by ZoneStats.

    `T`, `GAME_MULT`, `MAX_GAME_LENGTH` and `initial_rating` have names and defaults of "Player
    Rating: Quick View of the Algorithm", whose equation numbers are quoted.
    """

    unwritten = ("contest_time",)

    T: Points = factor(120.0, "points")
    """Spread of the ratings: predictions are logistic in the lead over T (1)."""
    GAME_MULT: Rate = factor(2.0, "points per minute")
    """Multiplier of all adjustments (3), also their cap (5)."""
    MAX_GAME_LENGTH: Minutes = factor(20.0, "minutes")
    """Time in the game beyond which a contest counts no more (3)."""
    initial_rating: Level = factor(500.0, "points")
    """Rating of everybody before the first game, mean of the latent skills."""
    compare: Literal["score_per_hour", "score"] = factor("score_per_hour")
    """What decides a contest. score_per_hour: as in the source (step 1). score: the raw score,
    which favours whoever was in the game longer."""
    contest_time: Literal["shorter", "joint"] = factor("shorter")
    """What a contest counts by, up to MAX_GAME_LENGTH. shorter: the shorter of the times of both
    players, as in (3). joint: the time that both were in the game at once."""
    cap: Cap = factor(MOST_DISTANT)
    """What caps a game. most_distant: whoever is farthest from 0 gets at most GAME_MULT points per
    minute, as in (5); others may get more per minute. every_player: nobody gets more than GAME_MULT
    points per minute, counted up to MAX_GAME_LENGTH. Both scale all players of a game alike, so
    that what some gain others lose."""
    n_players: Annotated[int, *whole(2, 1_000_000)] = factor(100, "players")
    """Number of players."""
    games_per_player: Annotated[int, *whole(1, 1_000_000)] = factor(200, "games")
    """Number of games that a player plays on average."""
    n_teams: Annotated[int, *whole(2, 1000)] = factor(2, "teams")
    """Number of teams in a game."""
    team_size: Annotated[int, *whole(1, 1000)] = factor(1, "players")
    """Number of players on a team; 1 with more than 2 teams: free for all."""
    enabled_share: Annotated[float, *up_to(1)] = factor(1.0)
    """Share of the players who are rated, to a whole number of players; the others play along, but
    nobody is compared with them. All responses are of the rated players."""
    skill_std: Points = factor(150.0, "points")
    """Standard deviation of the normal distribution of the latent skills."""
    true_spread: Points = factor(120.0, "points")
    """Spread of the outcomes: of two players the better one has the higher score per hour with a
    probability that is logistic in the difference of their skills over true_spread."""
    tie_chance: Share = factor(0.0)
    """Probability that nobody scores in a game, so that all its contests are ties."""
    game_minutes: Minutes = factor(20.0, "minutes")
    """Length of a game."""
    late_chance: Share = factor(0.2)
    """Probability that a player joins a game late."""
    latest_join: Share = factor(1.0)
    """Late players join uniformly within this share of the game."""
    early_chance: Share = factor(0.2)
    """Probability that a player leaves a game early."""
    earliest_leave: Share = factor(0.0)
    """Early leavers stay for a share of the rest of the game that is uniform from this to 1."""
    error_bound: Points = factor(60.0, "points")
    """Rating error within which the ratings count as converged."""

    @property
    def n_enabled(self) -> int:
        """Number of rated players."""
        return round(self.enabled_share * self.n_players)

    @model_validator(mode="after")
    def _playable(self) -> Self:
        seats = self.n_teams * self.team_size
        if seats > self.n_players:
            text = f"{self.n_teams} teams of {self.team_size} need {seats} players, more than"
            raise refuse(f"{text} n_players {self.n_players}", "team_size", "n_teams", "n_players")
        if self.n_enabled < 2:
            share = f"enabled_share {plain_number(self.enabled_share)} of {self.n_players} players"
            text = f"{share} leaves {self.n_enabled} to rate (allowed: 2 or more)"
            raise refuse(text, "enabled_share", "n_players")
        if self.n_players * self.games_per_player > MAX_SEATS:
            text = f"{self.n_players} players with {self.games_per_player} games each are too many"
            text += f" for one replication (allowed: a product of at most {MAX_SEATS})"
            raise refuse(text, "games_per_player", "n_players")
        if self.skill_std > MAX_SKILL_STD * self.true_spread:
            text = f"skill_std {plain_number(self.skill_std)} is more than {MAX_SKILL_STD} times"
            spread = f"true_spread {plain_number(self.true_spread)}"
            raise refuse(f"{text} {spread}", "skill_std", "true_spread")
        return self
