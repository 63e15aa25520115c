"""The worlds of a population: a ladder in which all who are there wait at every tick."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from results.study import Row, grid, responses_of
from valmatch import load_config
from valmatch.kernels.arrays import Floats
from valmatch.models.ladder.loop import NEW, Log, new_log
from valmatch.models.ladder.model import LadderModel, Run
from valmatch.models.ladder.population import DrawnPlayers
from valmatch.models.model import Outcome, Response, Responses

ROUND = 1.0 / 1440.0  # days: a tick a minute
SKILL_STD, PRIOR_VARIANCE = 300.0, 6.5  # of all skills, in points and in the units of the paper
CHURNS = (0.01, 0.04, 0.1, 0.2)
NOISES = (0.6, 2.5, 10.0)
POOLS = (40, 200, 1000)
PRIORS: Mapping[str, tuple[str, ...]] = {
    "right": (),
    "newcomers below": ("population.newcomer_skill_mean=1200",),
    "smurfs": ("population.smurf_share=0.02", "population.smurf_skill=2100"),
}
WORLDS = grid(churn=CHURNS, noise=NOISES, pool=POOLS, prior=PRIORS)

WARMUP = {0.01: 60, 0.04: 40, 0.1: 20, 0.2: 10}  # rounds by churn
# Rounds by pool: small pools need more for intervals that are not much wider.
MEASURED = {40: 100, 200: 50, 1000: 20}
PRIMARY = ("quality", "newcomer_quality")
SECONDARY = ("squared_error", "calibration", "avg_wait_time", "joined_first_wait")


def for_tuning(world: Row) -> bool:
    """Return whether ucb is tuned on a world: each setting of the others with one churn of four."""
    numbers = (
        CHURNS.index(world["churn"]),
        NOISES.index(world["noise"]),
        POOLS.index(world["pool"]),
        list(PRIORS).index(world["prior"]),
    )
    return sum(numbers) % len(CHURNS) == 0


class Judged(LadderModel):
    """The ladder, with the true quality of its matches, as the paper defines it."""

    responses = Responses(
        *LadderModel.responses,
        Response("quality", "", "mean over matches of q~ of (6) at the true skills"),
        Response("newcomer_quality", "", "the same over the first ten games of who joined"),
    )

    def run(self, inputs: DrawnPlayers) -> Outcome:
        """Return the responses, with those of the log."""
        log = new_log(self._room(), self._room(), 1)
        played = self.play(inputs, log)
        assert played.loop.state["tickets"][0] <= self._room()
        return Outcome({**self._responses(played), **self._qualities(inputs, played, log)})

    def _room(self) -> int:
        factors = self._factors
        joined = factors.population.newcomers_per_day * factors.days
        rounds = factors.days / ROUND
        # Where newcomers have to wait, more are there than the pool is named after.
        return int(3.0 * (self._contents.players + joined) + 2.0 * rounds * self._contents.players)

    def _qualities(self, inputs: DrawnPlayers, played: Run, log: Log) -> dict[str, float]:
        """Return the mean quality of all matches, and of the newcomers' first ten games."""
        n = int(played.loop.state["numbered"][0])
        matches = log.matches[:n]
        measured = matches["time"] >= 24.0 * self._factors.warmup_days
        # p is Phi of the difference of skills over sqrt(2) beta.
        quality = np.exp(-0.5 * ndtri(matches["p"]) ** 2)
        players = log.tickets["player"][log.teams[:n]].ravel()
        first_newcomer = inputs.skills.size - inputs.joining.size
        appearances = np.flatnonzero(players >= first_newcomer)
        early = appearances[games_before(players[appearances]) < NEW] // 2
        early = early[measured[early]]
        return {
            "quality": float(quality[measured].mean()),
            "newcomer_quality": float(quality[early].mean()),
        }


def games_before(players: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often the player of each entry comes at earlier entries."""
    order = np.argsort(players, kind="stable")
    new = np.flatnonzero(np.diff(players[order], prepend=-1))
    lengths = np.diff(np.append(new, players.size))
    before = np.empty(players.size, np.int64)
    before[order] = np.arange(players.size) - np.repeat(new, lengths)
    return before


def beta_of(noise: float) -> float:
    """Return the deviation of a performance in points."""
    return SKILL_STD * math.sqrt(noise / PRIOR_VARIANCE)


def settings(world: Row, policy: str, kappa: float) -> list[str]:
    """Return what makes a world of ladder-duel.

    A session is a career: it ends, for good, with the probability `churn` after each game. All who
    are there at the start come within the first minutes.
    """
    churn, pool, beta = world["churn"], world["pool"], beta_of(world["noise"])
    warmup, measured = WARMUP[churn], MEASURED[pool]
    return [
        f"days={(warmup + measured) * ROUND!r}",
        f"warmup_days={(warmup + 0.5) * ROUND!r}",
        f"population.players={pool}",
        f"population.newcomers_per_day={pool * churn / ROUND!r}",
        *PRIORS[world["prior"]],
        "sessions.per_day=30",
        f"sessions.hourly_profile=[{', '.join(['1'] + ['0'] * 23)}]",
        "sessions.activity_cv=0",
        f"sessions.continue_prob={1.0 - churn!r}",
        "sessions.win_effect=0",
        "sessions.loss_effect=0",
        "sessions.break_minutes=0.05",
        "sessions.churn=1",
        "match.minutes=0.5",
        f"match.beta={beta!r}",
        f"rating.beta={beta!r}",
        "rating.tau=0",
        f"rule.policy={policy}",
        *([f"rule.gamma={1.0 - churn!r}"] if policy.startswith("knowledge") else []),
        *([f"rule.kappa={kappa!r}"] if policy == "ucb" else []),
    ]


def judged_matches(world: Row, policy: str, kappa: float, seed: int, n: int) -> dict[str, Floats]:
    """Return what is judged, replication by replication."""
    factors: Any = load_config("ladder-duel", settings(world, policy, kappa)).factors
    values = responses_of(Judged(factors), seed, range(n))
    values["squared_error"] = values["rating_error"] ** 2
    return {name: values[name] for name in PRIMARY + SECONDARY}
