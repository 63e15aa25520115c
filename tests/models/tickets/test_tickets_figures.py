"""Figures of groups of tickets."""

from __future__ import annotations

from pathlib import Path

from valmatch import load, replicate
from valmatch.plots.drawing import plot


def test_each_kind_of_groups_has_a_figure(tmp_path: Path) -> None:
    factors = {"hours": 2.0, "warmup_minutes": 0, "arrivals": {"per_hour": 60}}
    groups = ["sizes", "regions", "hours", "deciles"]
    config = load({"model": "tickets", "factors": {**factors, "measure": groups}})
    replicate(config, n=2, out=tmp_path / "run")
    panels = {"sizes": 5, "regions": 3, "deciles": 10}
    for name, parts in panels.items():
        figure = plot(tmp_path / "run", name)
        assert len([axes for axes in figure.axes if axes.get_visible()]) == 7
        assert len(figure.axes[0].get_yticks()) == parts
    assert len(plot(tmp_path / "run", "hours").axes) == 7
