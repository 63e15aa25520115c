"""The rule of each preset in numbers that need no further look at the vocabulary."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Expansion(NamedTuple):
    """How far a threshold falls with failed attempts."""

    # step, cap: by how much an attempt lowers it, and by how much all together
    step: float
    cap: float


class FafRule(NamedTuple):
    """The rule of FAForever."""

    team_size: int  # players of a team; 1 has a rule of its own
    less_deviations: float  # deviations by which a shown rating is below the mean
    newcomer_games: int  # games up to which a player is a newcomer
    newcomer_mean: float  # 1v1: rating that a newcomer's is blended with
    beta: float  # 1v1: spread of the play of one game
    of_own: float  # 1v1: share of the quality against one's own like that a ticket asks for
    top: float  # 1v1: shown rating from which a ticket is one of the best
    # expand_top, expand_newcomers, expand_others: 1v1: how thresholds fall
    expand_top: Expansion
    expand_newcomers: Expansion
    expand_others: Expansion
    near_from: int  # 1v1: tickets from which only neighbours are compared
    uncertain: float  # 1v1: deviation from which a ticket is sorted as if it had a rating of 0
    # gap, spread: teams: difference of totals, and of party averages, that costs 1
    gap: float
    spread: float
    spread_of: Literal["tickets", "players"]  # teams: of whose ratings the spread is
    # peak, minority_range, minority_cap: teams: where most players are; how far from there earns 1;
    # most that is earned
    peak: float
    minority_range: float
    minority_cap: float
    # rate, cap: teams: credit of an attempt, and most of it
    rate: float
    cap: float
    # newcomer_rate, newcomer_cap, unless_over: teams: the same of newcomers, unless somebody shows
    # so much
    newcomer_rate: float
    newcomer_cap: float
    unless_over: float
    at_least: float  # teams: least quality of a match
    # pop_max, pop_matches, pop_first: longest time between pops; matches that are aimed at; when
    # the first pop is
    pop_max: float
    pop_matches: float
    pop_first: float
    pop_average: int  # pops that are averaged over


class BarRule(NamedTuple):
    """The rule of Beyond All Reason."""

    team_size: int
    team_count: int
    # newcomer_mean, newcomer_deviation: skill and uncertainty of a ticket without rated players
    newcomer_mean: float
    newcomer_deviation: float
    beta: float  # spread of the play of one game
    # low, high: between which the win chance of every team has to be
    low: float
    high: float
    # by how much each limit moves outwards with each tick that the longest of a match waited
    band_grows: float
    each: bool  # whether each player of a party counts, not each ticket
    newest: bool  # whether tickets are looked at newest first
    tick: float  # seconds between reviews


class ShieldBatteryRule(NamedTuple):
    """The rule of ShieldBattery."""

    team_size: int
    less_deviations: float  # deviations by which a rating is lowered
    sample: int  # most tickets that are looked at
    # variance, win, logistic: weights of variance and of a win chance off 1/2; points at which ten
    # to one is bet
    variance: float
    win: float
    logistic: float
    # latency, latency_scale, latency_step: weight of a step of latency, share of latencies that
    # counts, milliseconds of a step
    latency: float
    latency_scale: float
    latency_step: float
    latency_free: int  # steps that cost nothing
    unknown: float  # milliseconds between regions of which nothing is known
    # rate, others: credit of a second that the longest, and that each other ticket waited
    rate: float
    others: float
    at_least: float  # least quality of a match
    # multiple, relax: multiples of the players of a match below which, and by how much for each
    # player missing, the least quality falls
    multiple: float
    relax: float
    maps: bool  # whether players who all picked maps need one in common
    # window, half_life: seconds of a window of the population, and after which it counts half
    window: float
    half_life: float
    tick: float  # seconds between reviews


class OsuRule(NamedTuple):
    """The rule of osu!."""

    lobby_size: int
    # start, every, most: radius at the centre, seconds in which it doubles, and its limit
    start: float
    every: float
    most: float
    # centre, scale: rating at which the radius is smallest, and how far from there it is e times
    # that
    centre: float
    scale: float
    top: float  # rating from which the limit is raised
    # seconds of waiting after which a user leaves at the end of a review; 0: nobody does
    timeout: float
    recent: float  # seconds for which recent opponents do not meet; 0: they may
    skip: bool  # whether the next user is passed over as pivot after a lobby
    # invite, ban: seconds in which an invitation must be accepted; for which who does not is banned
    invite: float
    ban: float
    tick: float  # seconds between reviews


class LichessRule(NamedTuple):
    """The rule of the pools of lichess."""

    # every, jitter: seconds between waves, and most by which they are longer
    every: float
    jitter: float
    players: int  # players with which a wave comes at once
    gap: float  # points of a point of rating between two
    # shared_range, provisional: points of two with ranges, and of two with provisional ratings
    shared_range: float
    provisional: float
    manners: bool  # whether it counts how they leave games
    # rate, cap, per_sit: points of a missed wave, most of them, and how each sit beyond three
    # lowers that
    rate: float
    cap: float
    per_sit: float
    # rating of the lower player from which a limit holds, and the limit; one below 0 is by which
    # number the rating is divided for it
    at_most: tuple[tuple[float, float], ...]
    # ranges, blocks, just_paired: whether these are never paired: out of a range, blocked, paired
    # in the last wave
    ranges: bool
    blocks: bool
    just_paired: bool


PresetRule = FafRule | BarRule | ShieldBatteryRule | OsuRule | LichessRule
