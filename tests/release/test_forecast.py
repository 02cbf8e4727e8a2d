"""The forecast: of the right order, and silent where nobody knows."""

from __future__ import annotations

import pytest

import overcoat as oc
from overcoat.release.forecast import Forecast, forecast


def of(data: oc.Transactions, privacy: oc.AllItemsets | oc.Pgen, method: oc.Method) -> Forecast:
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
    data = oc.datasets.baskets(300, 40, mean=8)
    coat = of(data, oc.AllItemsets(2), oc.Coat()).memory
    assert of(data, oc.AllItemsets(1), oc.Coat()).memory < coat
    assert of(data, oc.AllItemsets(2), oc.Pcta()).memory == coat
    assert of(data, oc.Pgen(), oc.Coat()).memory > coat
    assert of(data, oc.AllItemsets(2), oc.Search()).memory > coat
    assert of(data, oc.AllItemsets(2), oc.Greedy()).memory >= coat
    wide = of(oc.datasets.baskets(300, 40, mean=16), oc.AllItemsets(2), oc.Greedy()).memory
    assert wide > of(data, oc.AllItemsets(2), oc.Greedy()).memory


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
