"""How often the rules against identifiers err: ``python -m experiments.identifiers --data FOLDER``.

Honest data must pass: the real data sets, random parts of them, and generated data with many rare
items. Data with identifiers planted in them must not. The table is in docs/identifiers.md.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import overcoat as oc
from experiments.findings import markdown
from experiments.materials import sample_rows
from overcoat.data import samples
from overcoat.data.identifiers import suspects
from overcoat.data.io.long import expand
from overcoat.data.layout import Layout
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions, TransactionsBuilder

__all__ = ["Case", "honest", "leaks", "main", "transposed"]

Generator = np.random.Generator
FILES = (
    "bms-webview-1.dat",
    "bms-webview-2.dat",
    "diabetes130-patients.dat",
    "groceries.csv",
    "t10i4d100k.dat.gz",
)


@dataclass(frozen=True)
class Case:
    """Some data: what they are, how many transactions, and the data."""

    what: str
    size: str
    data: Transactions


def _seeded(*parts: object) -> Generator:
    return np.random.Generator(np.random.PCG64([ord(c) for c in "/".join(map(str, parts))]))


# -- honest data ----------------------------------------------------------------------------------


def honest(folder: Path | None, *, draws: int = 20, largest: int = 100_000) -> Iterator[Case]:
    """Yield data that must pass, of up to `largest` transactions where they are generated."""
    yield from _real(folder, draws)
    for n in (n for n in (20, 100, 1000, 10_000) if n <= largest):
        for seed in range(3):
            rows = samples.hospital(n, seed=seed).rows
            yield Case("generated patients (ICD-9)", _size(n), Transactions.of(rows))
            yield Case("… with one odd label of each kind", _size(n), _with_odd_labels(rows))
            yield Case("… with one of twelve dates of a visit", _size(n), _with_visits(rows))
    for n in (n for n in (50, 200, 1000, 10_000) if n <= largest):
        yield from _records(n)
    for label in CATALOGUES:
        for exponent in (0.7, 0.8, 1.0, 1.2):
            for n_items in (1000, 20_000, 1_000_000):
                for n in (n for n in (50, 200, 1000, 10_000, 100_000) if n <= largest):
                    for lengths in ("one", "three", "some", "many"):
                        if (lengths == "many" and n > 1000) or (lengths != "one" and n > 10_000):
                            continue
                        data = _zipf(n, n_items, exponent, lengths, label)
                        what = "texts" if label in ("queries", "pages") else "numbers"
                        how = "very flat, 0.7" if exponent == 0.7 else "0.8 to 1.2"
                        yield Case(f"Zipf (exponent {how}), {what}", _size(n), data)


def _real(folder: Path | None, draws: int) -> Iterator[Case]:
    for data in _real_sets(folder):
        yield Case("real data sets", "whole", data)
        for n in (20, 50, 100, 500, 5000):
            for seed in range(draws):
                part = sample_rows(data, n, seed)
                yield Case("random parts of real data sets", _size(n), part)


def _real_sets(folder: Path | None) -> Iterator[Transactions]:
    for name in FILES if folder is not None else ():
        yield oc.read(folder / name)  # type: ignore[operator]


def _with_odd_labels(rows: Iterable[Sequence[str]]) -> Transactions:
    odd = [
        *("info@example.org", "+49 30 1234567", "123-45-6789", "1969-07-20", "4111111111111111"),
        *("DE89370400440532013000", "A123456780", "9434765919"),
    ]
    return Transactions.of([*map(set, rows), *({one} for one in odd)])


def _with_visits(rows: Iterable[Sequence[str]]) -> Transactions:
    return Transactions.of({*row, f"2023-{n % 12 + 1:02d}-15"} for n, row in enumerate(rows))


def _records(n: int) -> Iterator[Case]:
    """Yield rows of a table with few values a column, as transactions."""
    rng = _seeded("records", n)
    ages, cities, sexes = rng.integers(18, 90, n), rng.zipf(1.5, n) % 40, rng.integers(0, 2, n)
    rows = [
        {f"age={age}", f"city={city}", "f" if sex else "m"}
        for age, city, sex in zip(ages.tolist(), cities.tolist(), sexes.tolist(), strict=True)
    ]
    yield Case("records: age, city, sex", _size(n), Transactions.of(rows))
    pairs = [
        {f"browser {one}", f"system {other}"}
        for one, other in zip((cities % 9).tolist(), sexes.tolist(), strict=True)
    ]
    yield Case("records: browser, system", _size(n), Transactions.of(pairs))


_TEXT = "blue car cheap flight how bake bread map weather news lyrics free game best hotel paris"
_WORDS = _TEXT.split()


def _words(number: int) -> str:
    n = len(_WORDS)
    return " ".join(_WORDS[number // n**place % n] for place in range(1 + number % 5))


def _ean(number: int) -> str:
    digits = f"40{number:010d}"
    total = sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(digits))
    return digits + str(-total % 10)


def _isbn(number: int) -> str:
    digits = f"{number * 7919 % 10**9:09d}"
    check = -sum(weight * int(d) for weight, d in zip(range(10, 1, -1), digits, strict=True)) % 11
    return digits + ("X" if check == 10 else str(check))


CATALOGUES: dict[str, Callable[[int], str]] = {
    "five digits": lambda number: str(10_000 + number),
    "ten digits": lambda number: f"{4_000_000_000 + number * 7919 % 10**9}",
    "bar codes (EAN-13)": _ean,
    "books (ISBN-10)": _isbn,
    "SNOMED": lambda number: f"{number * 7919 % 10**7 + 10**7}00{number % 10}",
    "ATC": lambda n: f"{'ABCDGHJLMN'[n % 10]}{n // 10 % 100:02d}XY{n // 1000 % 10000:02d}",
    "parts 123-456": lambda number: f"{number % 900 + 100}-{number // 900 + 100}",
    "queries": _words,
    "pages": lambda number: f"/shop/{_words(number).replace(' ', '/')}-{number}.html",
    "UUID": lambda number: f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}{number:016x}",
}


def _zipf(n: int, n_items: int, exponent: float, lengths: str, label: str) -> Transactions:
    rng = _seeded("zipf", n, n_items, exponent, lengths, label)
    shares = np.cumsum(np.arange(1, n_items + 1) ** -exponent)
    sizes = {
        "one": np.ones(n, np.int64),
        "three": np.full(n, 3),
        "some": rng.geometric(0.4, n),
        "many": np.maximum(1, rng.lognormal(np.log(50), 1, n).astype(np.int64)),
    }[lengths]
    ranks = np.searchsorted(shares, rng.random(sizes.sum()) * shares[-1])
    numbers = rng.permutation(n_items)[ranks]
    builder, name = TransactionsBuilder(), CATALOGUES[label]
    distinct, inverse = np.unique(numbers, return_inverse=True)
    codes = np.array([builder.code(name(number)) for number in distinct.tolist()])
    builder.add_rows(np.concatenate([[0], np.cumsum(sizes)]), codes[inverse])
    return builder.build()


# -- data with identifiers ------------------------------------------------------------------------

_NAMED = "Ann Bob Cem Dora Eva Finn Gus Hana Ida Jan Kim Lea Max Nora Otto Pia Rosa Sam Tom Uwe"
NAMES = _NAMED.split()


def _luhn_digit(digits: str) -> str:
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[::-2]]
    return str(-(sum(doubled) + sum(int(digit) for digit in digits[-2::-2])) % 10)


def _nhs(rng: Generator) -> str:
    while True:
        digits = f"{rng.integers(400_000_000, 500_000_000)}"
        check = -sum(w * int(d) for w, d in zip(range(10, 1, -1), digits, strict=True)) % 11
        if check < 10:
            return digits + str(check)


def _insured(rng: Generator) -> str:
    letter, rest = int(rng.integers(0, 26)), f"{rng.integers(0, 10**8):08d}"
    return chr(ord("A") + letter) + rest + _luhn_digit(f"{letter + 1:02d}{rest}")


def _card(rng: Generator) -> str:
    digits = f"4{rng.integers(0, 10**14):014d}"
    return digits + _luhn_digit(digits)


def _iban(rng: Generator) -> str:
    account = f"{rng.integers(0, 10**18):018d}"
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"


def _birth(rng: Generator) -> str:
    return f"{rng.integers(1930, 2015)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"


def _german_birth(rng: Generator) -> str:
    return ".".join(reversed(_birth(rng).split("-")))


PERSONAL: dict[str, Callable[[Generator], str]] = {
    "e-mail": lambda rng: f"{NAMES[rng.integers(20)].lower()}{rng.integers(10**6)}@mail.example",
    "telephone +49 …": lambda rng: f"+49 17{rng.integers(10)} {rng.integers(10**6, 10**7)}",
    "telephone 212-555-…": lambda rng: f"212-555-{rng.integers(10**4):04d}",
    "telephone 0171/…": lambda rng: f"0171/{rng.integers(10**6, 10**7)}",
    "date of birth, ISO": _birth,
    "date of birth, d.m.y": _german_birth,
    "social security": lambda rng: (
        f"{rng.integers(100, 600)}-{rng.integers(1, 99):02d}-{rng.integers(1, 9999):04d}"
    ),
    "NHS number": _nhs,
    "KVNR (Germany)": _insured,
    "payment card": _card,
    "IBAN": _iban,
    "UUID": lambda rng: rng.bytes(16).hex(),
}
IDS: dict[str, Callable[[int, Generator], str]] = {
    "running number": lambda n, rng: str(n + 1),
    "seven digits": lambda n, rng: str(rng.integers(10**6, 10**7)),
    "P00017": lambda n, rng: f"P{n:05d}",
    "name": lambda n, rng: (
        f"{NAMES[rng.integers(20)]} {NAMES[rng.integers(20)]}{NAMES[rng.integers(20)].lower()}"
    ),
}
NEUTRAL = Layout("long", sep=",", id="a", item="b")


def leaks(folder: Path | None, *, sizes: Sequence[int] = (20, 100, 1000, 10_000)) -> Iterator[Case]:
    """Yield data that must not pass; those that are generated, of these numbers of people."""
    for n in sizes:
        rows = [set(row) for row in samples.hospital(n, seed=n).rows]
        for kind, make in PERSONAL.items():
            yield from _planted(rows, kind, make)
        for name, number in IDS.items():
            rng = _seeded("ids", n, name)
            ids = [number(place, rng) for place in range(n)]
            both = list(zip(ids, rows, strict=True))
            own = [{one, *row} for one, row in both]
            yield Case("an id in each basket", _size(n), Transactions.of(own))
            pairs = [(one, code) for one, row in both for code in sorted(row)]
            table = Transactions.of(pairs)
            yield Case("a table (id, code) read as baskets", _size(n), table)
            days = [(one, f"2024-0{1 + len(code) % 3}-11", code) for one, code in pairs]
            table = Transactions.of(days)
            yield Case("a table (id, day, code) read as baskets", _size(n), table)
        table = Transactions.of([("patient", "code"), *pairs])
        yield Case("a table with a header read as baskets", _size(n), table)
        rng = _seeded("visits", n)
        visits = Transactions.of({str(rng.integers(10**7, 10**8)) for _ in row} for row in rows)
        yield Case("numbers of visits as items", _size(n), visits)
        data = transposed(Transactions.of(rows))
        yield Case("swapped, columns code and patient", _size(n), _called(data, "code", "patient"))
        yield Case("swapped, columns icd and number", _size(n), _called(data, "icd", "number"))
        yield Case("swapped, columns a and b", _size(n), _called(data, "a", "b"))
    for data in _real_sets(folder):
        yield Case("swapped: the real data sets", "whole", transposed(data))
        for n in (100, 500, 5000):
            part = transposed(sample_rows(data, n, 0))
            yield Case("swapped: random parts of them", _size(n), part)


def _planted(rows: list[set[str]], kind: str, make: Callable[[Generator], str]) -> Iterator[Case]:
    for percent in (100, 10, 1):
        rng = _seeded("planted", len(rows), kind, percent)
        has = rng.random(len(rows)) * 100 < percent
        if has.sum() < 3:
            continue
        some = [{*row, make(rng)} if one else row for row, one in zip(rows, has, strict=True)]
        yield Case(
            f"numbers and dates of {percent} % of the people",
            _size(len(rows)),
            Transactions.of(some),
        )
    rng = _seeded("column", len(rows), kind)
    only = Transactions.of({make(rng)} for _ in rows)
    yield Case("numbers and dates as the only item", _size(len(rows)), only)


def transposed(data: Transactions) -> Transactions:
    """Return the table with its columns swapped: the people who have each item."""
    rows = np.repeat(np.arange(data.n_distinct), data.counts)
    who, what = expand(data, rows)
    who, what = who[what >= 0], what[what >= 0]
    order = np.lexsort((who, what))
    builder = TransactionsBuilder()
    codes = np.array([builder.code(str(number)) for number in range(1, len(rows) + 1)])
    builder.add_rows(np.searchsorted(what[order], np.arange(data.n_items + 1)), codes[who[order]])
    return builder.build()


def _called(data: Transactions, id_: str, item: str) -> Transactions:
    return replace(data, origin=Origin(replace(NEUTRAL, id=id_, item=item)))


# -- the table ------------------------------------------------------------------------------------


def _size(n: int) -> str:
    return f"{n:,}"


def tally(cases: Iterable[Case], *, alarms: bool) -> list[dict[str, str]]:
    """Count alarms, or misses, by what the data are and their size."""
    tried: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for case in cases:
        key = (case.what, case.size)
        tried[key] += 1
        found[key] += bool(suspects(case.data)) is alarms
    sizes = list(dict.fromkeys(size for _, size in tried))
    sizes.sort(key=lambda size: int(size.replace(",", "")) if size != "whole" else 10**9)
    return [
        {
            "data": what,
            **{
                size: f"{found[what, size]} of {tried[what, size]}" if tried[what, size] else ""
                for size in sizes
            },
        }
        for what in dict.fromkeys(what for what, _ in tried)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the real data sets")
    parser.add_argument("--draws", type=int, default=20, help="random parts of each size")
    options = parser.parse_args(arguments)
    sys.stdout.write("False alarms, by the number of transactions\n\n")
    sys.stdout.write(markdown(tally(honest(options.data, draws=options.draws), alarms=True)))
    sys.stdout.write("\n\nMisses\n\n")
    sys.stdout.write(markdown(tally(leaks(options.data), alarms=False)) + "\n")


if __name__ == "__main__":
    main()
