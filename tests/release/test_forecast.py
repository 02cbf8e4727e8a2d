"""The forecast: of the right order, and silent where nobody knows."""

from __future__ import annotations

from itertools import combinations

import pytest

import overcoat as oc
from overcoat.policy.privacy import Family
from overcoat.release.forecast import Forecast, _pairs_held, forecast


def of(data: oc.Transactions, privacy: Family, method: oc.Method) -> Forecast:
    return forecast(data, oc.Policy(2, privacy).bind(data), method)


def test_more_data_and_more_known_items_take_longer() -> None:
    small = oc.Transactions.of([{"a", "b", "c"}, {"a"}], counts=[10**6, 1])
    large = oc.Transactions.of([{"a", "b", "c"}, {"a"}], counts=[10**8, 1])
    times = [
        of(small, oc.AllItemsets(2), oc.Coat()).seconds,
        of(small, oc.AllItemsets(3), oc.Coat()).seconds,
        of(large, oc.AllItemsets(3), oc.Coat()).seconds,
    ]
    assert times == sorted(times)  # type: ignore[type-var]
    assert times[0] is not None
    assert times[0] > 1


def test_what_nobody_knows_is_not_made_up() -> None:
    data = oc.Transactions.of([{"a", "b"}, {"a"}])
    assert of(data, oc.Pgen(), oc.Coat()).seconds is None
    assert of(data, oc.AllItemsets(2), oc.Pcta()).seconds is None


def test_what_is_foretold_depends_on_family_and_method() -> None:
    data = oc.datasets.baskets(60_000, 600, mean=8)
    coat = of(data, oc.AllItemsets(2), oc.Coat()).memory
    assert of(data, oc.AllItemsets(2), oc.Pcta()).memory == coat
    for family, method in [
        (oc.AllItemsets(3), oc.Coat()),
        (oc.Pgen(), oc.Coat()),
        (oc.AllItemsets(2), oc.Apriori()),
        (oc.AllItemsets(2), oc.Search()),
    ]:
        assert of(data, family, method).memory > coat
    wide = oc.datasets.baskets(60_000, 6000, mean=8)  # with more pairs that somebody has
    greedy = of(data, oc.AllItemsets(2), oc.Greedy()).memory
    assert of(wide, oc.AllItemsets(2), oc.Greedy()).memory > 2 * greedy


@pytest.mark.parametrize(("n_items", "mean"), [(40, 8), (400, 8), (3000, 4), (300, 40)])
def test_pairs_that_somebody_has_are_counted_without_a_look_at_them(
    n_items: int, mean: float
) -> None:
    data = oc.datasets.baskets(3000, n_items, mean=mean)
    pairs = {pair for row, _ in data for pair in combinations(row, 2)}
    assert 0.8 < _pairs_held(data) / len(pairs) < 1.25


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "an unknown time and 2.0 GiB of memory"),
        (0.2, "less than a second and 2.0 GiB of memory"),
        (47.3, "about 47 s and 2.0 GiB of memory"),
        (600, "about 10 min and 2.0 GiB of memory"),
    ],
)
def test_in_words(seconds: float | None, words: str) -> None:
    assert str(Forecast(seconds, 2 << 30)) == words
