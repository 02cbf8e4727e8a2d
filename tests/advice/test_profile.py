"""What a profile counts, by enumeration; and what it finds suspicious, case by case."""

import random
from collections import Counter

import pytest

import overcoat as oc
from oracle import risk as expected
from overcoat.advice.profile import Profile
from strategies import random_instance


@pytest.mark.parametrize("seed", range(200))
def test_figures(seed: int) -> None:
    instance = random_instance(random.Random(seed))
    rows = instance.rows
    found = oc.profile(rows, k=3)
    held = Counter(item for row in rows for item in row)
    assert found.n_people == len(rows)
    assert found.n_items == len(held)
    assert found.n_occurrences == sum(map(len, rows))
    assert found.n_distinct == len(set(rows))
    assert found.n_empty == sum(not row for row in rows)
    assert found.n_rare == sum(number < 3 for number in held.values())
    assert dict(found.rare).items() <= held.items()
    assert [n for _, n in found.common] == sorted(held.values(), reverse=True)[:8]
    for numbers, spread in ((list(map(len, rows)), found.lengths), (held.values(), found.supports)):
        ordered = sorted(numbers)
        if not ordered:
            assert spread.most == 0
            continue
        assert (spread.least, spread.most) == (ordered[0], ordered[-1])
        assert spread.mean == pytest.approx(sum(ordered) / len(ordered))
        for quarters, value in ((1, spread.low), (2, spread.middle), (3, spread.high)):
            reached = [
                x for x in ordered if 4 * sum(y <= x for y in ordered) >= quarters * len(ordered)
            ]
            assert value == min(reached)
    phi = {item: frozenset([item]) for item in held}
    published = [frozenset(phi[item] for item in row) for row in rows]
    for one in found.risk[:2]:
        assert isinstance(one.known, int)
        worst = [expected.worst(row, one.known, phi, published) for row in rows]
        assert one.unique == worst.count(1)


def many(*more: set[str]) -> list[set[str]]:
    return [{"a", "b"}] * 80 + [{"a", "c"}] * 60 + [{"d"}] * 60 + list(more)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (many(set()), "1 person without items"),
        (many({"a", " d"}), "1 item has blanks around it (--trim drops them): ' d'"),
        (many({"null"}, {"n/a"}), "2 items look like missing values: 'n/a', 'null'"),
        (many({"x\x00"}), "1 item has characters that cannot be seen"),
        (many({"y" * 200}), "1 item is longer than 100 characters"),
        (many({f"i{n}" for n in range(90)}), "one row has 90 items, half of the rows at most 2"),
        (many(*({f"ann{n}@example.org"} for n in range(9))), "e-mail addresses"),
        ([{"a", "b"}] * 20, "there are only 20 people"),
        (many(*[{f"i{n}" for n in range(9)}] * 12), "1 long row repeated 10 times or more"),
        ([{"a", "b"}] * 100 + [{"a"}] * 50, "'a' is held by 150 of 150 people"),
        (
            many(*({str(n)} for n in [*range(200, 230), "038", "38"])),
            "differs only in zeros in front",
        ),
    ],
)
def test_suspicious(rows: list[set[str]], words: str) -> None:
    assert any(words in one for one in oc.profile(rows).suspicious), oc.profile(rows).suspicious


def test_nothing_suspicious() -> None:
    found = oc.profile(many())
    assert found.suspicious == ()
    assert "suspicious  nothing found" in str(found)
    assert "nothing found" in found._repr_html_()
    assert isinstance(found, Profile)


def test_an_empty_file() -> None:
    assert oc.profile([]).n_people == 0
