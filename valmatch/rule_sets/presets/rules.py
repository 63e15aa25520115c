"""The rule of each preset in numbers that need no further look at the vocabulary."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Expansion(NamedTuple):
    """How far a threshold falls with failed attempts.

    Attributes
    ----------
    step, cap : float
        By how much an attempt lowers it, and by how much all together.
    """

    step: float
    cap: float


class FafRule(NamedTuple):
    """The rule of FAForever.

    Attributes
    ----------
    team_size : int
        Players of a team; 1 has a rule of its own.
    less_deviations : float
        Deviations by which a shown rating is below the mean.
    newcomer_games : int
        Games up to which a player is a newcomer.
    newcomer_mean : float
        1v1: rating that a newcomer's is blended with.
    beta : float
        1v1: spread of the play of one game.
    of_own : float
        1v1: share of the quality against one's own like that a ticket asks for.
    top : float
        1v1: shown rating from which a ticket is one of the best.
    expand_top, expand_newcomers, expand_others : Expansion
        1v1: how thresholds fall.
    near_from : int
        1v1: tickets from which only neighbours are compared.
    uncertain : float
        1v1: deviation from which a ticket is sorted as if it had a rating of 0.
    gap, spread : float
        Teams: difference of totals, and of party averages, that costs 1.
    spread_of : {"tickets", "players"}
        Teams: of whose ratings the spread is.
    peak, minority_range, minority_cap : float
        Teams: where most players are; how far from there earns 1; most that is earned.
    rate, cap : float
        Teams: credit of an attempt, and most of it.
    newcomer_rate, newcomer_cap, unless_over : float
        Teams: the same of newcomers, unless somebody shows so much.
    at_least : float
        Teams: least quality of a match.
    pop_max, pop_matches, pop_first : float
        Longest time between pops; matches that are aimed at; when the first pop is.
    pop_average : int
        Pops that are averaged over.
    """

    team_size: int
    less_deviations: float
    newcomer_games: int
    newcomer_mean: float
    beta: float
    of_own: float
    top: float
    expand_top: Expansion
    expand_newcomers: Expansion
    expand_others: Expansion
    near_from: int
    uncertain: float
    gap: float
    spread: float
    spread_of: Literal["tickets", "players"]
    peak: float
    minority_range: float
    minority_cap: float
    rate: float
    cap: float
    newcomer_rate: float
    newcomer_cap: float
    unless_over: float
    at_least: float
    pop_max: float
    pop_matches: float
    pop_first: float
    pop_average: int


class BarRule(NamedTuple):
    """The rule of Beyond All Reason.

    Attributes
    ----------
    team_size, team_count : int
    newcomer_mean, newcomer_deviation : float
        Skill and uncertainty of a ticket without rated players.
    beta : float
        Spread of the play of one game.
    low, high : float
        Between which the win chance of every team has to be.
    band_grows : float
        By how much each limit moves outwards with each tick that the longest of a match waited.
    each : bool
        Whether each player of a party counts, not each ticket.
    newest : bool
        Whether tickets are looked at newest first.
    tick : float
        Seconds between reviews.
    """

    team_size: int
    team_count: int
    newcomer_mean: float
    newcomer_deviation: float
    beta: float
    low: float
    high: float
    band_grows: float
    each: bool
    newest: bool
    tick: float


class ShieldBatteryRule(NamedTuple):
    """The rule of ShieldBattery.

    Attributes
    ----------
    team_size : int
    less_deviations : float
        Deviations by which a rating is lowered.
    sample : int
        Most tickets that are looked at.
    variance, win, logistic : float
        Weights of variance and of a win chance off 1/2; points at which ten to one is bet.
    latency, latency_scale, latency_step : float
        Weight of a step of latency, share of latencies that counts, milliseconds of a step.
    latency_free : int
        Steps that cost nothing.
    unknown : float
        Milliseconds between regions of which nothing is known.
    rate, others : float
        Credit of a second that the longest, and that each other ticket waited.
    at_least : float
        Least quality of a match.
    multiple, relax : float
        Multiples of the players of a match below which, and by how much for each player missing,
        the least quality falls.
    maps : bool
        Whether players who all picked maps need one in common.
    window, half_life : float
        Seconds of a window of the population, and after which it counts half.
    tick : float
        Seconds between reviews.
    """

    team_size: int
    less_deviations: float
    sample: int
    variance: float
    win: float
    logistic: float
    latency: float
    latency_scale: float
    latency_step: float
    latency_free: int
    unknown: float
    rate: float
    others: float
    at_least: float
    multiple: float
    relax: float
    maps: bool
    window: float
    half_life: float
    tick: float


class OsuRule(NamedTuple):
    """The rule of osu!.

    Attributes
    ----------
    lobby_size : int
    start, every, most : float
        Radius at the centre, seconds in which it doubles, and its limit.
    centre, scale : float
        Rating at which the radius is smallest, and how far from there it is e times that.
    top : float
        Rating from which the limit is raised.
    timeout : float
        Seconds of waiting after which a user leaves at the end of a review; 0: nobody does.
    recent : float
        Seconds for which recent opponents do not meet; 0: they may.
    skip : bool
        Whether the next user is passed over as pivot after a lobby.
    invite, ban : float
        Seconds in which an invitation must be accepted; for which who does not is banned.
    tick : float
        Seconds between reviews.
    """

    lobby_size: int
    start: float
    every: float
    most: float
    centre: float
    scale: float
    top: float
    timeout: float
    recent: float
    skip: bool
    invite: float
    ban: float
    tick: float


class LichessRule(NamedTuple):
    """The rule of the pools of lichess.

    Attributes
    ----------
    every, jitter : float
        Seconds between waves, and most by which they are longer.
    players : int
        Players with which a wave comes at once.
    gap : float
        Points of a point of rating between two.
    shared_range, provisional : float
        Points of two with ranges, and of two with provisional ratings.
    manners : bool
        Whether it counts how they leave games.
    rate, cap, per_sit : float
        Points of a missed wave, most of them, and how each sit beyond three lowers that.
    at_most : tuple of (float, float)
        Rating of the lower player from which a limit holds, and the limit; one below 0 is by which
        number the rating is divided for it.
    ranges, blocks, just_paired : bool
        Whether these are never paired: out of a range, blocked, paired in the last wave.
    """

    every: float
    jitter: float
    players: int
    gap: float
    shared_range: float
    provisional: float
    manners: bool
    rate: float
    cap: float
    per_sit: float
    at_most: tuple[tuple[float, float], ...]
    ranges: bool
    blocks: bool
    just_paired: bool


PresetRule = FafRule | BarRule | ShieldBatteryRule | OsuRule | LichessRule
