"""A table as a place for a release: one transaction, read back in it, all or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overcoat as oc
from overcoat.data.io.databases.duck import Duck as DuckTarget
from overcoat.data.io.databases.postgresql import Postgres as PostgresTarget
from overcoat.data.io.databases.sqlite import Sqlite as SqliteTarget
from overcoat.data.io.databases.target import Target
from overcoat.release.tables import TableSink
from platforms import needs_posix
from stores import EVERY, Duck, Postgres, Sqlite, Store

every = pytest.mark.parametrize("store", EVERY, indirect=True)

SETS = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}, set[str]()]
POLICY = oc.Policy(2, oc.AllItemsets(2))
N_ROWS = 8  # of the release of these: seven items, and one empty transaction


def released() -> oc.Result:
    return oc.anonymize(SETS, policy=POLICY)


def pairs(rows: list[Any]) -> list[tuple[Any, Any]]:
    return sorted(rows, key=lambda row: (row[0], row[1] or ""))


def target_of(store: Store) -> type[Target]:
    kinds = {Sqlite: SqliteTarget, Duck: DuckTarget, Postgres: PostgresTarget}
    return next(target for kind, target in kinds.items() if isinstance(store, kind))


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("store"))


def named(folder: Path) -> list[str]:
    return [name for name in files(folder) if not name.startswith(".")]


def error_of(act: Callable[[], Any]) -> str:
    with pytest.raises(oc.DataError) as caught:
        act()
    return str(caught.value)


@every
def test_a_table_is_written_and_read(store: Store, tmp_path: Path) -> None:
    result = released()
    result.write(f"{store.url}#released", mapping=tmp_path / "map.json")
    rows = pairs(store.rows("released"))
    assert sorted({who for who, _ in rows}) == [1, 2, 3, 4, 5, 6]
    people: dict[int, set[str]] = {}
    for who, what in rows:
        people.setdefault(who, set()).update([what] if what else [])
    assert oc.Transactions.of(people.values()) == result.released
    mapping = json.loads((tmp_path / "map.json").read_text())
    again = oc.read(f"{store.url}#released", id="id", item="item")
    assert mapping["release"] == again.content_digest  # by which the two are known as a pair
    assert oc.verify(SETS, f"{store.url}#released", tmp_path / "map.json", POLICY).ok


@every
def test_columns_are_called_as_in_the_input(store: Store) -> None:
    frame = pl.DataFrame({"patient": [1, 1, 2, 3], "code": ["a", "b", "a", "b"]})
    result = oc.anonymize(frame, 1, oc.AllItemsets(1), id="patient", item="code")
    result.write(f"{store.url}#released")
    found = oc.read(f"{store.url}#released", id="patient", item="code")
    assert found == result.released


@every
def test_rows_come_in_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overcoat.data.io.writer._ROWS", 2)
    result = released()
    result.write(f"{store.url}#released")
    assert len(store.rows("released")) == N_ROWS


@every
def test_the_order_of_the_input(store: Store) -> None:
    data = oc.Transactions.of(reversed(SETS), keep_order=True)
    result = oc.anonymize(data, policy=POLICY)
    result.write(f"{store.url}#released", keep_order=True)
    kept = oc.read(
        store.url,
        query="SELECT id, item FROM released ORDER BY id",
        id="id",
        item="item",
        keep_order=True,
    )
    assert kept.positions is not None
    assert result.released.positions is not None
    assert kept.positions.tolist() == result.released.positions.tolist()


@every
def test_a_table_that_exists_is_refused(store: Store, tmp_path: Path) -> None:
    store.fill("released", ["x", "y"], [(1, "keep")])
    url = f"{store.url}#released"
    message = error_of(lambda: released().write(url, mapping=tmp_path / "map.json"))
    assert "released exists; name another, or say that it is to be replaced" in message
    assert store.rows("released") == [(1, "keep")]
    assert files(tmp_path) == []
    released().write(url, mapping=tmp_path / "map.json", replace=True)
    assert len(store.rows("released")) == N_ROWS


@every
def test_capital_letters(store: Store) -> None:
    """Where these make no difference, another name is the same table."""
    store.fill("Released", ["x", "y"], [(1, "keep")])
    if isinstance(store, Postgres):
        released().write(f"{store.url}#released")
        assert store.tables() == ["Released", "released"]
    else:
        assert "exists" in error_of(lambda: released().write(f"{store.url}#released"))


@every
def test_a_view_is_no_table(store: Store) -> None:
    store.run("CREATE VIEW released AS SELECT 1 AS x")
    for replace in (False, True):
        message = error_of(
            lambda replace=replace: released().write(f"{store.url}#released", replace=replace)  # type: ignore[misc]
        )
        assert "is a view" in message


@every
@pytest.mark.parametrize("name", ['"a""b"', '"x; DROP TABLE keep"', '"a.b"', "select", "Ä ö"])
def test_odd_names(store: Store, name: str) -> None:
    store.fill("keep", ["x", "y"], [(1, "keep")])
    released().write(f"{store.url}#{name}")
    plain = name.strip('"').replace('""', '"')
    assert store.tables() == sorted(["keep", plain])
    assert oc.verify(SETS, f"{store.url}#{name}", released().mapping, POLICY).ok


@every
def test_odd_labels(store: Store) -> None:
    labels = [
        "'; DROP TABLE keep; --",
        '"',
        "\\N",
        "a,b",
        "ä\n\t",
        "NULL",
        " ",
        "\U0001f600",
        "\x01",
    ]
    data = oc.Transactions.of([[label] for label in labels for _ in range(2)])
    result = oc.anonymize(data, 2, oc.AllItemsets(1))
    result.write(f"{store.url}#released")
    assert oc.read(f"{store.url}#released", id="id", item="item") == result.released


@every
@pytest.mark.parametrize("step", ["create", "insert", "commit", "columns"])
@pytest.mark.parametrize("replace", [False, True])
def test_a_failure_leaves_nothing(
    store: Store, step: str, replace: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails, and when: the table is as it was, and no mapping is there."""
    if replace:
        store.fill("released", ["x", "y"], [(1, "keep")])
    before = store.tables()
    kind = target_of(store)

    def fail(*arguments: Any, **options: Any) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(kind, step, fail)
        with pytest.raises((oc.DataError, OSError), match="the disk is full"):
            released().write(
                f"{store.url}#released", mapping=tmp_path / "map.json", replace=replace
            )
    assert store.tables() == before
    assert not replace or store.rows("released") == [(1, "keep")]
    assert files(tmp_path) == []
    released().write(f"{store.url}#released", mapping=tmp_path / "map.json", replace=replace)
    assert files(tmp_path) == ["map.json"]


@every
def test_what_reads_back_wrong_is_not_published(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = target_of(store)
    insert = kind.insert

    def lose_one(self: Any, table: Any, frame: pl.DataFrame) -> None:
        insert(self, table, frame[:-1])

    monkeypatch.setattr(kind, "insert", lose_one)
    with pytest.raises(oc.VerificationError, match="does not read back"):
        released().write(f"{store.url}#released", mapping=tmp_path / "map.json")
    assert store.tables() == []
    assert files(tmp_path) == []


@every
def test_an_interrupt_leaves_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overcoat.data.io.writer._ROWS", 1)
    told: list[str] = []

    def cancelled() -> bool:
        told.append("")
        return len(told) > 6

    with pytest.raises(oc.CancelledError):
        released().write(
            f"{store.url}#released",
            mapping=tmp_path / "map.json",
            context=oc.Context(cancelled=cancelled),
        )
    assert store.tables() == []
    assert files(tmp_path) == []


@every
def test_others_see_nothing_before_the_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(store, Duck):
        pytest.skip("no other process can look into a DuckDB file that is written")
    seen = []
    released().write(f"{store.url}#released", report=lambda: seen.append(store.tables()))
    assert seen == [[]]
    assert store.tables() == ["released"]


@every
def test_the_mapping_goes_if_the_table_cannot_be_committed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier mapping, with its earlier table, stays."""
    (tmp_path / "map.json").write_text("earlier")

    def fail(*arguments: Any) -> None:
        raise OSError("the server is away")

    monkeypatch.setattr(target_of(store), "commit", fail)
    message = error_of(
        lambda: released().write(f"{store.url}#released", mapping=tmp_path / "map.json")
    )
    assert "committing the table failed" in message
    assert (tmp_path / "map.json").read_text() == "earlier"
    assert files(tmp_path) == ["map.json"]


# -- before the work ----------------------------------------------------------------------------


def check(url: str, **options: Any) -> None:
    source, query = options.pop("source", None), options.pop("query", None)
    stage = oc.Context().start("check")
    TableSink(url, **options).check(source=source, query=query, stage=stage)


@every
def test_a_check_leaves_no_trace(store: Store, tmp_path: Path) -> None:
    check(f"{store.url}#released")
    assert store.tables() == []
    store.fill("released", ["x", "y"], [(1, "keep")])
    assert "exists" in error_of(lambda: check(f"{store.url}#released"))
    check(f"{store.url}#released", replaces=True)
    assert store.rows("released") == [(1, "keep")]
    assert files(tmp_path) == []


@every
def test_the_source_is_not_replaced(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [(1, "a")])
    url = f"{store.url}#diag"
    for said in [{"source": url}, {"source": store.url, "query": "select * from DIAG"}]:
        assert "is read by the query" in error_of(
            lambda said=said: check(url, replaces=True, **said)  # type: ignore[misc]
        )
    check(url, replaces=True, source=store.url, query="SELECT * FROM other")
    check(url, replaces=True, source="data.csv", query="SELECT * FROM diag")
    if not isinstance(store, Postgres):  # to which capital letters are others
        other = f"{store.url}#DIAG"
        assert "is read by the query" in error_of(lambda: check(other, replaces=True, source=url))


@every
def test_the_source_is_not_replaced_behind_a_view(store: Store) -> None:
    store.fill("diag", ["patient", "code"], [(1, "a")])
    store.run("CREATE VIEW seen AS SELECT * FROM diag")
    url = f"{store.url}#diag"
    for said in [
        {"source": f"{store.url}#seen"},
        {"source": store.url, "query": "SELECT * FROM seen"},
    ]:
        assert "may be read through a view" in error_of(
            lambda said=said: check(url, replaces=True, **said)  # type: ignore[misc]
        )
    check(url, replaces=True, source="data.csv")
    assert store.rows("diag") == [(1, "a")]


def test_a_table_has_a_name() -> None:
    assert "say which table" in error_of(lambda: released().write("sqlite:///a.db"))
    for name in ("", ".", "a.", "a.b.c", '"', '"a"b'):
        assert "a table is named" in error_of(lambda name=name: TableSink(f"sqlite:///a.db#{name}"))  # type: ignore[misc]


@every
def test_layouts(store: Store) -> None:
    result, url = released(), f"{store.url}#released"
    assert "baskets are text" in error_of(lambda: result.write(url, to="basket"))
    if isinstance(store, Duck):
        result.write(url, to="list")
        assert oc.read(url) == result.released
        assert oc.verify(SETS, oc.read(url, items="items"), result.mapping, POLICY).ok
    else:
        assert "only DuckDB holds lists" in error_of(lambda: result.write(url, to="list"))
    frame = pl.DataFrame({"Code": [1, 2], "code": ["a", "a"]})
    alike = oc.anonymize(frame, 1, oc.AllItemsets(1), id="Code", item="code")
    assert "rename one" in error_of(lambda: alike.write(f"{store.url}#other"))
    assert store.tables() in ([], ["released"])


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
class TestNewFiles:
    """A database that is not there yet is a file like any other: it gets its name at the end."""

    def url(self, kind: str, folder: Path) -> str:
        if kind == "duckdb":
            pytest.importorskip("duckdb")
        return f"{kind}:///{folder}/new.db#released"

    def test_a_new_file(self, kind: str, tmp_path: Path) -> None:
        url = self.url(kind, tmp_path)
        check(url)
        assert files(tmp_path) == []
        seen: list[str] = []
        result = released()
        result.write(
            url, mapping=tmp_path / "map.json", report=lambda: seen.extend(named(tmp_path))
        )
        assert seen == []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "new.db"]
        assert oc.verify(SETS, url, tmp_path / "map.json", POLICY).ok

    @pytest.mark.parametrize("step", ["create", "insert", "commit"])
    def test_a_failure(
        self, kind: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = self.url(kind, tmp_path)

        def fail(*arguments: Any) -> None:
            raise OSError("the disk is full")

        monkeypatch.setattr(SqliteTarget if kind == "sqlite" else DuckTarget, step, fail)
        error_of(lambda: released().write(url, mapping=tmp_path / "map.json"))
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_is_not_there(self, kind: str, tmp_path: Path) -> None:
        url = self.url(kind, tmp_path / "none")
        assert "cannot be written" in error_of(lambda: check(url))
        assert "cannot be written" in error_of(lambda: released().write(url))

    def test_a_file_that_is_no_database(self, kind: str, tmp_path: Path) -> None:
        url = self.url(kind, tmp_path)
        (tmp_path / "new.db").write_text("something else, of some length")
        assert "is no" in error_of(lambda: check(url))
        assert "is no" in error_of(lambda: released().write(url))
        assert (tmp_path / "new.db").read_text() == "something else, of some length"

    def test_a_file_that_comes_in_between(self, kind: str, tmp_path: Path) -> None:
        url = self.url(kind, tmp_path)

        def another() -> None:
            (tmp_path / "new.db").write_text("of somebody else")

        message = error_of(lambda: released().write(url, report=another))
        assert "came into being in the meantime" in message
        assert (tmp_path / "new.db").read_text() == "of somebody else"

    @needs_posix
    def test_a_killed_process(self, kind: str, tmp_path: Path) -> None:
        """It leaves nothing with a name, and the next run takes away what it left."""
        script = f"""
            import os, overcoat as oc
            from overcoat.release.tables import TableSink
            result = oc.anonymize({SETS!r}, policy=oc.Policy(2, oc.AllItemsets(2)))
            TableSink.send = lambda *arguments, **options: os._exit(9)
            result.write({self.url(kind, tmp_path)!r}, mapping={str(tmp_path / "map.json")!r})
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
        assert done.returncode == 9
        assert named(tmp_path) == []
        released().write(self.url(kind, tmp_path), mapping=tmp_path / "map.json")
        assert sorted(os.listdir(tmp_path)) == ["map.json", "new.db"]


@needs_posix
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_the_commit(when: str, tmp_path: Path) -> None:
    """Before the commit neither is there; right after it the table is, and the mapping goes."""
    store = Sqlite(tmp_path / "store.db")
    script = f"""
        import os, overcoat as oc
        from overcoat.release.tables import TableSink
        result = oc.anonymize({SETS!r}, policy=oc.Policy(2, oc.AllItemsets(2)))
        commit = TableSink.commit
        def killed(self):
            if {when == "after"}:
                commit(self)
            os._exit(9)
        TableSink.commit = killed
        result.write({store.url + "#released"!r}, mapping={str(tmp_path / "map.json")!r})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == 9
    assert store.tables() == (["released"] if when == "after" else [])
    with pytest.raises(oc.InputError, match=r"map\.json and a table were being replaced together"):
        oc.Mapping.read(tmp_path / "map.json")
    released().write(f"{store.url}#again", mapping=tmp_path / "other.json")
    assert files(tmp_path) == ["other.json"]  # the next run has cleaned up


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
class TestPostgreSQL:
    def test_a_schema(self, store: Postgres) -> None:
        released().write(f"{store.server.url()}#{store.schema}.released")
        assert store.tables() == ["released"]
        message = error_of(lambda: check(f"{store.url}#nowhere.released"))
        assert "there is no schema 'nowhere'" in message

    def test_no_permission(self, store: Postgres) -> None:
        store.run("CREATE ROLE reader LOGIN", f"GRANT USAGE ON SCHEMA {store.schema} TO reader")
        try:
            url = store.server.url("reader", schema=store.schema)
            message = error_of(lambda: check(f"{url}#released"))
            assert "permission denied" in message
            assert "permission denied" in error_of(lambda: released().write(f"{url}#released"))
        finally:
            store.run("DROP OWNED BY reader", "DROP ROLE reader")
        assert store.tables() == []

    def test_the_server_goes_away(
        self, store: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        insert = PostgresTarget.insert

        def end(self: Any, table: Any, frame: pl.DataFrame) -> None:
            insert(self, table, frame)
            store.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )

        monkeypatch.setattr(PostgresTarget, "insert", end)
        message = error_of(
            lambda: released().write(f"{store.url}#released", mapping=tmp_path / "map.json")
        )
        assert "the server went away" in message
        assert store.tables() == []
        assert files(tmp_path) == []

    def test_a_table_that_is_needed_by_others(self, store: Postgres) -> None:
        store.fill("released", ["x", "y"], [(1, "keep")])
        store.run("CREATE VIEW seen AS SELECT * FROM released")
        message = error_of(lambda: released().write(f"{store.url}#released", replace=True))
        assert "cannot drop" in message
        assert store.rows("released") == [(1, "keep")]

    def test_a_label_it_cannot_hold(self, store: Postgres) -> None:
        data = oc.Transactions.of([["a\0b"], ["a\0b"]])
        result = oc.anonymize(data, 2, oc.AllItemsets(1))
        assert "writing the table failed" in error_of(lambda: result.write(f"{store.url}#released"))
        assert store.tables() == []
