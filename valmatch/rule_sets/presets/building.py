"""The rule of each preset as its search takes it, from the words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from valmatch.rule_sets.presets.meanings import defaults, filled, form_of, team_sizes
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.rules import (
    BarRule,
    Expansion,
    FafRule,
    LichessRule,
    OsuRule,
    PresetRule,
    ShieldBatteryRule,
)
from valmatch.rule_sets.presets.words import Form, Preset


def faf_rule(rule: RuleWords) -> FafRule:
    """Return the rule of FAForever."""
    own = filled(rule)
    # Each of its two rules has numbers that the other has no words for.
    other: Form = "faf" if form_of(rule) == "faf_duels" else "faf_duels"
    value = {**defaults(other), **own}
    top, newcomers, others = value["accept.expand"]
    return FafRule(
        team_size=team_sizes(own["teams"])[1],
        less_deviations=value["strength.less_deviations"],
        newcomer_games=value["strength.newcomer.games"],
        newcomer_mean=value["strength.newcomer.mean"],
        beta=value["value.draw.beta"],
        of_own=value["accept.of_own"],
        top=top["top"],
        expand_top=_expansion(top),
        expand_newcomers=_expansion(newcomers),
        expand_others=_expansion(others),
        near_from=value["candidates.near_from"],
        uncertain=value["candidates.uncertain"],
        gap=value["value.cone.gap"],
        spread=value["value.cone.spread"],
        spread_of=value["value.spread_of"],
        peak=value["value.minority.peak"],
        minority_range=value["value.minority.range"],
        minority_cap=value["value.minority.cap"],
        rate=value["credit.rate"],
        cap=value["credit.cap"],
        newcomer_rate=value["credit.newcomer.rate"],
        newcomer_cap=value["credit.newcomer.cap"],
        unless_over=value["credit.newcomer.unless_over"],
        at_least=value["accept.at_least"],
        pop_max=value["clock.pops.max"],
        pop_matches=value["clock.pops.matches"],
        pop_first=value["clock.pops.first"],
        pop_average=value["clock.pops.average"],
    )


def _expansion(step: dict[str, Any]) -> Expansion:
    return Expansion(step["step"], step["cap"])


def bar_rule(rule: RuleWords) -> BarRule:
    """Return the rule of Beyond All Reason."""
    value = filled(rule)
    count, size = team_sizes(value["teams"])
    low, high = value["accept.band"]
    return BarRule(
        team_size=size,
        team_count=count,
        newcomer_mean=value["strength.newcomer.mean"],
        newcomer_deviation=value["strength.newcomer.deviation"],
        beta=value["value.win.probit"],
        low=low,
        high=high,
        band_grows=value["accept.band_grows"],
        each=value["strength.party"] == "each",
        newest=value["order"] == "newest",
        tick=value["clock.tick"],
    )


def shieldbattery_rule(rule: RuleWords) -> ShieldBatteryRule:
    """Return the rule of ShieldBattery."""
    value = filled(rule)
    return ShieldBatteryRule(
        team_size=team_sizes(value["teams"])[1],
        less_deviations=value["strength.less_deviations"],
        sample=value["candidates.sample"],
        variance=value["value.variance"],
        win=value["value.win.weight"],
        logistic=value["value.win.logistic"],
        latency=value["value.latency_steps.weight"],
        latency_scale=value["value.latency_steps.scale"],
        latency_step=value["value.latency_steps.step_ms"],
        latency_free=value["value.latency_steps.free"],
        unknown=value["value.latency_steps.unknown"],
        rate=value["credit.rate"],
        others=value["credit.others"],
        at_least=value["accept.at_least"],
        multiple=value["accept.relax.multiple"],
        relax=value["accept.relax.rate"],
        maps=value["never.maps"],
        window=value["population.window"],
        half_life=value["population.half_life"],
        tick=value["clock.tick"],
    )


def osu_rule(rule: RuleWords) -> OsuRule:
    """Return the rule of osu!."""
    value = filled(rule)
    return OsuRule(
        lobby_size=value["teams"]["lobby"],
        start=value["window.start"],
        every=value["window.every"],
        most=value["window.max"],
        centre=value["window.by_rating.centre"],
        scale=value["window.by_rating.scale"],
        top=value["window.top"],
        timeout=value["window.timeout"],
        recent=value["never.recent"],
        skip=value["window.skip"],
        invite=value["acceptance.seconds"],
        ban=value["acceptance.ban"],
        tick=value["clock.tick"],
    )


def lichess_rule(rule: RuleWords) -> LichessRule:
    """Return the rule of the pools of lichess."""
    value = filled(rule)
    steps = tuple(
        (float(lowest), -float(most[1:]) if isinstance(most, str) else float(most))
        for lowest, most in value["accept.at_most"]
    )
    return LichessRule(
        every=value["clock.wave.every"],
        jitter=value["clock.wave.jitter"],
        players=value["clock.wave.players"],
        gap=value["value.gap"],
        shared_range=value["value.shared_range"],
        provisional=value["value.provisional"],
        manners=value["value.manners"],
        rate=value["credit.rate"],
        cap=value["credit.cap"],
        per_sit=value["credit.per_sit"],
        at_most=steps,
        ranges=value["never.ranges"],
        blocks=value["never.blocks"],
        just_paired=value["never.just_paired"],
    )


def rule_of(rule: RuleWords) -> PresetRule:
    """Return the rule of a preset."""
    made: Mapping[Preset, Callable[[RuleWords], PresetRule]] = {
        "faf": faf_rule,
        "bar": bar_rule,
        "shieldbattery": shieldbattery_rule,
        "osu": osu_rule,
        "lichess": lichess_rule,
    }
    return made[rule.preset](rule)
