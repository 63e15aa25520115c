"""Claims of studios about rules: parties, spans of the highest tier, FAForever, EvoLadderBot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from results.study import Row, estimates, grid, half_widths, interval, only, simulate, where
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution import chunks
from valmatch.kernels.arrays import Floats
from valmatch.matching.living.evoladder import Numbers, evoladder
from valmatch.matching.living.queue import ANY, Parties, PresetInput, enqueue, new_state
from valmatch.matching.living.registry import kernel_numbers
from valmatch.models.tickets.measures import DECILES, group_of
from valmatch.models.tickets.model import TicketsModel
from valmatch.models.tickets.replication import Replication

N = 20  # replications
WORKERS = 2


def in_parallel(rows_of: Callable[..., list[Row]], cases: Sequence[Row]) -> list[Row]:
    """Return the rows of all cases, each beside its case."""
    with ProcessPoolExecutor(WORKERS) as pool:
        jobs = [pool.submit(rows_of, **case) for case in cases]
        return [case | row for case, job in zip(cases, jobs, strict=True) for row in job.result()]


def played(config: str, settings: Sequence[str], seed: int) -> Iterator[Replication]:
    """Yield the tickets of replications, and what came of them."""
    model = chunks.build(load_config(config, list(settings)))
    assert isinstance(model, TicketsModel)
    for replication in range(N):
        yield model.play(model.draw(Streams(seed), replication))


def ratio(name: str, above: Floats, below: Floats) -> Row:
    """Return the ratio of two means over the same replications, and half its interval."""
    value = float(above.mean() / below.mean())
    return {name: value, f"{name}_ci": interval(above - value * below)[1] / float(below.mean())}


def number(row: Row, name: str, spec: str = ".1f", factor: float = 1.0) -> str:
    """Return a number of a row with half its interval."""
    return f"{factor * float(row[name]):{spec}} ± {factor * float(row[f'{name}_ci']):{spec}}"


def upper(row: Row, name: str) -> float:
    """Return the upper end of an interval."""
    return float(row[name]) + float(row[f"{name}_ci"])


def meets(row: Row, name: str, low: float, high: float) -> bool:
    """Return whether an interval meets a range."""
    return upper(row, name) >= low and 2 * float(row[name]) - upper(row, name) <= high


def verdict(agrees: bool, somewhere: Sequence[object], on: str) -> str:
    """Return the verdict on a claim that may hold somewhere alone."""
    return "agrees" if agrees else f"hangs on {on}" if somewhere else "disagrees"


# ---- claim 4: parties meet parties ----

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # with 0.8 of the plan duos pile up: five need a solo
LIMITS = (0, 12, 1000)
BAR = (
    *("rule.team_size=5", "rule.each_player=true", "hours=6", "patience.median_seconds=null"),
    *("skill.std=6.975381129", "skill.party_std=3.5", "ratings.deviation=1.494724528"),
    *("ratings.newcomers=0", "match.spread=3.46213661"),
)


def measured(run: Replication) -> tuple[float, float, float]:
    """Return how many of the games with a duo have teams of other numbers of duos, and waits."""
    done = run.played
    teams = np.bincount(2 * done.matches + done.teams, run.drawn.sizes[done.tickets] == 2)
    duos = teams.reshape(-1, 2)[run.made]
    waits = (done.ends - run.drawn.times)[run.came & (run.match >= 0)]
    uneven = (duos[:, 0] != duos[:, 1]).sum() / (duos.sum(axis=1) > 0).sum()
    return float(uneven), float(waits.mean()), float(np.percentile(waits, 90))


def limits(arrivals: int, duos: float) -> list[Row]:
    """Return a row for each limit: how uneven games are, and how long it takes."""
    rows, plain = list[Row](), np.zeros(0)
    who = f"arrivals.per_hour={arrivals}", f"parties.shares=[{1 - duos:g},{duos}]"
    for limit in LIMITS:
        runs = played("bar", (*BAR, *who, f"rule.alike_ticks={limit}"), 7004)
        uneven, wait, late = np.array([measured(run) for run in runs]).T
        plain = plain if rows else wait
        row = estimates({"uneven": uneven, "wait": wait, "p90": late})
        rows.append({"limit": limit, "n": N} | row | ratio("growth", wait, plain))
    return rows


def nearest(rows: Sequence[Row]) -> float:
    """Return the share of duos at which games without a limit are uneven nearest to 54 %."""
    plain = where(rows, arrivals=1200, limit=0)
    return float(min(plain, key=lambda row: abs(float(row["uneven"]) - 0.54))["duos"])


def parties() -> list[Row]:
    """Return rows by share of duos, and for one of them by traffic."""
    rows = in_parallel(limits, grid(arrivals=[1200], duos=SHARES))
    return rows + in_parallel(limits, grid(arrivals=[300, 4800], duos=[nearest(rows)]))


def parties_summary(rows: Sequence[Row]) -> Row:
    """Return our numbers, and whether a limit makes games even at a tenth more wait."""
    there = where(rows, duos=nearest(rows))
    even = [row for row in there if upper(row, "uneven") <= 0.06]
    good = [float(row["arrivals"]) for row in even if upper(row, "growth") <= 1.1]
    before, after = (only(there, arrivals=1200, limit=limit) for limit in (0, LIMITS[-1]))
    shares = " and ".join(f"{number(row, 'uneven', '.1f', 100)} %" for row in (before, after))
    ours = f"{shares}; wait times {number(after, 'growth', '.2f')}"
    return {"ours": ours, "n": N, "verdict": verdict(1200.0 in good, good, "traffic")}


# ---- claim 7: spans of the highest tier ----

DIVISION, HIGHEST = 100.0, 4000.0
STEPS = (30, 60, 90, 120, 180, 240, 300)
FURTHER = {
    **{
        f"steps {name}": [
            f"expansions.skill.maxDistance[{k}].wait={by * wait:g}" for k, wait in enumerate(STEPS)
        ]
        for name, by in (("twice as late", 2.0), ("twice as early", 0.5))
    },
    "no parties": ["parties.shares=[1]"],
    "belief off by 100 points": ["skill.error=100"],
}
BINS = {"below_4": (0.0, 4.0), "at_4": (4.0, 5.0), "at_5": (5.0, 6.0), "above_6": (6.0, np.inf)}


def spans(run_name: str, arrivals: int) -> list[Row]:
    """Return the row of a world: spans in divisions, as players of the highest tier meet them."""
    here = str(Path(__file__).with_name("tiers.yaml"))
    settings = [f"arrivals.per_hour={arrivals}", "arrivals.hourly_profile=[" + "1," * 23 + "1]"]
    found, chances, deciles, waits = [], [], [], []
    for run in played(here, settings + FURTHER.get(run_name, []), 7007):
        skills, first = run.drawn.skills[run.people], np.flatnonzero(np.diff(run.of, prepend=-1))
        width = np.maximum.reduceat(skills, first) - np.minimum.reduceat(skills, first)
        width /= DIVISION
        found.append(width[run.of[(skills >= HIGHEST) & run.made[run.of]]])
        chances.append(0.5 - run.gaps[run.made].max())
        matched = run.came & (run.match >= 0)
        of = group_of(run.factors, "deciles", run.drawn)[matched]
        deciles.append([width[run.match[matched]][of == k].mean() for k in range(DECILES)])
        best = run.drawn.of_party(run.drawn.skills, "avg")[matched] >= HIGHEST
        waits.append((run.played.ends - run.drawn.times)[matched][best].mean() / 60)
    row: Row = {"n": N, "games": sum(map(len, found)), "least_chance": min(chances)}
    totals = np.array([one.size for one in found], np.float64)
    for name, (low, high) in BINS.items():
        inside = [((one >= low) & (one < high)).sum() for one in found]
        row |= ratio(name, np.array(inside, np.float64), totals)
    row |= {"p99": float(np.percentile(np.concatenate(found), 99)), "wait": np.nanmean(waits)}
    return [row | {f"decile_{k + 1}": v for k, v in enumerate(np.mean(deciles, axis=0).tolist())}]


def tiers() -> list[Row]:
    """Return rows by traffic, and further ones."""
    cases = grid(run_name=["traffic"], arrivals=[2500, 5000, 10000, 20000])
    return in_parallel(spans, cases + grid(run_name=FURTHER, arrivals=[10000]))


def tiers_summary(rows: Sequence[Row]) -> Row:
    """Return our shares, and at which traffic both are near the published ones."""
    main = where(rows, run_name="traffic")
    good = [row for row in main if meets(row, "at_4", 0.4, 0.6) and meets(row, "at_5", 0.15, 0.35)]
    best = min(main, key=lambda row: abs(float(row["at_4"]) - 0.5) + abs(float(row["at_5"]) - 0.25))
    shares = ", ".join(f"{number(best, name, '.1f', 100)} %" for name in ("at_4", "at_5"))
    ours = f"{shares} at {float(best['arrivals']):,.0f} tickets an hour"
    return {"ours": ours, "n": N, "verdict": verdict(len(good) == len(main), good, "traffic")}


# ---- claim 8: FAForever ----

BEFORE = (
    *("rule.max_imbalance=500", "rule.max_deviation=500", "rule.time_bonus=0.02"),
    *("rule.newbie_bonus=0.9", "rule.newbie_bonus_cap=2.7", "rule.pop_max=180"),
    *("rule.pop_first=90", "rule.minority_cap=0"),
)
WORLDS = {
    "traffic": ("", "", ""),
    "nobody loses patience": ("patience.median_seconds=null", "", ""),
    "no parties": ("parties.shares=[1]", "", ""),
    "spread of players": ("rule.spread_of_players=true", "", ""),
    "limits of 125": ("", "", "rule.max_imbalance=125 rule.max_deviation=125"),
    "limits of 62": ("", "", "rule.max_imbalance=62 rule.max_deviation=62"),
    "any game before": ("", "rule.min_quality=-100", ""),
}
"""By name, what differs from the config before and after, before alone and after alone."""


def changed(run_name: str, arrivals: int) -> list[Row]:
    """Return the row of a world: what the change of rules did."""
    common, before, after = (words.split() for words in WORLDS[run_name])
    both = (f"arrivals.per_hour={arrivals}", *common)
    old, new = (simulate("faf", (*both, *own), 7008, N) for own in ((*BEFORE, *before), after))
    row = ratio("gap", new["seen_team_diff"], old["seen_team_diff"])
    row |= ratio("spread", new["skill_spread"], old["skill_spread"])
    wait = (new["time_to_match"] - old["time_to_match"]) / 60
    minutes = {"more_wait": wait, "old_wait": old["time_to_match"] / 60}
    matched = {f"matched_{k}": one["matched_fraction"] for k, one in enumerate((old, new))}
    return [{"n": N} | row | estimates(minutes | matched)]


def faf() -> list[Row]:
    """Return rows by traffic, and further ones."""
    cases = grid(run_name=["traffic"], arrivals=[15, 30, 60, 120, 240])
    return in_parallel(changed, cases + grid(run_name=[*WORLDS][1:], arrivals=[60]))


def faf_summary(rows: Sequence[Row]) -> Row:
    """Return our ratios and minutes at 60 an hour, and where all three are as published."""
    published = {"gap": (0.4, 0.6), "spread": (0.4, 0.6), "more_wait": (2.0, 3.0)}
    good = [row for row in rows if all(meets(row, name, *ends) for name, ends in published.items())]
    names = [str(row["run_name"]) for row in good]
    row = only(rows, run_name="traffic", arrivals=60)
    gap, spread = (number(row, name, ".2f") for name in ("gap", "spread"))
    ours = f"gap times {gap}, spread times {spread}, wait {number(row, 'more_wait')} min more"
    said = verdict("traffic" in names, names, ", ".join(names))
    return {"ours": ours, "n": N, "verdict": said}


# ---- claim 9: EvoLadderBot ----

PUBLISHED = {10: (57.8, 2.84), 20: (46.2, 6.94), 30: (40.9, 11.19)}
"""By players in the queue: mean gap, matches of a wave."""

SCRIPT = {
    **{"reach": 75.0, "reach_grows": 25.0, "either_reach": False},
    **{"wait_power": 1.0, "swap_passes": 0},
}
"""The numbers of the script that made them."""

WAVES = 200  # of a run of that script


def snapshots(numbers: Numbers, queued: int, runs: int, seed: int) -> tuple[Floats, Floats]:
    """Return mean gaps, and matches of a wave that has some, of runs over drawn queues."""
    rng, plain = np.random.default_rng(seed), kernel_numbers(numbers)
    gaps, matches = np.zeros((2, runs, WAVES))
    none, zeros = np.full(queued, -1), np.zeros(queued)
    wide, order = np.full(queued, ANY), np.arange(queued)
    for run, wave in np.ndindex(runs, WAVES):
        ratings = np.clip(np.trunc(rng.normal(1500.0, 300.0, queued)), 800.0, 2500.0)
        since = rng.choice(3, queued, p=[0.5, 0.3, 0.2])
        waited = rng.integers(np.array([0, 3, 6])[since], np.array([2, 5, 12])[since] + 1)
        parties = Parties(
            *(np.ones(queued, np.int64), order, ratings, zeros, order, zeros > 0.0, none, zeros),
            *(np.zeros((1, 1)), none, -wide, wide, zeros > 0.0, order),
        )
        key = Streams(seed).place(run * WAVES + wave)
        everybody = PresetInput(zeros, np.full(queued, np.inf), order, parties, key)
        state = new_state(everybody, evoladder.memory_of(plain), np.inf, np.inf)
        for ticket in range(queued):
            enqueue(ticket, state)
        state.missed[:] = waited - 1  # the wave counts as waited
        evoladder.review(0.0, state, plain)
        matches[run, wave] = state.counters[0]["matches"]
        gaps[run, wave] = state.matches["value"].sum()
    return gaps.sum(axis=1) / matches.sum(axis=1), matches.sum(axis=1) / (matches > 0).sum(axis=1)


RUNS = 50


def waves(queued: int, rule: str) -> list[Row]:
    """Return the row of a rule over drawn queues: means and spreads of runs as long as theirs."""
    numbers = Numbers.model_validate(SCRIPT if rule == "script" else {})
    row: Row = {"n": RUNS}
    for name, runs in zip(("gap", "matches"), snapshots(numbers, queued, RUNS, 7009), strict=True):
        row |= {name: float(runs.mean()), f"{name}_ci": half_widths(6) * float(runs.std(ddof=1))}
    return [row]


def at_rest(queued: int, rule: str) -> list[Row]:
    """Return the row of a ladder whose players always play on, with games of some minutes."""
    minutes = float(rule.split()[1])
    players = {10: 20, 20: 30, 30: 50}[queued]
    settings = [
        *("rule.preset=evoladder", *(f"rule.{name}={value}" for name, value in SCRIPT.items())),
        *(f"population.players={players}", "population.newcomers_per_day=0", "days=11"),
        *(
            "warmup_days=1",
            "rating.system=known",
            f"match.minutes={minutes}",
            "sessions.per_day=99",
        ),
        *("sessions.continue_prob=1", "sessions.win_effect=0", "sessions.loss_effect=0"),
        *("sessions.break_minutes=0", "sessions.activity_cv=0"),
    ]
    values = simulate(
        "ladder-lichess", [one.replace("=False", "=false") for one in settings], 7009, N
    )
    a_minute = values["n_matches"] / (10 * 24 * 60)
    waiting = players - 2 * minutes * a_minute
    measured = {"gap": values["team_diff"], "matches": 0.75 * a_minute, "waiting": waiting}
    return [{"n": N} | estimates(measured)]


def evo() -> list[Row]:
    """Return rows of waves over drawn queues, and of ladders at rest."""
    drawn = in_parallel(waves, grid(queued=PUBLISHED, rule=["script", "100 + 50"]))
    return drawn + in_parallel(
        at_rest, grid(queued=PUBLISHED, rule=["games 12 min", "games 0.5 min"])
    )


def evo_summary(rows: Sequence[Row]) -> Row:
    """Return our numbers, and whether the published ones are where such runs are."""
    ours, inside = [], []
    for queued, theirs in PUBLISHED.items():
        row = only(rows, queued=queued, rule="script")
        ours.append(f"{number(row, 'gap')} and {number(row, 'matches', '.2f')} ({queued})")
        for name, value in zip(("gap", "matches"), theirs, strict=True):
            inside.append(meets(row, name, value, value))
    return {"ours": ", ".join(ours), "n": RUNS, "verdict": verdict(all(inside), (), "")}
