"""Claims of studios about rules: parties, spans of the highest tier, FAForever, EvoLadderBot."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from results.published.theory import Summary, in_parallel, verdict
from results.study import Row, estimates, half_widths, interval, only, plus_minus, simulate, where
from tests.support.matchmaker_case import parties_of
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution import chunks
from valmatch.kernels.arrays import Floats
from valmatch.matching.living.evoladder import Numbers, evoladder
from valmatch.matching.living.queue import PresetInput, enqueue, new_state
from valmatch.matching.living.registry import kernel_numbers
from valmatch.models.tickets.measures import DECILES, group_of
from valmatch.models.tickets.replication import Replication


def played(config: str, settings: Sequence[str], seed: int, n: int) -> Iterator[Replication]:
    """Yield the tickets of replications, and what came of them."""
    model: Any = chunks.build(load_config(config, list(settings)))
    for replication in range(n):
        yield model.play(model.draw(Streams(seed), replication))


def ratio(name: str, above: Floats, below: Floats) -> Row:
    """Return the ratio of two means over the same replications, and half its interval."""
    value = above.mean() / below.mean()
    return {name: value, f"{name}_ci": interval(above - value * below)[1] / below.mean()}


def plus(row: Row, name: str, spec: str = ".1f") -> str:
    """Return a number of a row with half its interval."""
    return plus_minus(row[name], row[f"{name}_ci"], spec)


def upper(row: Row, name: str) -> float:
    """Return the upper end of an interval."""
    return float(row[name]) + float(row[f"{name}_ci"])


def meets(row: Row, **ranges: tuple[float, float]) -> bool:
    """Return whether all intervals meet these ranges."""
    ends = ((upper(row, name), 2 * float(row[name]), *ends) for name, ends in ranges.items())
    return all(top >= low and twice - top <= high for top, twice, low, high in ends)


# ---- claim 4: parties meet parties ----

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # with 0.8 of the plan duos pile up: five need a solo
LIMITS = (0, 12, 1000)
BAR = """
rule.team_size=5 rule.each_player=true hours=6 patience.median_seconds=null skill.std=6.975381129
skill.party_std=3.5 ratings.deviation=1.494724528 ratings.newcomers=0 match.spread=3.46213661
"""


def limited(arrivals: int, duos: float, limit: int, n: int) -> Row:
    """Return how uneven games with a duo are, and how much longer waits are than with no limit."""
    settings = (
        *BAR.split(),
        f"arrivals.per_hour={arrivals}",
        f"parties.shares=[{1 - duos:g},{duos}]",
    )
    values = []
    for ticks in (limit, 0):
        for run in played("bar", (*settings, f"rule.alike_ticks={ticks}"), 7004, n):
            done = run.played
            teams = np.bincount(2 * done.matches + done.teams, run.drawn.sizes[done.tickets] == 2)
            first, second = teams.reshape(-1, 2)[run.made].T
            waits = (done.ends - run.drawn.times)[run.came & (run.match >= 0)]
            values.append(((first != second).sum() / (first + second > 0).sum(), waits.mean()))
    (uneven, _), (wait, plain) = np.array(values).T.reshape(2, 2, n)
    return estimates({"uneven": 100 * uneven, "wait": wait}) | ratio("growth", wait, plain)


def nearest(rows: Sequence[Row]) -> float:
    """Return the share of duos at which games without a limit are uneven nearest to 54 %."""
    plain = where(rows, arrivals=1200, limit=0)
    return float(min(plain, key=lambda row: abs(float(row["uneven"]) - 54))["duos"])


def parties(n: int = 20) -> list[Row]:
    """Return rows by share of duos, and for one of them by traffic."""
    rows = in_parallel(limited, arrivals=[1200], duos=SHARES, limit=LIMITS, n=[n])
    share = [nearest(rows)]
    return rows + in_parallel(limited, arrivals=[300, 4800], duos=share, limit=LIMITS, n=[n])


def parties_summary(rows: Sequence[Row]) -> Summary:
    """Return our numbers, and whether a limit makes games even at a tenth more wait."""
    there = where(rows, duos=nearest(rows))
    good = [one for one in there if upper(one, "uneven") <= 6 and upper(one, "growth") <= 1.1]
    before, after = (only(there, arrivals=1200, limit=limit) for limit in (0, LIMITS[-1]))
    ours = f"{plus(before, 'uneven')} % before, {plus(after, 'uneven')} % after"
    ours += f", waits {plus(after, 'growth', '.2f')} times as long"
    return ours, before["n"], verdict(where(good, arrivals=1200), good, "traffic")


# ---- claim 7: spans of the highest tier ----

DIVISION, HIGHEST = 100.0, 4000.0
STEPS = (30, 60, 90, 120, 180, 240, 300)
FURTHER = {
    f"steps {name}": [
        "service.request_timeout_seconds=3600",
        *(f"expansions.skill.maxDistance[{k}].wait={by * wait:g}" for k, wait in enumerate(STEPS)),
    ]
    for name, by in (("twice as early", 0.5), ("twice as late", 2.0), ("four times as late", 4.0))
} | {"no parties": ["parties.shares=[1]"], "belief off by 100 points": ["skill.error=100"]}
BINS, ENDS = ("below_4", "at_4", "at_5", "above_6"), (0.0, 4.0, 5.0, 6.0, 1e9)  # divisions


def spans(run_name: str, arrivals: int, n: int) -> Row:
    """Return the row of a world: spans in divisions, as players of the highest tier meet them."""
    settings = [f"arrivals.per_hour={arrivals}", *FURTHER.get(run_name, [])]
    every, gaps, deciles = list[Floats](), list[float](), []
    for run in played(str(Path(__file__).with_name("tiers.yaml")), settings, 7007, n):
        skills, first = run.drawn.skills[run.people], np.flatnonzero(np.diff(run.of, prepend=-1))
        width = np.maximum.reduceat(skills, first) - np.minimum.reduceat(skills, first)
        width /= DIVISION
        every.append(width[run.of[(skills >= HIGHEST) & run.made[run.of]]])
        gaps.append(run.gaps[run.made].max())
        matched = run.came & (run.match >= 0)
        of = group_of("deciles", run.drawn)[matched]
        deciles.append([width[run.match[matched]][of == k].mean() for k in range(DECILES)])
    games = np.array([met.size for met in every])
    row: Row = {"games": int(games.sum()), "least_chance": 0.5 - max(gaps)}
    counts = np.array([np.histogram(met, ENDS)[0] for met in every])
    for name, count in zip(BINS, 100.0 * counts.T, strict=True):
        row |= ratio(name, count, games)
    row["p99"] = float(np.percentile(np.concatenate(every), 99))
    return row | {f"decile_{k + 1}": v for k, v in enumerate(np.mean(deciles, axis=0).tolist())}


def tiers(n: int = 20) -> list[Row]:
    """Return rows by traffic, and further ones."""
    rows = in_parallel(spans, run_name=["traffic"], arrivals=[2500, 5000, 10000, 20000], n=[n])
    rows += in_parallel(spans, run_name=FURTHER, arrivals=[10000], n=[n])
    # Not in the plan: what it would take.
    late = ["more", *(name for name in FURTHER if "late" in name)]
    return rows + in_parallel(spans, run_name=late, arrivals=[40000, 80000], n=[n])


def tiers_summary(rows: Sequence[Row]) -> Summary:
    """Return our shares, and at which traffic both are near the published ones."""
    good = [row for row in rows if meets(row, at_4=(40, 60), at_5=(15, 35))]
    most = only(rows, run_name="traffic", arrivals=20000)
    ours = f"{plus(most, 'at_4')} % and {plus(most, 'at_5')} % at 20,000 tickets an hour"
    planned = where(good, run_name="traffic")
    on = "traffic" if planned else "traffic and steps"
    return ours, most["n"], verdict(len(planned) == 4, good, on)


# ---- claim 8: FAForever ----

BEFORE = """
rule.max_imbalance=500 rule.max_deviation=500 rule.time_bonus=0.02 rule.newbie_bonus=0.9
rule.newbie_bonus_cap=2.7 rule.pop_max=180 rule.pop_first=90 rule.minority_cap=0
"""
WORLDS = {  # by name, what differs from the config before and after, before alone and after alone
    "traffic": ("", "", ""),
    "nobody loses patience": ("patience.median_seconds=null", "", ""),
    "no parties": ("parties.shares=[1]", "", ""),
    "spread of players": ("rule.spread_of_players=true", "", ""),
    "limits of 125": ("", "", "rule.max_imbalance=125 rule.max_deviation=125"),
    "limits of 62": ("", "", "rule.max_imbalance=62 rule.max_deviation=62"),
    "any game before": ("", "rule.min_quality=-100", ""),
}


def changed(run_name: str, arrivals: int, n: int) -> Row:
    """Return the row of a world: what the change of rules did."""
    both, before, after = WORLDS[run_name]
    both += f" arrivals.per_hour={arrivals} "
    rules = f"{BEFORE} {before}", after
    old, new = (simulate("faf", (both + rule).split(), 7008, n) for rule in rules)
    row = ratio("gap", new["seen_team_diff"], old["seen_team_diff"])
    row |= ratio("spread", new["skill_spread"], old["skill_spread"])
    values = {"more_wait": (new["time_to_match"] - old["time_to_match"]) / 60}
    values["old_wait"] = old["time_to_match"] / 60
    for name, rule in (("old_matched", old), ("new_matched", new)):
        values[name] = 100 * rule["matched_fraction"]
    return row | estimates(values)


def faf(n: int = 20) -> list[Row]:
    """Return rows by traffic, and further ones."""
    rows = in_parallel(changed, run_name=["traffic"], arrivals=[15, 30, 60, 120, 240], n=[n])
    return rows + in_parallel(changed, run_name=[*WORLDS][1:], arrivals=[60], n=[n])


def faf_summary(rows: Sequence[Row]) -> Summary:
    """Return our ratios and minutes at 60 an hour, and where all three are as published."""
    published = {"gap": (0.4, 0.6), "spread": (0.4, 0.6), "more_wait": (2.0, 3.0)}
    good = [row for row in rows if meets(row, **published)]
    row = only(rows, run_name="traffic", arrivals=60)
    ours = f"{plus(row, 'gap', '.2f')} of the gap, {plus(row, 'spread', '.2f')} of the spread"
    ours += f", {plus(row, 'more_wait')} min more wait"
    return ours, row["n"], verdict(where(good, run_name="traffic"), good, "more")


# ---- claim 9: EvoLadderBot ----

# By players in the queue: mean gap, matches of a wave.
PUBLISHED = {10: (57.8, 2.84), 20: (46.2, 6.94), 30: (40.9, 11.19)}
# The numbers of the script that made them.
SCRIPT = Numbers(reach=75.0, reach_grows=25.0, either_reach=False, wait_power=1.0, swap_passes=0)
WAVES = 200  # of a run; the script makes one

# Players who come soon and play on.
ALWAYS = """
rule.preset=evoladder population.newcomers_per_day=0 days=11 warmup_days=1 rating.system=known
sessions.continue_prob=1 sessions.win_effect=0 sessions.loss_effect=0 sessions.break_minutes=0
sessions.activity_cv=0 sessions.per_day=99
"""


def snapshots(numbers: Numbers, queued: int, runs: int, seed: int) -> tuple[Floats, Floats]:
    """Return mean gaps, and matches of a wave that has some, of runs over drawn queues."""
    rng, plain = np.random.default_rng(seed), kernel_numbers(numbers)
    gaps, matches = np.zeros((2, runs, WAVES))
    zeros, never = np.zeros(queued), np.full(queued, np.inf)
    for run, wave in np.ndindex(runs, WAVES):
        ratings = np.clip(np.trunc(rng.normal(1500.0, 300.0, queued)), 800.0, 2500.0)
        since = rng.choice(3, queued, p=[0.5, 0.3, 0.2])
        waited = rng.integers(np.array([0, 3, 6])[since], np.array([2, 5, 12])[since] + 1)
        parties = parties_of([{"rating": rating} for rating in ratings], {})
        key = Streams(seed).place(run * WAVES + wave)
        everybody = PresetInput(zeros, never, np.arange(queued), parties, key)
        state = new_state(everybody, evoladder.memory_of(plain), np.inf, np.inf)
        for ticket in range(queued):
            enqueue(ticket, state)
        state.missed[:] = waited - 1  # the wave counts as waited
        evoladder.review(0.0, state, plain)
        matches[run, wave] = state.counters[0]["matches"]
        gaps[run, wave] = state.matches["value"].sum()
    return gaps.sum(axis=1) / matches.sum(axis=1), matches.sum(axis=1) / (matches > 0).sum(axis=1)


def waves(queued: int, rule: str, n: int) -> Row:
    """Return the row of a rule over drawn queues: means and spreads of runs as long as theirs."""
    gaps, matches = snapshots(SCRIPT if rule == "script" else Numbers(), queued, n, 7009)
    row = {"gap": gaps.mean(), "gap_ci": half_widths(6) * gaps.std(ddof=1)}
    return row | {"matches": matches.mean(), "matches_ci": half_widths(6) * matches.std(ddof=1)}


def at_rest(queued: int, rule: str, n: int) -> Row:
    """Return the row of a ladder whose players always play on, with games of some minutes."""
    minutes, players = float(rule.split()[1]), {10: 20, 20: 30, 30: 50}[queued]
    settings = [*ALWAYS.split(), f"population.players={players}", f"match.minutes={minutes}"]
    settings += [f"rule.{k}={v}".lower() for k, v in SCRIPT.model_dump(exclude_unset=True).items()]
    values = simulate("ladder-lichess", settings, 7009, n)
    a_minute = values["n_matches"] / (10 * 24 * 60)
    waiting = players - 2 * minutes * a_minute
    return estimates({"gap": values["team_diff"], "matches": 0.75 * a_minute, "waiting": waiting})


def evo(runs: int = 50, n: int = 20) -> list[Row]:
    """Return rows of waves over drawn queues, and of ladders at rest."""
    rows = in_parallel(waves, queued=PUBLISHED, rule=["script", "100 + 50"], n=[runs])
    lasting = ["games 12 min", "games 0.5 min"]
    return rows + in_parallel(at_rest, queued=PUBLISHED, rule=lasting, n=[n])


def evo_summary(rows: Sequence[Row]) -> Summary:
    """Return our numbers, and whether the published ones are where such runs are."""
    script, texts, inside = where(rows, rule="script"), [], True
    for row, (gap, matches) in zip(script, PUBLISHED.values(), strict=True):
        texts.append(f"{plus(row, 'gap')} and {plus(row, 'matches', '.2f')} ({row['queued']})")
        inside &= meets(row, gap=(gap, gap), matches=(matches, matches))
    return ", ".join(texts), script[0]["n"], verdict(inside)
