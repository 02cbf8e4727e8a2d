"""The compiled search for minimal moles against its twin."""

import random
from typing import Any

import numpy as np
import pytest

from overcoat.data.transactions import Transactions
from overcoat.errors import CancelledError
from overcoat.kernels import moles, reference

EVERYTHING = 1 << 40


def random_data(rng: random.Random) -> Transactions:
    n_items = rng.randint(1, 12)
    return Transactions.of(
        {str(rng.randint(1, n_items)) for _ in range(rng.randint(0, 8))}
        for _ in range(rng.randint(0, 60))
    )


@pytest.mark.parametrize("p", [0, 1, 2, 3, 4, 5, 6])
def test_find_moles(p: int) -> None:
    rng = random.Random(p)
    sizes = set()
    for _ in range(300):
        data = random_data(rng)
        private = np.array([rng.random() < 0.3 for _ in range(data.n_items)], bool)
        public = np.array([rng.random() < 0.9 for _ in range(data.n_items)], bool) & ~private
        if rng.random() < 0.3:
            private[:] = False
        h = rng.choice([0, 20, 50, 80, 100])
        arguments = (
            *(data.offsets, data.codes, data.counts, public, private),
            (h, 100),
            *(p, rng.randint(1, 8), EVERYTHING),
        )
        found, expected = moles.find_moles(*arguments), reference.find_moles(*arguments)
        assert len(found) == len(expected) == p
        for mine, twin in zip(found, expected, strict=True):
            assert mine.dtype == twin.dtype == np.int32
            assert mine.tolist() == twin.tolist()
            sizes |= {twin.shape[1]} if len(twin) else set()
    assert sizes == set(range(1, min(p, 4) + 1)) | (sizes & {5, 6})


def test_too_many_sets_are_refused() -> None:
    """5,000 pairs: the search ends before it has stored them all, and tells at which size."""
    data = Transactions.of([{str(i) for i in range(100)}, *({str(i)} for i in range(100))])
    nothing = np.zeros(100, bool)
    arguments = (data.offsets, data.codes, data.counts, ~nothing, nothing, (1, 1), 3, 2)
    assert [len(sets) for sets in moles.find_moles(*arguments, EVERYTHING)] == [0, 4950, 0]
    with pytest.raises(reference.TooManySetsError) as caught:
        moles.find_moles(*arguments, 2000)
    assert caught.value.size == 2


def test_memory_that_arrays_do_not_get(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's error tells a shape; ours tells the size of the sets."""
    data = Transactions.of([{"1", "2", "3"}] * 3 + [{"1"}, {"2"}, {"3"}])
    nothing = np.zeros(3, bool)

    class Poor:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def empty(self, shape: Any, dtype: Any = float) -> Any:
            if shape == (1, 2):
                raise MemoryError(shape, dtype)
            return np.empty(shape, dtype)

    monkeypatch.setattr(moles, "np", Poor())
    with pytest.raises(reference.TooManySetsError) as caught:
        moles.find_moles(
            *(data.offsets, data.codes, data.counts, ~nothing, nothing, (1, 1)),
            *(3, 2, EVERYTHING),
        )
    assert caught.value.size == 3


def test_long_rows_that_are_alike_make_few_sets() -> None:
    """Five people share 300 items and the sixth lacks one: of 330 million fours few are looked at.

    All sets of shared items have the same holders as a single one of them, so no larger mole has
    two of them in it.
    """
    items = {str(number) for number in range(300)}
    data = Transactions.of([items] * 5 + [items - {"7"}, {"x", "8"}, *[{"x"}] * 5])
    nothing = np.zeros(data.n_items, bool)
    rows = (data.offsets, data.codes, data.counts)
    found = moles.find_moles(*rows, ~nothing, nothing, (1, 1), 5, 2, 10_000)
    code = data.vocabulary.code
    assert [sets.tolist() for sets in found] == [[], [sorted([code("8"), code("x")])], [], [], []]


def test_shares_are_compared_exactly() -> None:
    """Of so many people one more or less than the share may hold x: doubles do not see it."""
    rng = random.Random(9)
    for _ in range(300):
        n = rng.randint(1, 1 << 61)
        below = rng.randint(1, (1 << 63) - 1)
        above = rng.randint(0, below)
        most = above * n // below
        for sharing in (max(most - 1, 0), most, min(most + 1, n)):
            counts = np.array([sharing, n - sharing])
            rows = (np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), counts)
            item, x = np.array([True, False]), np.array([False, True])
            arguments = (*rows, item, x, (above, below), 1, 1, EVERYTHING)
            found, expected = moles.find_moles(*arguments), reference.find_moles(*arguments)
            assert found[0].tolist() == expected[0].tolist() == [[0]] * (sharing > most)


@pytest.mark.parametrize("finder", [moles.find_moles, reference.find_moles])
def test_a_search_can_be_ended(finder: Any) -> None:
    """It calls now and then, in proportion to its work, and ends when the call raises."""
    rng = random.Random(2)
    data = Transactions.of({str(rng.randrange(400)) for _ in range(60)} for _ in range(2000))
    nothing = np.zeros(data.n_items, bool)
    rows = (data.offsets, data.codes, data.counts)
    calls = 0

    def tell() -> None:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise CancelledError("cancelled")

    with pytest.raises(CancelledError):
        finder(*rows, ~nothing, nothing, (1, 1), 4, 2, EVERYTHING, tell)
    assert calls == 20
