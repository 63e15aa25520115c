"""Figures of queue logs of weeks: dates, hours by weekdays, one history."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from tests.plots.test_plots import assert_legible
from tests.support.command import valmatch

pytest.importorskip("matplotlib")

from valmatch import plot
from valmatch.plots.parts.source import read_run_files
from valmatch.plots.valorant.calendar import first_midnight
from valmatch.plots.valorant.simulate import read_day
from valmatch.plots.valorant.week import queue_by_cell, waits_by_cell

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 3, 20, tzinfo=BERLIN)
"""A Friday; summer time begins on the 29th."""

RULES = ("--set", "team_num=1", "--set", "player_diff=2000", "--set", "team_diff=80")


def write(path: Path, days: int, kind: str) -> None:
    """Write a log of so many days: date-times of Berlin, seconds since 1970, or hours."""
    rng = np.random.default_rng(11)
    lines = ["arrival_hours,rating"]
    for hour in np.sort(24.0 * days * rng.random(60 * days)).tolist():
        moment = START.astimezone(ZoneInfo("UTC")) + timedelta(hours=hour)
        times = {
            "zone": moment.astimezone(BERLIN).isoformat(timespec="seconds"),
            "plain": moment.astimezone(BERLIN).replace(tzinfo=None).isoformat(" ", "seconds"),
            "seconds": f"{moment.timestamp():.0f}",
            "hours": repr(hour),
        }
        lines.append(f"{times[kind]},{rng.normal(1500, 200):.0f}")
    path.write_text("\n".join(lines) + "\n")


def simulated(folder: Path, days: int = 17, kind: str = "zone", *options: object) -> Path:
    write(folder / "log.csv", days, kind)
    log = ("--set", f"arrivals={folder / 'log.csv'}", *RULES, *options)
    done = valmatch("simulate", "valorant", *log, "--out", folder / "run")
    assert done.code == 0, done.err
    return folder / "run"


@pytest.mark.parametrize(
    ("kind", "zone"), [("zone", None), ("zone", "Europe/Berlin"), ("plain", "Europe/Berlin"),
                       ("seconds", "Europe/Berlin"), ("hours", None)]
)  # fmt: skip
def test_the_day_that_hours_are_counted_from(kind: str, zone: str | None, tmp_path: Path) -> None:
    options = ("--set", f"log.zone={zone}", "--set", "log.sort=True") if zone else ()
    run = read_run_files(simulated(tmp_path, 11, kind, *options))
    found, of = first_midnight(run), START if zone else START.replace(tzinfo=UTC)
    assert found == (None if kind == "hours" else of)


def test_resamples_have_no_dates(tmp_path: Path) -> None:
    options = ("--set", "log.resample=block", "--replication")
    assert first_midnight(read_run_files(simulated(tmp_path, 4, "zone", *options, "0"))) is not None
    (tmp_path / "other").mkdir()
    assert (
        first_midnight(read_run_files(simulated(tmp_path / "other", 4, "zone", *options, "1")))
        is None
    )


def ticks(axes: Any) -> list[str]:  # noqa: ANN401 - matplotlib's types are too wide
    return [text.get_text() for text in axes.get_xticklabels()]


@pytest.mark.slow
def test_dates_stand_on_the_axis_of_a_log_of_weeks(tmp_path: Path) -> None:
    figure: Any = plot(simulated(tmp_path))
    queue, waits, *_ = figure.axes
    for axes, what in ((queue, "time"), (waits, "time of arrival")):
        assert ticks(axes)[:3] == ["Mar 20", "Mar 22", "Mar 24"]
        assert axes.get_xticks()[:3].tolist() == [0.0, 48.0, 96.0]
        assert axes.get_xlabel() == f"{what} [date]"
    assert "from 2026-03-20 on" in figure.get_suptitle()
    labels = [text.get_text() for text in waits.get_legend().get_texts()]
    assert labels == ["10% to 90%", "mean over 3 hours"]
    assert_legible(figure)


@pytest.mark.slow
def test_days_stand_on_the_axis_of_weeks_without_dates(tmp_path: Path) -> None:
    folder = simulated(tmp_path, 17, "hours")
    figure: Any = plot(folder)
    assert ticks(figure.axes[0])[:3] == ["0", "2", "4"]
    assert figure.axes[0].get_xlabel() == "time [days]"
    drawn = valmatch("plot", folder, "--format", "svg").out.split()
    assert [Path(file).name for file in drawn] == ["day.svg"]


@pytest.mark.slow
def test_hours_by_weekdays_are_those_of_the_players(tmp_path: Path) -> None:
    folder = simulated(tmp_path)
    with (folder / "players.csv").open() as file:
        players = list(csv.DictReader(file))
    came = [float(one["arrival_hours"]) for one in players]
    left = [float(one["match_hours"] or "nan") for one in players]
    horizon = came[-1]
    waited, time = np.zeros((7, 24)), np.zeros((7, 24))
    waits: dict[tuple[int, int], list[float]] = {}
    for hour in range(int(horizon) + 1):
        cell = (4 + hour // 24) % 7, hour % 24
        end = min(hour + 1.0, horizon)
        time[cell] += end - hour
        for begin, stop in zip(came, left, strict=True):
            stop = horizon if np.isnan(stop) else stop
            waited[cell] += max(0.0, min(stop, end) - max(begin, hour))
    for begin, stop in zip(came, left, strict=True):
        if not np.isnan(stop):
            cell = (4 + int(begin) // 24) % 7, int(begin) % 24
            waits.setdefault(cell, []).append(60.0 * (stop - begin))
    arrays = np.array(came), np.array(left)
    first = datetime(2026, 3, 20, tzinfo=UTC)
    queue = queue_by_cell(first, horizon, *arrays)
    np.testing.assert_allclose(queue, waited / time, atol=1e-9)
    medians = waits_by_cell(first, arrays[0], 60.0 * (arrays[1] - arrays[0]))
    for cell, own in waits.items():
        assert medians[cell] == pytest.approx(np.median(own))
    figure: Any = plot(folder, "week")
    drawn = [axes.collections[0].get_array() for axes in figure.axes[:2]]
    np.testing.assert_allclose(drawn[0], queue)
    np.testing.assert_allclose(drawn[1], medians)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names[0] == "Monday"
    assert figure.axes[0].yaxis_inverted()
    assert_legible(figure)


def test_who_gives_up_waits_no_longer(tmp_path: Path) -> None:
    """The queue that is drawn is the one that the responses say."""
    given = ("--set", "patience_minutes=20", "--set", "wait_thresh=0", "--out", tmp_path / "day")
    done = valmatch("simulate", "valorant", *given, "--json")
    expected = json.loads(done.out)["responses"]
    assert expected["abandoned"] > 50
    day = read_day(read_run_files(tmp_path / "day"))
    end = np.fmin(day.leaving, 24.0)
    assert (end - day.arrival).sum() / 24.0 == pytest.approx(expected["avg_queue_length"])
    figure: Any = plot(tmp_path / "day")
    gave_up = [line for line in figure.axes[2].lines if line.get_label() == "gave up"]
    assert [line.get_xdata().size for line in gave_up] == [expected["abandoned"]]
    mean = np.mean(gave_up[0].get_ydata())
    assert mean == pytest.approx(expected["avg_wait_abandoned"])


def test_cells_of_which_nothing_is_known() -> None:
    came, left = np.array([0.5, 30.0]), np.array([1.5, np.nan])
    first = datetime(2026, 3, 21, tzinfo=UTC)  # a Saturday
    waits = waits_by_cell(first, came, 60.0 * (left - came))
    assert waits[5, 0] == 60.0
    assert np.isnan(waits).sum() == 7 * 24 - 1
    queue = queue_by_cell(first, 31.0, came, left)
    assert queue[5, :2].tolist() == [0.5, 0.5]
    assert queue[6, 6] == 1.0
    assert np.isnan(queue).sum() == 7 * 24 - 31


@pytest.mark.slow
def test_one_history_is_a_list_and_lines_without_a_band(tmp_path: Path) -> None:
    write(tmp_path / "log.csv", 9, "zone")
    log = ("--set", f"arrivals={tmp_path / 'log.csv'}", *RULES)
    asked = ("--set", "measure=[hours, weekdays]", "--out", tmp_path / "run")
    assert valmatch("replicate", "valorant", *log, *asked).code == 0
    found = json.loads((tmp_path / "run" / "summary.json").read_text())["responses"]
    for name, parts in (("hours", 24), ("weekdays", 7)):
        figure: Any = plot(tmp_path / "run", name)
        assert len(figure.axes) == 3
        for axes in figure.axes:
            assert len(axes.patches) == 1  # no band
            assert not axes.collections
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["the one replication"]
        values = figure.axes[1].patches[0].get_data().values
        assert values.size == parts
        assert_legible(figure)
    assert values.tolist() == pytest.approx(
        [found[f"avg_wait_time.{day}"]["mean"] for day in (
            "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"
        )]
    )  # fmt: skip
    listed: Any = plot(tmp_path / "run", "responses")
    texts = [text.get_text() for text in listed.axes[0].texts]
    rows = list(zip(texts[::3], texts[1::3], texts[2::3], strict=True))
    assert rows[0] == ("response", "value", "unit")
    assert len(rows) == 1 + 15
    assert ("avg_wait_time", f"{found['avg_wait_time']['mean']:.5g}", "minutes") in rows
    assert ("n_players", "540", "") in rows
    assert_legible(listed)


SEARCH = """\
model: valorant
arrivals: log.csv
factors: {team_num: 1, player_diff: 2000, team_diff: 80}
optimize:
  variables: {team_diff: {low: 5, high: 1000, start: 100, scale: 20}}
  objective: {gap: {response: avg_team_diff}}
  constraints: {wait: {response: avg_wait_time, at_most: 90 min}}
"""


@pytest.mark.slow
def test_the_search_on_a_log_certifies_nothing(tmp_path: Path) -> None:
    write(tmp_path / "log.csv", 2, "zone")
    (tmp_path / "search.yaml").write_text(SEARCH)
    done = valmatch(
        *("optimize", tmp_path / "search.yaml", "--budget", "100", "--out", tmp_path / "run")
    )
    assert done.code == 0, done.err
    figure: Any = plot(tmp_path / "run", "search")
    assert figure.axes[-1].get_xlabel() == "points evaluated on this log"
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert "certification" not in labels
    assert labels[-1] == "recommended, on this log"
    title = figure.get_suptitle()
    assert title.replace("\n", " ").endswith("(--set log.resample=block)")
    assert_legible(figure)
