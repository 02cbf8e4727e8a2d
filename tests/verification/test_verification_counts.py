"""The compiled counts against their twins."""

import random

import numpy as np
import pytest

from overcoat.data.transactions import Transactions
from overcoat.verification import counting, images, matching, reference


def random_data(rng: random.Random) -> Transactions:
    n_items = rng.randint(1, 12)
    return Transactions.of(
        {str(rng.randint(1, n_items)) for _ in range(rng.randint(0, 8))}
        for _ in range(rng.randint(0, 60))
    )


@pytest.mark.parametrize("m", [0, 1, 2, 3, 4, 5])
def test_weakest_sets(m: int) -> None:
    rng = random.Random(m)
    for _ in range(150):
        data = random_data(rng)
        allowed = np.array([rng.random() < 0.8 for _ in range(data.n_items)], np.uint8)
        arguments = (data.offsets, data.codes, data.counts, allowed, m)
        k, limit = rng.randint(1, 12), rng.choice([0, 3, 10_000])
        expected = reference.weakest_sets(*arguments, k, limit)
        assert counting.weakest_sets(*arguments, k, limit) == expected


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_weakest_sets_by_their_first_label(m: int) -> None:
    rng = random.Random(m)
    for _ in range(100):
        data = random_data(rng)
        table = (data.offsets, data.codes, data.counts)
        allowed = np.array([rng.random() < 0.8 for _ in range(data.n_items)], np.uint8)
        middle, k, limit = rng.randint(0, data.n_items), rng.randint(1, 12), 10_000
        whole = reference.weakest_sets(*table, allowed, m, k, limit)
        for room in (counting, reference):
            index = room.index_of(*table, data.n_items)
            first, second = (
                room.weakest_sets(*table, allowed, m, k, limit, index=index, labels=labels)
                for labels in ((0, middle), (middle, data.n_items))
            )
            least = [part[0] for part in (first, second) if part[0]]
            assert (min(least, default=0), first[1] + second[1], first[2] + second[2]) == whole


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("n_items", [40, 700])
def test_weakest_sets_with_a_table_of_pairs_or_without(m: int, n_items: int) -> None:
    """Many rows for few labels, for which a table is worth it; few rows for many."""
    rng = random.Random(m)
    rows = [
        {str(int(n_items * rng.random() ** 3)) for _ in range(rng.randint(0, 6))}
        for _ in range(4000 if n_items < 100 else 300)
    ]
    data = Transactions.of(rows, counts=[rng.choice([1, 3, 1 << 40]) for _ in rows])
    allowed = np.array([rng.random() < 0.9 for _ in range(data.n_items)], np.uint8)
    arguments = (data.offsets, data.codes, data.counts, allowed, m, 7, 1_000_000)
    assert counting.weakest_sets(*arguments) == reference.weakest_sets(*arguments)


@pytest.mark.parametrize("m", [0, 1, 2, 3, 4, 5])
def test_shared_labels(m: int) -> None:
    rng = random.Random(m)
    n_found = 0
    for _ in range(150):
        data = random_data(rng)
        public, private = (
            np.array([rng.random() < chance for _ in range(data.n_items)], np.uint8)
            for chance in (0.7, 0.4)  # some are both, some are neither
        )
        share = (rng.choice([0, 20, 50, 80, 100]), 100)
        arguments = (data.offsets, data.codes, data.counts, public, private, *share, m)
        limit = rng.choice([0, 3, 10_000])
        expected = reference.shared_labels(*arguments, limit)
        assert counting.shared_labels(*arguments, limit) == expected
        n_found += expected[1]
    assert bool(n_found) == (m > 0)


def random_images(
    rng: random.Random, data: Transactions, largest: int
) -> tuple[np.ndarray, np.ndarray]:
    found = [
        sorted(rng.sample(range(data.n_items), rng.randint(1, min(largest, data.n_items))))
        for _ in range(rng.randint(0, 9) if data.n_items else 0)
    ]
    codes = np.array([code for image in found for code in image], np.int32)
    return np.cumsum([0, *map(len, found)]), codes


def test_image_supports() -> None:
    rng = random.Random(0)
    for _ in range(300):
        data = random_data(rng)
        arguments = (data.offsets, data.codes, data.counts, *random_images(rng, data, 3))
        k = rng.randint(1, 12)
        exact = reference.image_supports(*arguments, k)
        found = images.image_supports(*arguments, k)
        least = min((support for support in exact.tolist() if support), default=0)
        for support, other in zip(exact.tolist(), found.tolist(), strict=True):
            assert support == other or (k <= other < support and other >= least)
        assert min((support for support in found.tolist() if support), default=0) == least


@pytest.mark.parametrize("n_items", [2, 12, 150])
def test_image_supports_by_rows_and_by_bits(n_items: int) -> None:
    """Enough rows for both ways to count, some of them long, some labels in most of them."""
    rng = random.Random(n_items)
    labels = [str(item) for item in range(n_items)]
    rows = [[x for x in labels if rng.random() < rng.choice([0, 0.02, 0.9])] for _ in range(9000)]
    data = Transactions.of(rows, counts=[rng.choice([1, 3_000_000_000]) for _ in rows])
    table = (data.offsets, data.codes, data.counts)
    some = np.sort(rng.sample(range(data.n_distinct), min(40, data.n_distinct)))
    picked = [data.row(row)[: rng.choice([1, 2, 5, 1000])] for row in some]
    ends = np.cumsum([0, *map(len, picked)])
    codes = np.concatenate([np.empty(0, np.int32), *picked])
    exact = reference.image_supports(*table, ends, codes, 1 << 60)
    assert np.array_equal(images.image_supports(*table, ends, codes, 1 << 60), exact)
    found = images.image_supports(*table, ends, codes, 5)
    assert np.array_equal(found < 5, exact < 5)


def test_weakest_parts() -> None:
    rng = random.Random(7)
    n_found = 0
    for _ in range(600):
        data = random_data(rng)
        arguments = (data.offsets, data.codes, data.counts, *random_images(rng, data, 12))
        k, limit = rng.randint(1, 12), rng.choice([0, 3, 10_000])
        expected = reference.weakest_parts(*arguments, k, limit)
        assert images.weakest_parts(*arguments, k, limit) == expected
        n_found += expected[2]
    assert n_found > 1000


def test_long_rows_match() -> None:
    """Also rows longer than what is worked on together, and labels in any order."""
    rng = random.Random(3)
    n_items = 6000
    label_of = np.array([rng.choice([-1, *range(5000)]) for _ in range(n_items)], np.int32)
    lengths = [rng.choice([0, 1, 5, 33, 4000, 5500]) for _ in range(70)]
    data = Transactions.of([map(str, rng.sample(range(n_items), size)) for size in lengths])
    rows: dict[tuple[int, ...], int] = {}
    for row in range(data.n_distinct):
        image = tuple(sorted({int(label_of[code]) for code in data.row(row)} - {-1}))
        rows[image] = rows.get(image, 0) + int(data.counts[row])
    released = sorted(rows)
    ends = np.cumsum([0, *map(len, released)])
    codes = np.array([label for row in released for label in row], np.int32)
    counts = np.array([rows[row] for row in released], np.int64)
    original = (data.offsets, data.codes, data.counts, label_of)
    assert matching.rows_match(*original, ends, codes, counts)
    for row in np.flatnonzero(np.diff(ends)).tolist():  # one label of one row is another
        wrong = codes.copy()
        wrong[ends[row]] += 1
        assert not matching.rows_match(*original, ends, wrong, counts)
        more = counts.copy()
        more[row] += 1
        assert not matching.rows_match(*original, ends, codes, more)


def test_rows_match() -> None:
    rng = random.Random(1)
    verdicts = set()
    for _ in range(600):
        data = random_data(rng)
        n_labels = rng.randint(1, 5)
        label_of = np.array(
            [rng.choice([-1, *range(n_labels)]) for _ in range(data.n_items)], np.int32
        )
        rows = sorted(
            tuple(sorted({int(label_of[code]) for code in data.row(row)} - {-1}))
            for row in range(data.n_distinct)
            for _ in range(int(data.counts[row]))
        )
        if rows and rng.random() < 0.5:  # damage one
            rows[rng.randrange(len(rows))] = (rng.randrange(n_labels),)
        distinct = sorted(set(rows))
        released = (
            np.cumsum([0, *map(len, distinct)]),
            np.array([label for row in distinct for label in row], np.int32),
            np.array([rows.count(row) for row in distinct], np.int64),
        )
        if rng.random() < 0.1 and data.n_items:
            label_of[rng.randrange(data.n_items)] = -2
        arguments = (data.offsets, data.codes, data.counts, label_of, *released)
        expected = reference.rows_match(*arguments)
        assert matching.rows_match(*arguments) == expected
        verdicts.add(expected)
    assert verdicts == {True, False}
