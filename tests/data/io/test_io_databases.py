"""Reading databases: the same transactions from every one of them, and a sentence for whatever is
wrong."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

import overcoat as oc
from overcoat.data.io.databases import fetching, reading
from overcoat.data.transactions import Transactions
from stores import EVERY, Postgres, Sqlite, Store

every = pytest.mark.parametrize("store", EVERY, indirect=True)
both = pytest.mark.parametrize("store", ["sqlite", "sqlite-plain"], indirect=True)
duckdb_only = pytest.mark.parametrize("store", ["duckdb"], indirect=True)

ROWS = [(1, "038"), (1, "250.00"), (2, "038"), (3, None), (2, "401.9"), (1, "038")]
SETS = [(), ("038", "250.00"), ("038", "401.9")]


def rows_of(data: Transactions) -> list[tuple[str, ...]]:
    return [row for row, count in data for _ in range(count)]


def read(store: Store, query: str = "SELECT patient, code FROM diag", **said: Any) -> Transactions:
    return oc.read(store.url, **{"query": query, "id": "patient", "item": "code", **said})


def error_of(store: Any, *arguments: Any, **said: Any) -> str:
    with pytest.raises(oc.DataError) as caught:
        read(store, *arguments, **said) if isinstance(store, Store) else oc.read(store, **said)
    (problem,) = caught.value.problems
    assert "\n" not in str(problem)
    return str(problem)


@every
def test_the_rows_of_a_query(store: Store) -> None:
    store.fill("diag", ["patient", "code", "ward"], [(*row, "x") for row in ROWS])
    data = read(store)
    assert rows_of(data) == SETS
    assert data.layout is not None
    assert (data.layout.format, data.layout.id, data.layout.item) == ("long", "patient", "code")
    assert "query" in data.origin.read_as
    assert "patient" in data.origin.read_as


@every
def test_a_table(store: Store) -> None:
    store.fill("diag", ["patient", "code"], ROWS)
    data = oc.read(f"{store.url}#diag", id="patient", item="code")
    assert rows_of(data) == SETS
    assert "table diag" in data.origin.read_as


@every
def test_odd_names_are_names(store: Store) -> None:
    """Whatever stands in a name, it is one: nothing of it is run."""
    table, who, what = 'a"b.c; DROP TABLE diag', 'x"; --', "select'"
    store.fill("diag", ["patient", "code"], ROWS)
    held = f'"{table.replace(chr(34), chr(34) * 2)}"'
    store.run(f"CREATE TABLE {held} AS SELECT * FROM diag")
    quoted = who.replace('"', '""')
    store.run(f'ALTER TABLE {held} RENAME COLUMN patient TO "{quoted}"')
    store.run(f'ALTER TABLE {held} RENAME COLUMN code TO "{what}"')
    data = oc.read(f"{store.url}#{held.replace('#', '%23')}", id=who, item=what)
    assert rows_of(data) == SETS
    assert "diag" in store.tables()


@every
def test_text_ids(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [("P1", "a"), ("P2", "b"), ("P1", "c")])
    assert rows_of(read(store)) == [("a", "c"), ("b",)]


@every
def test_whole_numbers_are_items(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [(1, 38), (1, 7), (2, 38)])
    assert rows_of(read(store)) == [("7", "38"), ("38",)]


@every
def test_several_columns_of_items(store: Store) -> None:
    store.fill("diag", ["patient", "a", "b"], [(1, "x", "y"), (2, "z", None), (1, "x", "w")])
    data = read(store, "SELECT * FROM diag", item="a,b")
    assert rows_of(data) == [("w", "x", "y"), ("z",)]
    assert read(store, "SELECT * FROM diag", item=["a", "b"]) == data


@every
def test_the_order_can_be_kept(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [(9, "b"), (3, "a"), (5, "c"), (3, "b")])
    data = read(store, "SELECT * FROM diag ORDER BY code DESC", keep_order=True)
    assert data.positions is not None
    rows = rows_of(data)
    assert [rows[row] for row in data.positions] == [("c",), ("b",), ("a", "b")]


@every
@pytest.mark.parametrize(
    "query",
    [
        "SELECT patient, code FROM diag;",
        "  select patient, code from diag  -- all of them",
        "WITH part AS (SELECT * FROM diag) SELECT patient, code FROM part",
        "/* first */ SELECT patient, code FROM diag WHERE code <> ';' OR code IS NULL ; ",
        "(SELECT patient, code FROM diag) UNION ALL SELECT 1, '038'",
    ],
)
def test_queries_as_people_write_them(store: Store, query: str) -> None:
    if query.startswith("(") and isinstance(store, Sqlite):
        pytest.skip("SQLite knows no brackets there")
    store.fill("diag", ["patient", "code"], ROWS)
    assert rows_of(read(store, query)) == SETS


@every
def test_many_rows_come_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sqlite", "duck", "connections"):
        monkeypatch.setattr(f"overcoat.data.io.databases.{module}.ROWS", 7)
    rows = [(n // 3, f"c{n % 11}") for n in range(100)]
    store.fill("diag", ["patient", "code"], rows)
    people: dict[int, set[str]] = {}
    for who, what in rows:
        people.setdefault(who, set()).add(what)
    assert read(store) == Transactions.of(people.values())


# -- what is refused ----------------------------------------------------------------------------


@every
def test_no_query(store: Store) -> None:
    assert "say what to read: a query" in error_of(store.url, id="patient", item="code")


@every
def test_a_query_and_a_table(store: Store) -> None:
    message = error_of(f"{store.url}#diag", query="SELECT 1", id="a", item="b")
    assert "not both" in message


@every
def test_the_query_fails(store: Store) -> None:
    assert "failed" in error_of(store, "SELEC patient")
    store.fill("diag", ["patient", "code"], ROWS)
    for missing, near in (("nowhere", ""), ("diags", " (did you mean 'diag'?)")):
        sentence = f": there is no table {missing!r}{near}; the tables are diag"
        assert error_of(store, f"SELECT * FROM {missing}").endswith(sentence)
        message = error_of(f"{store.url}#{missing}", id="patient", item="code")
        assert message.endswith(sentence)
    assert "pat" in error_of(store, "SELECT pat FROM diag")


@every
@pytest.mark.parametrize("query", ["", " ; ", "-- nothing", "/* */"])
def test_the_query_is_empty(store: Store, query: str) -> None:
    assert "the query is empty" in error_of(store, query)


@every
def test_no_rows(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [])
    assert "there are no rows" in error_of(store)
    assert "there are no rows" in error_of(f"{store.url}#diag", id="patient", item="code")


@every
def test_no_such_columns(store: Store) -> None:
    store.fill("diag", ["patient", "code"], ROWS)
    message = error_of(store, item="diagnosis", id="patients")
    assert "no column 'patients' (did you mean 'patient'?), no column 'diagnosis'" in message
    assert "the columns are 'patient', 'code'" in message


@every
def test_columns_are_asked_for(store: Store) -> None:
    store.fill("diag", ["patient", "code"], ROWS)
    message = error_of(store.url, query="SELECT * FROM diag")
    assert "say which columns" in message
    assert "'patient', 'code'" in message
    assert "both columns" in error_of(store.url, query="SELECT * FROM diag", id="patient")
    assert "say which columns" in error_of(store.url, query="SELECT * FROM diag", item="code")


@every
def test_a_column_twice(store: Store) -> None:
    store.fill("diag", ["patient", "code"], ROWS)
    query = "SELECT a.patient, a.code, b.code FROM diag a JOIN diag b ON a.patient = b.patient"
    assert "more than one column is called 'code'" in error_of(store, query)


@every
def test_ids_that_are_null(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [(1, "a"), (None, "b"), (2, "c")])
    assert "row 2: the id is missing" in error_of(store)


@every
@pytest.mark.parametrize("kind", ["DOUBLE PRECISION", "REAL", "NUMERIC(6, 2)"])
def test_numbers_are_no_codes(store: Store, kind: str) -> None:
    """250.00 would become 250.0: the message says how to ask for text."""
    value = "250.5" if isinstance(store, Sqlite) else "250.00"
    store.run(
        f"CREATE TABLE diag (patient BIGINT, code {kind})",
        f"INSERT INTO diag VALUES (1, {value}), (2, {value})",
    )
    message = error_of(store)
    assert "CAST(code AS" in message
    assert "whole numbers" in message
    data = read(store, "SELECT patient, CAST(code AS VARCHAR(9)) AS code FROM diag")
    assert data.n_items == 1


@every
@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM diag",
        "INSERT INTO diag VALUES (5, 'x')",
        "DROP TABLE diag",
        "CREATE TABLE more AS SELECT * FROM diag",
        "SELECT * FROM diag; DELETE FROM diag",
        "/* a look */ UPDATE diag SET code = 'x'",
    ],
)
def test_a_query_changes_nothing(store: Store, query: str) -> None:
    store.fill("diag", ["patient", "code"], ROWS)
    before = store.rows("diag")
    error_of(store, query)
    assert store.rows("diag") == before
    assert store.tables() == ["diag"]


@every
def test_what_does_not_fit(store: Store) -> None:
    store.fill("diag", ["patient", "code"], ROWS)
    assert "sheet does not fit a database" in error_of(store, sheet="1")
    assert "sep and header do not fit" in error_of(store, sep=";", header=True)
    assert "a basket is text" in error_of(store, format="basket")


@every
def test_reading_can_be_ended(store: Store) -> None:
    """Long before the query is done, and nothing is left of it."""
    # By ADBC, SQLite goes on in the background until it has a row.
    number = 5_000_000 if "sqlite" in store.url else 1_000_000_000
    long = (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {number}) "
        "SELECT count(*) AS patient, 'a' AS code FROM n"
    )
    asked = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 5

    stage = oc.Context(cancelled=cancelled).start("read")
    with pytest.raises(oc.CancelledError):
        read(store, long, stage=stage)


def test_a_query_for_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("patient,code\n1,a\n")
    message = error_of(str(path), query="SELECT 1", id="patient", item="code")
    assert "a query is for databases" in message


@pytest.mark.parametrize("scheme", ["mysql", "mssql+pyodbc", "snowflake", "https", "s3"])
def test_other_addresses(scheme: str) -> None:
    message = error_of(f"{scheme}://who:secret@host/db", query="SELECT 1")
    assert "sqlite:///FILE, duckdb:///FILE and postgresql://" in message


# -- SQLite -------------------------------------------------------------------------------------


@both
def test_values_of_any_kind_are_read_as_stored(store: Sqlite) -> None:
    """SQLite's columns hold what they are given: '038' is no 38."""
    store.run(
        "CREATE TABLE diag (patient, code)",
        "INSERT INTO diag VALUES (1, NULL), (1, 38), (1, '038'), (2, '038'), (2, ''), ('x', 7)",
    )
    assert rows_of(read(store)) == [("038",), ("038", "38"), ("7",)]


@both
def test_a_late_change_of_kind(store: Sqlite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rows do not decide what the others are."""
    monkeypatch.setattr("overcoat.data.io.databases.sqlite.ROWS", 2)
    store.run(
        "CREATE TABLE diag (patient, code)",
        "INSERT INTO diag VALUES (1, NULL), (2, NULL), (3, 5), (4, '05'), (5, 'a'), ('1', 'b')",
    )
    assert rows_of(read(store)) == [(), ("05",), ("5",), ("a",), ("b",)]
    store.run("INSERT INTO diag VALUES (6, 2.5)")
    assert "column 'code' holds REAL numbers" in error_of(store)


@both
def test_ids_that_are_not_whole_stay_apart(store: Sqlite) -> None:
    store.run(
        "CREATE TABLE diag (patient, code)",
        "INSERT INTO diag VALUES (0.1, 'a'), (0.10000000000000002, 'b'), (0.1, 'c')",
    )
    assert rows_of(read(store)) == [("a", "c"), ("b",)]
    store.run("INSERT INTO diag VALUES (x'00', 'a')")
    assert "column 'patient' holds BLOBs" in error_of(store)


@both
def test_text_that_is_not_utf_8(store: Sqlite) -> None:
    store.run(
        "CREATE TABLE diag (patient, code)",
        "INSERT INTO diag VALUES (1, CAST(x'61ff62' AS TEXT))",
    )
    assert "not UTF-8" in error_of(store)


@both
def test_a_file_that_is_not_there_is_not_made(store: Sqlite, tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    assert "no such file" in error_of(f"sqlite:///{path}#t", id="a", item="b")
    assert not path.exists()


@both
def test_a_file_that_is_no_database(store: Sqlite, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("patient,code\n1,a\n")
    assert "is no SQLite database" in error_of(f"sqlite:///{path}#t", id="a", item="b")
    assert "cannot be opened" in error_of(f"sqlite:///{tmp_path}#t", id="a", item="b")
    damaged = store.path.read_bytes()[:100] + b"\xff" * 4000
    path.write_bytes(damaged)
    assert "SQLite" in error_of(f"sqlite:///{path}#t", id="a", item="b")


def test_the_name_of_a_database_is_no_data_file(tmp_path: Path) -> None:
    path = tmp_path / "ward.db"
    Sqlite(path).fill("diag", ["patient", "code"], ROWS)
    message = error_of(str(path))
    assert f"sqlite:///{path}" in message
    assert "--query" in message


# -- DuckDB -------------------------------------------------------------------------------------


@duckdb_only
def test_lists(store: Store) -> None:
    store.run(
        "CREATE TABLE visits (items VARCHAR[])",
        "INSERT INTO visits VALUES (['a', 'b']), ([]), (NULL), (['b'])",
    )
    sayings: list[dict[str, Any]] = [{"items": "items"}, {}]
    for said in sayings:
        data = oc.read(f"{store.url}#visits", **said)
        assert rows_of(data) == [(), (), ("a", "b"), ("b",)]
    assert "not text or whole numbers" in error_of(
        store, "SELECT 1 AS patient, items AS code FROM visits"
    )
    assert "not lists" in error_of(store.url, query="SELECT 'a' AS code", items="code")


@duckdb_only
def test_variables_of_this_program_are_no_tables(store: Store) -> None:
    import polars as pl

    frame = pl.DataFrame({"patient": [1], "code": ["a"]})  # noqa: F841
    assert "frame" in error_of(store, "SELECT * FROM frame")


@duckdb_only
def test_no_file_is_written_by_a_query(store: Store, tmp_path: Path) -> None:
    error_of(store, f"COPY (SELECT 1) TO '{tmp_path}/out.csv'")
    assert not (tmp_path / "out.csv").exists()


@duckdb_only
def test_no_duckdb_file(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "none.duckdb"
    assert "no such file" in error_of(f"duckdb:///{path}#t", id="a", item="b")
    assert not path.exists()
    path.write_text("patient,code\n")
    assert "is no DuckDB database" in error_of(f"duckdb:///{path}#t", id="a", item="b")


@duckdb_only
def test_a_file_that_is_open_here(store: Any) -> None:
    import duckdb

    store.fill("diag", ["patient", "code"], ROWS)
    with duckdb.connect(str(store.path)):
        assert "open in this program already" in error_of(store)


# -- PostgreSQL ---------------------------------------------------------------------------------


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
class TestPostgreSQL:
    def test_ids_of_any_type(self, store: Postgres) -> None:
        for kind, one, other in [
            ("uuid", "'00000000-0000-0000-0000-000000000001'", "gen_random_uuid()"),
            ("numeric", "1.50", "2"),
            ("date", "'2001-01-01'", "'2001-01-02'"),
            ("inet", "'10.0.0.1'", "'10.0.0.2'"),
        ]:
            store.run(
                "DROP TABLE IF EXISTS diag",
                f"CREATE TABLE diag (patient {kind}, code text)",
                f"INSERT INTO diag VALUES ({one}, 'a'), ({other}, 'b'), ({one}, 'c')",
            )
            assert rows_of(read(store)) == [("a", "c"), ("b",)]

    def test_arrays(self, store: Postgres) -> None:
        store.run(
            "CREATE TABLE visits (codes text[])", "INSERT INTO visits VALUES ('{a,b}'), ('{}')"
        )
        assert rows_of(oc.read(f"{store.url}#visits", items="codes")) == [(), ("a", "b")]

    @pytest.mark.parametrize("kind", ["numeric", "boolean", "date", "uuid"])
    def test_types_are_called_as_in_the_database(self, store: Postgres, kind: str) -> None:
        store.run(f"CREATE TABLE diag (patient int, code {kind})")
        assert f"column 'code' holds {kind[:4]}" in error_of(store)

    def test_a_schema(self, store: Postgres) -> None:
        store.fill("diag", ["patient", "code"], ROWS)
        url = f"{store.server.url()}#{store.schema}.diag"
        assert rows_of(oc.read(url, id="patient", item="code")) == SETS

    def test_nothing_is_written_behind_a_select(self, store: Postgres) -> None:
        store.fill("diag", ["patient", "code"], ROWS)
        query = "WITH gone AS (DELETE FROM diag RETURNING *) SELECT patient, code FROM gone"
        error_of(store, query)
        store.run(
            "CREATE FUNCTION empty() RETURNS text LANGUAGE sql AS 'DELETE FROM diag RETURNING code'"
        )
        message = error_of(store, "SELECT patient, empty() AS code FROM diag")
        assert "only read" in message
        assert len(store.rows("diag")) == len(ROWS)

    def test_the_server_goes_away(self, store: Postgres) -> None:
        query = (
            "SELECT i AS patient, CASE WHEN i = 900000 THEN "
            "pg_terminate_backend(pg_backend_pid())::text ELSE 'a' END AS code "
            "FROM generate_series(1, 1000000) AS i"
        )
        assert "the server went away in the middle" in error_of(store, query)


def test_no_server(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    url = f"postgresql://ann:s3cret@/ward?host={tmp_path}"
    message = error_of(url, query="SELECT 1")
    assert "cannot connect" in message
    assert "s3cret" not in message


# -- connections --------------------------------------------------------------------------------


def test_a_connection_of_the_standard_library(tmp_path: Path) -> None:
    store = Sqlite(tmp_path / "a.db")
    store.fill("diag", ["patient", "code"], ROWS)
    connection = sqlite3.connect(store.path)
    connection.row_factory = sqlite3.Row
    connection.execute("INSERT INTO diag VALUES (4, 'new')")
    data = oc.read(connection, query="SELECT * FROM diag", id="patient", item="code")
    assert rows_of(data) == [*SETS, ("new",)]
    assert connection.in_transaction  # neither committed nor undone
    connection.rollback()
    connection.close()
    assert len(store.rows("diag")) == len(ROWS)


def test_what_is_wrong_with_a_connection(tmp_path: Path) -> None:
    connection = sqlite3.connect(":memory:")
    assert "say what to read" in error_of(connection)
    message = error_of(connection, query="SELECT 1 FROM nowhere", id="a", item="b")
    assert message == "the SQLite connection: there is no table 'nowhere'; there are none"
    connection.close()
    assert "closed" in error_of(connection, query="SELECT 1 AS a", id="a", item="b")


def test_a_connection_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE diag AS SELECT 1 AS patient, 'a' AS code")
        data = oc.read(connection, query="SELECT * FROM diag", id="patient", item="code")
        assert rows_of(data) == [("a",)]
        assert connection.execute("SELECT count(*) FROM diag").fetchall() == [(1,)]


def test_connections_of_adbc(tmp_path: Path) -> None:
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    store = Sqlite(tmp_path / "a.db")
    store.fill("diag", ["patient", "code"], ROWS)
    with dbapi.connect(str(store.path)) as connection:
        data = oc.read(connection, query="SELECT * FROM diag", id="patient", item="code")
        assert rows_of(data) == SETS
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == [(1,)]


def test_engines(tmp_path: Path) -> None:
    alchemy = pytest.importorskip("sqlalchemy")
    store = Sqlite(tmp_path / "a.db")
    store.fill("diag", ["patient", "code"], ROWS)
    engine = alchemy.create_engine(store.url)
    said: dict[str, Any] = {"query": "SELECT * FROM diag", "id": "patient", "item": "code"}
    assert rows_of(oc.read(engine, **said)) == SETS
    assert engine.pool.checkedout() == 0
    with engine.connect() as connection:
        assert rows_of(oc.read(connection, **said)) == SETS
        assert connection.execute(alchemy.text("SELECT count(*) FROM diag")).scalar() == len(ROWS)
    engine.dispose()


class Driver:
    """A driver of its own kind: Python's DB-API over SQLite, and nothing more."""

    def __init__(self, store: Sqlite) -> None:
        self._connection = sqlite3.connect(store.path)
        self.n_cursors = 0

    def cursor(self) -> sqlite3.Cursor:
        self.n_cursors += 1
        return self._connection.cursor()

    def commit(self) -> None:
        raise AssertionError("not ours to commit")

    def close(self) -> None:
        raise AssertionError("not ours to close")


def test_any_driver(tmp_path: Path) -> None:
    store = Sqlite(tmp_path / "a.db")
    store.fill("diag", ["patient", "code"], ROWS)
    driver = Driver(store)
    said: dict[str, Any] = {
        "query": "SELECT code, patient FROM diag",
        "id": "patient",
        "item": "code",
    }
    assert rows_of(oc.read(driver, **said)) == SETS
    assert driver.n_cursors == 1  # the query ran once
    assert "no column 'who'" in error_of(driver, **(said | {"id": "who"}))
    twice = "SELECT patient, code, code FROM diag"
    assert "more than one column is called 'code'" in error_of(driver, **(said | {"query": twice}))
    assert "failed: no such table" in error_of(driver, **(said | {"query": "SELECT 1 FROM x"}))
    floats = "SELECT patient, 2.5 AS code FROM diag"
    assert "column 'code' holds float" in error_of(driver, **(said | {"query": floats}))
    mixed = "SELECT 1 AS patient, 'a' AS code UNION ALL SELECT 'x', 'b'"
    assert rows_of(oc.read(driver, **(said | {"query": mixed}))) == [("a",), ("b",)]
    driver._connection.close()


# -- drivers that are not there -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "module", "extra"),
    [
        ("postgresql://host/db", "adbc_driver_postgresql", "postgresql"),
        ("postgresql://host/db", "pyarrow", "postgresql"),
        ("duckdb:///{}/a.duckdb", "duckdb", "duckdb"),
    ],
)
def test_a_missing_driver(
    url: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.duckdb").write_bytes(b"\0" * 8 + b"DUCK")
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    message = error_of(url.format(tmp_path), query="SELECT 1")
    assert message.endswith(f"needs its driver: pip install 'overcoat[{extra}]'")


# -- the thread that asks -----------------------------------------------------------------------


def test_what_is_asked_on_a_thread_can_be_ended() -> None:
    """An answer that never comes: the caller goes on, and the connection is closed when it does."""
    from threading import Event

    answer, closed, told = Event(), Event(), []

    def interrupt() -> bool:
        told.append("stop")
        return False

    asking = fetching.Fetching(interrupt=interrupt, close=closed.set)

    def tell() -> None:
        told.append("waiting")
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asking.wait(answer.wait, tell)
    assert told == ["waiting"] * 3 + ["stop"]
    asking.close()
    assert not closed.is_set()
    answer.set()
    assert closed.wait(10)


def test_errors_come_back_from_the_thread() -> None:
    asking = fetching.Fetching(interrupt=lambda: False, close=lambda: None)

    def fail() -> None:
        raise LookupError("there")

    with pytest.raises(LookupError, match="there"):
        asking.wait(fail, lambda: None)
    assert asking.wait(lambda: 1, lambda: None) == 1


def test_too_little_memory_is_told_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_LOOKED", 2)
    store = Sqlite(tmp_path / "a.db")
    store.fill("diag", ["patient", "code"], ROWS)
    stage = oc.Context(memory=10).start("read")
    assert "needs about" in error_of(store, stage=stage, keep_order=True)
