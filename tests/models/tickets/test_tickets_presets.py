"""The model `tickets` with the rules of living matchmakers in place of a rule set."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.case_tables import cases
from valmatch.config.loading import load_config as load_config
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.matching.living.registry import numbers_of
from valmatch.matching.tickets.columns import Tickets
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.models.tickets.measures import repeated
from valmatch.models.tickets.model import TicketsModel
from valmatch.models.tickets.population import users_by_ticket


def model_of(name: str, *overrides: str) -> TicketsModel:
    """Return the model of a shipped config."""
    config = load_config(name, overrides)
    files = {key: file.path for key, file in config.files.items()}
    return TicketsModel(config.factors, files)  # type: ignore[arg-type]


def drawn(model: TicketsModel, seed: int = 1) -> Tickets:
    """Return the tickets of a replication."""
    return model.draw(Streams(seed), 0)


def test_every_number_of_a_preset_has_a_value_and_no_other() -> None:
    rule = load_config("bar", ("rule.chance_high=0.8",)).factors.rule  # type: ignore[attr-defined]
    assert (rule.chance_low, rule.chance_high, rule.tick) == (0.3, 0.8, 5.0)
    assert rule.beta == pytest.approx(25.0 / 6.0)
    known = numbers_of("bar")
    assert set(rule.model_dump()) == {"preset", *known.model_fields} - set(known.later)
    assert load_config("tickets", ()).factors.rule.model_dump() == {}  # type: ignore[attr-defined]


REFUSED = """
bar | rule.chance_low=0.8 | 0.8 is above 0.7
bar | service.review_seconds=2 | does not go with rule.preset: bar
osu | parties.shares=[0.5, 0.5] | takes single players alone
"""


@pytest.mark.parametrize(("name", "override", "words"), cases(REFUSED))
def test_what_has_no_meaning_together_is_refused(name: str, override: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load_config(name, (override,))
    (line,) = str(caught.value).splitlines()
    assert words in line


def test_what_is_seen_is_off_by_the_deviation() -> None:
    inputs = drawn(model_of("shieldbattery", "hours=400", "ratings.newcomers=0.3"))
    off = inputs.seen - inputs.skills
    new = inputs.values["newcomer"] > 0.0
    for own, deviation in ((new, 300.0), (~new, 80.0)):
        spread = off[own].std()
        assert abs(spread - deviation) <= 4.0 * deviation / (2.0 * own.sum()) ** 0.5
    share, error = new.mean(), (0.3 * 0.7 / new.size) ** 0.5
    assert abs(share - 0.3) <= 4.0 * error


def test_users_come_again_with_their_skill() -> None:
    inputs = drawn(model_of("osu", "ratings.users=50"))
    users = users_by_ticket(inputs)
    assert users.max() < 50
    for user in range(50):
        own = users == user
        assert np.unique(inputs.skills[own]).size == 1
        assert np.unique(inputs.seen[own]).size == 1


SMALL = {
    "bar": ("hours=6",),
    "faf_duels": ("hours=6", "rule.preset=faf_duels", "parties.shares=[1]"),
    "faf": ("hours=18",),
    "shieldbattery": ("hours=6",),
    "osu": ("hours=4", "ratings.users=60"),
    "lichess": ("hours=0.6", "arrivals.per_hour=4000"),
}


@pytest.mark.slow
@pytest.mark.parametrize("preset", SMALL)
def test_tickets_are_conserved_and_matches_are_of_the_rule(preset: str) -> None:
    config = preset.removesuffix("_duels")
    model = model_of(config, "warmup_minutes=0", "measure=[sizes]", *SMALL[preset])
    found = model.play(drawn(model))
    played = found.played
    assert np.unique(played.tickets).size == played.tickets.size
    assert (played.statuses[played.tickets] == COMPLETED).all()
    assert (played.statuses == COMPLETED).sum() == played.tickets.size
    assert found.full.all()
    values = model.run(drawn(model)).responses
    assert isinstance(values, dict)
    ends = ("tickets_matched", "tickets_timed_out", "tickets_cancelled", "tickets_searching")
    assert sum(values[name] for name in ends) == values["n_tickets"]
    assert set(values) == set(model.responses.names)
    assert values["n_matches"] > 20
    assert 0.0 <= values["skipped"] <= 1.0


@pytest.mark.slow
def test_a_repetition_is_of_the_same_two_within_ten_minutes() -> None:
    model = model_of("osu", "hours=3", "ratings.users=6", "rule.recent=0")
    found = model.play(drawn(model))
    users = users_by_ticket(found.drawn)
    pairs = [
        (time, frozenset(users[found.played.tickets[found.played.matches == number]].tolist()))
        for number, time in enumerate(found.played.times.tolist())
    ]
    expected = [
        any(pair == other and time - before < 600.0 for before, other in pairs[:number])
        for number, (time, pair) in enumerate(pairs)
    ]
    assert repeated(found).tolist() == expected
    assert 0 < sum(expected) < len(expected)


@pytest.mark.slow
def test_the_table_of_matches_says_what_the_rule_thought_of_each() -> None:
    model = model_of("bar", "hours=3", "warmup_minutes=0")
    record = model.record(drawn(model))
    (matches,) = (table.columns for table in record.tables if table.name == "matches")
    (tickets,) = (table.columns for table in record.tables if table.name == "tickets")
    values = model.run(drawn(model)).responses
    assert isinstance(values, dict)
    believed = matches["believed_win_prob"]
    assert ((believed >= 0.3) & (believed <= 0.7)).all()
    assert matches["match_value"].tolist() == believed.tolist()
    for name in ("match_value", "skipped"):
        assert matches[name].mean() == pytest.approx(values[name], rel=1e-12)
    spreads = [np.std(tickets["skill"][tickets["match"] == number]) for number in matches["match"]]
    assert values["skill_spread"] == pytest.approx(np.mean(spreads), rel=1e-9)
