"""What others published about Elo, spatial matching and waiting, against theory."""

from __future__ import annotations

from results.published import theory
from results.study import where


def test_error_of_elo_grows_with_the_root_of_k() -> None:
    rows = theory.elo(4)
    print(*rows, sep="\n")
    assert theory.elo_summary(rows)[-1] == "agrees"


def test_distance_falls_with_traffic_as_fast_as_dimensions_allow() -> None:
    rows = theory.traffic(4, [*theory.ARMS][:3])
    print(*rows, sep="\n")
    assert theory.agrees(where(rows, part="slope"))


def test_losses_of_greedy_and_patient_are_those_of_their_chains() -> None:
    rows = theory.waiting(4)
    print(*rows, sep="\n")
    assert theory.agrees(where(rows, part=["loss", "slope"], policy=["greedy", "patient"]))
    assert theory.waiting_summary(rows)[-1].startswith("agrees;")
