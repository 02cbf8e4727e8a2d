"""Data that come with the package: the paper's example, a hospital, baskets of any size.

The first two are for learning and for the demo, and come with their policies; the baskets are for
tests and benchmarks. All are made in memory from code and a table of diagnosis codes: no person's
data are involved. What a seed means is told in `overcoat.data.generate`.
"""

from __future__ import annotations

import difflib
import gzip
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_count
from overcoat.data.clinical import fhir_lines, omop_tables, write_lines, write_tables
from overcoat.data.diagnoses import diagnoses
from overcoat.data.generate import basket_chunks, patient_chunks
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError, PolicyError

__all__ = [
    "Sample",
    "baskets",
    "generate_baskets",
    "hospital",
    "load",
    "names",
    "paper",
    "write_baskets",
    "write_fhir",
    "write_omop",
]

Row = tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """Transactions with a policy that suits them.

    Attributes
    ----------
    name : what the sample is called
    rows : the transactions, in the original order
    privacy : named itemsets that must not identify anyone
    utility : named sets of items, the blocks that must be kept apart
    hierarchy : paths from leaf to root, one a leaf
    k, max_suppressed : the parameters that suit the sample; `max_suppressed` in percent of the
        items
    km : protect all itemsets of that many items; None: do not
    pgen : protect every part of every transaction
    rest : what becomes of the items in no utility set; None where there are none
    format : of the data file: basket (``data.dat``) or long (``patients.csv``)

    >>> sample = paper()
    >>> sample.rows[1], sample.privacy["p1"], sample.hierarchy[0]
    (('a', 'c', 'e', 'f', 'g'), ('a', 'b', 'c'), ('a', 'abc', '*'))
    """

    name: str
    rows: list[Row] = field(repr=False)
    privacy: dict[str, Row] = field(repr=False)
    utility: dict[str, Row] = field(repr=False)
    hierarchy: list[Row] = field(repr=False)
    k: int
    max_suppressed: float
    km: int | None = None
    pgen: bool = False
    rest: Literal["together", "intact"] | None = None
    format: Literal["basket", "long"] = "basket"

    def transactions(self, *, keep_order: bool = False) -> Transactions:
        """Return the rows as `Transactions`.

        >>> paper().transactions()
        Transactions(10 transactions, 10 distinct, 8 items)
        """
        return Transactions.of(self.rows, keep_order=keep_order)

    def write(self, folder: str | Path) -> dict[str, Path]:
        """Write the files a user would have; existing ones of the same name are replaced.

        Returns
        -------
        the paths by what they hold: ``data``, ``policy`` and, where the sample has them,
        ``privacy``, ``utility``, ``hierarchy``

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = paper().write(folder)
        ...     print(files["policy"].read_text(), end="")
        # Read by: overcoat anonymize data.dat --policy policy.toml -o released.dat
        k = 5
        max_suppressed = 15
        privacy = "privacy.txt"
        utility = "utility.txt"
        hierarchy = "hierarchy.csv"
        """
        files = {role: Path(folder, name) for role, name in self._file_names().items()}
        content: dict[str, Callable[[], Iterable[str]]] = {
            "data": self._data_lines,
            "privacy": lambda: self._set_lines(self.privacy),
            "utility": lambda: self._set_lines(self.utility),
            "hierarchy": lambda: map(";".join, self.hierarchy),
            "policy": self._policy_lines,
        }
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            for role, path in files.items():
                with path.open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(f"{line}\n" for line in content[role]())
        except OSError as error:
            raise _cannot_write(folder, error) from error
        return files

    def _file_names(self) -> dict[str, str]:
        long = self.format == "long"
        names = {"data": "patients.csv" if long else "data.dat"}
        if self.privacy:
            names["privacy"] = "privacy.txt"
        if self.utility:
            names["utility"] = "disorders.txt" if long else "utility.txt"
        if self.hierarchy:
            names["hierarchy"] = "hierarchy.csv"
        return names | {"policy": "policy.toml"}

    def _data_lines(self) -> Iterator[str]:
        if self.format == "basket":
            yield from map(" ".join, self.rows)
            return
        yield "patient,code"
        width = max(5, len(str(len(self.rows))))
        for number, row in enumerate(self.rows, start=1):
            for item in row:
                yield f"P{number:0{width}},{item}"

    def _set_lines(self, sets: Mapping[str, Row]) -> Iterator[str]:
        between = ", " if self.format == "long" else " "  # items are split as in the data
        for name, items in sets.items():
            yield f"{name}: {between.join(items)}"

    def _policy_lines(self) -> Iterator[str]:
        names = self._file_names()
        command = f"overcoat anonymize {names['data']}"
        if self.format == "long":
            command += " --id patient --item code"
        released = "released" + Path(names["data"]).suffix
        yield f"# Read by: {command} --policy policy.toml -o {released}"
        values: dict[str, Any] = {
            "k": self.k,
            "max_suppressed": self.max_suppressed,
            "privacy": names.get("privacy"),
            "km": self.km,
            "pgen": self.pgen or None,
            "utility": names.get("utility"),
            "rest": self.rest,
            "hierarchy": names.get("hierarchy"),
            "known": names.get("hierarchy") if self.format == "long" else None,
        }
        for key, value in values.items():
            if value is not None:
                yield f"{key} = {json.dumps(value)}"  # numbers, true, strings: TOML writes the same


# ---- named samples -----------------------------------------------------------------------------


def names() -> tuple[str, ...]:
    """Return the names `load` knows, those of ``overcoat demo``.

    >>> names()
    ('paper', 'hospital')
    """
    return tuple(_SAMPLES)


def load(name: str) -> Sample:
    """Return the sample of that name.

    >>> load("papre")
    Traceback (most recent call last):
    overcoat.errors.PolicyError: no sample is called 'papre'; did you mean 'paper'?
    """
    if name in _SAMPLES:
        return _SAMPLES[name]()
    near = difflib.get_close_matches(str(name), _SAMPLES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_SAMPLES)}"
    raise PolicyError(f"no sample is called {name!r}; {hint}")


def paper() -> Sample:
    """Return the example of the paper: the data and constraints of its Fig. 1, and its hierarchy.

    >>> paper().utility
    {'u1': ('a', 'b'), 'u2': ('c',), 'u3': ('d',), 'u4': ('e', 'f', 'g', 'h')}
    """
    patients = {
        "Alice": "abcdefgh",
        "Mary": "acefg",
        "George": "cdefh",
        "Jack": "acef",
        "Anne": "efgh",
        "Tom": "defg",
        "Jim": "abde",
        "Steve": "acf",
        "David": "ac",
        "Ellen": "bh",
    }
    return Sample(
        name="paper",
        rows=[tuple(codes) for codes in patients.values()],
        privacy={"p1": tuple("abc"), "p2": tuple("defgh")},
        utility={"u1": tuple("ab"), "u2": ("c",), "u3": ("d",), "u4": tuple("efgh")},
        hierarchy=[(leaf, parent, "*") for parent in ("abc", "defgh") for leaf in parent],
        k=5,
        max_suppressed=15,
    )


def hospital(n: int = 3000, seed: int = 1) -> Sample:
    """Return generated patients of a hospital, with real diagnosis codes (ICD-9-CM).

    The utility sets are 20 disorders, the ones a study needs to count. They list only codes that
    occur, as a constraint file must, so with very few patients a disorder can be missing. The
    hierarchy has all codes: code, category, section, chapter, root.

    The policy that comes with it protects all pairs. Each combination of studied disorders that
    occurs is shared by at least k of the default patients, so that the policy, and even
    protection of every part of every transaction (``replace(sample, km=None, pgen=True)``), can
    be met without suppressing anything.

    Parameters
    ----------
    n : number of patients; the first n are the same for every larger n
    seed : another one, another hospital

    >>> sample = hospital()
    >>> len(sample.rows), len(sample.utility), sample.rows[6]  # diabetes and gout
    (3000, 20, ('250.00', '274.9'))
    >>> print(";".join(sample.hierarchy[0]))
    003.0;003;001-009 Intestinal infectious diseases;001-139 Infectious and parasitic diseases;*
    """
    n = check_count("n", n, 0)
    seed = check_count("seed", seed, 0)
    table = diagnoses()
    labels = sorted(diagnosis.code for diagnosis in table)
    rank = {label: code for code, label in enumerate(labels)}
    disorders: dict[str, list[int]] = {}
    for diagnosis in table:
        disorders.setdefault(diagnosis.disorder, []).append(rank[diagnosis.code])
    studied = tuple(dict.fromkeys(d.disorder for d in table if d.study == "yes"))

    rows: list[Row] = []
    for offsets, codes in patient_chunks(n, disorders, frozenset(studied), len(labels), seed):
        items = [labels[code] for code in codes.tolist()]
        bounds = offsets.tolist()
        rows += [tuple(items[i:j]) for i, j in pairwise(bounds)]

    occurring = set().union(*rows)
    utility = {
        name: tuple(labels[c] for c in sorted(disorders[name]) if labels[c] in occurring)
        for name in studied
    }
    return Sample(
        name="hospital",
        rows=rows,
        privacy={},
        utility={name: items for name, items in utility.items() if items},
        hierarchy=[diagnosis.path() for diagnosis in sorted(table)],
        k=5,
        max_suppressed=0.5,
        km=2,
        rest="together",
        format="long",
    )


_SAMPLES: dict[str, Callable[[], Sample]] = {"paper": paper, "hospital": hospital}


def write_omop(
    folder: str | Path, n: int = 3000, seed: int = 1, *, parquet: bool = False
) -> dict[str, Path]:
    """Write the patients of `hospital` as an OMOP common data model, a file for each table.

    Read it with ``read(folder, omop=True)``. Some records have no concept, and some people no
    record. The vocabulary is made of the codes of the sample. As CSV, or as `parquet`.

    >>> import tempfile
    >>> from overcoat.data.io import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_omop(folder, 100)
    ...     data = read(folder, omop=True)
    >>> sorted(files), data.n_transactions
    (['concept', 'concept_ancestor', 'condition_occurrence', 'drug_exposure', 'person'], 101)
    """
    rows = hospital(n, seed).rows
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tables = omop_tables(rows, diagnoses())
        return write_tables(tables, Path(folder), parquet=parquet)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def write_fhir(folder: str | Path, n: int = 3000, seed: int = 1) -> Path:
    """Write the diagnoses of `hospital` as FHIR conditions, in bulk: a resource a line.

    Some were entered in error, some have no code, some have a second one of another system.

    >>> import tempfile
    >>> from overcoat.data.io import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_fhir(folder, 100)
    ...     data = read(file)
    >>> file.name, data.n_transactions, data.origin.names["401.9"]
    ('Condition.ndjson', 100, 'Unspecified essential hypertension')
    """
    rows = hospital(n, seed).rows
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return write_lines(fhir_lines(rows, diagnoses()), Path(folder) / "Condition.ndjson")
    except OSError as error:
        raise _cannot_write(folder, error) from error


# ---- baskets -----------------------------------------------------------------------------------


def generate_baskets(
    n: int, n_items: int, *, mean: float = 8.0, skew: float = 1.0, seed: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int32], Row]:
    """Return `n` random baskets as arrays.

    Parameters
    ----------
    n : number of rows; the first n are the same for every larger n
    n_items : number of items to draw from, labelled "1" (commonest) to "`n_items`"
    mean : expected number of different items of a row, 1 … `n_items`; sizes scatter like 1 +
        Poisson
    skew : Zipf exponent: the item of rank r is drawn in proportion to r^-skew; 0 is uniform
    seed : of the generator

    Returns
    -------
    offsets : int64, (n + 1,)
    codes : int32; row r is ``codes[offsets[r]:offsets[r + 1]]``, ascending, never empty
    labels : (n_items,), the labels of the codes

    >>> offsets, codes, labels = generate_baskets(3, 100, mean=4)
    >>> [[labels[c] for c in codes[offsets[r]:offsets[r + 1]]] for r in range(3)]
    [['1', '28', '39', '88'], ['5', '7', '10', '14', '18', '37', '44', '80'], ['2', '23']]
    """
    chunks = basket_chunks(n, n_items, mean, skew, seed)
    sizes: list[NDArray[np.int64]] = []
    parts: list[NDArray[np.int32]] = []
    for offsets, codes in chunks:
        sizes.append(np.diff(offsets))
        parts.append(codes)
    bounds = np.zeros(int(n) + 1, np.int64)
    np.cumsum(np.concatenate([np.empty(0, np.int64), *sizes]), out=bounds[1:])
    return bounds, np.concatenate([np.empty(0, np.int32), *parts]), _labels(n_items)


def baskets(
    n: int, n_items: int, *, mean: float = 8.0, skew: float = 1.0, seed: int = 1
) -> Transactions:
    """Return the baskets of `generate_baskets` as `Transactions`.

    >>> baskets(1000, 20, mean=3).n_transactions
    1000
    """
    chunks = basket_chunks(n, n_items, mean, skew, seed)
    builder = TransactionsBuilder()
    for label in _labels(n_items):
        builder.code(label)  # handed out in order: the code of label i + 1 is i
    for offsets, codes in chunks:
        builder.add_rows(offsets, codes)
    return builder.build()


def write_baskets(
    path: str | Path,
    n: int,
    n_items: int,
    *,
    mean: float = 8.0,
    skew: float = 1.0,
    seed: int = 1,
) -> Path:
    """Write the baskets of `generate_baskets` as a basket file, one chunk in memory at a time.

    The file appears when it is whole. A name that ends in ``.gz`` is compressed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(write_baskets(f"{folder}/baskets.dat", 100, 20, mean=3).read_text().splitlines())
    100
    """
    chunks = basket_chunks(n, n_items, mean, skew, seed)
    # Each item with what follows it: a space, or the end of its row. One join then makes the text.
    follow = np.array([[f"{label} ", f"{label}\n"] for label in _labels(n_items)], object)
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        try:
            with _open_text(part, compressed=path.suffix == ".gz") as file:
                for offsets, codes in chunks:
                    ends = np.zeros(len(codes), np.int8)
                    ends[offsets[1:] - 1] = 1
                    file.write("".join(follow[codes, ends].tolist()))
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(path, error) from error
    return path


def _labels(n_items: int) -> Row:
    return tuple(map(str, range(1, n_items + 1)))


def _open_text(path: Path, *, compressed: bool) -> TextIO:
    if compressed:
        # No time of writing in the header: the same baskets are the same bytes.
        packed = gzip.GzipFile(path, "wb", compresslevel=6, mtime=0)
        return io.TextIOWrapper(packed, encoding="utf-8", newline="\n")
    return path.open("w", encoding="utf-8", newline="\n")


def _cannot_write(path: str | Path, error: OSError) -> DataError:
    return DataError(f"cannot write: {error.strerror or error}", file=str(path))
