"""The compiled parts of `data` against their twins."""

import random
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overcoat.context import Context, Stage
from overcoat.data import baskets as compiled_baskets
from overcoat.data import containment, pulse, reference
from overcoat.data import rows as compiled_rows
from overcoat.errors import CancelledError, DataError

rows_of_codes = st.lists(st.lists(st.integers(0, 6), max_size=12), max_size=40)


def arrays(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return offsets, np.array([code for row in rows for code in row], np.int32)


def same(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert [np.asarray(x).tolist() for x in one] == [np.asarray(x).tolist() for x in other]


@settings(max_examples=500, deadline=None, derandomize=True)
@given(rows_of_codes, st.booleans(), st.sampled_from([1, 2, 3, 7]))
def test_canonical_rows(rows: list[list[int]], wide: bool, threads: int) -> None:
    """Also with codes beyond 16 bits, which are packed otherwise, and in several parts."""
    if wide:
        rows = [[code * 70_000 for code in row] for row in rows]
    offsets, codes = arrays(rows)
    counts = np.arange(1, len(rows) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_rows, "MANY_ROWS", 1)
        patch.setattr(compiled_rows, "PART", 5)
        stage = Context(threads=threads).start("sort")
        found = compiled_rows.canonical_rows(offsets, codes, counts, stage=stage)
    same(found, reference.canonical_rows(offsets, codes, counts))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(rows_of_codes, st.data(), st.sampled_from([1, 3]), st.booleans())
def test_rows_are_relabelled_on_the_way(
    rows: list[list[int]], data: st.DataObject, threads: int, positions: bool
) -> None:
    offsets, codes = arrays(rows)
    counts = np.arange(1, len(rows) + 1)
    labels = np.array(data.draw(st.lists(st.integers(-1, 5), min_size=7, max_size=7)), np.int32)
    expected = reference.canonical_rows(offsets, codes, counts, labels=labels)
    given_codes = codes.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_rows, "MANY_ROWS", 1)
        patch.setattr(compiled_rows, "PART", 4)
        found = compiled_rows.canonical_rows(
            *(offsets, codes, counts),
            labels=labels,
            positions=positions,
            stage=Context(threads=threads).start("sort"),
        )
    if not positions:
        assert found[3] is None
        found = (*found[:3], expected[3])
    same(found, expected)
    assert (codes == given_codes).all()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(rows_of_codes, max_size=6), st.data(), st.sampled_from([1, 3]), st.booleans())
def test_batches_are_gathered(
    batches: list[list[list[int]]], data: st.DataObject, threads: int, positions: bool
) -> None:
    """Of any size, empty ones among them, in one part or in many."""
    labels = np.array(data.draw(st.lists(st.integers(-1, 5), min_size=7, max_size=7)), np.int32)

    def given_batches() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return [(*arrays(rows), np.arange(1, len(rows) + 1)) for rows in batches]

    expected = reference.gathered_rows(given_batches(), labels=labels)
    handed_over = given_batches()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_rows, "MANY_ROWS", data.draw(st.sampled_from([1, 1000])))
        patch.setattr(compiled_rows, "PART", data.draw(st.sampled_from([1, 4, 50])))
        patch.setattr(compiled_rows, "SAMPLE", data.draw(st.sampled_from([1, 64])))
        stage = Context(threads=threads).start("sort")
        found = compiled_rows.gathered_rows(
            handed_over, labels=labels, positions=positions, stage=stage
        )
    assert not handed_over
    if not positions:
        assert found[3] is None
        found = (*found[:3], expected[3])
    same(found, expected)


def test_a_batch_is_let_go_when_its_rows_are_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_rows, "MANY_ROWS", 1)
    monkeypatch.setattr(compiled_rows, "PART", 100)
    batches = [(*canonical_sample(250, 3), np.ones(250, np.int64)) for _ in range(4)]
    held = [weakref.ref(codes) for _, codes, _ in batches]
    most: list[tuple[int, int]] = []

    class Watching(Stage):
        def __call__(self, done: int = 0, of: int = 0) -> None:
            most.append((done, sum(one() is not None for one in held)))

    monkeypatch.setattr(pulse, "PACE", 1)
    compiled_rows.gathered_rows(batches, stage=Watching("sort", Context(threads=1)))
    # All were looked at before the first is placed; each is told of while it is placed.
    assert {n for done, n in most if done <= 1000} == {4}
    for placed, n in [(1000, 4), (1250, 3), (1500, 2), (1750, 1)]:
        assert {one for done, one in most if placed < done < placed + 250} == {n}
    assert {n for done, n in most if done > 2000} == {0}


@pytest.mark.parametrize("n_codes", [1, 3, 400, 200_000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_canonical_rows(n_codes: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough rows for every way of sorting: radix, quicksort, insertion; long and equal ones.

    On one thread or on several.
    """
    monkeypatch.setattr(compiled_rows, "MANY_ROWS", 1)
    stage = Context(threads=threads).start("sort")
    rng = random.Random(n_codes)
    rows = [
        [rng.randrange(n_codes) for _ in range(rng.choice([0, 1, 2, 5, 9, 70]))]
        for _ in range(9000)
    ]
    rows += rows[:500]
    offsets, codes = arrays(rows)
    counts = np.ones(len(rows), np.int64)
    same(
        compiled_rows.canonical_rows(offsets, codes, counts, stage=stage),
        reference.canonical_rows(offsets, codes, counts),
    )


def test_long_rows_with_a_common_start() -> None:
    """Rows are told apart however late they differ, and calls do not nest with their length."""
    start = list(range(60_000))
    rows = [start] * 40 + [start[:-1], [*start, 70_000], [*start, 70_001]] * 2
    rows += [start[:length] for length in range(0, 400, 3)]
    offsets, codes = arrays(rows)
    counts = np.arange(1, len(rows) + 1)
    same(
        compiled_rows.canonical_rows(offsets, codes, counts),
        reference.canonical_rows(offsets, codes, counts),
    )


def test_equal_rows_of_two_hundred_thousand_items() -> None:
    offsets = np.arange(41) * 200_000
    codes = np.tile(np.arange(200_000, dtype=np.int32), 40)
    found, _, counts, positions = compiled_rows.canonical_rows(offsets, codes, np.ones(40, int))
    assert found.tolist() == [0, 200_000]
    assert counts.tolist() == [40]
    assert not positions.any()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(rows_of_codes, st.integers(7, 9))
def test_rows_by_item(rows: list[list[int]], n_items: int) -> None:
    offsets, codes = arrays([sorted(set(row)) for row in rows])
    same(
        compiled_rows.rows_by_item(offsets, codes, n_items),
        reference.rows_by_item(offsets, codes, n_items),
    )


text = st.lists(
    st.sampled_from(
        [b"a", b"bb", b" ", b"\t", b",", b"\n", b"\r", b"\r\n", b"\x0b", b"\xc3\xa9", b"|"]
    ),
    max_size=60,
).map(b"".join)


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.lists(text, max_size=3), st.sampled_from([None, b",", b"\t", b"|", b" "]))
def test_tokenizers(blocks: list[bytes], sep: bytes | None) -> None:
    fast, slow = compiled_baskets.Tokenizer(sep), reference.Tokenizer(sep)
    for block in blocks:
        *found, new = fast.feed(block)
        *expected, expected_new = slow.feed(block)
        assert new == expected_new
        same(tuple(found), tuple(expected))


def test_a_tokenizer_remembers_many_labels() -> None:
    words = [f"{i * 7919 % 100_003:x}".encode() for i in range(50_000)]
    block = b"\n".join(words)
    fast, slow = compiled_baskets.Tokenizer(None), reference.Tokenizer(None)
    for _ in range(2):
        *found, new = fast.feed(block)
        *expected, expected_new = slow.feed(block)
        assert new == expected_new
        same(tuple(found), tuple(expected))


def test_more_labels_than_can_be_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_baskets, "MOST_LABELS", 3)
    tokenizer = compiled_baskets.Tokenizer(None)
    assert tokenizer.feed(b"a b c a\n")[2] == [b"a", b"b", b"c"]
    with pytest.raises(DataError, match="more than 3 items, which is all that can be worked on"):
        tokenizer.feed(b"c d\n")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(rows_of_codes, st.sampled_from([b" ", b"||", "§".encode()]), st.data())
def test_formatters(rows: list[list[int]], sep: bytes, data: st.DataObject) -> None:
    offsets, codes = arrays(rows)
    labels = [b"", b"x", b"long label", "é".encode(), b"4", b"5", b"6"]
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=50)) if rows else []
    picked = np.array(chosen, np.int64)
    assert compiled_baskets.format_rows(
        offsets, codes, picked, labels, sep
    ) == reference.format_rows(offsets, codes, picked, labels, sep)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(rows_of_codes, st.sampled_from([1, 40, 64, 100]), st.sampled_from([1, 2, 5]))
def test_contained_rows(rows: list[list[int]], spread: int, threads: int) -> None:
    """Also with codes that share a bit of the signature, and in several parts."""
    offsets, codes = arrays([[code * spread for code in row] for row in rows])
    offsets, codes, _, _ = reference.canonical_rows(offsets, codes, np.ones(len(rows), np.int64))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(containment, "MANY_ROWS", 1)
        stage = Context(threads=threads).start("compare")
        found = containment.contained_rows(offsets, codes, stage=stage)
    assert np.array_equal(found, reference.contained_rows(offsets, codes))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(rows_of_codes)
def test_item_supports(rows: list[list[int]]) -> None:
    arguments = (*arrays(rows), np.arange(len(rows)), 8)
    assert np.array_equal(
        compiled_rows.item_supports(*arguments), reference.item_supports(*arguments)
    )


@settings(max_examples=500, deadline=None, derandomize=True)
@given(rows_of_codes, st.booleans())
def test_first_unsorted(rows: list[list[int]], nearly: bool) -> None:
    if nearly:  # canonical but for one row
        distinct = sorted({tuple(sorted(set(row))) for row in rows})
        rows = [*map(list, distinct), *rows[:1]]
    offsets, codes = arrays(rows)
    assert compiled_rows.first_unsorted(offsets, codes) == reference.first_unsorted(offsets, codes)


# -- the work calls its stage, and ends where that says so --------------------------------------

ENGINES = {
    "compiled": (compiled_rows.canonical_rows, containment.contained_rows),
    "reference": (reference.canonical_rows, reference.contained_rows),
}


class Asked:
    """Says that work is to end when it is asked for the `last` time."""

    def __init__(self, last: int | None = None) -> None:
        self.times, self._last = 0, last

    def __call__(self) -> bool:
        self.times += 1
        return self.times == self._last


def canonical_sample(n_rows: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    rng = random.Random(length)
    rows = [[rng.randrange(50) for _ in range(length)] for _ in range(n_rows)]
    return arrays(rows)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("length", [3, 40])
def test_work_on_rows_can_be_ended(
    engine: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "PACE", 1)
    offsets, codes = canonical_sample(300, length)
    counts = np.ones(len(offsets) - 1, np.int64)
    canonical_rows, contained_rows = ENGINES[engine]
    distinct = reference.canonical_rows(offsets, codes, counts)[:2]
    for call in (
        lambda stage: canonical_rows(offsets, codes, counts, stage=stage),
        lambda stage: contained_rows(*distinct, stage=stage),
    ):
        asked = Asked()
        call(Context(cancelled=asked, threads=1).start("rows"))
        assert asked.times > 3
        for last in (2, asked.times // 2, asked.times):
            ending = Asked(last)
            with pytest.raises(CancelledError):
                call(Context(cancelled=ending, threads=1).start("rows"))
            assert ending.times == last  # not once more


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_reaches_its_end(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row counts three times: it is looked at, then placed, then sorted."""
    monkeypatch.setattr(pulse, "PACE", 1)
    monkeypatch.setattr(compiled_rows, "MANY_ROWS", 1)
    offsets, codes = canonical_sample(500, 6)
    told: list[tuple[int, int]] = []

    class Listening(Stage):
        def __call__(self, done: int = 0, of: int = 0) -> None:
            told.append((done, of))

    stage = Listening("sort", Context(threads=threads))
    compiled_rows.canonical_rows(offsets, codes, np.ones(500, np.int64), stage=stage)
    assert told[-1] == (1500, 1500)
    assert all(0 <= done <= of for done, of in told)
    if threads == 1:
        assert told == sorted(told)
