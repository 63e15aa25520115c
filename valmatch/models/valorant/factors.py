"""Factors of the Valorant matchmaking model."""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from valmatch.inputs.fields import (
    Factors,
    Minutes,
    NonNegative,
    Number,
    Positive,
    Share,
    factor,
    plain_number,
    refuse,
    whole,
)
from valmatch.matching.registry import QUEUES, meanings, of_ratings, readers
from valmatch.models.valorant.log_factors import LEFT, LogFactors

Triple = Annotated[tuple[Number, ...], Field(min_length=3, max_length=3)]

Matrix = tuple[tuple[float, ...], ...]

Measure = Literal["differences", "pairs", "elo", "fairness", "bands", "hours", "weekdays"]
"""A group of responses that are computed where they are asked for."""

Quantile = Annotated[tuple[Number, ...], Field(min_length=2, max_length=2)]


MIN_ACCEPTANCE = 1e-3
"""Least probability that a player's vector has no negative component (else: redraws forever)."""

ROUNDING = 3e-9  # of a singular matrix of correlations whose entries have about nine digits
MAX_PLAYERS = 1e9  # most expected arrivals in one replication; more is a slip of the pen
MAX_RATING = 1e12
"""Largest rating that arrivals may be drawn with, about; more is a slip of the pen."""

MAX_HOURS = 1e9  # longest time that a run may be expected to take; more is a slip of the pen


def check_teams(matching: str, team_num: int, team_rule: str) -> None:
    """Raise unless teams of this size and rule can be matched so."""
    largest, at = QUEUES[matching].largest_team, ("team_num", "matching")
    if largest == 1 and team_num > 1:
        *more, last = (name for name, entry in QUEUES.items() if entry.largest_team != 1)
        text = f"{team_num} players on a team, but {matching} matches one against one (allowed with"
        raise refuse(f"{text} {matching}: 1; {', '.join(more)} and {last} match teams)", *at)
    if largest is not None and team_num > largest:
        others = " or ".join(name for name, entry in QUEUES.items() if entry.largest_team is None)
        text = f"{team_num} players on a team are too many for {matching} matching (at most"
        raise refuse(f"{text} {largest}; {others} takes any number)", *at)
    if team_rule == "newcomer" and matching not in readers("team_rule"):
        text = f"newcomer is for {' or '.join(readers('team_rule'))} matching: {matching} matching"
        text += f" forms no team around a newcomer (allowed with {matching}: range)"
        raise refuse(text, "team_rule", "matching")


def rule_remarks(rule: Any, hours: float, run: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Yield (factor, warning) for the rule of a queue that lasts some hours."""
    number, matching = plain_number(rule.wait_thresh), rule.matching
    if rule.wait_thresh >= hours:
        text = f"{number} hours are not below the {run}, so nobody is ever prioritized"
        yield "wait_thresh", f"{text} (wait_thresh is in hours; is this in minutes?)"
    elif rule.wait_thresh > 2.0:
        text = f"{number} hours; {number} minutes is {rule.wait_thresh / 60.0:.4g} (a bare number"
        yield "wait_thresh", f"{text} is hours; {number} min says minutes)"
    if QUEUES[matching].exponential and rule.team_diff + rule.team_slack < 0.01:
        yield (
            "team_diff",
            f"{matching} matching with a team_diff of {plain_number(rule.team_diff)} has to prove"
            " that hardly any two teams are equal, which can take very long unless ratings are on"
            " a lattice",
        )


class ValorantFactors(Factors):
    """The rules of one Valorant matchmaking system.

    Names, meanings and defaults are those of the model factors of "Valorant Matchmaking Model"
    (Nolan Berry, 2023); the factors from `rate_multiplier` on are added, with defaults that mean
    "as in that source". `horizon` is None, for the time of the last arrival, only with an arrivals
    file or with `num_players`, which is also what it becomes when one of them is given and no
    horizon.
    """

    unwritten = (
        *("rating_quantiles", "patience_minutes", "warm_up", "measure", "bands", "spread", "log"),
    )

    poisson_rate: Annotated[tuple[NonNegative, ...], Field(min_length=1)] = factor(
        (20, 15, 18, 20, 20, 23, 30, 25, 30) * 3, "players per hour"
    )
    """Rate of player arrivals in each hour, the first one from 0 to 1."""
    player_diff: NonNegative = factor(200.0, "Elo points")
    """Largest difference between two ratings within a team."""
    team_diff: NonNegative = factor(400.0, "Elo points")
    """Largest difference between the mean ratings of two paired teams."""
    team_num: Annotated[int, *whole(1, 1000)] = factor(5, "players")
    """Number of players on a team."""
    mean_matrix: Triple = factor((1200.0, 1.0, 50.0), "Elo points, kills per death, percent")
    """Means of elo, k/d ratio and win rate."""
    cov_matrix: Annotated[tuple[Triple, ...], Field(min_length=3, max_length=3)] = factor(
        ((40000.0, 28.0, 950.0), (28.0, 0.04, 0.8), (950.0, 0.8, 100.0))
    )
    """Covariance matrix of elo, k/d ratio and win rate: symmetric, no negative variance in any
    direction."""
    wait_thresh: NonNegative = factor(0.2, "hours")
    """A player who has waited longer than this is prioritized."""
    player_slack: NonNegative = factor(200.0, "Elo points")
    """Added to player_diff for a team with a prioritized player."""
    team_slack: NonNegative = factor(200.0, "Elo points")
    """Added to team_diff if either team has a prioritized player."""
    multiplier_matrix: Triple = factor((1.0, 1.0, 1.0))
    """Rating = these multipliers times (elo, k/d ratio, win rate), summed."""
    rate_multiplier: Positive = factor(1.0)
    """All of poisson_rate is multiplied by this."""
    gaps: Literal["exponential", "poisson"] = factor("exponential")
    """Distribution of the gaps between arrivals, in mean gaps. exponential: arrivals are a Poisson
    process. poisson: gaps of 0, 1, 2, ... mean gaps, Poisson distributed, as SimOpt draws them for
    its CHESS-1."""
    elo_max: Positive | None = factor(None, "Elo points")
    """Largest elo of a player: a vector with a greater one is drawn anew, as is one with a negative
    component. null: no limit."""
    num_players: Annotated[int, *whole(1, 10_000_000)] | None = factor(None, "players")
    """Number of players who arrive, in place of a horizon; the last rate of poisson_rate goes on as
    long as it takes. null: as many as arrive before the horizon."""
    horizon: Positive | None = factor(24.0, "hours")
    """Length of the simulated time; poisson_rate needs a rate for each hour of it. With an arrivals
    file: any length, or null for the time of the last arrival. With num_players: null, the time of
    the last arrival."""
    matching: Literal[of_ratings()] = factor(  # type: ignore[valid-type]
        "team_first", "", meanings(of_ratings())
    )
    team_rule: Literal["range", "newcomer"] = factor("range")
    """What player_diff bounds. range: the largest minus the smallest rating of a team. newcomer
    (team_first matching alone): how far each member's rating is from that of the player around whom
    the team forms. That is the player who arrives; at a continuous review, whoever becomes
    prioritized. All others wait."""
    review: Literal["arrivals", "continuous"] = factor("arrivals")
    """When matches are looked for. arrivals: when a player arrives. continuous: also when a waiting
    player becomes prioritized."""
    slack_scope: Literal["team", "pool"] = factor("team")
    """Whom slack helps. team: teams with a prioritized player. pool: every team while anyone in the
    pool is prioritized."""
    tie_break: Literal["balanced", "enumeration"] = factor("balanced")
    """Used by joint matching alone: which split of the same players wins. balanced: the smallest
    difference of means. enumeration: the order of the published implementation."""

    rating_quantiles: Annotated[tuple[Quantile, ...], Field(min_length=2)] | None = factor(None)
    """Quantiles of the ratings of arriving players, [probability, Elo points] each, in place of
    mean_matrix and cov_matrix: a smooth monotone function goes through them, and the tails are
    normal. null: none."""
    patience_minutes: Minutes | None = factor(None, "minutes")
    """Mean of the exponential time after which a waiting player gives up. null: nobody does. A
    queue log with a column left_hours says itself who gave up, and when."""
    warm_up: Annotated[int, *whole(0, 1_000_000)] = factor(0, "hours")
    """Hours at the start that are simulated and not counted, as the queue begins empty: responses
    are those of players who arrive afterwards, of matches made and of the time since then."""
    measure: tuple[Measure, ...] = factor(())
    """Further responses, which take time. differences: percentiles of the differences between and
    within teams. pairs: avg_pair_diff, the mean difference of two players of a team. elo:
    avg_elo_diff, the difference of two teams in elo alone. fairness: win_gap and even_fraction, by
    Elo. bands: waits and differences of bands of players by rating, such as wait_p95.top_1%. hours:
    queue, waits and prioritized players by hour of the day, such as avg_wait_time.17-18h. weekdays:
    the same by day of the week of a dated queue log, such as avg_wait_time.monday."""
    bands: Annotated[tuple[Share, ...], Field(min_length=2)] = factor(
        (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
    )
    """Quantiles of the ratings of a replication between which bands lie, from 0 to 1."""
    spread: Positive = factor(400.0, "Elo points")
    """Difference of mean ratings that is odds of ten to one, for fairness."""
    log: LogFactors = factor(LogFactors.model_validate({}))
    """How the arrivals file is read."""

    @model_validator(mode="before")
    @classmethod
    def _open_horizon(cls, data: Any, info: ValidationInfo) -> Any:  # noqa: ANN401
        """Leave the horizon of given or counted arrivals open unless it is given."""
        if isinstance(data, dict) and (_has_log(info) or data.get("num_players") is not None):
            return {"horizon": None, **data}
        return data

    @field_validator("poisson_rate")
    @classmethod
    def _some_arrivals(cls, rates: tuple[float, ...]) -> tuple[float, ...]:
        if not any(rates):
            raise refuse("every rate is 0, nobody would ever arrive (at least one must be > 0)")
        return rates

    @field_validator("cov_matrix")
    @classmethod
    def _covariance(cls, matrix: Matrix) -> Matrix:
        for i, j in itertools.combinations(range(len(matrix)), 2):
            if matrix[i][j] != matrix[j][i]:
                a, b = (f"row {k + 1} column {n + 1} is" for k, n in ((i, j), (j, i)))
                there = f"{a} {plain_number(matrix[i][j])}, {b} {plain_number(matrix[j][i])}"
                raise refuse(f"not symmetric: {there}")
        for i, row in enumerate(matrix):
            if row[i] < 0:
                text = f"the variance in row {i + 1} is {plain_number(row[i])} (must be >= 0)"
                raise refuse(text)
            if row[i] == 0 and any(row):
                raise refuse(f"row {i + 1} has variance 0 but a covariance that is not (must be 0)")
        import numpy as np

        scale = np.array([math.sqrt(row[i]) or 1.0 for i, row in enumerate(matrix)])
        if np.linalg.eigvalsh(np.array(matrix) / np.outer(scale, scale)).min() < -ROUNDING:
            raise refuse(
                "not positive semi-definite: some combination of the components has a negative"
                " variance (a covariance is at most the square root of the product of both"
                " variances)"
            )
        return matrix

    @field_validator("rating_quantiles")
    @classmethod
    def _monotone(
        cls, quantiles: tuple[tuple[float, ...], ...] | None
    ) -> tuple[tuple[float, ...], ...] | None:
        for probability, _ in quantiles or ():
            if not 0.0 < probability < 1.0:
                raise refuse(f"probability {plain_number(probability)} (allowed: between 0 and 1)")
        for pair in itertools.pairwise(quantiles or ()):
            (low, below), (high, above) = pair
            if low >= high or below > above:
                first, second = (f"[{plain_number(p)}, {plain_number(v)}]" for p, v in pair)
                text = "allowed: ascending probabilities and ratings"
                raise refuse(f"{second} after {first} ({text})")
        return quantiles

    @field_validator("bands")
    @classmethod
    def _ascending(cls, bands: tuple[float, ...]) -> tuple[float, ...]:
        if bands[0] != 0.0 or bands[-1] != 1.0 or any(a >= b for a, b in itertools.pairwise(bands)):
            shown = ", ".join(map(plain_number, bands))
            raise refuse(f"[{shown}] (allowed: ascending quantiles, the first 0, the last 1)")
        return bands

    @model_validator(mode="after")
    def _go_with_each_other(self, info: ValidationInfo) -> Self:
        if self.horizon is not None and self.horizon > MAX_HOURS:
            text = f"{plain_number(self.horizon)} is too large (allowed: at most {MAX_HOURS:.0e})"
            raise refuse(text, "horizon")
        if not _has_log(info):
            for text, *keys in itertools.chain(_hardly_any(self), _of_arrivals(self)):
                raise refuse(text, *keys)
        elif self.patience_minutes is not None and self.log.resample is not None:
            text = "resamples of a log are compared with the log itself, which must not be random"
            allowed = "allowed: a log with a column left_hours, or no log.resample"
            raise refuse(f"{text} ({allowed})", "patience_minutes", "log.resample")
        if self.horizon is not None and self.warm_up >= self.horizon:
            hours = f"{self.warm_up} hours leave nothing of the horizon of"
            text = f"{hours} {plain_number(self.horizon)} hours (allowed: fewer)"
            raise refuse(text, "warm_up", "horizon")
        if self.warm_up and self.num_players is not None:
            text = "the day ends with the last of num_players, whenever that is (allowed: 0, or a"
            raise refuse(f"{text} horizon)", "warm_up", "num_players")
        check_teams(self.matching, self.team_num, self.team_rule)
        return self

    def with_files(self, files: Mapping[str, Path], given: Collection[str]) -> Self:
        """Return the factors that hold with a queue log: it runs to its end."""
        # A horizon that was written for random arrivals does not cut it short. Where it has a
        # column ``left_hours``, that is among the columns to be read.
        from valmatch.models.valorant.queue_log import has_leaving_times, read_queue_log

        if "arrivals" not in files:
            return self
        path, log, horizon = files["arrivals"], self.log, self.horizon
        if LEFT not in log.columns and has_leaving_times(path, log):
            log = log.model_copy(update={"columns": {**log.columns, LEFT: LEFT}})
        if horizon is not None and "horizon" not in given:
            last = read_queue_log(path, log, self.multiplier_matrix, None).horizon
            horizon = None if last >= horizon else horizon
        changes = {"log": log, "horizon": horizon}
        return self.model_copy(update={k: v for k, v in changes.items() if v != getattr(self, k)})

    def one_history(self, files: Collection[str]) -> bool:
        """Return whether every replication with these files is the same."""
        same = self.log.resample is None and self.patience_minutes is None
        return "arrivals" in files and same

    @property
    def is_played_out(self) -> bool:
        """Whether responses are made of every player and every match, not of sums."""
        return bool(self.measure) or self.gives_up or self.warm_up > 0

    @property
    def gives_up(self) -> bool:
        """Whether players may leave the queue without a match."""
        return self.patience_minutes is not None or LEFT in self.log.columns

    def brief(self) -> bool:
        """Return whether a replication surely takes less time than importing numba."""
        if self.horizon is None and self.num_players is None:
            return False  # a trace of any length
        players = float(self.num_players or 0)
        if self.horizon is not None:
            players = self.rate_multiplier * self.expected_arrivals(self.horizon)
        outside = _outside(self, self.elo_max or math.inf)
        few = players <= 1000 and 1.0 - sum(outside) >= 0.5
        return few and QUEUES[self.matching].brief

    def expected_arrivals(self, horizon: float) -> float:
        """Return the expected number of arrivals before a horizon at the hourly rates."""
        hours = (min(1.0, horizon - hour) for hour in range(math.ceil(horizon)))
        return sum(rate * hour for rate, hour in zip(self.poisson_rate, hours, strict=False))

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield (factor, warning) for settings that are valid but probably not meant."""
        horizon = self.horizon or math.inf
        return rule_remarks(self, horizon, f"horizon of {plain_number(horizon)} hours")


def _has_log(info: ValidationInfo) -> bool:
    return bool(info.context and "arrivals" in info.context["files"])


def _of_arrivals(factors: ValorantFactors) -> Iterator[tuple[str, ...]]:
    """Yield what is wrong with players who are drawn, and the factors that it is about."""
    horizon, count, rates = factors.horizon, factors.num_players, factors.poisson_rate
    by_rates = "rate_multiplier", "poisson_rate"
    if count is not None:
        if horizon is not None:
            text = "the day ends with the last of num_players (allowed: null, or no num_players)"
            yield text, "horizon", "num_players"
        if rates[-1] * factors.rate_multiplier * MAX_HOURS < count:
            so_low = "the last rate is so low that num_players would take more than"
            yield f"{so_low} {MAX_HOURS:.0e} hours to arrive", "poisson_rate", "num_players"
        most = max(rates) * factors.rate_multiplier
        if most > MAX_PLAYERS:
            text = f"about {most:.1e} players would arrive in an hour (at most {MAX_PLAYERS:.0e})"
            yield text, *by_rates
    elif horizon is None:
        yield "null needs an arrivals file or num_players (allowed: a number > 0)", "horizon"
    else:
        hours, players = plain_number(horizon), factors.expected_arrivals(horizon)
        if horizon > len(rates):
            text = f"{hours} hours exceed the {len(rates)} hourly rates of poisson_rate"
            yield f"{text} (give a rate for every hour)", "horizon", "poisson_rate"
        if players == 0:
            text = f"every rate before {hours} hours is 0, nobody would ever arrive"
            yield text, "poisson_rate", "horizon"
        players *= factors.rate_multiplier
        if players > MAX_PLAYERS:
            yield f"about {players:.1e} players would arrive (at most {MAX_PLAYERS:.0e})", *by_rates
    if factors.rating_quantiles is not None:
        sizes = {"rating_quantiles": max(abs(value) for _, value in factors.rating_quantiles)}
    else:  # the means and six deviations
        means = [abs(mean) for mean in factors.mean_matrix]
        spreads = [6.0 * math.sqrt(row[k]) for k, row in enumerate(factors.cov_matrix)]
        sizes = {"mean_matrix": max(means), "cov_matrix": max(spreads)}
        # As large as signs may make it: terms do not cancel.
        terms = zip(factors.multiplier_matrix, means, spreads, strict=True)
        sizes["multiplier_matrix"] = sum(abs(m) * (mean + spread) for m, mean, spread in terms)
    for key, largest in sizes.items():
        if not largest <= MAX_RATING:
            text = f"players would have numbers of about {largest:.1e} (at most {MAX_RATING:.0e})"
            yield text, key, *sizes
    if factors.log != type(factors).model_fields["log"].default:
        yield "there is no queue log to be read (allowed: with an arrivals file)", "log"
    if "weekdays" in factors.measure:
        dates = "weekdays are those of a queue log with dates"
        yield f"{dates} (allowed: with an arrivals file)", "measure"
    if "elo" in factors.measure and factors.rating_quantiles is not None:
        text = "elo: players drawn by rating_quantiles have ratings alone"
        allowed = "allowed: with mean_matrix and cov_matrix"
        yield f"{text} ({allowed})", "measure", "rating_quantiles"


def _hardly_any(factors: ValorantFactors) -> Iterator[tuple[str, ...]]:
    """Yield why nearly every drawn vector would be refused: a negative component, too much elo."""
    for elo_max in (math.inf, factors.elo_max or math.inf):
        outside = _outside(factors, elo_max)
        # P(none is outside) lies between 1 - sum P(X_i is), by Bonferroni, and 1 - max P(X_i is).
        probability = 1.0 - max(outside)
        if probability >= MIN_ACCEPTANCE and 1.0 - sum(outside) < MIN_ACCEPTANCE:
            import numpy as np

            vectors = np.random.default_rng(0).multivariate_normal(
                factors.mean_matrix, factors.cov_matrix, 200_000, "ignore", method="eigh"
            )
            inside = (vectors >= 0.0).all(axis=1) & (vectors[:, 0] <= elo_max)
            probability = float(np.mean(inside))
        if probability < MIN_ACCEPTANCE:
            limit = f", and elo <= {plain_number(elo_max)}" if elo_max < math.inf else ""
            yield (
                "hardly any player drawn with mean_matrix and cov_matrix would have elo, k/d ratio"
                f" and win rate >= 0{limit}: probability about {probability:.1g} (at least"
                f" {MIN_ACCEPTANCE})",
                *("elo_max",) * bool(limit),
                *("mean_matrix", "cov_matrix"),
            )


def _outside(factors: ValorantFactors, elo_max: float) -> list[float]:
    """Return the probability that each component of a drawn vector is out of its range."""

    def below_zero(mean: float, variance: float) -> float:
        if variance == 0:  # a constant
            return float(mean < 0)
        return 0.5 * math.erfc(mean / math.sqrt(2.0 * variance))

    mean, variances = factors.mean_matrix, [row[i] for i, row in enumerate(factors.cov_matrix)]
    outside = list(map(below_zero, mean, variances))
    if elo_max < math.inf:
        outside[0] += below_zero(elo_max - mean[0], variances[0])
    return outside
