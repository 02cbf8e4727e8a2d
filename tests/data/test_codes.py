"""Codes that lost something: noticed with the cure, mended only when asked."""

from __future__ import annotations

from typing import Any

import pytest

import overcoat as oc
from overcoat.data.codes import Shape, alike_codes, in_shape, lost_codes
from overcoat.data.io import Asked, read_source
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions

FULL = ["038", "042", "250", "401", "427", "V45"]


def told(items: list[str], codes: list[str] | None = None) -> list[str]:
    return list(lost_codes(items, {} if codes is None else {"the list": codes}))


@pytest.mark.parametrize(
    ("items", "codes", "words", "cure"),
    [
        (["38", "250"], FULL, "only in zeros in front: '38' there is '038'", "--pad 3"),
        (["38.1", "250.2"], ["038.1", "250.2"], "'38.1' there is '038.1'", "--pad 3"),
        (["7", "12345"], ["00007", "12345", "54321"], "'7' there is '00007'", "--pad 5"),
        (["v45"], FULL, "upper and lower case: 'v45' there is 'V45'", "--upper"),
        (["401 ", "\u00a0250"], FULL, "blanks around: '401 ' there is '401', '\\xa0250'", "--trim"),
        (["250", "401.9"], ["250.00", "401.9"], "'250' there is '250.00'", "as text"),
        (["250.0"], ["250.00"], "zeros behind the point: '250.0' there is '250.00'", "as text"),
        (["250.0"], ["250"], "zeros behind the point: '250.0' there is '250'", "the list"),
        (["38"], ["038.00"], "in front and behind the point: '38' there is '038.00'", "as text"),
        (["42.0"], ["042"], "in front and behind the point: '42.0' there is '042'", "as text"),
        (["25000", "V451"], ["250.00", "V45.1"], "'25000' there is '250.00'", "both files alike"),
        (["250.00"], ["25000"], "the decimal point: '250.00' there is '25000'", "the list lost"),
        (["038"], ["38"], "zeros in front: '038' there is '38'", "If the list lost"),
    ],
)
def test_each_loss_has_one_sentence(
    items: list[str], codes: list[str], words: str, cure: str
) -> None:
    sentences = told(items, codes)
    assert len(sentences) == 1
    assert words in sentences[0]
    assert cure in sentences[0]


def test_counts_and_two_examples() -> None:
    items = [str(n) for n in range(1, 60)]
    codes = [f"{n:03d}" for n in range(1, 60)]
    assert told(items, codes) == [
        "59 items differ from codes of the list only in zeros in front: '1' there is '001', '2' "
        "there is '002'. If the data lost something, read the data with --pad 3"
    ]


def test_all_ways_are_told_in_one_sentence_and_each_code_once() -> None:
    sources = {"the tree": ["038", "V45", "250.00"], "the sets": ["038", "250.00"]}
    assert list(lost_codes(["38", "v45", "250"], sources)) == [
        "3 items differ from codes of the tree only in upper and lower case: 'v45' there is 'V45'; "
        "zeros in front: '38' there is '038'; zeros behind the point: '250' there is '250.00'. If "
        "the data lost something, read the data with --upper --pad 3, and take the codes over as "
        "text from where they come (a program took them for numbers)"
    ]


def test_a_whole_code_has_not_lost_its_point() -> None:
    assert list(alike_codes(["845", "8.45", "250.01", "401.9"])) == []
    assert "'25001' and '250.01'" in "".join(alike_codes(["25001", "250.01", "401.9"]))


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (["38", "038", "250", "401", "402", "403", "404", "405", "406", "407"], "'38' and '038'"),
        (["250", "250.00"], "zeros behind the point: '250' and '250.00'"),
        (["v45", "V45"], "upper and lower case: 'v45' and 'V45'"),
        (["flu ", "flu"], "blanks around: 'flu ' and 'flu'"),
        (["2507", "250.7"], "the decimal point: '2507' and '250.7'"),
    ],
)
def test_twins_in_the_data(items: list[str], words: str) -> None:
    for some in (items, items[::-1]):
        sentences = list(alike_codes(some))
        assert len(sentences) == 1
        assert sentences[0].startswith("1 pair of items differs only in ")
        assert words in sentences[0]


@pytest.mark.parametrize(
    ("items", "codes"),
    [
        (FULL, FULL),
        (["4149", "04149", "0030", "25000", "V451"], None),  # ICD-9 without points: other codes
        (["010", "250"], ["0010", "25000", "250", "4019", "4010"]),
        (["41.49", "414.9"], None),
        (["414.9"], ["41.49", "4.149"]),
        (["10", "9", "8"], ["100", "90", "80"]),
        (["a", "b"], ["c"]),
        ([" ", "12"], ["x"]),
        ([], FULL),
        (FULL, []),
        (["1.2.3", "1.2"], ["1.2.30"]),
        (["٣٨"], ["٠٣٨"]),
    ],
)
def test_honest_codes_say_nothing(items: list[str], codes: list[str] | None) -> None:
    assert told(items, codes) == []


def test_pad_trim_upper() -> None:
    pad = Shape(pad=3)
    assert [pad(code) for code in ("1", "01", "12.5", "1234", "V1", "1a", "", "-1", "1.2.3")] == [
        *("001", "001", "012.5", "1234", "V1", "1a", "", "-1", "001.2.3")
    ]
    assert Shape(trim=True)("\t a b\u00a0") == "a b"
    assert Shape(upper=True)("straße") == "STRASSE"
    assert Shape(3, True, True)(" 7 ") == "007"
    assert not Shape()
    assert (
        str(Shape(1, True, True))
        == "zeros in front up to 1 digit, no blanks around, capital letters"
    )


def test_two_raw_labels_that_become_one_count_once() -> None:
    rows = [{"38", "038"}, {"38"}, {"038", "v45"}, {"V45 ", "  "}, set()]
    data = Transactions.of(rows, keep_order=True)
    shaped = in_shape(data, Shape(3, True, True))
    assert list(shaped) == [((), 1), (("038",), 2), (("038", "V45"), 1), (("V45",), 1)]
    assert [list(shaped)[row][0] for row in shaped.positions.tolist()] == [  # type: ignore[union-attr]
        *(("038",), ("038",), ("038", "V45"), ("V45",), ())
    ]
    assert shaped.origin.read_as.endswith("capital letters (4 changed)")
    assert shaped.origin.notes == (
        "2 items became the same as another when codes were brought into shape, such as '38', now "
        "'038'",
    )


def test_names_and_earlier_words_stay() -> None:
    data = Transactions.of([{"38", "401"}])
    object.__setattr__(
        data, "origin", Origin(None, "d1", "a CSV", ("first",), {"38": "Sepsis", "9": "x"})
    )
    origin = in_shape(data, Shape(pad=3)).origin
    assert origin.read_as == "a CSV; codes with zeros in front up to 3 digits (1 changed)"
    assert origin.notes == ("first",)
    assert origin.names == {"038": "Sepsis", "009": "x"}
    assert origin.file_digest == "d1"
    assert in_shape(data, Shape()) is data


@pytest.mark.parametrize("source", ["list", "polars", "pandas", "matrix"])
def test_every_source_is_shaped(source: str) -> None:
    import pandas as pd
    import polars as pl
    from scipy.sparse import csr_array

    columns = {"id": [1, 1, 2], "item": ["38", "v45", "401"]}
    asked: dict[str, Any] = {"pad": 3, "upper": True}
    if source in ("polars", "pandas"):
        asked |= {"id": "id", "item": "item"}
    given = {
        "list": [{"38", "v45"}, {"401"}],
        "polars": pl.DataFrame(columns),
        "pandas": pd.DataFrame(columns),
        "matrix": csr_array([[1, 1, 0], [0, 0, 1]]),
    }[source]
    if source == "matrix":
        asked |= {"items": ["38", "v45", "401"]}
    data = read_source(given, Asked(**asked))
    assert list(data) == [(("038", "V45"), 1), (("401",), 1)]


def test_a_policy_says_it() -> None:
    rows = [{"38", "250"}, {"38", "401"}, {"250", "401"}]
    tree = [("038", "*"), ("250", "*"), ("401", "*")]
    policy = oc.Policy(1, oc.AllItemsets(1), hierarchy=oc.Hierarchy.of(tree))
    with pytest.raises(oc.PolicyError) as caught:
        policy.bind(oc.read(rows))
    first, last = caught.value.problems
    assert first.message == "item '38' of the data is not in the hierarchy"
    assert "codes of the hierarchy" not in last.message
    assert "'38' there is '038'" in last.message
    assert "--pad 3" in last.message
    assert policy.bind(oc.read(rows, pad=3)).notes[0].message.startswith("k = 1")

    known = oc.Policy(2, oc.AllItemsets(2), known=["038", "250"])
    notes = [note.message for note in known.bind(oc.read(rows)).notes]
    assert [note for note in notes if "known codes" in note and "--pad 3" in note]

    sets = oc.Policy(2, oc.Itemsets([["038", "250"]]), utility={"x": ["v45", "038"]})
    with pytest.raises(oc.PolicyError) as caught:
        sets.bind(oc.read(rows))
    text = str(caught.value)
    assert "a code of the utility sets only in zeros in front" in text
    assert "the privacy constraints" not in text, "the same code is told once"
