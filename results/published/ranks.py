"""Claims on ratings: games until a level is known, and votes that change the leader."""

import math
from itertools import product

import numpy as np

from results.firmness.make import first_and_second
from results.published.theory import Summary, replicated, results_of, verdict
from results.study import Row, duel_scores, group, numbers, share, where
from tests.support.contests import duels_of
from valmatch import plan_games
from valmatch.draws.streams import Streams
from valmatch.ratings.bradley_terry.rating import HALF, Model
from valmatch.ratings.system import weight_of_draws

# Claim 5: games of a player until their level is known.

MODES = {  # published games of a player, by sides and their players
    **{(2, 1): 12, (4, 1): 5, (8, 1): 3, (16, 1): 3},
    **{(4, 2): 10, (4, 4): 20, (2, 4): 46, (2, 8): 91},
}

PLAYERS, LEAGUES, SPREAD, LEVELS = 32, 40, 400.0, 50
LEVEL = 6.0 * SPREAD / LEVELS
AT_MOST = 3  # times as many games, says the source
NEAR = 0.1  # by which ratios that agree may differ
Z = 1.959964


def sides() -> list[Row]:
    """Return games of a player until their level is known, and what the published games tell."""
    return results_of(planned, [*product((("random", SPREAD), ("even", 0.0)), MODES)])


def planned(opponents: tuple[str, float], mode: tuple[int, int]) -> Row:
    """Return the row of a mode against opponents of some spread."""
    (name, spread), (k, m), published = opponents, mode, MODES[mode]
    # The mean of m players with one noise is their sum with a noise each, over sqrt(m).
    unit, each, order = math.sqrt(m), k * m / PLAYERS, math.log2(math.factorial(k))
    goal = math.sqrt(2.0) * LEVEL * unit
    goals: Row = {"spread": spread * unit, "prior": SPREAD * unit, "half_width": goal}
    size: Row = {"players": PLAYERS, "sides": k, "team": m, "replications": LEAGUES}
    plan = plan_games(**size, **goals, max_games=12_000)
    row: Row = {"opponents": name, "sides": k, "team": m, "published": published}
    row["bound"] = k * m * math.log2(LEVELS) / order
    row |= {end: getattr(plan, end) * each for end in ("games", "low", "high")}
    levels = np.array(plan.curves["half_width"]) / goal
    for times, suffix in ((1, ""), (AT_MOST, "_3")):
        games = times * published
        width = np.exp(np.interp(math.log(games), np.log(plan.grid * each), np.log(levels)))
        bits = math.log2(Z * SPREAD / LEVEL / width)
        row |= {f"levels{suffix}": float(width), f"bits{suffix}": bits}
        row[f"told{suffix}"] = bits * k * m / games / order
    return row


def sides_summary(rows: list[Row]) -> Summary:
    """Return ours in duels, and in how many modes ours and their ratios agree with the source."""
    agreed, texts, close = np.zeros(len(MODES), np.bool_), [], []
    for (opponents,), modes in group(rows, "opponents").items():
        names = ("published", "bound", "games", "low", "high")
        published, bound, games, low, high = (numbers(modes, name) for name in names)
        agreed |= (low <= AT_MOST * published) & (published <= high)
        ratios = games / games[0] * bound[0] / bound
        near = (abs(ratios - 1.0) <= NEAR).sum() - 1  # duels are near themselves
        ends = f"{games[0]:.0f} ({low[0]:.0f} to {high[0]:.0f})"
        texts.append(f"{ends} against {opponents} opponents")
        close.append(f"in {near} of {len(modes) - 1} ({opponents})")
    modes_agree = verdict(agreed.all(), agreed.any(), "the mode")
    near_duels = f"ratios of modes to duels agree {', '.join(close)}"
    return f"in duels {', '.join(texts)}", LEAGUES, f"{modes_agree}; {near_duels}"


# Claim 10: the fewest votes that change the leader.

VOTES, MODELS, LOGS, DEVIATION, BELOW, TIES = 57_477, 64, 200, 100.0, 50.0, 0.3
FEW = 2
SEATS = {"both old": (0.06, 0.06), "one new": (0.06, 0.01)}
GAPS = (0.0, 5.0, 10.0, 20.0)
LEADER = "leaders votes gap low median high two two_low two_high observed in_errors votes_a_point n"


def leader() -> list[Row]:
    """Return the fewest votes that change the leader in drawn logs, by who leads by how much."""
    rows = []
    for case in (*product(SEATS, [VOTES], GAPS), *product(SEATS, (VOTES // 10, 10 * VOTES), [0.0])):
        logs = LOGS if case[1] <= VOTES else LOGS // 2  # so large ones take long
        fewest, gaps, errors = replicated(drawn, [case], logs)[0].T
        medians = map(np.median, (gaps, gaps / errors, fewest / gaps))
        quantiles = np.quantile(fewest, (0.05, 0.5, 0.95)).tolist()
        cells = (*case, *quantiles, *share(fewest <= FEW), *medians, logs)
        rows.append(dict(zip(LEADER.split(), cells, strict=True)))
    return rows


def drawn(leaders: str, votes: int, gap: float, number: int) -> tuple[float, float, float]:
    """Return of a log the fewest votes, and the gap of the first two with its standard error."""
    rng, n = Streams(1).stream(number, 0), MODELS
    strengths = DEVIATION * rng.standard_normal(n)
    strengths[:2] = strengths[2:].max() + BELOW + np.array([0.0, gap])
    seats = np.append(SEATS[leaders], 1.0 / np.arange(1, n - 1))
    seats[2:] *= (1.0 - seats[:2].sum()) / seats[2:].sum()
    first, second = np.triu_indices(n, 1)
    # Both are drawn by their seats, the second one of those who are left.
    odds = seats / (1.0 - seats)
    chances = seats[first] * odds[second] + seats[second] * odds[first]
    # Further votes come after the first ones of a smaller log.
    uniform = rng.random((votes, 2))
    pairs = np.searchsorted(np.cumsum(chances)[:-1], uniform[:, 0])
    leads = (strengths[first] - strengths[second])[pairs]
    score = duel_scores(leads, weight_of_draws(TIES), uniform[:, 1])
    players = np.column_stack([first[pairs], second[pairs]]).ravel()
    contests = duels_of(n, players, np.column_stack([score, 1.0 - score]).ravel())
    lead, error, fewest = first_and_second(contests, Model(HALF), rng)
    assert not math.isnan(lead)  # all are linked
    return fewest, lead, error


def leader_summary(rows: list[Row]) -> Summary:
    """Return how often two votes change the leader among equals, and whether that is an outlier."""
    equal, texts = where(rows, gap=0, votes=VOTES), []
    for row in equal:
        two, low, high = (100.0 * float(row[name]) for name in ("two", "two_low", "two_high"))
        few = f"at most {FEW} in {two:.1f} % ({low:.1f} to {high:.1f}) of the logs"
        texts.append(f"{row['leaders']}: {few}, {float(row['median']):.0f} in the median")
    agreed = any(float(row["two_high"]) >= 0.05 for row in equal)
    return "; ".join(texts), LOGS, verdict(agreed, True, "the observed gap")
