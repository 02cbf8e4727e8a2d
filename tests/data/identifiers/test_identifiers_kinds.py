"""Labels of a personal kind: by their definitions, and by what looks like them."""

from __future__ import annotations

import numpy as np
import pytest

from overcoat.data.identifiers import suspects
from overcoat.data.identifiers.columns import is_of_people, is_of_things
from overcoat.data.identifiers.kinds import KINDS, year_of
from overcoat.data.identifiers.shapes import Shapes, shape_of
from overcoat.data.transactions import Transactions


def kinds_of(labels: list[str], support: int = 1) -> set[str]:
    shapes = Shapes.of_labels(labels)
    supports = np.full(len(labels), support)
    return {kind.name for kind in KINDS if len(kind.find(labels, shapes, supports))}


def with_check_digit(stems: list[str], is_valid: str) -> list[str]:
    """Complete numbers by the digit that one rule accepts, found by trying all ten."""
    kind = next(kind for kind in KINDS if kind.name == is_valid)
    whole = [[stem + digit for digit in "0123456789" if kind.check(stem + digit)] for stem in stems]
    assert all(len(one) <= 1 for one in whole), "a check digit is one digit"
    return [one[0] for one in whole if one]


# Published examples of valid numbers.
VALID = [
    ("NHS numbers", "9434765919", False),  # 943 is not in use
    ("NHS numbers", "4505577104", True),
    ("NHS numbers", "450 557 7104", True),
    ("NHS numbers", "4505577105", False),
    ("numbers of insured people", "A123456780", True),
    ("numbers of insured people", "A123456789", False),
    ("payment cards", "4111111111111111", True),
    ("payment cards", "4111 1111 1111 1111", True),
    ("payment cards", "378282246310005", True),
    ("payment cards", "4111111111111112", False),
    ("bank accounts (IBAN)", "DE89370400440532013000", True),
    ("bank accounts (IBAN)", "GB29 NWBK 6016 1331 9268 19", True),
    ("bank accounts (IBAN)", "DE88370400440532013000", False),
    ("social security numbers", "123-45-6789", True),
    ("social security numbers", "666-45-6789", False),
    ("social security numbers", "123-00-6789", False),
    ("e-mail addresses", "ann.o'neil+x@mail.example.org", True),
    ("e-mail addresses", "write to ann@example.org!", True),
    ("e-mail addresses", "icon@2x.png", False),
    ("e-mail addresses", "/@ann/post", False),
]


@pytest.mark.parametrize(("name", "label", "valid"), VALID)
def test_check(name: str, label: str, valid: bool) -> None:
    kinds = [kind for kind in KINDS if kind.name == name]
    fits = any(kind.shape.fullmatch(shape_of(label)) and kind.check(label) for kind in kinds)
    assert fits is valid


MANY = {
    "e-mail addresses": [f"user{n}@mail.example" for n in range(3)],
    "telephone numbers": ["+49 30 1234567", "(030) 1234567", "+1 (212) 555-0123"],
    "social security numbers": ["123-45-6789", "124-45-6789", "125-45-6789"],
    "bank accounts (IBAN)": [
        *("DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02606")
    ],
    "NHS numbers": with_check_digit([f"45055{n:04d}" for n in range(20)], "NHS numbers"),
    "numbers of insured people": with_check_digit(
        [f"K{n:08d}" for n in range(12)], "numbers of insured people"
    ),
    "payment cards": with_check_digit([f"4{n:014d}" for n in range(12)], "payment cards"),
    "random identifiers (UUID or hash)": [
        f"{n:04x}a7c9-1b2d-4e5f-8091-a2b3c4d5e6f7" for n in range(60)
    ],
}


@pytest.mark.parametrize("name", MANY)
def test_several_of_a_kind_are_enough(name: str) -> None:
    assert kinds_of(MANY[name]) == {name}
    assert kinds_of([*MANY[name], "asthma", "250.00", "V45"]) == {name}


@pytest.mark.parametrize("name", MANY)
def test_two_of_a_kind_are_not(name: str) -> None:
    assert not kinds_of(MANY[name][:2])


def test_american_and_national_telephone_numbers_need_ten() -> None:
    american = [f"212-555-{n:04d}" for n in range(10)]
    german = [f"0171/12345{n:02d}" for n in range(10)]
    for numbers in (american, german):
        assert kinds_of(numbers) == {"telephone numbers"}
        assert not kinds_of(numbers[:9])
        assert not kinds_of(numbers, support=50), "what fifty people have is nobody's telephone"
    assert not kinds_of([f"112-055-{n:04d}" for n in range(10)]), "no American number starts so"


def test_article_numbers_pass_by_chance_but_too_few() -> None:
    tens = [str(4_000_000_000 + 7919 * n) for n in range(2000)]
    sixteens = [str(4 * 10**15 + 7919 * n) for n in range(2000)]
    assert not kinds_of(tens)
    assert not kinds_of(sixteens)
    assert not kinds_of([f"A{n:09d}" for n in range(2000)])


def test_books_are_no_patients() -> None:
    """ISBN-10 has the check digit of the NHS; but books start otherwise, or end in an X."""
    japanese = [
        stem + (str(check) if check < 10 else "X")
        for stem in (f"4{n:08d}" for n in range(300))
        for check in [-sum(w * int(d) for w, d in zip(range(10, 1, -1), stem, strict=True)) % 11]
    ]
    assert any(book.endswith("X") for book in japanese)
    assert not kinds_of(japanese)
    assert kinds_of([book for book in japanese if not book.endswith("X")]) == {"NHS numbers"}


@pytest.mark.parametrize(
    "label", ["٤٥٠٥٥٧٧١٠٤", "Ä123456780", "ÄÖ12345678901234", "\ud7ff" * 99, "@"]
)
def test_odd_labels_do_no_harm(label: str) -> None:
    assert isinstance(kinds_of([label] * 3), set)
    assert year_of(label) is None


@pytest.mark.parametrize(
    ("label", "year"),
    [
        ("1931-05-17", 1931),
        ("1931-5-7", 1931),
        ("17.05.1931", 1931),
        ("5/17/1931", 1931),
        ("1931-05-17T00:00:00Z", 1931),
        ("1931-05-17 00:00:00", 1931),
        ("19310517", 1931),
        ("1931-02-30", None),
        ("31.31.1931", None),
        ("1931.05-17", None),
        ("1831-05-17", None),
        ("20310517", 2031),
        ("1931517", None),
        ("250.00", None),
        ("1.2.3", None),
    ],
)
def test_year(label: str, year: int | None) -> None:
    assert year_of(label) == year


def rows_with(extra: list[str]) -> Transactions:
    return Transactions.of([{label, "flu", "gout"} for label in extra] + [{"flu"}, {"gout"}])


def test_dates_of_birth() -> None:
    years = [f"{1930 + 9 * n}-03-17" for n in range(6)]
    assert [one.rule for one in suspects(rows_with(years))] == ["birth"]
    visits = [f"2021-0{n + 1}-17" for n in range(6)]
    assert not suspects(rows_with(visits)), "visits of one year"
    assert not suspects(rows_with(years[:4])), "four dates"
    many = Transactions.of([*({label, "flu"} for label in years), *({"flu"} for _ in range(200))])
    assert not suspects(many), "few people look for old dates"


def test_columns_of_people() -> None:
    names = (
        "patient patients PATIENT_NBR PatientName person_id personId MRN e-mail EMail email "
        "Geburtsdatum DateOfBirth user customer_no subject_id client_id first_name ssn "
        "encounter_id hadm_id session_id patient_code"
    )
    assert [name for name in names.split() if not is_of_people(name)] == []


def test_other_columns() -> None:
    names = (
        "item code diagnosis diag_1 product_name customer_segment user_agent patient_class name "
        "order subject client case visit_type drug_code concept_id order_code account_name id x 1"
    )
    assert [name for name in names.split() if is_of_people(name)] == []


def test_columns_of_things() -> None:
    assert all(map(is_of_things, ["icd9_code", "ICD", "diag_1", "Product", "condition_concept_id"]))
    assert not any(map(is_of_things, ["patient_code", "a", "id", ""]))
