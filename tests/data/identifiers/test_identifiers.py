"""What is refused, and what passes: planted leaks, honest data, and the words for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import overcoat as oc
from experiments.identifiers import FILES, honest, leaks, transposed
from experiments.materials import sample_rows
from overcoat.context import Context
from overcoat.data import samples
from overcoat.data.identifiers import refuse_identifiers, suspects
from overcoat.data.identifiers.structure import gini
from overcoat.data.layout import Layout
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions
from overcoat.errors import CancelledError, DataError

REAL = Path(__file__).parents[3].parent / "shared" / "data"
needs_data = pytest.mark.skipif(not REAL.is_dir(), reason="the real data sets are not here")


def rules(data: Transactions) -> list[str]:
    return [one.rule for one in suspects(data)]


def patients(n: int = 200, seed: int = 1) -> list[set[str]]:
    return [set(row) for row in samples.hospital(n, seed=seed).rows]


def called(data: Transactions, id_: str, item: str) -> Transactions:
    return replace(data, origin=Origin(Layout("long", sep=",", id=id_, item=item)))


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_real_data_pass_and_are_known_when_swapped(name: str) -> None:
    data = oc.read(REAL / name)
    assert suspects(data) == ()
    for seed, n in enumerate([20, 50, 100, 500, 2000]):
        assert suspects(sample_rows(data, n, seed)) == (), n
    assert rules(transposed(data)) == ["swapped"]


# The known errors are those of the table in docs/identifiers.md.
FLAT = "Zipf (exponent very flat, 0.7), numbers"


def test_honest_data_pass() -> None:
    tried = alarms = 0
    for case in honest(None, largest=200):
        if case.what != FLAT:
            tried += 1
            alarms += bool(suspects(case.data))
    assert tried > 500
    assert alarms <= tried // 200


def test_planted_identifiers_are_found() -> None:
    cases = [case for case in leaks(None, sizes=[1000]) if " 1 %" not in case.what]
    assert len(cases) > 50
    assert [case.what for case in cases if not suspects(case.data)] == []


OWN: dict[str, Callable[[int], str]] = {
    "a number of seven digits": lambda n: str(1_000_000 + 7919 * n),
    "a name": lambda n: f"{'ABCDEFGHIJ'[n % 10]}nn {'KLMNOPQRST'[n // 10 % 10]}ee",
    "a letter and a number": lambda n: f"P{n}",
    "a hash": lambda n: f"{n * 0x9E3779B97F4A7C15 % 2**64:016x}" * 2,
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("n", [15, 60])
def test_an_item_of_ones_own(name: str, n: int) -> None:
    rows = [{OWN[name](number), "flu", "ache"} for number in range(n)]
    assert rules(Transactions.of(rows))[-1] == "own"
    assert rules(Transactions.of(rows[:14])) == [], "fourteen rows tell nothing"


def test_two_items_of_ones_own_and_repeated_rows() -> None:
    rows = [{str(10_000 + n), f"Ann {'ABCDEFGHIJKLMNOPQRST'[n]}", "flu"} for n in range(20)]
    assert rules(Transactions.of(rows)) == ["own"]
    twice = Transactions.of(rows, counts=[2] * 20)
    assert rules(twice) == [], "what two have is not one's own"


def test_a_header_is_known_in_any_size() -> None:
    table = [("Patient-ID", "Code"), ("1", "a"), ("1", "b"), ("2", "a")]
    found = suspects(Transactions.of(table))
    assert [one.rule for one in found] == ["header"]
    assert "'Code', 'Patient-ID'" in found[0].message
    assert suspects(Transactions.of([("color", "taste"), *table[1:]])) == ()
    assert suspects(Transactions.of([*table, ("a", "b", "c")])) == (), "a longer row"
    assert suspects(Transactions.of([*table, ("Code",)])) == (), "its values come again"


def test_tables_without_a_header() -> None:
    pairs = [(str(5000 + n), code) for n, row in enumerate(patients()) for code in row]
    assert rules(Transactions.of(pairs)) == ["table"]
    three = [(one, other, f"2024-01-{n % 9 + 1:02d}") for n, (one, other) in enumerate(pairs)]
    assert "table" in rules(Transactions.of(three))
    # Numbers on both sides; but a pair always has one of either.
    sides = [(f"{n // 4}", f"{1000 + (7 * n) % 31}") for n in range(2000)]
    assert rules(Transactions.of(sides)) == ["table"]


def test_pairs_of_one_kind_are_no_table() -> None:
    pairs = [(str(n * 7 % 400), str(n * n % 400 + 1)) for n in range(3000)]
    assert "table" not in rules(Transactions.of(pair for pair in pairs if pair[0] != pair[1]))


def test_swapped_by_name() -> None:
    data = Transactions.of([{"1", "2"}, {"2"}, {"3", "1"}])
    assert rules(called(data, "code", "patient")) == ["column"]
    assert rules(called(data, "code", "number")) == ["column"]
    assert rules(called(data, "visit", "mrn")) == ["column"]
    assert rules(called(data, "patient", "code")) == []
    assert rules(called(data, "id", "item")) == []
    assert rules(called(data, "code", "tag")) == []
    assert rules(called(data, "basket", "name")) == [], "goods have names"
    wide = called(data, "patient", "item")
    columns = ("diag_1", "diag_2", "ssn")
    wide = replace(wide, origin=Origin(Layout("long", id="patient", columns=columns)))
    assert "'ssn'" in suspects(wide)[0].message
    lists = replace(data, origin=Origin(Layout("list", items="emails", parquet=True)))
    assert rules(lists) == []
    lists = replace(data, origin=Origin(Layout("list", items="email", parquet=True)))
    assert rules(lists) == ["column"]


def test_unique_values() -> None:
    numbers = [{str(10**6 + 7919 * n), str(2 * 10**6 + 7919 * n)} for n in range(100)]
    assert rules(Transactions.of(numbers)) == ["unique"]
    assert rules(Transactions.of(numbers[:49])) == [], "too few to tell"
    popular = [{*row, "1000000"} for row in numbers]
    assert "unique" not in rules(Transactions.of(popular))
    texts = [
        {f"bake {'bread' * (1 + n % 3)} with {chr(97 + n % 26)}" + "x" * n} for n in range(999)
    ]
    assert rules(Transactions.of(texts)) == []
    assert rules(Transactions.of([*texts, {"bread"}])) == ["unique"]


def test_gini_by_its_definition() -> None:
    values, counts = [3, 0, 7, 7], [2, 1, 1, 3]
    flat = [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
    n = len(flat)
    pairs = sum(abs(one - other) for one in flat for other in flat) / (2 * n * sum(flat))
    assert gini(np.array(values), np.array(counts)) == pytest.approx(pairs)
    assert gini(np.array([], np.int64)) == 0
    assert gini(np.array([0, 0])) == 0


@pytest.mark.parametrize("rows", [[], [set()], [{"a"}], [{"a"}, {"a"}], [{"a", "b"}], [{"x@y.zz"}]])
def test_next_to_nothing_passes(rows: list[set[str]]) -> None:
    assert suspects(Transactions.of(rows)) == ()


def test_two_examples_and_no_more_are_shown() -> None:
    data = Transactions.of([{f"user{n}@mail.example"} for n in range(500)])
    with pytest.raises(DataError) as caught:
        refuse_identifiers(data, file="people.csv")
    text = str(caught.value)
    assert "500 items look like e-mail addresses" in text
    assert text.count("@mail.example") == 2
    assert "people.csv: " in text
    assert "--allow-identifiers" in text
    assert "allow_identifiers=True" in text


def test_python_refuses_and_records() -> None:
    rows = [{f"user{n % 5}@mail.example", "flu"} for n in range(40)]
    with pytest.raises(DataError, match="5 items look like e-mail addresses"):
        oc.anonymize(rows, 2, oc.AllItemsets(1))
    result = oc.anonymize(rows, 2, oc.AllItemsets(1), allow_identifiers=True)
    assert len(result.identifiers) == 1
    assert "published because you insist: 5 items look like" in str(result.notes[0])
    assert "identifiers published as asked: 5 items" in oc.summarize(result)
    with pytest.raises(DataError, match="5 items look like e-mail addresses"):
        oc.apply_mapping(rows, result)
    again = oc.apply_mapping(rows, result, allow_identifiers=True)
    assert again.identifiers == result.identifiers
    with pytest.raises(DataError, match="must be True or False, not 'yes'"):
        oc.anonymize(rows, 2, oc.AllItemsets(1), allow_identifiers="yes")  # type: ignore[arg-type]


def test_it_can_be_ended_and_does_not_depend_on_order() -> None:
    rows = patients()
    data = Transactions.of({f"P{n}", *row} for n, row in enumerate(rows))
    assert suspects(data) == suspects(Transactions.of(reversed([set(row) for row, _ in data])))
    with pytest.raises(CancelledError):
        suspects(data, stage=Context(cancelled=lambda: True).titled("x").stage("read").__enter__())
