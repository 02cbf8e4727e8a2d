"""The compiled search for minimal moles against its twin."""

import random
from typing import Any

import numpy as np
import pytest

from overcoat.data.transactions import Transactions
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
            np.arange(data.n_transactions + 1) * h // 100,
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
    arguments = (data.offsets, data.codes, data.counts, ~nothing, nothing, np.arange(102), 3, 2)
    assert [len(sets) for sets in moles.find_moles(*arguments, EVERYTHING)] == [0, 4950, 0]
    with pytest.raises(reference.TooManySetsError) as caught:
        moles.find_moles(*arguments, 2000)
    assert caught.value.size == 2


def test_memory_that_arrays_do_not_get(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's error tells a shape; ours tells the size of the sets."""
    data = Transactions.of([{"1", "2", "3"}] * 3)
    nothing = np.zeros(3, bool)

    class Poor:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def empty(self, shape: Any, dtype: Any = float) -> Any:
            if shape == (2, 1):
                raise MemoryError(shape, dtype)
            return np.empty(shape, dtype)

    monkeypatch.setattr(moles, "np", Poor())
    with pytest.raises(reference.TooManySetsError) as caught:
        moles.find_moles(
            *(data.offsets, data.codes, data.counts, ~nothing, nothing, np.empty(0, int)),
            *(3, 2, EVERYTHING),
        )
    assert caught.value.size == 3


@pytest.mark.parametrize("finder", [moles.find_moles, reference.find_moles])
def test_no_shares_without_private_items(finder: Any) -> None:
    data = Transactions.of(map(set, ["ab", "ac", "a"]))
    nothing = np.zeros(3, bool)
    rows = (data.offsets, data.codes, data.counts)
    found = finder(*rows, ~nothing, nothing, np.empty(0, np.int64), 2, 2, EVERYTHING)
    assert [sets.tolist() for sets in found] == [[[1], [2]], []]
