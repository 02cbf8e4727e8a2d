"""Labels that look like something personal: addresses, numbers of people, dates of birth.

A kind is told by its shape and, where it has one, by its check digit. One odd label is no reason
to stop: a kind takes several, and nearly all labels of its shape must pass its check. So article
numbers, a tenth of which pass any check by chance, are not taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from overcoat.data.identifiers.shapes import Shapes

__all__ = ["KINDS", "Kind", "year_of"]


@dataclass(frozen=True)
class Kind:
    """A kind of personal label.

    Attributes
    ----------
    name : of several, for messages
    shape : what the shapes of such labels match
    check : says whether a label of such a shape is one
    least : how many distinct labels it takes
    share : how many of all labels of these shapes must pass the check
    rare : how much of what those that pass are held must be of such that one or two transactions
        hold, or `few` of them: some goods of a catalogue are common
    """

    name: str
    shape: re.Pattern[str]
    check: Callable[[str], object]
    least: int
    share: float = 0.95
    rare: float = 0.5
    few: int = 2

    def find(
        self, labels: Sequence[str], shapes: Shapes, supports: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the places of the labels of this kind; none where there are too few.

        >>> labels = ["flu", "ann@example.org", "bob@example.org", "cem@example.org"]
        >>> KINDS[0].find(labels, Shapes.of_labels(labels), np.ones(4, np.int64))
        array([1, 2, 3])
        """
        alike = shapes.matching(lambda shape: _may_be_one(shape) and self.shape.fullmatch(shape))
        passed = alike[[bool(self.check(labels[place])) for place in alike.tolist()]]
        if len(passed) < max(self.least, self.share * len(alike)):
            return passed[:0]
        held = supports[passed]
        if held[held <= self.few].sum() < self.rare * held.sum():
            return passed[:0]
        return passed


def _may_be_one(shape: str) -> bool:
    """Say whether a shape has what every kind has; most have not, and that is told quickly."""
    return "@" in shape or shape.count("9") >= 6 or len(shape) >= 32


_ADDRESS = re.compile(r"[\w.+'-]+@(?:[\w-]+\.)+([^\W\d_]{2,})")
_FILES = {"png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js"}  # icon@2x.png


def _is_address(label: str) -> bool:
    found = _ADDRESS.search(label)
    return found is not None and found[1].lower() not in _FILES


def _digits(label: str) -> list[int]:
    return [int(character) for character in label if character.isdecimal()]


def _has_digits_of_a_telephone(label: str) -> bool:
    return 8 <= len(_digits(label)) <= 15  # the most that an international number has


_AMERICAN = re.compile(r"[2-9]\d\d([-. ])[2-9]\d\d\1\d{4}")


def _is_social_security(label: str) -> bool:
    area, group, serial = label[:3], label[4:6], label[7:]
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _is_nhs(label: str) -> bool:
    """Check a number of the British health service.

    The check digit is that of a book (ISBN-10). Books may end in an X, and most of their numbers
    start with 0, 1 and 3; people's start with 32 to 39, 4, 6 or 7, in Scotland with a birthday.
    """
    digits = _digits(label)
    if len(digits) != 10:
        return False
    total = sum(weight * digit for weight, digit in zip(range(10, 0, -1), digits, strict=True))
    start, month = 10 * digits[0] + digits[1], 10 * digits[2] + digits[3]
    in_use = 32 <= start < 50 or 60 <= start < 80 or (1 <= start <= 31 and 1 <= month <= 12)
    return in_use and total % 11 == 0


def _luhn(digits: Sequence[int]) -> bool:
    """Say whether the last of some digits is their check digit, every second one doubled."""
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + doubled) % 10 == 0


def _is_insured(label: str) -> bool:
    """Check a German number: the letter counts as two digits, the last is a check digit."""
    if not label.isascii():
        return False
    letter = f"{ord(label[0]) - ord('A') + 1:02d}"
    return _luhn(_digits(letter + label[1:]))


def _is_card(label: str) -> bool:
    digits = _digits(label)
    return digits[0] in (2, 3, 4, 5, 6) and _luhn(digits)


def _is_account(label: str) -> bool:
    """Check an international bank account number."""
    compact = label.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return label.isascii() and int("".join(str(int(one, 36)) for one in moved)) % 97 == 1


def _shape(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


# What nothing else looks like takes three labels. Where there is a check digit, or a shape that
# other numbers have, too, it takes ten: chance is then out of the question.
KINDS = (
    Kind("e-mail addresses", _shape(r".*[9Aa]@[9Aa].*"), _is_address, 3, share=0, rare=0),
    Kind(
        "telephone numbers",
        _shape(r"\+9[9 ()/.-]{6,20}9", r"\(9{2,5}\) ?9[9 ./-]{4,10}9"),
        _has_digits_of_a_telephone,
        3,
        rare=0,
    ),
    Kind("telephone numbers", _shape(r"999(?P<sep>[-. ])999(?P=sep)9999"), _AMERICAN.fullmatch, 10),
    Kind(
        "telephone numbers",
        _shape(r"99{2,4}[/ -]9{2,4}(?: ?9{2,4}){1,3}", r"99{2,4}[/ -]9{5,9}"),
        lambda label: label.startswith("0"),
        10,
    ),
    Kind("social security numbers", _shape("999-99-9999", "999 99 9999"), _is_social_security, 3),
    Kind("NHS numbers", _shape("9{9}[9A]", "999 999 9999", "999-999-9999"), _is_nhs, 10),
    Kind("numbers of insured people", _shape("A9{9}"), _is_insured, 10),
    Kind("payment cards", _shape("9{15,16}", r"9999(?:[ -]9999){3}"), _is_card, 10),
    Kind(
        "bank accounts (IBAN)",
        _shape("AA99[9A]{11,30}", "AA99(?: [9A]{4}){2,7}(?: [9A]{1,4})?"),
        _is_account,
        3,
        share=0.5,
        rare=0,
    ),
    Kind(
        "random identifiers (UUID or hash)",
        _shape(r"\{?x{8}(?:-?x{4}){3}-?x{12}\}?", "(?:x{8}){5,8}"),
        lambda label: True,
        50,
        rare=0.99,
        few=1,
    ),
)

_YEAR_FIRST = re.compile(r"(\d{4})([-/.]?)(\d\d?)\2(\d\d?)(?:[T ][\d:.]+Z?)?")
_YEAR_LAST = re.compile(r"(\d\d?)([-/.])(\d\d?)\2(\d{4})(?: [\d:.]+)?")


def year_of(label: str) -> int | None:
    """Return the year of a whole date from 1900 on, None of anything else.

    >>> [year_of(label) for label in ("1958-03-31", "31.3.1958", "3/31/1958", "19580331")]
    [1958, 1958, 1958, 1958]
    >>> [year_of(label) for label in ("1958-13-31", "12345678", "250.00", "1958")]
    [None, None, None, None]
    """
    if found := _YEAR_FIRST.fullmatch(label):
        year, orders = int(found[1]), [(int(found[3]), int(found[4]))]
        if not found[2] and len(found[3] + found[4]) != 4:
            return None
    elif found := _YEAR_LAST.fullmatch(label):
        one, other = int(found[1]), int(found[3])
        year, orders = int(found[4]), [(one, other), (other, one)]
    else:
        return None
    return year if 1900 <= year < 2100 and any(_exists(year, *order) for order in orders) else None


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
