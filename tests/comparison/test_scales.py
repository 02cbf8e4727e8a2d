"""Axes: no cliffs out of trifles, at least three ticks, nothing outside."""

from itertools import product

import pytest

from overcoat.comparison.plots import Panel, Point, draw
from overcoat.comparison.scales import across, scale_of

POWERS = (1e-6, 0.003, 0.08, 0.4, 1, 2.5, 7, 19, 60, 400, 9000, 123456)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("zero", [False, True])
def test_every_axis_has_ticks_around_all_values(log: bool, zero: bool) -> None:
    for low, high in product(POWERS, POWERS):
        if low <= high:
            values = [low, high, *([0.0] if zero else [])]
            scale = scale_of(values, log=log)
            assert 3 <= len(scale.ticks) <= 7
            assert list(scale.ticks) == sorted(set(scale.ticks))
            assert scale.high >= high * (1 - 1e-9)
            shares = [scale.share(value) for value in (*scale.ticks, *values)]
            assert 0 <= min(shares) <= max(shares) <= 1 + 1e-9
            assert max(shares) > 0.6  # no empty half


def test_what_hardly_differs_looks_alike() -> None:
    scale = scale_of([0.5690, 0.5691], least=0.1, log=True)
    assert scale.kind == "linear"
    assert scale.ticks[0] == 0
    assert scale.share(0.5691) - scale.share(0.5690) < 0.001


def test_trifles_stay_small() -> None:
    assert scale_of([0.01, 0.0], least=1.0).share(0.01) == pytest.approx(0.01)


def test_few_decades_are_labelled_between() -> None:
    assert scale_of([13, 190], log=True).ticks == (10, 20, 50, 100, 200)
    assert scale_of([0.02, 90], log=True).ticks == (0.1, 1, 10, 100)
    assert scale_of([1e-5, 9000], log=True).ticks == (1e-5, 1e-3, 0.1, 10, 1000)


def test_zero_stands_at_the_foot_of_a_log_axis() -> None:
    scale = scale_of([0, 0.5, 80], log=True)
    assert scale.kind == "symlog"
    assert scale.ticks[0] == 0
    assert 0 == scale.share(0) < scale.share(0.5) < scale.share(80) < 1


def test_whole_numbers_have_whole_ticks() -> None:
    for n in (1, 2, 3, 7, 20, 130):
        ticks = scale_of([0, n], least=n, whole=True).ticks
        assert all(tick.is_integer() for tick in ticks)
        assert len(ticks) >= 3


def test_every_value_of_a_sweep_has_its_place() -> None:
    log = across([50, 2, 5, 10, 25])
    assert (log.kind, list(log.positions)) == ("log", [2, 5, 10, 25, 50])
    assert list(log.labels.values()) == ["2", "5", "10", "25", "50"]
    steps = across([0, 0.5, 1, 50])  # too close together for a linear axis, and 0 for a log one
    assert (steps.kind, list(steps.positions.values())) == ("steps", [0, 1, 2, 3])
    assert across([1, 2, 3]).positions == {1: 1.0, 2: 2.0, 3: 3.0}
    assert across(["b", "a"]) == ("names", {"b": 0.0, "a": 1.0}, {"b": "b", "a": "a"})


def test_labels_that_would_touch_are_left_out() -> None:
    crowded = across(range(1, 41))
    shown = [label for label in crowded.labels.values() if label]
    assert len(crowded.positions) == 40
    assert shown[-1] == "40"
    assert 3 <= len(shown) <= 12


@pytest.mark.parametrize("values", [(3, 40), (0, 0.2, 90), (0.5, 0.7), (0, 1e-5, 7e4)])
def test_shares_are_those_that_are_drawn(values: tuple[float, ...]) -> None:
    panel = Panel({"coat": [Point(at, y) for at, y in enumerate(values)]}, "", "k", "y", log_y=True)
    (axes,) = draw([panel]).axes
    scale = scale_of(values, log=True)
    for value in values:
        place = axes.transAxes.inverted().transform(axes.transData.transform((0, value)))
        assert place[1] == pytest.approx(scale.share(value))
