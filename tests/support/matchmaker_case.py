"""Published cases of living matchmakers: ``python -m tests.support.matchmaker_case FILE``."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.plain_python import interpret

if __name__ == "__main__":
    CASE = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    # Where kernels are quick enough in plain Python, they need no compiling.
    MANY = {"bar": 3, "shieldbattery": 2}.get(CASE["rule"], 100)
    if len(CASE["tickets"]) <= 100 and CASE.get("constants", {}).get("team_size", 1) <= MANY:
        interpret()

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import variant
from valmatch.matching.living import bar, faf, lichess, osu, queue, shieldbattery
from valmatch.matching.living.pairing import pair
from valmatch.matching.living.queue import ANY, Parties, PresetInput, new_state
from valmatch.matching.living.registry import Numbers, kernel_numbers, numbers_of, rule_of
from valmatch.matching.queue import kernel_of

Case = Mapping[str, Any]
Match = dict[str, Any]

NAMES: dict[str, dict[str, str]] = {
    "faf": {"credit_rate": "time_bonus", "credit_cap": "time_bonus_cap"}
    # Of the values that its queue says of matches.
    | dict.fromkeys(("beta", "newcomer_mean"), ""),
    "faf_duels": {"of_own": "own_share", "rating_peak": "", "team_size": ""},
    "bar": {"rule": "", "band": ""},
    "shieldbattery": {
        "weight_variance": "variance_weight",
        "weight_win": "win_weight",
        "weight_latency": "latency_weight",
        "unknown_pair": "latency_unknown",
        "credit_rate": "wait_weight",
        "credit_others": "others_weight",
        "relax_rate": "relax",
        "min_quality": "threshold",
        "never_maps": "shared_maps",
        "backbone": "",
    },
    "osu": {"seed": "", "invite": "", "ban": ""},
    "lichess": {"credit_rate": "credit", "never_ranges": "ranges"},
}
"""What constants of cases are called here where that differs; "" if they are no numbers."""

BANDS = {"bruteforce_filter": (0.3, 0.7), "ignore_os": (0.0, 1.0)}  # what bar calls two bands


def preset_of(case: Case) -> str:
    """Return whose rule a case is of."""
    duels = case["rule"] == "faf" and case["constants"].get("team_size") == 1
    return "faf_duels" if duels else str(case["rule"])


def numbers_of_case(case: Case) -> Any:  # noqa: ANN401 - of the preset
    """Return the numbers of the rule of a case."""
    preset, constants = preset_of(case), case["constants"]
    values = {NAMES[preset].get(word, word): value for word, value in constants.items()}
    values.pop("", None)
    if preset == "bar" and ("rule" in constants or "band" in constants):
        low, high = constants.get("band") or BANDS[constants["rule"]]
        values |= {"chance_low": low, "chance_high": high}
    return numbers_of(preset).model_validate({**values, **case["numbers"]})


# ---------------------------------------------------------------- queues of the package


def parties_of(tickets: Sequence[Case], constants: Case) -> Parties:
    """Return tickets of a case as a rule knows them."""
    parties = [ticket.get("players", [ticket]) for ticket in tickets]
    sizes = np.array([len(players) for players in parties], np.int64)
    players = [player for party in parties for player in party]
    regions = sorted({one["region"] for one in tickets if one.get("region") is not None})
    between = np.full((len(regions), len(regions)), np.nan)
    np.fill_diagonal(between, 0.0)
    for key, milliseconds in constants.get("backbone", {}).items():
        first, _, second = key.partition("|")
        if {first, second} <= set(regions):
            i, j = regions.index(first), regions.index(second)
            between[i, j] = between[j, i] = milliseconds
    homes = [one.get("region") if one.get("rtt") is not None else None for one in tickets]
    picks = sorted({pick for one in tickets for pick in one.get("maps") or ()})
    maps = [one.get("maps") for one in tickets]
    ranges = [one.get("range") for one in tickets]

    def column(name: str, kind: type) -> Any:  # noqa: ANN401
        return np.array([one.get(name) or 0 for one in players], kind)

    return Parties(
        sizes,
        np.cumsum(sizes) - sizes,
        column("rating", np.float64),
        column("deviation", np.float64),
        column("games", np.int64),
        np.array([one.get("rating") is None or bool(one.get("provisional")) for one in players]),
        np.array([-1 if home is None else regions.index(home) for home in homes], np.int64),
        np.array([one.get("rtt") or 0.0 for one in tickets]),
        between,
        np.array(
            [-1 if own is None else sum(1 << picks.index(pick) for pick in own) for own in maps],
            np.int64,
        ),
        np.array([low for low, _ in (one or (-ANY, ANY) for one in ranges)], np.int64),
        np.array([high for _, high in (one or (-ANY, ANY) for one in ranges)], np.int64),
        np.array([one is not None for one in ranges], np.bool_),
        np.array([one.get("sit") or 0 for one in tickets], np.int64),
    )


class Steps:
    """The queue of a rule, one review after another."""

    def __init__(self, case: Case, numbers: Numbers) -> None:
        self.tickets = sorted(case["tickets"], key=lambda one: one.get("time", 0.0))
        preset, n = preset_of(case), len(self.tickets)
        rule, self.numbers = rule_of(preset), kernel_numbers(numbers)
        cancels = [one.get("cancel") for one in self.tickets]
        tickets = PresetInput(
            np.array([one.get("time", 0.0) for one in self.tickets], np.float64),
            np.array([math.inf if one is None else one for one in cancels], np.float64),
            np.arange(n),
            parties_of(self.tickets, case["constants"]),
            Streams(0).place(0),
        )
        self.state = new_state(tickets, rule.memory_of(self.numbers), math.inf, 0.0)
        self.state.missed[:] = [one.get("attempts", 0) for one in self.tickets]
        self._play = kernel_of(queue.play, rule)

    def until(self, horizon: float, due: float) -> list[tuple[Any, list[list[int]]]]:
        """Go on with a review when it is due; return matches and the tickets of their teams."""
        state, counters = self.state, self.state.counters[0]
        before = int(counters["matches"])
        counters["horizon"], counters["due"] = horizon, due
        self._play(state, self.numbers)
        matches = []
        for match in state.matches[before : counters["matches"]]:
            seats = range(match["first"], match["first"] + match["tickets"])
            teams = [
                [int(state.members[0, k]) for k in seats if state.members[1, k] == team]
                for team in range(state.members[1, seats[-1]] + 1)
            ]
            matches.append((match, teams))
        return matches

    @property
    def waiting(self) -> list[int]:
        """Return who waits, in order of joining."""
        return [int(k) for k in self.state.waiting[: self.state.counters["waiting"][0]]]

    def named(self, teams: Sequence[Sequence[int]]) -> list[list[Any]]:
        """Return the ids of tickets."""
        return [[self.tickets[k]["id"] for k in team] for team in teams]

    def answer(self, matches: list[Match], waiting: Sequence[int], **trace: object) -> Match:
        """Return what came of the tickets."""
        return {"matches": matches, "waiting": self.named([waiting])[0], **trace}

    def end(self, case: Case, ticks: Sequence[float]) -> None:
        """Go on to the horizon without a review."""
        self.until(case.get("horizon", max(ticks, default=0.0)), math.inf)


def play_faf(case: Case) -> Match:
    """Play a queue of FAForever until the horizon, or search it once."""
    numbers = numbers_of_case(case).model_copy(update={"pop_least": 1e-6})
    steps = Steps(case, numbers)
    if case["kind"] == "find":
        matches = [
            {"time": 0, "teams": steps.named(teams), "quality": float(match["value"])}
            for match, teams in steps.until(0.0, 0.0)
        ]
        waiting = steps.waiting
        if preset_of(case) == "faf":
            shown = np.empty(len(steps.tickets), faf.SHOWN)
            for k in waiting:
                faf.show(k, shown[k], steps.state, steps.numbers)
            waiting.sort(key=lambda k: shown[k]["average"])
        return steps.answer(matches, waiting)
    matches, pops, due = [], list[Match](), numbers.pop_first
    while due <= case["horizon"]:
        slot = numbers.pop_average + len(pops) % numbers.pop_average
        for _, teams in steps.until(due, due):
            quality = draw_quality(steps, teams, case["constants"])
            matches.append({"time": due, "teams": steps.named(teams), "trueskill_quality": quality})
        pops.append({"time": due, "players": int(steps.state.memory[slot])})
        due = float(steps.state.counters["due"][0])
    steps.until(case["horizon"], due)
    return steps.answer(matches, steps.waiting, pops=pops)


def draw_quality(steps: Steps, teams: Sequence[Sequence[int]], constants: Case) -> float:
    """Return the chance of a draw by the ratings that duels go by, against that of known equals."""
    numbers = {**faf.Duels().model_dump(), **constants}
    most, low = numbers["newcomer_games"], numbers["newcomer_mean"]
    gap = variances = play = 0.0
    for sign, tickets in zip((1, -1), teams, strict=True):
        for one in (player for k in tickets for player in steps.tickets[k]["players"]):
            games, mean = one["games"], one["rating"]
            if games <= most:
                mean = ((most - games) * low + games * mean) / most
            gap += sign * mean
            variances += one["deviation"] ** 2
            play += numbers["beta"] ** 2
    total = play + variances
    return math.sqrt(play / total) * math.exp(-gap * gap / (2 * total))


def ticks_of(case: Case, tick: float) -> list[float]:
    """Return when a case is looked at: as it says, else as the rule ticks."""
    if "ticks" in case:
        return list(case["ticks"])
    return [tick * k for k in range(1, int(case["horizon"] // tick) + 1)]


def play_bar(case: Case) -> Match:
    """Play a queue of Beyond All Reason."""
    numbers = numbers_of_case(case)
    steps, ticks = Steps(case, numbers), ticks_of(case, numbers.tick)
    matches: list[Match] = []
    for now in ticks:
        started = [
            {"time": now, "teams": steps.named(teams), "win": win_chances(steps, teams, numbers)}
            for _, teams in steps.until(now, now)
        ]
        # As their answers list them: the last one first.
        matches += reversed(started)
    steps.end(case, ticks)
    waiting = steps.waiting
    return steps.answer(matches, waiting[::-1] if numbers.newest_first else waiting)


def win_chances(steps: Steps, teams: Sequence[Sequence[int]], numbers: Any) -> list[float]:  # noqa: ANN401
    """Return the believed win chance of each team."""
    entries = np.empty(len(steps.tickets), bar.TICKET)
    for ticket in (k for team in teams for k in team):
        bar.assess(ticket, entries[ticket], steps.state, steps.numbers)
    sums = [[entries[team][name].sum() for name in ("skill", "variance")] for team in teams]
    chances = np.empty(len(teams))
    bar.within_band(np.array(sums), 0.0, steps.numbers, chances)
    return [float(chance) for chance in chances]


def play_shieldbattery(case: Case) -> Match:
    """Play a queue of ShieldBattery."""
    numbers = numbers_of_case(case)
    steps, ticks = Steps(case, numbers), ticks_of(case, numbers.tick)
    matches, states, state = list[Match](), list[Match](), steps.state
    for now in ticks:
        for match, teams in steps.until(now, now):
            variance, latency = _roster(steps, teams, now)
            matches.append(
                {
                    "time": now,
                    "teams": steps.named(teams),
                    "quality": float(match["value"]),
                    "skill_variance": variance,
                    "win_probability": float(match["chance"]),
                    "max_latency": latency,
                }
            )
        folded = state.memory[shieldbattery.IS_FOLDED] != 0.0
        states.append(
            {
                "time": now,
                "population": float(state.memory[shieldbattery.FOLDED]) if folded else None,
                "threshold": float(shieldbattery.least_quality(state, steps.numbers)),
            }
        )
    steps.end(case, ticks)
    return steps.answer(matches, steps.waiting, states=states)


def _roster(steps: Steps, teams: Sequence[Sequence[int]], now: float) -> tuple[float, float]:
    """Return the variance and the latency of a match."""
    tickets = np.array(sorted(k for team in teams for k in team))
    pool = shieldbattery.pool_of(tickets, now, steps.state, steps.numbers)
    valued, places = np.zeros(1, shieldbattery.ROSTER), np.arange(tickets.size)
    least = np.float32(-np.inf)
    shieldbattery.value_roster(places, least, pool, steps.numbers, valued[0], places.copy())
    return float(valued["variance"][0]), float(valued["latency"][0])


# ---------------------------------------------------------------- osu!


class Lobby(NamedTuple):
    """Users who are invited."""

    members: list[int]  # the pivot first
    since: float
    accepted: set[int]


Form = Callable[..., Ints]  # as `valmatch.matching.living.osu.form_lobbies`


def by_congruences(seed: int) -> Form:
    """Return the search with draws of a linear congruential generator, one after another."""
    state = seed

    def draw(*address: object) -> float:
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return float(state >> 8)

    candidates = variant(_plain(osu.draw_candidates), "case", uniform_at=draw)
    form: Form = variant(_plain(osu.form_lobbies), "case", draw_candidates=candidates)
    return form


def _plain(function: Any) -> Any:  # noqa: ANN401 - a kernel, compiled or not
    return getattr(function, "py_func", function)


class OsuQueue:
    """osu!'s queue while users join, leave, accept and decline."""

    def __init__(
        self, ratings: Sequence[float], numbers: osu.Numbers, form: Form = osu.form_lobbies
    ) -> None:
        self.ratings, self.numbers, self.form = ratings, numbers, form
        self.at_once = True  # whether all accept at once
        self.invite, self.ban = 30.0, 60.0 if numbers.lobby_size == osu.RANKED else 0.0
        self.rng_key = Streams(0).place(0)
        self.ids = {k: k for k in range(len(ratings))}  # by which draws are addressed
        self.present: dict[int, float] = {}  # since when, in order of joining
        self.seats: dict[int, int] = {}  # in its set, where who joins takes the seat left last
        self.free_seats: list[int] = []
        self.lobbies: list[Lobby] = []
        self.banned: dict[int, float] = {}
        self.last: dict[frozenset[int], float] = {}
        self.now, self.updates = 0.0, 0
        self.matches: list[tuple[float, list[int]]] = []
        self.log: list[list[Any]] = []

    def take(self, what: str, now: float, user: int = -1) -> None:
        """Let something happen."""
        self.now = now
        if what == "tick":
            self.tick()
        elif what == "join" and user not in self.present:
            self.seats[user] = self.free_seats.pop() if self.free_seats else len(self.present)
            self.present[user] = now
        elif what == "accept":
            # The match starts when all have accepted.
            for lobby in [one for one in self.lobbies if user in one.members]:
                lobby.accepted.add(user)
                if len(lobby.accepted) == len(lobby.members):
                    self.lobbies.remove(lobby)
                    self._start(lobby.members)
        elif what in ("leave", "decline") and user in self.present:
            self.remove([user])

    def free(self) -> list[int]:
        """Return who waits without an invitation, in order of joining."""
        invited = {user for lobby in self.lobbies for user in lobby.members}
        return [user for user in self.present if user not in invited]

    def remove(self, leaving: Sequence[int]) -> None:
        """Let users leave, the invited at fault; the others of their lobbies search on."""
        leaving = sorted(leaving, key=self.seats.__getitem__)
        ending = [one for user in leaving for one in self.lobbies if user in one.members]
        for lobby in ending:
            if lobby in self.lobbies:
                self.lobbies.remove(lobby)
                self.log.append(["recycled", self.now, lobby.members])
        for user in leaving:
            self._drop(user)
            self.log.append(["removed", self.now, user])
            if self.ban and any(user in lobby.members for lobby in ending):
                self.banned[user] = self.now + self.ban

    def tick(self) -> None:
        """Search, then let invitations lapse and those leave who have waited too long."""
        for members in self._search():
            self.log.append(["formed", self.now, members])
            if self.at_once:
                self._start(members)
            else:
                self.lobbies.append(Lobby(members, self.now, set()))
        self.updates += 1
        lapsed = [one for one in self.lobbies if self.now - one.since > self.invite]
        self.remove([k for one in lapsed for k in one.members if k not in one.accepted])
        timeout = self.numbers.search_timeout
        if timeout:
            self.remove([k for k in self.free() if self.now - self.present[k] > timeout])

    def _search(self) -> list[list[int]]:
        """Return the lobbies of an update, pivots first."""
        users = [k for k in self.free() if self.banned.get(k, -math.inf) < self.now]
        users.sort(key=self.ratings.__getitem__)
        if len(users) < self.numbers.lobby_size:
            return []
        long_ago = self.now - self.numbers.recent
        met = [
            [self.last.get(frozenset((one, other)), -math.inf) >= long_ago for other in users]
            for one in users
        ]
        lobbies = self.form(
            osu.Users(
                np.array([self.ids[user] for user in users]),
                np.array([self.ratings[user] for user in users]),
                np.array([self.now - self.present[user] for user in users]),
                np.array(met),
            ),
            kernel_numbers(self.numbers),
            self.rng_key,
            self.updates,
        )
        return [[users[k] for k in row] for row in lobbies]

    def _start(self, members: list[int]) -> None:
        for user in members:
            self._drop(user)
        self.matches.append((self.now, members))
        if self.numbers.recent:
            self.last |= {frozenset(one): self.now for one in combinations(members, 2)}

    def _drop(self, user: int) -> None:
        del self.present[user]
        self.free_seats.append(self.seats.pop(user))
        if not self.present:
            self.free_seats.clear()


def play_osu(case: Case) -> Match:
    """Play a queue of osu! with its events."""
    tickets, constants = case["tickets"], case["constants"]
    seed, numbers = constants.get("seed"), numbers_of_case(case)
    ratings = [float(one["rating"]) for one in tickets]
    form = osu.form_lobbies if seed is None else by_congruences(seed)
    users = OsuQueue(ratings, numbers, form)
    users.at_once = case.get("accept") != "scripted"
    users.invite, users.ban = constants.get("invite", users.invite), constants.get("ban", users.ban)
    users.banned = {k: one["banned"] for k, one in enumerate(tickets) if one.get("banned")}
    index = {one["id"]: k for k, one in enumerate(tickets)}
    for what, now, *who in case["events"]:
        users.take(what, now, *(index[one] for one in who))

    def named(who: int | list[int]) -> object:
        return [tickets[k]["id"] for k in who] if isinstance(who, list) else tickets[who]["id"]

    return {
        "matches": [
            {"time": now, "teams": [[named(k)] for k in members]} for now, members in users.matches
        ],
        "waiting": named(sorted(users.free())),
        "log": [[what, now, named(who)] for what, now, who in users.log],
    }


# ---------------------------------------------------------------- lichess


class LichessPool:
    """A pool of lichess while members come and go."""

    def __init__(self, tickets: Sequence[Case], numbers: lichess.Numbers) -> None:
        self.tickets, self.numbers, n = tickets, numbers, len(tickets)
        given = PresetInput(
            np.zeros(n), np.zeros(n), np.arange(n), parties_of(tickets, {}), Streams(0).place(0)
        )
        self.state = new_state(given, np.zeros(1), 0.0, 0.0)
        self.state.missed[:] = [one.get("misses") or 0 for one in tickets]
        self.ranges = [one.get("range") for one in tickets]
        self.members: list[int] = []
        self.paired: set[str] = set()
        self.matches: list[tuple[float, tuple[int, int]]] = []
        self.waves: list[Match] = []
        self.jitter: Callable[[int], float] = lambda wave: 0.0

    def play(self, horizon: float) -> None:
        """Let members come and go until the horizon."""
        due = self.numbers.wave_seconds + self.jitter(0)
        order = sorted(range(len(self.tickets)), key=lambda k: self.tickets[k]["time"])
        for number in (k for k in order if self.tickets[k]["time"] <= horizon):
            now = self.tickets[number]["time"]
            while due < now:
                due = self.wave(due)
            self._leave(now, False)
            if self._joins(number) and len(self.members) >= self.numbers.wave_players:
                due = self.wave(now)
        while due <= horizon:
            due = self.wave(due)
        self._leave(horizon)

    def wave(self, now: float) -> float:
        """Pair members; return when the next wave is."""
        # Those who cancel at this moment leave first, and do not count for another wave in it.
        self._leave(now)
        self.waves.append({"time": now, "members": len(self.members)})
        pairs = [*self._marked_pairs(), *self._pairs()]
        pairs.sort(key=lambda pair: [self.members.index(k) for k in pair])
        self.matches += [(now, one) for one in pairs]
        gone = {k for one in pairs for k in one}
        self.paired = {self.tickets[k]["user"] for k in gone}
        self.members = [k for k in self.members if k not in gone]
        for k in self.members:
            self.state.missed[k] += 1
        return now + self.numbers.wave_seconds + self.jitter(len(self.waves))

    def _marked_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of marked accounts, which meet each other by rating."""
        marked = [k for k in self.members if self.tickets[k].get("lame")]
        marked.sort(key=lambda k: -self.tickets[k]["rating"])
        for first, second in zip(marked[::2], marked[1::2], strict=False):
            one, other = sorted((first, second), key=self.members.index)
            yield one, other

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of all others."""
        others = [k for k in self.members if not self.tickets[k].get("lame")]
        numbers = kernel_numbers(self.numbers)
        points = lichess.score_pairs(np.array(others, np.int64), self.state, numbers)
        for i, first in enumerate(others):
            for j, second in enumerate(others):
                if self.tickets[first]["user"] in (self.tickets[second].get("blocks") or ()):
                    points[i, j] = points[j, i] = np.nan
        for i, j in enumerate(pair(points).tolist()):
            if j > i:
                yield others[i], others[j]

    def _leave(self, now: float, inclusive: bool = True) -> None:
        """Let those leave who cancelled before now, or cancel now."""
        cancels = {k: self.tickets[k].get("cancel") or math.inf for k in self.members}
        stays = {k: c > now or (c == now and not inclusive) for k, c in cancels.items()}
        self.members = [k for k in self.members if stays[k]]

    def _joins(self, number: int) -> bool:
        """Let a member join, or change its range; return whether the pool is larger now."""
        user, wanted = self.tickets[number]["user"], self.ranges[number]
        if self.numbers.just_paired and user in self.paired:
            return False
        for k in self.members:
            if self.tickets[k]["user"] == user:
                if self.ranges[k] != wanted:
                    self.ranges[k], self.state.missed[k] = wanted, 0
                    for column in ("low", "high", "ranged"):
                        values: Ints = getattr(self.state.parties, column)
                        values[k] = values[number]
                return False
        self.members.append(number)
        return True


def play_lichess(case: Case) -> Match:
    """Play a pool of lichess until the horizon."""
    pool = LichessPool(case["tickets"], numbers_of_case(case))
    pool.play(case["horizon"])
    ids = [one["id"] for one in case["tickets"]]
    matches = [{"time": now, "teams": [[ids[k]] for k in members]} for now, members in pool.matches]
    return {"matches": matches, "waiting": [ids[k] for k in pool.members], "waves": pool.waves}


PLAYED = {
    "faf": play_faf,
    "bar": play_bar,
    "shieldbattery": play_shieldbattery,
    "osu": play_osu,
    "lichess": play_lichess,
}


def play_case(case: Case, **numbers: object) -> Match:
    """Return what comes of the tickets of a case, with some other numbers of the rule."""
    defaults = {"constants": {}, "kind": "queue", "numbers": numbers}
    return PLAYED[case["rule"]]({**defaults, **case})


if __name__ == "__main__":
    print(json.dumps(play_case(CASE), indent=2))
