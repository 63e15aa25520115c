"""Claims of theory: Elo's error, waits in zones, distances by traffic, what waiting is worth."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import yaml
from scipy.special import ndtri

from results.study import Row, grid, interval, only, two_digits, where
from tests.support.ladder_theory import ELO_SPREAD, elo_ladder, played, tables_of
from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets.columns import Played, Service, Tickets, Values
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED
from valmatch.matching.tickets.playing import play_columns
from valmatch.rule_sets.flexmatch import read_rule_set

Summary: TypeAlias = tuple[str, object, str]  # our number with its interval, n, verdict


def results_of(function: Callable[..., Any], cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what a function makes of each case, on two cores."""
    with ProcessPoolExecutor(2) as pool:
        return [*pool.map(function, *zip(*cases, strict=True))]


def in_parallel(row_of: Callable[..., Row], **cells: Iterable[object]) -> list[Row]:
    """Return the rows of all combinations of cells, each beside them."""
    cases = grid(**cells)
    made = results_of(row_of, [tuple(case.values()) for case in cases])
    return [case | row for case, row in zip(cases, made, strict=True)]


def replicated(function: Callable[..., Any], cases: Sequence[tuple[Any, ...]], n: int) -> Floats:
    """Return what a function makes of each case and replication."""
    values = results_of(function, [(*case, k) for case in cases for k in range(n)])
    return np.array(values, np.float64).reshape(len(cases), n, -1)


def row(part: str, values: Floats, theory: float, family: int = 1, **cells: object) -> Row:
    """Return a mean, half its interval (of a family that holds together), and theory beside it."""
    mean, half = interval(values, family)
    seen = "holds" if abs(mean - theory) <= half else "above" if mean > theory else "below"
    numbers = {"ours": mean, "ci": half, "theory": theory, "seen": seen, "n": values.size}
    return {"part": part, **cells, **numbers}


def slopes(values: Floats, x: Any, *more: Any) -> Floats:  # noqa: ANN401
    """Return the slopes on x of lines through columns of values, with more terms beside it."""
    design = np.column_stack([np.ones(len(x)), x, *more])
    return np.asarray(np.linalg.lstsq(design, values, rcond=None)[0][1])


def shown(row: Row, scale: float = 1.0) -> str:
    """Return a mean with half its interval."""
    return two_digits(scale * float(row["ours"]), scale * float(row["ci"]))


def agrees(rows: Iterable[Row], *seen: str) -> bool:
    """Return whether all means are seen so beside theory: their intervals hold it, or else."""
    return all(row["seen"] in (seen or ("holds",)) for row in rows)


def verdict(agrees: object, somewhere: object = False, on: str = "") -> str:
    """Return the verdict on a claim that may hold somewhere alone."""
    return "agrees" if agrees else f"hangs on {on}" if somewhere else "disagrees"


# 1. Elo's error.

BURN_IN = {4: 24, 8: 12, 16: 8, 32: 5, 64: 4}  # days by K
SHARES = (0.025, 0.25, 0.5, 0.75, 0.975)


def elo_errors(k: int, number: int) -> Floats:
    """Return the error of ratings at rest, then its quantiles in standard deviations."""
    days = BURN_IN[k]
    tables = tables_of(played(elo_ladder(float(k), 500, 3.0 * days, "skill"), 701, number))
    errors = tables["players"]["rating"] - tables["players"]["skill"]
    size = math.sqrt(np.mean(tables["days"]["rating_error"][days:] ** 2))
    return np.append(size, np.quantile(errors, SHARES) / errors.std())


def elo(n: int = 8) -> list[Row]:
    """Return errors by K, the slope of their logarithm, and quantiles at the ends."""
    values, ks = replicated(elo_errors, [(k,) for k in BURN_IN], n), [*BURN_IN]
    sizes, logs, rows = values[:, :, 0], np.log(values[:, :, 0]), list[Row]()
    for k, errors in zip(ks, sizes, strict=True):
        rows.append(row("error", errors, math.sqrt(k * ELO_SPREAD / 2.0), k=k))
    rows.append(row("slope", slopes(logs, np.log(ks), ks), 0.5, k=""))
    rows.append(row("slope without c K", slopes(logs, np.log(ks)), 0.5, k=""))
    for k, (column, share) in product((0, -1), enumerate(SHARES, 1)):
        normal = float(ndtri(share))
        rows.append(row(f"quantile {share}", values[k, :, column], normal, len(SHARES), k=ks[k]))
    return rows


def elo_summary(rows: list[Row]) -> Summary:
    """Return the slope, and whether it and the quantiles at the least K are those of theory."""
    slope, *_ = where(rows, part="slope")
    quantiles = [row for row in where(rows, k=4) if row["part"] != "error"]
    agreed = verdict(agrees([slope, *quantiles]))
    return f"power {shown(slope)}", f"{slope['n']} ladders a K", agreed


# Tickets of single players.

FOREVER = 1e9
DUEL = {"teams": [{"name": name, "minPlayers": 1, "maxPlayers": 1} for name in "ab"]}


def play_singles(
    rules: Row, service: Service, times: Floats, cancels: Floats | float = np.inf, **of: Values
) -> Played:
    """Return what comes of players with values of attributes, by a rule set."""
    table = read_rule_set(json.dumps({"ruleLanguageVersion": "1.0", **rules})).table
    assert table is not None
    n, nothing, key = times.size, np.empty((times.size, 0)), np.zeros(3, np.uint64)
    leave = np.broadcast_to(cancels, n)
    tickets = Tickets(times, leave, np.ones(n, np.int64), of, (), nothing, nothing, key)
    return play_columns(table, tickets, service, "pass")


def on_average(values: Floats, flows: Floats) -> float:
    """Return the mean over time of values by state, where flows (to, from) lead."""
    balance = flows - np.diag(flows.sum(axis=0))
    balance[-1] = 1.0
    return float(np.linalg.solve(balance, np.eye(len(flows))[-1]) @ values)


# 2. Waits in zones.

WINDOWS = yaml.safe_load("""
playerAttributes: [{name: low, type: number}, {name: high, type: number}]
rules: [{name: Meet, type: comparison, operation: <=,
  measurements: ["flatten(teams[*].players.attributes[low])"],
  referenceValue: "min(flatten(teams[*].players.attributes[high]))"}]
""")


def wait_in_zones(zones: int, free: float) -> float:
    """Return the mean wait for four where one player a second comes, by the chain of who waits."""
    every = product(range(4), repeat=zones + 1)
    states = {state: k for k, state in enumerate(s for s in every if max(s[:-1]) + s[-1] < 4)}
    flows = np.zeros((len(states), len(states)))
    for (state, k), joined in product(states.items(), range(zones + 1)):
        after = [waiting + (zone == joined) for zone, waiting in enumerate(state)]
        share = free if joined == zones else (1.0 - free) / zones
        open_to = range(zones) if joined == zones else [joined]
        full = [{zone, zones} for zone in open_to if after[zone] + after[-1] == 4]
        for gone in full or [set[int]()]:
            left = tuple(0 if zone in gone else n for zone, n in enumerate(after))
            flows[states[left], k] += share / max(len(full), 1)
    return on_average(np.array([*map(sum, states)]), flows)


def zone_wait(size: int, zones: int, free: float, an_hour: int, number: int) -> float:
    """Return the mean wait of a replication, in units of what is between two players."""
    rng, n = np.random.default_rng([702, an_hour, number]), 20_000
    times, zone = np.cumsum(rng.exponential(1.0, n)), rng.integers(zones, size=n)
    anywhere = rng.random(n) < free
    low, high = np.where(anywhere, 0.0, zone), np.where(anywhere, zones - 1.0, zone)
    teams = [{"name": "all", "minPlayers": size, "maxPlayers": size}]
    rules = {**WINDOWS, "teams": teams}
    made = play_singles(rules, Service(FOREVER, times[-1]), times, low=low, high=high)
    return float((made.ends - times)[made.statuses == COMPLETED].mean())


def windows(n: int = 10) -> list[Row]:
    """Return waits in seconds by zones and share of choice-free players; minutes of a top rank."""
    cases = [(4, 1, 0.0, 3600), *product([4], (2, 4), (0.0, 0.2, 0.5), [3600])]
    cases += product([10], [1], [0.0], (3, 6, 12))
    rows = []
    for case, waits in zip(cases, replicated(zone_wait, cases, n)[:, :, 0], strict=True):
        cells = dict(zip(("players", "zones", "free", "an_hour"), case, strict=True))
        size, zones, free, rate = case
        theory, unit = (wait_in_zones(zones, free), 1.0) if size == 4 else (4.5, 60.0 / rate)
        rows.append(row("wait", waits * unit, theory * unit, len(cases), **cells))
    return rows


def windows_summary(rows: list[Row]) -> Summary:
    """Return the wait of a top rank, and what it hangs on if all waits are those of theory."""
    ours = f"{shown(only(rows, an_hour=6))} min at 6 players an hour"
    hangs = verdict(False, agrees(rows), "the traffic of the highest rank")
    return ours, f"{rows[0]['n']} x 20,000 players", hangs


# 3. Distances by traffic.

TRAFFIC = (0.1, 0.2, 0.5, 1.0, 2.0)  # tickets a second
LEAVING = [540.0 + k for k in range(60)]  # ages at which a limit grows by 15 %
AGEING = [0.2 * 1.15**k for k in range(55)]
ARMS: dict[str, Any] = {  # dimensions, those ages, first limit, times the traffic, seconds, reviews
    "stays fixed, d = 1": (1, LEAVING, 0.0002, 1, 18_000.0, 1.0),
    "stays fixed, d = 2": (2, LEAVING, 0.005, 1, 18_000.0, 1.0),
    "limits widen, d = 1": (1, AGEING, 0.0002, 1, 18_000.0, None),
    "limits widen, d = 2": (2, AGEING, 0.002, 1, 18_000.0, None),
    "limits widen, d = 2, traffic x 10": (2, AGEING, 0.002, 10, 600.0, None),
}


def distance(arm: str, traffic: float, number: int) -> tuple[float, float]:
    """Return how far those of a match are apart, and how many wait on average."""
    d, ages, first, dense, end, review = ARMS[arm]
    rng, begin = np.random.default_rng([703, number]), end / 15
    times = np.sort(rng.random(rng.poisson(traffic * dense * end))) * end
    at, steps = {f"x{k}": rng.random(times.size) for k in range(d)}, []
    for k, age in enumerate(ages):
        steps.append({"waitTimeSeconds": age, "value": min(first * 1.15**k, 1.0)})
    near = {"type": "batchDistance", "maxDistance": 0}
    rules = {
        **DUEL,
        "playerAttributes": [{"name": x, "type": "number"} for x in at],
        "algorithm": {"expansionAgeSelection": "oldest"},
        "rules": [{**near, "name": x, "batchAttribute": x} for x in at],
        "expansions": [{"target": f"rules[{x}].maxDistance", "steps": steps} for x in at],
    }
    # No limit is above 0 before the first of the ages: who is younger finds nobody, and is skipped.
    service = Service(600.0, end, review, foresight=600.0 - ages[0])
    made = play_singles(rules, service, times, **at)
    pairs = np.sort(made.tickets.reshape(-1, 2))
    places = np.array([*at.values()])[:, pairs]
    inner = (abs(places[:, :, 0] - 0.5) < 0.3).all(axis=0) & (made.times > begin)
    apart = np.ptp(places[:, inner], axis=2).max(axis=0).mean()
    return float(apart), float((made.ends - times)[times > begin].sum() / (end - begin))


def traffic(n: int = 8, arms: Sequence[str] = tuple(ARMS)) -> list[Row]:
    """Return the slopes of distances on traffic, and distances beside those of the nearest."""
    every, rows = replicated(distance, [*product(arms, TRAFFIC)], n), list[Row]()
    for arm, values in zip(arms, every.reshape(len(arms), -1, n, 2), strict=True):
        d, ages, _, dense, *_ = ARMS[arm]
        fitted = slopes(np.log(values[:, :, 0]), np.log(TRAFFIC))
        theory = -1.0 / (d + (ages is AGEING))
        rows.append(row("slope", fitted, theory, 2, arm=arm, traffic="", waiting=""))
        for a_second, (apart, waiting) in zip(TRAFFIC, values.transpose(0, 2, 1), strict=True):
            m = float(waiting.mean())
            nearest = 0.5 / m if d == 1 else math.sqrt(math.pi / m) / 4.0
            cells = {"arm": arm, "traffic": dense * a_second, "waiting": m}
            rows.append(row("distance", apart, nearest, **cells))
    return rows


def traffic_summary(rows: list[Row]) -> Summary:
    """Return the powers, and whether they are those of theory where stays are fixed."""
    line, square, *_ = where(rows, part="slope")
    agreed = "agrees, if waits are fixed" if agrees([line, square]) else "disagrees"
    ours = f"powers {shown(line)} (d = 1), {shown(square)} (d = 2)"
    return ours, f"{line['n']} x 9 hours", agreed


# 6. What waiting is worth.

TAKES = yaml.safe_load("""
playerAttributes: [{name: me, type: string}, {name: takes, type: string_list}]
rules: [{name: Takes, type: collection, operation: reference_intersection_count, minCount: 1,
  measurements: ["teams[a].players.attributes[takes]"],
  referenceValue: "teams[b].players.attributes[me]"}]
""")
MARKET, DEGREES = 60, (2, 4, 6, 8)  # tickets in a mean stay; partners who come in one
POLICIES = {"greedy": None, "patient": 0.0005, **{f"batches of {t:g}": t for t in (0.05, 0.25, 1)}}
CALENDAR = {"greedy": None, "weekly": 1 / 52, "1/31": 1 / 31, "monthly": 1 / 12, "quarterly": 1 / 4}
Market: TypeAlias = tuple[tuple[tuple[float, ...], ...], float, int, float]
# Markets: chances by whether two are hard to match, share who are, tickets in a mean stay, stays.
ALIKE: dict[float, Market] = {d: (((d / MARKET,) * 2,) * 2, 0.0, MARKET, 150.0) for d in DEGREES}
EASY_AND_HARD = ((0.3, 0.05), (0.05, 0.0))
KIDNEYS: dict[float, Market] = {hard: (EASY_AND_HARD, hard, 365, 40.0) for hard in (0.3, 0.6, 0.8)}


def loss(policy: str, d: float) -> float:
    """Return the share that leaves unmatched under greedy or patient, by the chain of who waits."""
    n, m = np.arange(3.0 * MARKET), float(MARKET)
    alone = (1.0 - d / m) ** np.maximum(n - (policy == "patient"), 0.0)  # nobody fits
    lost, two, more = n * alone, n * (1.0 - alone), m + 0.0 * n
    one = lost
    if policy == "greedy":
        lost, one, two, more = n, n + m * (1.0 - alone), 0.0 * n, m * alone
    flows = np.diag(more[:-1], -1) + np.diag(one[1:], 1) + np.diag(two[2:], 2)
    return on_average(lost / m, flows)


def unmatched(of: Market, policies: Mapping[str, float | None], number: int) -> list[float]:
    """Return the share that leaves unmatched by policy; all meet the same tickets and pairs."""
    (chances, hard, m, end), rng = of, np.random.default_rng([706, number])
    times = np.sort(rng.random(rng.poisson(m * end))) * end
    cancels, is_hard = times + rng.exponential(1.0, times.size), 1 * (rng.random(times.size) < hard)
    takes: list[list[str]] = [[] for _ in times]
    there = np.empty(0, np.int64)
    for k, now in enumerate(times):
        there = there[cancels[there] > now]
        for other in there[rng.random(there.size) < np.array(chances)[is_hard[k], is_hard[there]]]:
            takes[other].append(str(k))
            takes[k].append(str(other))
        there = np.append(there, k)
    me = np.fromiter(map(str, range(times.size)), object)
    lists, shares = np.fromiter(map(tuple, takes), object), []
    kept = (times > end / 15) & (times < end - 8.0)
    for policy, every in policies.items():
        service = Service(FOREVER, end, every, foresight=every if policy == "patient" else None)
        made = play_singles({**TAKES, **DUEL}, service, times, cancels, me=me, takes=lists)
        shares.append(float((made.statuses[kept] == CANCELLED).mean()))
    return shares


def waiting(n: int = 10) -> list[Row]:
    """Return losses by policy and degree, their slopes, and what greedy gains on batches."""
    losses = replicated(unmatched, [(market, POLICIES) for market in ALIKE.values()], n)
    rows, exact, every = list[Row](), 2 * len(DEGREES), len(POLICIES) * len(DEGREES)
    for column, policy in enumerate(POLICIES):
        theory = [loss(policy, d) if column < 2 else 1.0 / (2 * d + 1) for d in DEGREES]
        for k, d in enumerate(DEGREES):
            shares, cells = losses[k, :, column], {"policy": policy, "of": str(d)}
            rows.append(row("loss", shares, theory[k], exact, **cells))
            if column:
                rows.append(row("beyond greedy", shares - losses[k, :, 0], 0.0, every, **cells))
        fitted = slopes(np.log(losses[:, :, column]), DEGREES)
        expected = float(slopes(np.log(theory), DEGREES))
        rows.append(row("slope", fitted, expected, policy=policy, of=""))
    matched = 1.0 - replicated(unmatched, [(market, CALENDAR) for market in KIDNEYS.values()], n)
    for (k, hard), column in product(enumerate(KIDNEYS), range(1, len(CALENDAR))):
        gain = matched[k, :, 0] / matched[k, :, column] - 1.0
        rows.append(row("gain of greedy", gain, 0.016, policy=[*CALENDAR][column], of=hard))
    return rows


def waiting_summary(rows: list[Row]) -> Summary:
    """Return slopes and the gain over monthly batches, and the verdicts."""
    exact, batches = [*POLICIES][:2], [*POLICIES][2:]
    greedy, patient = where(rows, part="slope", policy=exact)
    beyond, losses = where(rows, part="beyond greedy"), where(rows, part="loss")
    longer = agrees(where([*beyond, *losses], policy=batches), "holds", "above")
    shorter = agrees(where(beyond, policy="patient"), "below")
    first = verdict(longer and shorter and agrees(where(losses, policy=exact)))
    gain = only(rows, part="gain of greedy", policy="monthly", of=0.6)
    mean, half = float(gain["ours"]), float(gain["ci"])
    second = verdict(mean >= half and mean + half <= 0.032, True, "how long they stay")
    ours = f"log loss {shown(patient)} a partner, greedy {shown(greedy)}; batches {mean:.1%} behind"
    return ours, f"{gain['n']} markets", f"{first}; batches: {second}"
