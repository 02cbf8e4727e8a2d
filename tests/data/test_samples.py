from __future__ import annotations

import csv
import gzip
import hashlib
import io
import tomllib
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overcoat.data import generate
from overcoat.data.diagnoses import diagnoses
from overcoat.data.samples import (
    Sample,
    baskets,
    generate_baskets,
    hospital,
    load,
    names,
    paper,
    write_baskets,
)
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError

ROOT = Path(__file__).parents[2]
CODE_LIST = ROOT.parent / "shared" / "data" / "icd9cm.codes.csv.gz"


def digest(rows: list[tuple[str, ...]]) -> str:
    return hashlib.sha256("\n".join(map(" ".join, rows)).encode()).hexdigest()


@pytest.fixture(scope="module")
def patients() -> Sample:
    return hospital()


@pytest.fixture(scope="module")
def combinations_of_disorders(patients: Sample) -> Counter[frozenset[str]]:
    """How many patients have exactly that set of studied disorders ("rest": any other code)."""
    block = {code: name for name, codes in patients.utility.items() for code in codes}
    return Counter(frozenset(block.get(code, "rest") for code in row) for row in patients.rows)


# ---- the paper's example


def test_paper_is_figure_1() -> None:
    sample = paper()
    assert ["".join(row) for row in sample.rows] == [
        "abcdefgh", "acefg", "cdefh", "acef", "efgh", "defg", "abde", "acf", "ac", "bh"
    ]  # fmt: skip
    assert {name: "".join(items) for name, items in sample.privacy.items()} == {
        "p1": "abc",
        "p2": "defgh",
    }
    assert ["".join(items) for items in sample.utility.values()] == ["ab", "c", "d", "efgh"]
    assert list(sample.utility) == ["u1", "u2", "u3", "u4"]
    assert (sample.k, sample.max_suppressed) == (5, 15)
    assert sample.hierarchy == [
        *((leaf, "abc", "*") for leaf in "abc"),
        *((leaf, "defgh", "*") for leaf in "defgh"),
    ]


def test_paper_as_transactions_has_the_supports_of_spec_4() -> None:
    data = paper().transactions()
    assert (data.n_transactions, data.n_items) == (10, 8)
    assert dict(zip(data.vocabulary, data.supports.tolist(), strict=True)) == {
        "a": 6, "b": 3, "c": 6, "d": 4, "e": 7, "f": 7, "g": 4, "h": 4
    }  # fmt: skip
    assert sum("a" in row or "b" in row for row in paper().rows) == 7


def test_paper_files(tmp_path: Path) -> None:
    files = paper().write(tmp_path / "new" / "folder")
    assert {role: path.name for role, path in files.items()} == {
        "data": "data.dat",
        "privacy": "privacy.txt",
        "utility": "utility.txt",
        "hierarchy": "hierarchy.csv",
        "policy": "policy.toml",
    }
    assert files["data"].read_bytes().startswith(b"a b c d e f g h\na c e f g\n")
    assert files["privacy"].read_text() == "p1: a b c\np2: d e f g h\n"
    assert files["utility"].read_text() == "u1: a b\nu2: c\nu3: d\nu4: e f g h\n"
    assert files["hierarchy"].read_text().splitlines()[0] == "a;abc;*"
    assert tomllib.loads(files["policy"].read_text()) == {
        "k": 5,
        "max_suppressed": 15,
        "privacy": "privacy.txt",
        "utility": "utility.txt",
        "hierarchy": "hierarchy.csv",
    }


# ---- names


def test_every_name_loads() -> None:
    for name in names():
        assert load(name).name == name


@pytest.mark.parametrize("name", ["hospitol", "", "x", None, 3])
def test_unknown_name(name: Any) -> None:
    with pytest.raises(PolicyError, match="no sample is called"):
        load(name)


# ---- the table of diagnosis codes


def test_codes_are_real() -> None:
    if not CODE_LIST.exists():
        pytest.skip(f"needs the official code list, {CODE_LIST}")
    with gzip.open(CODE_LIST, "rb") as raw:
        table = csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8"))
        official = {line["code"]: line["description"] for line in table}
    for diagnosis in diagnoses():
        assert official.get(diagnosis.code.replace(".", "")) == diagnosis.description


def test_codes_are_written_with_their_dot() -> None:
    for diagnosis in diagnoses():
        category, _, detail = diagnosis.code.partition(".")
        assert len(category) == (4 if category.startswith("E") else 3)
        assert len(detail) in (0, 1, 2)
        assert not diagnosis.code.endswith(".")


def test_table_is_consistent() -> None:
    table = diagnoses()
    assert 300 <= len(table) <= 520
    assert len({d.code for d in table}) == len(table)
    assert len({(d.disorder, d.study) for d in table}) == len({d.disorder for d in table})
    assert len({d.disorder for d in table if d.study == "yes"}) == 20
    assert {d.study for d in table} == {"yes", "no"}
    for d in table:
        low, _, high = d.section.split(" ")[0].partition("-")
        assert low <= d.code[: len(low)] <= (high or low)


def test_profiles_name_disorders_of_the_table() -> None:
    disorders = {d.disorder for d in diagnoses()}
    listed = {name for profile in generate.PROFILES.values() for name in profile.chances}
    assert listed <= disorders
    assert {generate.FALLBACK, *generate.NOT_ANYONE} <= disorders
    assert {d.disorder for d in diagnoses() if d.study == "yes"} <= listed
    assert sum(p.share for p in generate.PROFILES.values()) == pytest.approx(1)
    assert sum(share for share, _ in generate.BURDENS) == pytest.approx(1)


# ---- the hospital


def test_hospital_is_the_same_everywhere(patients: Sample) -> None:
    assert digest(patients.rows) == (
        "54902c90a4700e490d84747e5ea4ab521137008fe2e7dbc0527b92ecef0eb027"
    )
    assert hospital() == patients
    assert hospital(seed=2).rows != patients.rows


def test_hospital_has_sizes_like_the_papers(patients: Sample) -> None:
    sizes = np.array([len(row) for row in patients.rows])
    assert len(sizes) == 3000
    assert sizes.min() >= 1
    assert 2.8 <= sizes.mean() <= 3.4
    assert 15 <= sizes.max() <= 30
    assert all(list(row) == sorted(set(row)) for row in patients.rows)

    supports = patients.transactions().supports
    assert 400 <= len(supports) <= 510
    assert 0.2 <= (supports < 5).mean() <= 0.4  # the rare codes that make people identifiable
    assert supports.max() >= 200


def test_hospital_studies_20_disjoint_disorders(patients: Sample) -> None:
    codes = [code for codes in patients.utility.values() for code in codes]
    assert len(patients.utility) == 20
    assert all(patients.utility.values())
    assert len(codes) == len(set(codes))
    occurring = {code for row in patients.rows for code in row}
    assert set(codes) < occurring


def test_hierarchy_of_the_hospital_is_a_tree_over_all_codes(patients: Sample) -> None:
    leaves = [path[0] for path in patients.hierarchy]
    assert len(leaves) == len(set(leaves))
    assert {code for row in patients.rows for code in row} <= set(leaves)
    parents: dict[str, str] = {}
    for path in patients.hierarchy:
        assert path[-1] == "*"
        assert len(path) in (4, 5)
        for child, parent in pairwise(path):
            assert parents.setdefault(child, parent) == parent
    assert not set(leaves) & set(parents.values())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Diabetes mellitus", "Hypertension"),
        ("Diabetes mellitus", "Chronic kidney disease"),
        ("Coronary atherosclerosis", "Heart failure"),
        ("Asthma", "COPD"),
        ("Depression", "Bipolar disorder"),
        ("Rheumatoid arthritis", "Osteoarthritis"),
        ("Pancreatic cancer", "Diabetes mellitus"),
    ],
)
def test_plausible_disorders_come_together(
    combinations_of_disorders: Counter[frozenset[str]], one: str, other: str
) -> None:
    def count(*disorders: str) -> int:
        return sum(n for has, n in combinations_of_disorders.items() if has.issuperset(disorders))

    assert count(one, other) * 3000 / (count(one) * count(other)) > 1.5


def test_nobody_has_disorders_of_both_sexes(
    combinations_of_disorders: Counter[frozenset[str]],
) -> None:
    assert not any({"Breast cancer", "Prostate cancer"} <= has for has in combinations_of_disorders)


def test_the_hospitals_policy_needs_no_suppression(
    patients: Sample, combinations_of_disorders: Counter[frozenset[str]]
) -> None:
    # When each disorder is one group (and the rest another), no combination that occurs is rare.
    # COAT suppresses only after it has generalized that far, so it never has to.
    for has in combinations_of_disorders:
        support = sum(n for other, n in combinations_of_disorders.items() if has <= other)
        assert support >= patients.k, sorted(has)


def test_hospital_scales(patients: Sample) -> None:
    assert hospital(100).rows == patients.rows[:100]
    many = hospital(generate.CHUNK + 10).rows
    assert len(many) == generate.CHUNK + 10
    assert many[:3000] == patients.rows


def test_small_hospitals_name_only_what_occurs() -> None:
    for n in (0, 1, 5, 50):
        sample = hospital(n)
        occurring = {code for row in sample.rows for code in row}
        assert {code for codes in sample.utility.values() for code in codes} <= occurring
        assert sample.transactions().n_transactions == n


def test_hospital_files(tmp_path: Path) -> None:
    sample = hospital(20)
    files = sample.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "disorders.txt", "hierarchy.csv", "patients.csv", "policy.toml"
    ]  # fmt: skip
    with files["data"].open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    rows: dict[str, list[str]] = {}
    for pair in lines:
        rows.setdefault(pair["patient"], []).append(pair["code"])
    assert next(iter(rows)) == "P00001"
    assert [tuple(row) for row in rows.values()] == sample.rows
    for line in files["utility"].read_text().splitlines():
        name, _, items = line.partition(": ")
        assert tuple(items.split(", ")) == sample.utility[name]
    assert tomllib.loads(files["policy"].read_text()) == {
        "k": 5,
        "max_suppressed": 0.5,
        "km": 2,
        "utility": "disorders.txt",
        "rest": "together",
        "hierarchy": "hierarchy.csv",
        "known": "hierarchy.csv",
    }


def test_policy_file_can_ask_for_everything(tmp_path: Path) -> None:
    files = replace(hospital(20), km=None, pgen=True).write(tmp_path)
    policy = tomllib.loads(files["policy"].read_text())
    assert policy["pgen"] is True
    assert "km" not in policy


@pytest.mark.parametrize("arguments", [(-1,), (2.5,), ("3",), (True,), (10, -1), (10, None)])
def test_hospital_refuses_nonsense(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(PolicyError, match="whole number"):
        hospital(*arguments)


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(DataError, match="taken: cannot write"):
        paper().write(tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


# ---- baskets


def test_baskets_are_the_same_everywhere() -> None:
    offsets, codes, labels = generate_baskets(20_000, 1000)
    assert (offsets.dtype.name, codes.dtype.name) == ("int64", "int32")
    assert labels == tuple(str(number) for number in range(1, 1001))
    summary = hashlib.sha256(offsets.astype("<i8").tobytes() + codes.astype("<i4").tobytes())
    assert summary.hexdigest() == (
        "018c5459e00418730552b1b9a395511957220166cc4ef51fa2ef77f65cf2c3ae"
    )
    assert not np.array_equal(generate_baskets(20_000, 1000, seed=2)[1], codes)


def test_rows_of_baskets_are_sets() -> None:
    offsets, codes, _ = generate_baskets(5000, 30, mean=6, skew=1.5)
    assert len(offsets) == 5001
    assert offsets[0] == 0
    assert offsets[-1] == len(codes)
    assert np.diff(offsets).min() >= 1
    inside = np.ones(len(codes), bool)
    inside[offsets[:-1]] = False  # all but the first of a row
    assert (np.diff(codes)[inside[1:]] > 0).all()
    assert codes.min() >= 0
    assert codes.max() < 30


@pytest.mark.parametrize(
    ("n_items", "mean", "skew"),
    [(20_000, 8.0, 1.0), (100, 8.0, 1.0), (100, 1.0, 2.0), (50, 30.0, 0.0), (2000, 900.0, 0.0)],
)
def test_baskets_have_the_mean_asked_for(n_items: int, mean: float, skew: float) -> None:
    _, codes, _ = generate_baskets(4000, n_items, mean=mean, skew=skew)
    assert len(codes) / 4000 == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize("skew", [0.0, 0.5, 1.0, 1.5])
def test_baskets_follow_zipf(skew: float) -> None:
    # Few items a row of many, so that dropping repetitions hardly bends the line.
    _, codes, _ = generate_baskets(50_000, 1000, mean=2, skew=skew)
    supports = np.bincount(codes, minlength=1000)[4:60]
    slope = np.polyfit(np.log(np.arange(5, 61)), np.log(supports), 1)[0]
    assert slope == pytest.approx(-skew, abs=0.08)


def test_fewer_baskets_are_the_first_of_more() -> None:
    n = generate.CHUNK + 100
    more_offsets, more_codes, _ = generate_baskets(n, 50, mean=3)
    for fewer in (7, generate.CHUNK, generate.CHUNK + 1):
        offsets, codes, _ = generate_baskets(fewer, 50, mean=3)
        assert np.array_equal(offsets, more_offsets[: fewer + 1])
        assert np.array_equal(codes, more_codes[: len(codes)])


def test_edges_of_baskets() -> None:
    offsets, codes, labels = generate_baskets(0, 5, mean=2)
    assert (offsets.tolist(), codes.tolist(), len(labels)) == ([0], [], 5)
    assert baskets(0, 5, mean=2).n_transactions == 0
    offsets, codes, labels = generate_baskets(3, 1, mean=1)
    assert (offsets.tolist(), codes.tolist(), labels) == ([0, 1, 2, 3], [0, 0, 0], ("1",))
    assert np.diff(generate_baskets(1000, 5, mean=1)[0]).max() == 1


def test_baskets_as_transactions() -> None:
    offsets, codes, labels = generate_baskets(300, 40, mean=4)
    rows = [[labels[code] for code in codes[start:stop]] for start, stop in pairwise(offsets)]
    assert baskets(300, 40, mean=4) == Transactions.of(rows)


@pytest.mark.parametrize("name", ["baskets.dat", "baskets.dat.gz"])
def test_write_baskets(tmp_path: Path, name: str) -> None:
    n = generate.CHUNK + 5
    path = write_baskets(tmp_path / name, n, 40, mean=4)
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    offsets, codes, labels = generate_baskets(n, 40, mean=4)
    assert text.splitlines() == [
        " ".join(labels[code] for code in codes[start:stop]) for start, stop in pairwise(offsets)
    ]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert write_baskets(path, n, 40, mean=4).read_bytes() == raw


def test_write_baskets_nowhere(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot write"):
        write_baskets(tmp_path / "missing" / "baskets.dat", 10, 40)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": -1}, "n must be a whole number of at least 0"),
        ({"n": 1.0}, "n must be a whole number"),
        ({"n_items": 0}, "n_items must be a whole number of at least 1"),
        ({"n_items": 2**31}, "n_items must be below"),
        ({"seed": -1}, "seed must be"),
        ({"mean": 0.5}, "mean must be a finite number of at least 1"),
        ({"mean": float("nan")}, "mean must be"),
        ({"mean": "8"}, "mean must be"),
        ({"mean": 51}, "rows of 51 different items cannot be drawn from 50"),
        ({"mean": 49.9, "skew": 3}, "more than 100 draws an item; lower mean or skew"),
        ({"skew": -1}, "skew must be"),
        ({"skew": float("inf")}, "skew must be"),
        ({"skew": None}, "skew must be"),
    ],
)
def test_baskets_refuse_nonsense(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    arguments = {"n": 10, "n_items": 50, **arguments}
    with pytest.raises(PolicyError, match=message):
        generate_baskets(**arguments)
    with pytest.raises(PolicyError, match=message):
        baskets(**arguments)
    with pytest.raises(PolicyError, match=message):
        write_baskets(tmp_path / "baskets.dat", **arguments)
    assert not list(tmp_path.iterdir())


def test_poisson_table_is_right_for_large_means() -> None:
    cdf = generate._poisson_cdf(2000.0)
    mean = (np.arange(len(cdf)) * np.diff(cdf, prepend=0)).sum()
    assert mean == pytest.approx(2000, rel=1e-9)
    assert cdf[-1] == 1
    assert set(generate._poisson_cdf(0.0).tolist()) == {1.0}  # always 0
