"""Codes that lost something on their way: zeros, a decimal point, their case, or gained blanks.

Spreadsheets and programs take codes for numbers: 038 becomes 38, 250.00 becomes 250. Nothing is
mended unless the user asks for it (`in_shape`); it is noticed by comparing codes with each other
and with those of a policy (`lost_codes`), and told with the cure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.words import count_of

__all__ = ["Shape", "alike_codes", "in_shape", "lost_codes"]

_NUMBER = re.compile(r"([0-9]+)(?:\.([0-9]*))?")
_PADDED = re.compile(r"([0-9]+)((?:\..*)?)")
_DOTTED = re.compile(r"[A-Za-z]?[0-9]+\.[0-9A-Za-z]*")


# -- bringing codes into shape, where the user asks for it ----------------------------------------


@dataclass(frozen=True)
class Shape:
    """What is done to every code.

    Attributes
    ----------
    pad : zeros in front of numbers of fewer digits; a part after a point stays
    trim : blanks around go
    upper : capital letters

    >>> [Shape(pad=3)(code) for code in ("38", "7.1", "V45", "1234")]
    ['038', '007.1', 'V45', '1234']
    >>> Shape(trim=True, upper=True)(" v45 ")
    'V45'
    """

    pad: int | None = None
    trim: bool = False
    upper: bool = False

    def __call__(self, code: str) -> str:
        """Return a code in shape."""
        code = code.strip() if self.trim else code
        code = code.upper() if self.upper else code
        if self.pad is not None and (found := _PADDED.fullmatch(code)):
            code = found[1].zfill(self.pad) + found[2]
        return code

    def __str__(self) -> str:
        """Say it in words."""
        words = [] if self.pad is None else [f"zeros in front up to {count_of(self.pad, 'digit')}"]
        words += ["no blanks around"] * self.trim + ["capital letters"] * self.upper
        return ", ".join(words)

    def __bool__(self) -> bool:
        return self != Shape()


def in_shape(data: Transactions, shape: Shape, *, stage: Stage = QUIET) -> Transactions:
    """Return the transactions with their items in shape, and a word on what that changed.

    A code that is nothing but blanks is none.

    >>> data = in_shape(Transactions.of([{"38", "401"}, {"038"}]), Shape(pad=3))
    >>> list(data), data.origin.read_as
    ([(('038',), 1), (('038', '401'), 1)], 'codes with zeros in front up to 3 digits (1 changed)')
    """
    if not shape:
        return data
    before = data.vocabulary.labels
    after = [shape(label) for label in before]
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    shaped = data.relabelled([label or None for label in after], stage=stage)
    words = f"codes with {shape} ({len(changed):,} changed)"
    notes = list(data.origin.notes)
    merged = len(before) - after.count("") - len(shaped.vocabulary)
    if merged:
        twins = Counter(after)
        old, new = next((old, new) for old, new in changed if twins[new] > 1)
        notes.append(
            f"{count_of(merged, 'item')} became the same as another when codes were brought into "
            f"shape, such as {old!r}, now {new!r}"
        )
    origin = replace(
        data.origin,
        read_as="; ".join(filter(None, [data.origin.read_as, words])),
        notes=tuple(notes),
        names={shape(item): name for item, name in data.origin.names.items()},
    )
    object.__setattr__(shaped, "origin", origin)  # it was made here, and nobody has it yet
    return shaped


# -- noticing that they are not -------------------------------------------------------------------


@dataclass(frozen=True)
class _Way:
    """A way in which two labels can differ and be the same code.

    Attributes
    ----------
    name : in what they differ
    key : the same for both
    may : says whether a label is a hint that there are such; without one nothing is compared
    differ : says whether two labels with the same key differ in this way
    lost : says whether it is the first of them that lost something
    cure : what to do where the data lost it; {pad} is how many digits the others have
    """

    name: str
    key: Callable[[str], str | None]
    may: Callable[[str], object]
    differ: Callable[[str, str], bool]
    lost: Callable[[str, str], bool]
    cure: str


def _number(label: str) -> tuple[str, str] | None:
    """Return what stands before and behind the point of a number."""
    found = _NUMBER.fullmatch(label)
    return None if found is None else (found[1], found[2] or "")


def _without_zeros_in_front(label: str) -> str | None:
    found = _PADDED.fullmatch(label)
    return None if found is None else (found[1].lstrip("0") or "0") + found[2]


def _without_zeros_behind(label: str) -> str | None:
    number = _number(label)
    return None if number is None else f"{number[0]}.{number[1].rstrip('0')}"


def _value(label: str) -> str | None:
    number = _number(label)
    return None if number is None else f"{number[0].lstrip('0')}.{number[1].rstrip('0')}"


def _without_point(label: str) -> str | None:
    return label.replace(".", "", 1) if _DOTTED.fullmatch(label) else label


def _digits(label: str) -> int:
    """Return how long the part before the point is."""
    return len(label.partition(".")[0])


def _differ(one: str, other: str) -> bool:
    return one != other


def _shorter(one: str, other: str) -> bool:
    return _digits(one) < _digits(other)


_READ = "read the data with "
_AS_TEXT = "take the codes over as text from where they come (a program took them for numbers)"
_WAYS = (
    _Way(
        "blanks around",
        str.strip,
        lambda label: label != label.strip(),
        _differ,
        lambda one, other: one != one.strip(),
        "read the data with --trim",
    ),
    _Way(
        "upper and lower case",
        str.upper,
        lambda label: label != label.upper(),
        lambda one, other: len(one) > 1 and one != other,  # a letter alone is no code
        lambda one, other: one != one.upper(),
        "read the data with --upper",
    ),
    _Way(
        "zeros in front",
        _without_zeros_in_front,
        lambda label: label.startswith("0"),
        _differ,
        _shorter,
        "read the data with --pad {pad}",
    ),
    _Way(
        "zeros behind the point",
        _without_zeros_behind,
        lambda label: "." in label,
        _differ,
        lambda one, other: len(one) < len(other),
        _AS_TEXT,
    ),
    _Way(
        "zeros in front and behind the point",
        _value,
        lambda label: label.startswith("0"),
        lambda one, other: (
            _digits(one) != _digits(other) and one.partition(".")[2] != other.partition(".")[2]
        ),
        _shorter,
        _AS_TEXT,
    ),
    _Way(
        "the decimal point",
        _without_point,
        lambda label: "." in label,
        lambda one, other: ("." in one) != ("." in other),
        lambda one, other: "." in other,
        "write both files alike",
    ),
)


def lost_codes(items: Collection[str], sources: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield a sentence for each way in which items differ from codes that they should be.

    Parameters
    ----------
    items : of the data
    sources : codes by where they stand, such as "the hierarchy"

    >>> data, hierarchy = ["38", "401", "250"], ["038", "401", "250"]
    >>> for sentence in lost_codes(data, {"the tree": hierarchy}):
    ...     print(sentence)
    1 item differs from a code of the tree only in zeros in front: '38' there is '038'. If the \
data lost something, read the data with --pad 3
    """
    have, told = set(items), set[tuple[str, str]]()
    for title, codes in sources.items():
        there = set(codes)
        left = [item for item in items if item not in there]
        missing = sorted(there - have)
        found: list[tuple[_Way, list[tuple[str, str]]]] = []
        for way in _WAYS if left and missing else ():
            pairs = _pairs(left, missing, way)
            if fresh := [pair for pair in pairs if pair not in told]:
                found.append((way, fresh))
            matched = {item for item, _ in pairs}  # by the simplest way that explains it
            left = [item for item in left if item not in matched]
            told.update(pairs)
        if found:
            yield _told(found, title)


def alike_codes(items: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each way in which items differ from each other and may be the same.

    >>> for sentence in alike_codes(["250.00", "25000", "401.9"]):
    ...     print(sentence)
    1 pair of items differs only in the decimal point: '25000' and '250.00'. If they are the \
same, write both files alike
    """
    for way in _WAYS:
        pairs = _pairs(items, None, way)
        if pairs:
            yield (
                f"{count_of(len(pairs), 'pair')} of items {_verb(pairs)} only in {way.name}: "
                f"{_shown(pairs, ' and ')}. If they are the same, {_cure(pairs, way)}"
            )


def _pairs(
    items: Collection[str], codes: Collection[str] | None, way: _Way
) -> list[tuple[str, str]]:
    """Return items with the codes they differ from in this way; without codes, with each other.

    Of two items the one that lost something comes first.
    """
    others = items if codes is None else codes
    if not any(map(way.may, items)) and not any(map(way.may, others)):
        return []
    keys: dict[str, str] = {}
    for code in others:
        if (key := way.key(code)) is not None:
            keys.setdefault(key, code)
    found = ((item, way.key(item)) for item in items)
    met = ((item, keys[key]) for item, key in found if key is not None and key in keys)
    pairs = [(one, two) for one, two in met if way.differ(one, two)]
    if codes is None:
        pairs = [(one, two) if way.lost(one, two) else (two, one) for one, two in pairs]
    if pairs and way.key is _without_point:
        # 845 beside 8.45 is a code of its own where most have three digits before the point.
        dotted = {*items, *others}
        pairs = [
            pair for pair in pairs if not any(_is_whole(x, dotted) for x in pair if "." not in x)
        ]
    if pairs and way.lost is _shorter:
        # Only where nearly all numbers have as many digits is a shorter one likely to lack some.
        of_items, of_others = _usual_digits(items), _usual_digits(others)
        pairs = [
            (one, two)
            for one, two in pairs
            if (_digits(two) == of_others if _shorter(one, two) else _digits(one) == of_items)
        ]
    return pairs


def _is_whole(label: str, others: Collection[str]) -> bool:
    """Say whether a code without a point is no longer than what others have before theirs.

    >>> dotted = ["250.00", "401.9", "8.45", "414.01"]
    >>> _is_whole("845", dotted), _is_whole("25000", dotted)
    (True, False)
    """
    before = Counter(_digits(other) for other in others if _DOTTED.fullmatch(other))
    return bool(before) and len(label) <= before.most_common(1)[0][0]


def _usual_digits(labels: Collection[str]) -> int | None:
    """Return how many digits nine of ten numbers have before their point, if so many do."""
    digits = Counter(_digits(label) for label in labels if _PADDED.fullmatch(label))
    usual, number = digits.most_common(1)[0] if digits else (0, 0)
    return usual if digits and number >= 0.9 * digits.total() else None


def _told(found: list[tuple[_Way, list[tuple[str, str]]]], title: str) -> str:
    """Return one sentence for all items that differ from the codes of a source."""
    every = [pair for _, pairs in found for pair in pairs]
    lost = sum(way.lost(*pair) for way, pairs in found for pair in pairs)
    cures = dict.fromkeys(_cure(pairs, way) for way, pairs in found)
    cure = f"If {title} lost something, mend it"
    if lost * 2 >= len(every):
        options = [one.removeprefix(_READ) for one in cures if one.startswith(_READ)]
        by_hand = [one for one in cures if not one.startswith(_READ)]
        steps = [_READ + " ".join(options)] * bool(options) + by_hand
        cure = f"If the data lost something, {', and '.join(steps)}"
    ways = "; ".join(f"{way.name}: {_shown(pairs, ' there is ')}" for way, pairs in found)
    codes = "a code" if len(every) == 1 else "codes"
    return (
        f"{count_of(len(every), 'item')} {_verb(every)} from {codes} of {title} only in {ways}. "
        f"{cure}"
    )


def _verb(pairs: list[tuple[str, str]]) -> str:
    return "differs" if len(pairs) == 1 else "differ"


def _shown(pairs: list[tuple[str, str]], between: str) -> str:
    return ", ".join(f"{one!r}{between}{other!r}" for one, other in pairs[:2])


def _cure(pairs: list[tuple[str, str]], way: _Way) -> str:
    digits = Counter(_digits(other) for _, other in pairs)
    return way.cure.format(pad=digits.most_common(1)[0][0])
