"""Make the tables, the figure and the page of this folder.

    python results/policies/make.py

The tables of one player (`gamma` to `draws`) take a quarter of an hour on two cores, those of a
population (`kappa`, `worlds`, `versus`) an hour and a half. `figure` draws the latter.
"""

import math
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from results import study as st
from results.study import Row, Study
from valmatch import optimize
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.kernels.arrays import Floats
from valmatch.models.ladder.loop import NEW, Log, new_log
from valmatch.models.ladder.model import LadderModel, Run
from valmatch.models.ladder.population import DrawnPlayers
from valmatch.models.model import Outcome, Response, Responses

study = Study(globals())

# ---- one player ----

CONFIG = "kg-fig1-top"
RANKS = ("top", "12", "25", "37", "bottom")
BELIEFS = ("informative", "equal")
SETTINGS = st.grid(prior=BELIEFS, rank=RANKS)
KG, FINITE = "knowledge_gradient", "knowledge_gradient_finite"
OPPONENT, BOTH = "ucb_opponent", "ucb_both"
MEASURES = {
    "objective": "expected_quality.{}",
    "late_draw_probability": "true_draw_probability.{}.201-500",
    "late_squared_error": "squared_error.{}.201-500",
}
GAMMAS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999)
KAPPAS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
GAMMA_SEED, GAMMA_PATHS = 2001, 2000
TUNING_SEED, TUNING_PATHS = 1001, 1000
# Parameters that are tuned, and of which policies.
TUNED = {"gamma": (KG,), "kappa": (OPPONENT, BOTH)}
TUNED_KG = "knowledge_gradient_tuned"
COMPARED_SEED, COMPARED_PATHS = 3001, 4000
PAIRS = (  # what is compared: a policy, and the one that it is judged against
    (OPPONENT, TUNED_KG),
    (BOTH, TUNED_KG),
    *((OPPONENT, rival) for rival in ("point_estimate", "draw_chance", KG, FINITE)),
    *((TUNED_KG, rival) for rival in ("point_estimate", "draw_chance", KG)),
)

MARGIN, DRAW_SEED, DRAW_PATHS = 0.5, 4001, 2000
DRAW_RIVALS = ("point_estimate", "draw_chance", OPPONENT)
SPANS = {"1-100": 0.2, "101-200": 0.2, "201-500": 0.6}  # spans of games, with their shares of all
GROUPS = {  # settings that are pooled
    f"{prior}, {part}": {"prior": prior, "rank": ranks}
    for prior, (part, ranks) in product(
        BELIEFS, (("extremes", ("top", "bottom")), ("middle", ("12", "25", "37")))
    )
}


def paths(setting: Row, policy: str, changes: list[str], seed: int, n: int) -> dict[str, Floats]:
    """Return the responses of sample paths under a policy, each path with a prior of its own."""
    own = [f"{name}={value}" for name, value in setting.items()]
    return st.simulate(CONFIG, [*own, "prior_draw=path", *changes, f"policies=[{policy}]"], seed, n)


@study.table(SETTINGS)
def gamma(**setting: str) -> Iterator[Row]:
    """Return all discount factors in a setting, and (12), less 0.99."""
    rules = {f"(13) {x:g}": (KG, [f"gamma={x}"]) for x in GAMMAS}
    rules |= {"(12)": (FINITE, []), "DrawChance": ("draw_chance", [])}
    found = {}
    for rule, (policy, changes) in rules.items():
        values = paths(setting, policy, changes, GAMMA_SEED, GAMMA_PATHS)
        found[rule] = {m: values[name.format(policy)] for m, name in MEASURES.items()}
    for (rule, values), measure in product(found.items(), MEASURES):
        mean, half = st.interval(values[measure])
        row: Row = {"rule": rule, "measure": measure, "n": GAMMA_PATHS, "mean": mean, "ci": half}
        less = {"less_0.99": values[measure] - found["(13) 0.99"][measure]}
        yield row | st.estimates(less)


@study.table(
    st.grid(
        prior=["informative"], rank=("top", "25"), measure=("objective", "late_draw_probability")
    )
)
def tuned(prior: str, rank: str, measure: str) -> list[Row]:
    """Return the discount factor that `optimize` finds for one rank, prior and measure."""
    changes = [f"factors.rank={rank}", f"factors.prior={prior}"]
    changes += [f"optimize.objective.quality.response={MEASURES[measure].format(KG)}"]
    best = optimize(load_config("kg-tune", changes), budget=1000).verdict
    assert best is not None
    assert best.objective.mean is not None
    return [{"gamma": best.point["gamma"], "mean": -best.objective.mean}]


@study.table(
    [
        {"parameter": parameter, "value": value, **setting}
        for setting in SETTINGS
        for parameter, values in (("gamma", GAMMAS), ("kappa", KAPPAS))
        for value in values
    ]
)
def tuning(parameter: str, value: float, **setting: str) -> Iterator[Row]:
    """Return what a value of a parameter gives in a setting, on the same priors for tuning."""
    policies, changes = TUNED[parameter], [f"{parameter}={value}"]
    found = paths(setting, ", ".join(policies), changes, TUNING_SEED, TUNING_PATHS)
    for policy, (measure, name) in product(policies, MEASURES.items()):
        mean, half = st.interval(found[name.format(policy)])
        row = {"policy": policy, "measure": measure, "n": TUNING_PATHS, "mean": mean, "ci": half}
        yield row


def tuning_means(policy: str, measure: str) -> dict[float, float]:
    """Return the mean of a measure over all settings, by the value of the policy's parameter."""
    rows = st.group(study.rows("tuning", policy=policy, measure=measure), "value")
    return {float(x): statistics.fmean(float(r["mean"]) for r in r_) for (x,), r_ in rows.items()}


def chosen(policy: str, measure: str = "objective") -> float:
    """Return the value with the largest mean on the priors for tuning, all settings alike."""
    means = tuning_means(policy, measure)
    return max(means, key=means.__getitem__)


def contender(name: str, setting: Row, seed: int, n: int, *changes: str) -> dict[str, Floats]:
    """Return the responses of a policy that is compared, by names without the policy."""
    policy = KG if name == TUNED_KG else name
    own = [f"gamma={chosen(KG)}"] if name == TUNED_KG else []
    own += [f"kappa={chosen(name)}"] if name in TUNED["kappa"] else []
    values = paths(setting, policy, [*changes, *own], seed + SETTINGS.index(setting), n)
    return {response.replace(f".{policy}", ".{}"): x for response, x in values.items()}


def less_than(values: Floats, other: Floats) -> Row:
    """Return the mean of a policy, and what it is less another on the same priors and paths."""
    less = values - other
    means = {"mean": float(values.mean()), "less": float(less.mean())}
    return {"n": less.size, **means, "less_se": st.std_error(less)}


@study.table(SETTINGS)
def compared(**setting: str) -> list[Row]:
    """Return one contender less another in a setting."""
    names = dict.fromkeys(name for pair in PAIRS for name in pair)
    found = {name: contender(name, setting, COMPARED_SEED, COMPARED_PATHS) for name in names}
    return [
        {"measure": measure, "policy": policy, "other": other}
        | less_than(found[policy][response], found[other][response])
        for (measure, response), (policy, other) in product(MEASURES.items(), PAIRS)
    ]


@study.whole_table
def cost() -> list[Row]:
    """Return microseconds a game of each policy, less those of a game without a choice."""
    n, rounds = 100, 15
    policies = ("random", "point_estimate", "draw_chance", OPPONENT, BOTH, KG, FINITE)
    models = {policy: build(load_config(CONFIG, [f"policies=[{policy}]"])) for policy in policies}
    best = dict.fromkeys(policies, math.inf)
    for _, (policy, model) in product(range(rounds), models.items()):
        run(model, 1, range(1))
        started = time.perf_counter()
        run(model, 1, range(n))
        best[policy] = min(best[policy], (time.perf_counter() - started) / (500 * n) * 1e6)
    decision = {policy: best[policy] - best["random"] for policy in policies}
    return [
        {"policy": policy, "us_a_game": best[policy], "us_a_decision": decision[policy]}
        | {"share_of_knowledge_gradient": decision[policy] / decision[KG]}
        for policy in policies
    ]


@study.table(SETTINGS)
def draws(**setting: str) -> list[Row]:
    """Return the share of drawn games under the knowledge gradient, less that of others."""
    found: dict[str, dict[str, Floats]] = {}
    for name in (TUNED_KG, *DRAW_RIVALS):
        values = contender(name, setting, DRAW_SEED, DRAW_PATHS, f"draw_margin={MARGIN}")
        spans = {span: values["draw_fraction.{}." + span] for span in SPANS}
        whole = sum((SPANS[span] * x for span, x in spans.items()), start=0.0 * spans["1-100"])
        found[name] = {"201-500": spans["201-500"], "all": whole}
    return [
        {"games": games, "policy": TUNED_KG, "other": other}
        | less_than(found[TUNED_KG][games], found[other][games])
        for games, other in product(("201-500", "all"), DRAW_RIVALS)
    ]


# ---- a population ----

# A ladder in which all who are there wait at every tick.

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
WORLDS = st.grid(churn=CHURNS, noise=NOISES, pool=POOLS, prior=PRIORS)

WARMUP = {0.01: 60, 0.04: 40, 0.1: 20, 0.2: 10}  # rounds by churn
# Rounds by pool: small pools need more for intervals that are not much wider.
MEASURED = {40: 100, 200: 50, 1000: 20}
PRIMARY = ("quality", "newcomer_quality")
SECONDARY = ("squared_error", "calibration", "avg_wait_time", "joined_first_wait")


def for_tuning(world: Row) -> bool:
    """Return whether ucb is tuned on a world: each setting of the others with one churn of four."""
    shape = len(CHURNS), len(NOISES), len(POOLS), len(PRIORS)
    return bool(sum(np.unravel_index(WORLDS.index(world), shape)) % len(CHURNS) == 0)


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
    ranked, before = players[order], np.empty_like(order)
    before[order] = np.arange(order.size) - np.searchsorted(ranked, ranked)
    return before


def beta_of(noise: float) -> float:
    """Return the deviation of a performance in points."""
    return SKILL_STD * math.sqrt(noise / PRIOR_VARIANCE)


CAREERS = """
sessions.per_day=30 sessions.activity_cv=0 sessions.win_effect=0 sessions.loss_effect=0
sessions.break_minutes=0.05 sessions.churn=1 match.minutes=0.5 rating.tau=0
"""


def words_of(world: Row, policy: str, kappa: float) -> list[str]:
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
        *CAREERS.split(),
        f"sessions.hourly_profile=[{', '.join(['1'] + ['0'] * 23)}]",
        f"sessions.continue_prob={1.0 - churn!r}",
        f"match.beta={beta!r}",
        f"rating.beta={beta!r}",
        f"rule.policy={policy}",
        f"rule.gamma={1.0 - churn!r}",
        f"rule.kappa={kappa!r}",
    ]


def judged_matches(world: Row, policy: str, kappa: float, seed: int, n: int) -> dict[str, Floats]:
    """Return what is judged, replication by replication."""
    factors: Any = load_config("ladder-duel", words_of(world, policy, kappa)).factors
    values = st.responses_of(Judged(factors), seed, range(n))
    values["squared_error"] = values["rating_error"] ** 2
    return {name: values[name] for name in PRIMARY + SECONDARY}


WORLDS_SEED, KAPPA_SEED = 1, 2
WORLDS_N, KAPPA_N = 200, 50
# Of the worlds played against `nearest`: each has a seed of its own, this one and its number.
VERSUS_SEED = 1000
# Replications against `nearest` by pool: those of large pools say more.
VERSUS_N = {40: 24, 200: 24, 1000: 10}
BASE, PLAIN = "draw_chance", "nearest"
NAMES = {
    "nearest": "nearest",
    "knowledge_gradient": "knowledge gradient, look-ahead",
    "knowledge_gradient_variance": "knowledge gradient, variances",
    "ucb": "ucb",
    "oracle": "oracle",
}
JUDGED = tuple(NAMES)[:4]
AGAINST_PLAIN = {  # what is compared with `nearest`: the policy, and its kappa where it has one
    "knowledge_gradient": ("knowledge_gradient", 1.0),
    "knowledge_gradient_variance": ("knowledge_gradient_variance", 1.0),
    "ucb, kappa 1": ("ucb", 1.0),
    "ucb, kappa 2": ("ucb", 2.0),
}

WORLD_KAPPAS = (0.25, 0.5, 1.0, 2.0)
TRIALS = {  # what trials before the plan found, in percent: all matches, newcomers, squared error
    "nearest": (0.31, 7.9, -8.7),
    "knowledge_gradient": (0.15, 11.3, -14.2),
    "knowledge_gradient_variance": (0.33, 14.8, -16.7),
}


@study.table([world for world in WORLDS if for_tuning(world)])
def kappa(**world: object) -> Iterator[Row]:
    """Return how ucb does in a world for tuning by its weight, relative to draw chance."""
    base = judged_matches(world, BASE, 1.0, KAPPA_SEED, KAPPA_N)
    for weight in WORLD_KAPPAS:
        found = judged_matches(world, "ucb", weight, KAPPA_SEED, KAPPA_N)
        gains = {name: found[name].mean() / base[name].mean() - 1.0 for name in PRIMARY}
        yield {"kappa": weight, "n": KAPPA_N, **gains}


def chosen_kappa() -> float:
    """Return the weight of the largest gain, both qualities and all worlds alike."""
    by_weight = st.group(study.rows("kappa"), "kappa").items()
    gains = {float(x): sum(st.numbers(rows, m).sum() for m in PRIMARY) for (x,), rows in by_weight}
    return max(gains, key=gains.__getitem__)


@study.table(WORLDS)
def worlds(**world: object) -> Iterator[Row]:
    """Return what each policy gives in a world, and its paired differences to draw chance."""
    found = {
        policy: judged_matches(world, policy, chosen_kappa(), WORLDS_SEED, WORLDS_N)
        for policy in (BASE, *NAMES)
    }
    for policy, values in found.items():
        row: Row = {"for_tuning": for_tuning(world), "policy": policy, "n": WORLDS_N}
        for name in PRIMARY + SECONDARY:
            less = values[name] - found[BASE][name]
            row |= st.estimates({name: values[name], f"{name}_less": less})
            row |= {f"{name}_p": st.two_sided(less)} if name in PRIMARY else {}
        yield row


@study.table(WORLDS)
def versus(**world: object) -> Iterator[Row]:
    """Return the knowledge gradients and ucb less `nearest` in a world, on a seed of its own."""
    seed, n = VERSUS_SEED + WORLDS.index(world), VERSUS_N[int(str(world["pool"]))]
    base = judged_matches(world, PLAIN, 1.0, seed, n)
    for name, (policy, weight) in AGAINST_PLAIN.items():
        found = judged_matches(world, policy, weight, seed, n)
        for measure in PRIMARY:
            less = found[measure] - base[measure]
            row: Row = {"policy": name, "measure": measure, "n": n}
            row |= {"nearest": base[measure].mean(), "less": less.mean()}
            yield row | {"less_se": st.std_error(less), "p": st.two_sided(less)}


# ---- the page ----

WIDTHS = {  # standard errors of half an interval: those of a table hold together
    "compared": st.half_widths(len(PAIRS) * len(MEASURES) * len(GROUPS)),
    "draws": st.half_widths(2 * len(DRAW_RIVALS) * len(GROUPS)),
}

# The same of the table against `nearest`.
VERSUS_WIDTH = st.half_widths(len(AGAINST_PLAIN) * len(PRIMARY) * len(CHURNS))


class Difference(NamedTuple):
    """A difference, and half its interval."""

    less: float
    half: float

    @property
    def sign(self) -> int:
        """Return 1 where the interval is above 0, -1 where it is below, 0 where it holds 0."""
        return 0 if abs(self.less) <= self.half else (1 if self.less > 0 else -1)


def pooled(name: str, group_name: str, **cells: str) -> Difference:
    """Return a difference over the settings of a group."""
    rows = study.rows(name, **GROUPS[group_name], **cells)
    error = math.hypot(*st.numbers(rows, "less_se")) / len(rows)
    return Difference(statistics.fmean(st.numbers(rows, "less")), WIDTHS[name] * error)


def gain(row: Row, name: str) -> float:
    """Return the difference to draw chance in percent of the latter."""
    less = float(row[f"{name}_less"])
    return 100.0 * less / (float(row[name]) - less)


def mean_gain(name: str, **cells: object) -> float:
    """Return the mean gain over worlds."""
    return statistics.fmean(gain(row, name) for row in study.rows("worlds", **cells))


def verdicts() -> list[Row]:
    """Return all comparisons with draw chance in the worlds that ucb was not tuned on.

    `sign` is that of the gain where it is shown after Holm's correction, and 0 elsewhere.
    """
    rows = study.rows("worlds", for_tuning=False, policy=JUDGED)
    pairs = [row | {"measure": name} for row in rows for name in PRIMARY]
    gains = [gain(row, row["measure"]) for row in pairs]
    return signed(pairs, gains, [row[f"{row['measure']}_p"] for row in pairs])


def versus_signs() -> list[Row]:
    """Return the worlds against `nearest`, with the sign of what Holm's correction leaves."""
    rows = study.rows("versus")
    return signed(rows, st.numbers(rows, "less").tolist(), [row["p"] for row in rows])


def signed(rows: list[Row], gains: Iterable[float], chances: Iterable[str]) -> list[Row]:
    """Return rows with their gains, and the sign of each that Holm's correction leaves, or 0."""
    shown = st.holm([*map(float, chances)])
    return [
        row | {"gain": x, "sign": ((x > 0) - (x < 0)) * is_shown}
        for row, x, is_shown in zip(rows, gains, shown, strict=True)
    ]


def against_plain(policy: str, measure: str, churn: float) -> Difference:
    """Return the gain on `nearest` in percent over the worlds of a churn."""
    rows = study.rows("versus", policy=policy, measure=measure, churn=churn)
    less, error, plain = (st.numbers(rows, name) for name in ("less", "less_se", "nearest"))
    half = VERSUS_WIDTH * math.hypot(*(100.0 * error / plain)) / len(rows)
    return Difference(statistics.fmean(100.0 * less / plain), half)


@study.part
def figure() -> None:
    """Draw gains.png: every world and policy."""
    import matplotlib.pyplot as plt

    from valmatch.present.figures import COLOURS

    keys = ("churn", "noise", "pool", "prior", "policy")
    shown = [(row["measure"], *(row[key] for key in keys)) for row in verdicts() if row["sign"]]
    panels, axes = plt.subplots(2, 3, figsize=(11, 7), sharex=True, sharey="row")
    for (i, measure), (k, pool) in product(enumerate(PRIMARY), enumerate(POOLS)):
        axes[i, k].axhline(0.0, color="0.6", linewidth=0.8)
        for number, policy in enumerate(JUDGED):
            for at, row in enumerate(study.rows("worlds", policy=policy, pool=pool)):
                filled = (measure, *(row[key] for key in keys)) in shown
                churn, noise = (float(row[key]) for key in ("churn", "noise"))
                axes[i, k].plot(
                    CHURNS.index(churn) + 0.2 * (number - 1.5) + 0.05 * (NOISES.index(noise) - 1),
                    gain(row, measure),
                    "osv"[list(PRIORS).index(row["prior"])],
                    color=COLOURS[number],
                    markerfacecolor=COLOURS[number] if filled else "none",
                    markersize=4,
                    label=None if at else NAMES[policy],
                )
        axes[i, k].set_xticks(range(len(CHURNS)), [f"{churn:.0%}" for churn in CHURNS])
        title = "all matches" if measure == "quality" else "newcomers' first ten"
        axes[i, k].set_title(f"{title}, {pool:,} waiting", fontsize=10)
    for axis in axes[1]:
        axis.set_xlabel("churn a game")
    for axis in axes[:, 0]:
        axis.set_ylabel("true quality against draw chance, %")
    axes[0, 0].legend(fontsize=8)
    panels.tight_layout()
    panels.savefig(study.folder / "gains.png", dpi=110)


if __name__ == "__main__":
    study.main()
