"""How exactly a release tells what people have: the words and their numbers."""

import re

import pytest

import overcoat as oc
from overcoat.data.transactions import Transactions
from overcoat.errors import MappingError
from overcoat.mapping import Mapping
from overcoat.measures.exactness import Exactness, published_exactness


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((3, 0, 0, 0, 0, 0), "all 3 items that people have are told exactly"),
        ((0, 0, 2, 0, 0, 0), "all 2 items that people have are not told at all"),
        ((0, 9, 0, 3, 3, 3), "all 9 items that people have are told as one of 3"),
        ((0, 0, 0, 0, 0, 0), "there is nothing to tell"),
        # One of ten thousand is seen, too.
        (
            (9_999, 0, 1, 0, 0, 0),
            "of 10,000 items that people have, 9,999 are told exactly, 1 is not told at all",
        ),
        (
            (5_000, 4_000, 1_000, 2, 2, 1_200),
            "of 100 items that people have, 50 are told exactly, 40 are told as one of 2 to 1,200 "
            "(half of these as one of at most 2), 10 are not told at all",
        ),
    ],
)
def test_words(numbers: tuple[int, int, int, int, int, int], words: str) -> None:
    assert str(Exactness("original", *numbers)) == words


@pytest.mark.parametrize("exact", [1, 17, 333, 4_999, 123_456])
@pytest.mark.parametrize("grouped", [1, 2, 331, 98_765_432])
@pytest.mark.parametrize("gone", [1, 50, 333])
def test_shares_add_up(exact: int, grouped: int, gone: int) -> None:
    text = str(Exactness("original", exact, grouped, gone, 2, 2, 2)).replace(",", "")
    of, *shares = map(int, re.findall(r"(\d+) (?:items|is|are)", text))
    assert sum(shares) == of
    assert len(shares) == 3
    for share, number in zip(shares, (exact, grouped, gone), strict=True):
        assert abs(share / of - number / (exact + grouped + gone)) <= 1 / of


def test_it_is_in_the_result_and_the_evaluation() -> None:
    rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
    result = oc.anonymize(rows, 2, oc.AllItemsets(2))
    assert result.exactness == Exactness("original", 4, 3, 0, 2, 2, 2)
    assert oc.evaluate(result).exactness == result.exactness
    assert str(result.exactness) in oc.summarize(result)
    assert str(result.exactness) in result._repr_html_()


def test_labels_that_the_mapping_does_not_know() -> None:
    with pytest.raises(MappingError, match="does not know z of the release"):
        published_exactness(Transactions.of([{"a"}, {"z"}]), Mapping.of("a", [["a"]]))
