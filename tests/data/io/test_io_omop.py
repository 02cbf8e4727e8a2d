"""OMOP: the same people from a folder and from every database; names, hierarchy, utility sets."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overcoat as oc
from overcoat.policy.sets import Sets
from stores import EVERY, Duck, Postgres, Sqlite, Store

Tables = Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]

every = pytest.mark.parametrize("store", EVERY, indirect=True)

CONDITIONS = ("condition_occurrence_id", "person_id", "condition_concept_id")
DRUGS = ("drug_exposure_id", "person_id", "drug_concept_id")
ANCESTORS = ("ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation")
# Of the concepts 30 and 31, 20 and 21 are parents of 30, 21 of 31; 10 is above both.
TABLES: Tables = {
    "person": (("person_id", "year_of_birth"), [(1, 1950), (2, 1960), (3, 1970), (4, 1980)]),
    "condition_occurrence": (
        CONDITIONS,
        [(1, 1, 30), (2, 2, 31), (3, 1, 20), (4, 1, 30), (5, 2, 0), (6, 3, 0)],
    ),
    "drug_exposure": (DRUGS, [(1, 1, 50), (2, 3, 50)]),
    "procedure_occurrence": (
        ("procedure_occurrence_id", "person_id", "procedure_concept_id"),
        [(1, 4, 60)],
    ),
    "concept": (
        ("concept_id", "concept_name"),
        [
            (30, 'Flu, "mild"'),
            (31, "Cough"),
            (20, "Fever"),
            (21, "Lungs"),
            (10, "All"),
            (50, "Pill"),
        ],
    ),
    "concept_ancestor": (
        ANCESTORS,
        [
            *((n, n, 0) for n in (10, 20, 21, 30, 31)),
            *((21, 30, 1), (20, 30, 1), (21, 31, 1)),
            *((10, 20, 1), (10, 21, 1), (10, 30, 2), (10, 31, 2)),
        ],
    ),
}


def rows_of(data: oc.Transactions) -> list[tuple[str, ...]]:
    return [row for row, count in data for _ in range(count)]


def as_text(columns: Sequence[str], rows: Sequence[Sequence[Any]], sep: str = ",") -> str:
    if sep == "\t":
        return "".join("\t".join(map(str, row)) + "\n" for row in [columns, *rows])
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([columns, *rows])
    return stream.getvalue()


def write(folder: Path, tables: Tables = TABLES, kind: str = "csv") -> Path:
    folder.mkdir(exist_ok=True)
    for name, (columns, rows) in tables.items():
        if kind == "parquet":
            frame = pl.DataFrame(list(rows), schema=list(columns), orient="row")
            frame.write_parquet(folder / f"{name}.parquet")
        elif kind == "gz":
            packed = gzip.compress(as_text(columns, rows).encode())
            (folder / f"{name.upper()}.CSV.gz").write_bytes(packed)
        elif kind == "athena":  # as vocabularies are handed out: tabs, and no quotes
            text = as_text([column.upper() for column in columns], rows, "\t")
            (folder / f"{name.upper()}.csv").write_text(text)
        else:
            (folder / f"{name}.csv").write_text(as_text(columns, rows))
    return folder


def fill(store: Store, tables: Tables = TABLES, prefix: str = "") -> None:
    for name, (columns, rows) in tables.items():
        store.fill(f"{prefix}{name}", columns, rows)


def without(*names: str) -> Tables:
    return {name: table for name, table in TABLES.items() if name not in names}


def error_of(source: Any, **said: Any) -> str:
    with pytest.raises(oc.InputError) as caught:
        oc.read(source, omop=True, **said)
    return str(caught.value)


EXPECTED = [(), (), ("20", "30"), ("31",)]
ZERO = "records of concept 0 (no standard concept) were left out; 2 people had some"


def check(data: oc.Transactions) -> None:
    assert rows_of(data) == EXPECTED
    assert data.origin.names == {"20": "Fever", "30": 'Flu, "mild"', "31": "Cough"}
    assert data.origin.notes == (
        ZERO,
        "2 people of 4 have no conditions; they are transactions without items",
    )
    assert data.layout is not None
    assert (data.layout.id, data.layout.item) == ("person_id", "condition_concept_id")


@pytest.mark.parametrize("kind", ["csv", "parquet", "gz", "athena"])
def test_a_folder(kind: str, tmp_path: Path) -> None:
    data = oc.read(write(tmp_path / "cdm", kind=kind), omop=True)
    check(data)
    assert data.origin.read_as == "OMOP (a folder), conditions"
    assert data.file_digest is not None
    assert len(data.origin.parts) == 2


@every
def test_a_database(store: Store) -> None:
    fill(store)
    data = oc.read(store.url, omop=True)
    check(data)
    assert data.origin.read_as.startswith("OMOP (")


@every
def test_a_schema_and_names_of_any_case(store: Store) -> None:
    if isinstance(store, Sqlite):
        pytest.skip("SQLite has no schemas")
    store.run('CREATE SCHEMA "Cdm 5.4"')
    try:
        for name, (columns, rows) in TABLES.items():
            table = f'"Cdm 5.4"."{name.upper()}"'
            shapes = ", ".join(
                f'"{column.upper()}" {"BIGINT" if isinstance(value, int) else "TEXT"}'
                for column, value in zip(columns, rows[0], strict=True)
            )
            lines = ", ".join(
                str(tuple(row)).replace("'Flu, \"mild\"'", "'Flu, \"mild\"'") for row in rows
            )
            store.run(f"CREATE TABLE {table} ({shapes})", f"INSERT INTO {table} VALUES {lines}")
        url = f'{store.url}#"Cdm 5.4"'
        check(oc.read(url, omop=True))
        assert len(oc.Hierarchy.omop(url).ancestors) == 3
        assert "there is no table condition_occurrence" in error_of(f"{store.url}#other")
        assert "after the # comes the schema" in error_of(f"{store.url}#a.b")
    finally:
        store.run('DROP SCHEMA "Cdm 5.4" CASCADE')


def test_a_connection(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    store = Duck(tmp_path / "cdm.duckdb")
    fill(store)
    with duckdb.connect(str(store.path)) as connection:
        check(oc.read(connection, omop=True))
        assert oc.Hierarchy.omop(connection).ancestors["31"] == ("21 Lungs", "10 All", "*")


def test_folders_of_files(tmp_path: Path) -> None:
    """A folder for each table, as clusters write them; partitions are entered."""
    cdm = tmp_path / "cdm"
    cdm.mkdir()
    for name, (columns, rows) in TABLES.items():
        parts = [rows[::2], rows[1::2]]
        for number, part in enumerate(parts):
            folder = cdm / f"{name}.parquet" / f"year={2000 + number}"
            folder.mkdir(parents=True)
            if part:
                frame = pl.DataFrame(list(part), schema=list(columns), orient="row")
                frame.write_parquet(folder / f"part-{number}.parquet")
    check(oc.read(cdm, omop=True))


def test_domains(tmp_path: Path) -> None:
    cdm = write(tmp_path / "cdm")
    drugs = oc.read(cdm, omop=True, domain="drug")
    assert rows_of(drugs) == [(), (), ("50",), ("50",)]
    assert drugs.layout is not None
    assert drugs.layout.item == "drug_concept_id"
    both = oc.read(cdm, omop=True, domain="condition,drug,procedure")
    assert rows_of(both) == [("20", "30", "50"), ("31",), ("50",), ("60",)]
    assert both.layout is not None
    assert both.layout.item == "concept_id"
    assert "there is no domain 'vaccine'; there are condition, drug, procedure" in error_of(
        cdm, domain="vaccine"
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_without_people_only_those_with_records_count(kind: str, tmp_path: Path) -> None:
    data = oc.read(write(tmp_path / "cdm", without("person"), kind), omop=True)
    assert rows_of(data) == [(), ("20", "30"), ("31",)]  # of person 3 only concept 0 is known
    assert "there is no table person, so only people with conditions are counted" in (
        data.origin.notes
    )


def test_without_names(tmp_path: Path) -> None:
    data = oc.read(write(tmp_path / "cdm", without("concept")), omop=True)
    assert data.origin.names == {}
    assert "there is no table concept, so nobody knows what the concepts are called" in (
        data.origin.notes
    )


# -- what is wrong ------------------------------------------------------------------------------


@every
def test_no_model(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [(1, "a")])
    message = error_of(store.url)
    assert "there is no table condition_occurrence; is this an OMOP model?" in message


@every
def test_a_column_that_is_missing(store: Store) -> None:
    fill(store, {"condition_occurrence": (("person_id", "concept"), [(1, 5)])})
    message = error_of(store.url)
    assert "table condition_occurrence has no column condition_concept_id" in message


def test_wrong_folders(tmp_path: Path) -> None:
    assert "there is no table condition_occurrence" in error_of(tmp_path)
    assert "and this is not there" in error_of(tmp_path / "none")
    (tmp_path / "file.csv").write_text("a,b\n")
    assert "is a database or a folder of its tables" in error_of(tmp_path / "file.csv")
    assert "is a database or a folder, not list" in error_of([{"a"}])
    write(tmp_path / "cdm")
    write(tmp_path / "cdm", kind="parquet")
    assert "are both the table concept; remove one" in error_of(tmp_path / "cdm")


@pytest.mark.parametrize(
    ("table", "text", "says"),
    [
        ("condition_occurrence", "", "condition_occurrence.csv:1: the file is empty"),
        ("condition_occurrence", "person_id,x\n1,2\n", "condition_occurrence.csv:1: no column"),
        (
            "condition_occurrence",
            "person_id,condition_concept_id\n1,30\n2\n",
            "condition_occurrence.csv:3: 1 fields where the header has 2",
        ),
        (
            "condition_occurrence",
            "person_id,condition_concept_id\n,30\n",
            "condition_occurrence.csv:2: the id is empty",
        ),
        (
            "condition_occurrence",
            "person_id,condition_concept_id\n1,Flu\n",
            "'Flu' is no concept id",
        ),
        ("concept", "concept_id,name\n1,x\n", "concept.csv: has no column concept_name"),
        ("concept", "concept_id,concept_name\nx,y\n", "are whole numbers"),
    ],
)
def test_wrong_tables(table: str, text: str, says: str, tmp_path: Path) -> None:
    cdm = write(tmp_path / "cdm")
    (cdm / f"{table}.csv").write_text(text)
    assert says in error_of(cdm)


def test_kinds_that_do_not_go_together(tmp_path: Path) -> None:
    cdm = write(tmp_path / "cdm", without("person"))
    write(cdm, {"person": TABLES["person"]}, "parquet")
    assert "is not of one kind with" in error_of(cdm)


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    cdm = write(tmp_path / "cdm", kind="parquet")
    (cdm / "condition_occurrence.parquet").write_bytes(b"PAR1\x15 nonsense")
    assert "not a sound Parquet file" in error_of(cdm)


def test_what_does_not_fit(tmp_path: Path) -> None:
    cdm = write(tmp_path / "cdm")
    assert "id does not fit an OMOP model" in error_of(cdm, id="person_id")
    assert "query does not fit an OMOP model" in error_of(cdm, query="SELECT 1")


@pytest.mark.parametrize("said", [{"domain": "drug"}, {"system": "urn:x"}])
def test_what_is_for_models_and_resources_only(said: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("a b\n")
    (name,) = said
    with pytest.raises(oc.DataError, match=f"a {name} is for"):
        oc.read(path, **said)


# -- hierarchy ----------------------------------------------------------------------------------

TREE = {
    "20": ("20 Fever", "10 All", "*"),  # itself a node, with 30 below it
    "30": ("20 Fever", "10 All", "*"),  # 20 is less than 21
    "31": ("21 Lungs", "10 All", "*"),
}


@pytest.mark.parametrize("kind", ["csv", "parquet", "athena"])
def test_the_hierarchy_of_a_folder(kind: str, tmp_path: Path) -> None:
    assert oc.Hierarchy.omop(write(tmp_path / "cdm", kind=kind)).ancestors == TREE


@every
def test_the_hierarchy_of_a_database(store: Store) -> None:
    fill(store)
    assert oc.Hierarchy.omop(store.url).ancestors == TREE
    assert oc.Hierarchy.omop(store.url, "drug").ancestors == {"50": ("*",)}


def shuffled(table: str, seed: int) -> Tables:
    columns, rows = TABLES[table]
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    return {**TABLES, table: (columns, mixed)}


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_does_not_depend_on_the_order_of_rows(seed: int, tmp_path: Path) -> None:
    found = oc.Hierarchy.omop(write(tmp_path / "cdm", shuffled("concept_ancestor", seed)))
    assert found.ancestors == TREE


def test_more_people_only_add_to_the_tree(tmp_path: Path) -> None:
    columns, rows = TABLES["condition_occurrence"]
    more: Tables = {**TABLES, "condition_occurrence": (columns, [*rows, (9, 1, 21), (10, 1, 99)])}
    found = oc.Hierarchy.omop(write(tmp_path / "cdm", more)).ancestors
    assert {item: found[item] for item in TREE} == TREE
    assert found["21"] == ("21 Lungs", "10 All", "*")
    assert found["99"] == ("*",)  # nothing is known of it


def test_without_names_nodes_are_numbers(tmp_path: Path) -> None:
    found = oc.Hierarchy.omop(write(tmp_path / "cdm", without("concept")))
    assert found.ancestors["31"] == ("21", "10", "*")


def test_circles(tmp_path: Path) -> None:
    rows = [(20, 30, 1), (30, 20, 1)]
    cdm = write(tmp_path / "cdm", {**TABLES, "concept_ancestor": (ANCESTORS, rows)})
    with pytest.raises(oc.DataError, match="concept_ancestor goes round in circles at"):
        oc.Hierarchy.omop(cdm)


@every
def test_no_ancestors(store: Store) -> None:
    fill(store, without("concept_ancestor"))
    with pytest.raises(oc.DataError, match="there is no table concept_ancestor"):
        oc.Hierarchy.omop(store.url)


# -- utility sets -------------------------------------------------------------------------------


def sets_of(utility: oc.Utility) -> dict[str | None, tuple[str, ...]]:
    assert isinstance(utility.sets, Sets)
    return {one.name: one.items for one in utility.sets.entries}


@every
def test_utility_sets_of_a_database(store: Store) -> None:
    fill(store)
    assert sets_of(oc.Utility.omop(store.url, [21])) == {"Lungs": ("30", "31")}
    found = oc.Utility.omop(store.url, [31, 20], rest="intact")
    assert sets_of(found) == {"Cough": ("31",), "Fever": ("20", "30")}
    assert found.rest == "intact"


def test_utility_sets_of_a_folder(tmp_path: Path) -> None:
    cdm = write(tmp_path / "cdm")
    assert sets_of(oc.Utility.omop(cdm, [31, 20])) == {"Cough": ("31",), "Fever": ("20", "30")}
    with pytest.raises(oc.DataError, match="1 lie below Fever and Lungs: 30; name ancestors"):
        oc.Utility.omop(cdm, [20, 21])
    with pytest.raises(oc.DataError, match=r"nobody has a concept below 50 \(Pill\)"):
        oc.Utility.omop(cdm, [20, 50])
    assert list(sets_of(oc.Utility.omop(cdm, [20, 50], ignore_unknown=True))) == ["Fever"]


def test_concepts_of_one_name(tmp_path: Path) -> None:
    names = [(20, "Fever"), (31, "Fever")]
    tables: Tables = {**TABLES, "concept": (("concept_id", "concept_name"), names)}
    cdm = write(tmp_path / "cdm", tables)
    assert list(sets_of(oc.Utility.omop(cdm, [20, 31]))) == ["Fever [20]", "Fever [31]"]


# -- the sample ---------------------------------------------------------------------------------


@pytest.mark.parametrize("parquet", [False, True])
def test_the_sample(parquet: bool, tmp_path: Path) -> None:
    """It is the hospital, under other names: people, tree and disorders."""
    sample = oc.datasets.hospital(300)
    oc.datasets.write_omop(tmp_path, 300, parquet=parquet)
    data = oc.read(tmp_path, omop=True)
    path = tmp_path / f"concept.{'parquet' if parquet else 'csv'}"
    frame = pl.read_parquet(path) if parquet else pl.read_csv(path, infer_schema=False)
    codes = {
        (one["concept_class_id"], one["concept_code"]): str(one["concept_id"])
        for one in frame.iter_rows(named=True)
    }
    people = [{codes["Code", code] for code in row} for row in sample.rows]
    assert data == oc.Transactions.of([*people, set(), set(), set()])

    tree = oc.Hierarchy.omop(tmp_path).ancestors
    for code, *above in sample.hierarchy:
        if codes["Code", code] in tree:
            named = [name.partition(" ")[2] for name in tree[codes["Code", code]][:-1]]
            assert named == above[:-1]
    ancestors = [int(codes["Disorder", name]) for name in sample.utility]
    utility = oc.Utility.omop(tmp_path, ancestors)
    expected = {
        name: {codes["Code", code] for code in items} for name, items in sample.utility.items()
    }
    assert {name: set(items) for name, items in sets_of(utility).items()} == expected


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_all_questions_are_about_one_moment(
    store: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others write while a model is read is not half in it."""
    from overcoat.data.io.omop.database import DatabaseModel

    fill(store)
    names = DatabaseModel.names

    def late(self: Any, *arguments: Any) -> Any:
        store.run("UPDATE concept SET concept_name = 'new'")
        return names(self, *arguments)

    monkeypatch.setattr(DatabaseModel, "names", late)
    check(oc.read(store.url, omop=True))
