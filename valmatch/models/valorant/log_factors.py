"""Factors of how a queue log is read."""

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, Strict, ValidationInfo, field_validator

from valmatch.inputs.csv_reader import FLAGS, MOST, SEPARATOR_NAMES
from valmatch.inputs.fields import Factors, Flag, Number, Share, refuse, whole
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

LEFT = "left_hours"  # the column of the times at which players gave up
MEANINGS = ("arrival_hours", "rating", "elo", "kd", "wr", "player", LEFT)
"""What the columns of a queue log mean."""

Text = Annotated[str, Strict()]


def _named(separator: object) -> object:
    """Return the name of a separator that is given as itself."""
    return SEPARATOR_NAMES.get(separator, separator) if isinstance(separator, str) else separator


def _list(value: object) -> Any:  # noqa: ANN401
    return value if isinstance(value, list | tuple) else [value]


def is_wanted(cell: str, condition: Any) -> bool:  # noqa: ANN401
    """Return whether a cell is as a condition of `where` has it."""
    if isinstance(condition, dict):
        return not is_wanted(cell, condition["not"])
    text, number = cell.strip().casefold(), real_number(cell.strip())
    return any(
        FLAGS.get(text) is value
        if isinstance(value, bool)
        else text == str(value).casefold() or (not isinstance(value, str) and number == value)
        for value in _list(condition)
    )


class LogFactors(Factors):
    """How the arrivals file is read."""

    unwritten = ("where", "missing")

    columns: dict[Text, Text] = Field(
        {},
        json_schema_extra={"example": "{arrival_hours: joined_at, rating: mmr, player: account}"},
    )
    """Names that the file has for columns, by meaning (arrival_hours, rating, elo, kd, wr, player,
    left_hours), where they differ."""
    separator: Annotated[Literal["comma", "semicolon", "tab", "bar"], BeforeValidator(_named)] = (
        Field("comma")
    )
    """Field separator."""
    where: dict[Text, Any] = Field(
        {}, json_schema_extra={"example": "{status: matched, queue: {not: [custom, bots]}}"}
    )
    """Rows to read: by column the value or the values that its cells have, or {not: ...} for those
    that they do not have; case does not count."""
    missing: Annotated[tuple[Number, ...], BeforeValidator(_list)] = Field(
        (), json_schema_extra={"example": "[-1, 0]"}
    )
    """Numbers that stand for a rating which is not known, such as -1. Such a player gets the last
    known rating of their account, else that of a player half a log away."""
    skip_bad_rows: Flag = Field(False)
    """Whether to leave rows out that cannot be used, and count them."""
    max_bad_rows: Share = Field(MOST)
    """The share of all rows that skip_bad_rows may leave out; a log with more bad rows is
    refused."""
    sort: Flag = Field(False)
    """Whether to sort rows by arrival; equal times leave the order of the file."""
    zone: Text | None = Field(None)
    """Time zone whose midnights days begin with, such as Europe/Berlin; date-times without a zone
    are read in it. null: the offset of the first row, UTC where it has none."""

    resample: Literal["block"] | None = Field(None)
    """How replications differ. null: all are the log itself. block: the first is the log itself,
    each other is put together from blocks of it, drawn with replacement from any day, at their hour
    of the day; intervals then say how far the log itself may be from the mean, which more
    replications do not narrow."""
    block_hours: Annotated[int, *whole(1, 10_000)] | None = Field(
        None, json_schema_extra={"unit": "hours"}
    )
    """Length of the blocks. null: a day for logs of less than eight days, else the cube root of
    their number, in whole days: three (72) for 40 days, five (120) for 120."""

    @field_validator("max_bad_rows")
    @classmethod
    def _of_rows_left_out(cls, share: float, info: ValidationInfo) -> float:
        if share != MOST and not info.data.get("skip_bad_rows", True):
            raise refuse("no rows are left out (allowed: with skip_bad_rows: true)")
        return share

    @field_validator("columns")
    @classmethod
    def _known_meanings(cls, columns: dict[str, str]) -> dict[str, str]:
        for meaning in columns:
            if meaning not in MEANINGS:
                raise refuse(f"{shown(meaning)} is no meaning ({hint(meaning, MEANINGS)})")
        return columns

    @field_validator("where")
    @classmethod
    def _known_conditions(cls, where: dict[str, Any]) -> dict[str, Any]:
        for column, condition in where.items():
            values = condition.get("not") if isinstance(condition, dict) else condition
            only_not = not isinstance(condition, dict) or condition.keys() == {"not"}
            if not only_not or not all(isinstance(v, str | int | float) for v in _list(values)):
                allowed = "allowed: a value, a list of values, or {not: values}"
                raise refuse(f"{shown(column)}: {shown(condition)} ({allowed})")
        return where

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, zone: str | None) -> str | None:
        if zone is not None:
            try:
                ZoneInfo(zone)
            except (ValueError, OSError, KeyError):
                allowed = "allowed: a name of the IANA database, such as Europe/Berlin"
                raise refuse(f"{shown(zone)} is no time zone ({allowed})") from None
        return zone
