"""Databases on the command line: in and out, what goes wrong, and no password anywhere."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from cli.command import Desk, Done
from platforms import needs_posix
from postgres import GUARDED, Server
from stores import EVERY, Postgres, Sqlite, Store

every = pytest.mark.parametrize("store", EVERY, indirect=True)

ROWS = [(1, "038"), (1, "401"), (2, "038"), (2, "401"), (3, "038"), (4, "250"), (5, "250")]
COLUMNS = ["--id", "patient", "--item", "code"]
QUERY = ["--query", "SELECT patient, code FROM diag", *COLUMNS]
POLICY = ["-k", "2", "--km", "2"]


def fill(store: Store) -> None:
    store.fill("diag", ["patient", "code"], ROWS)


@every
def test_in_and_out(desk: Desk, store: Store) -> None:
    """Anonymize, verify, evaluate, apply: from a query to a table, and from that to others."""
    fill(store)
    out = f"{store.url}#released"
    done = desk.run("anonymize", store.url, *QUERY, *POLICY, "-o", out, "--mapping", "map.json")
    assert (done.status, done.out) == (0, b"")
    assert "read as     a query (" in done.err
    assert "#released\n" in done.err
    assert store.tables() == ["diag", "released"]

    done = desk.run("verify", store.url, out, *QUERY, *POLICY, "--mapping", "map.json")
    assert (done.status, "verified    yes" in done.err) == (0, True)
    done = desk.run("evaluate", store.url, out, *QUERY, "--mapping", "map.json", "--json")
    assert (done.status, done.json["n_transactions"]) == (0, 5)
    done = desk.run(
        *("apply", f"{store.url}#diag", *COLUMNS, *POLICY, "--use", "map.json"),
        *("-o", f"{store.url}#again", "--json"),
    )
    assert done.status == 0
    assert done.json["released"].endswith("#again")
    assert sorted(map(str, store.rows("again"))) == sorted(map(str, store.rows("released")))
    done = desk.run("pgen", store.url, *QUERY, "-k", "2", "-o", "privacy.txt")
    assert done.status == 0


@every
def test_a_table_that_exists(desk: Desk, store: Store) -> None:
    fill(store)
    arguments = ["anonymize", store.url, *QUERY, *POLICY, "-o", f"{store.url}#released"]
    before = desk.files()
    assert desk.run(*arguments).status == 0
    done = desk.run(*arguments, "--mapping", "map.json")
    assert done.status == 2
    assert "exists; name another, or say that it is to be replaced (--replace" in done.err
    assert "map.json" not in desk.files()
    assert desk.run(*arguments, "--replace").status == 0
    assert {name for name in desk.files() if not name.startswith("store")} == {
        name for name in before if not name.startswith("store")
    }


@every
def test_from_a_file_to_a_table_and_back(desk: Desk, store: Store) -> None:
    out = f"{store.url}#released"
    done = desk.run("anonymize", "d.dat", *POLICY, "-s", "50", "-o", out, "--mapping", "map.json")
    assert done.status == 0
    done = desk.run("verify", "d.dat", out, *POLICY, "-s", "50", "--mapping", "map.json")
    assert done.status == 0
    done = desk.run(
        "anonymize", out, "--id", "id", "--item", "item", "-k", "1", "--km", "1", "-o", "x.csv"
    )
    assert done.status == 0
    assert desk.lines("x.csv")[0] == "id,item"


@every
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "say what to read"),
        (["--query", "SELECT 1 FROM nowhere", *COLUMNS], "nowhere"),
        (["--query", "SELECT * FROM diag WHERE patient > 99", *COLUMNS], "there are no rows"),
        (["--query", "SELECT * FROM diag"], "say which columns"),
        (["--query", "SELECT * FROM diag", "--id", "who", "--item", "code"], "no column 'who'"),
        (["--query", "DROP TABLE diag", *COLUMNS], "DROP would change the database"),
        ([*QUERY, "--sheet", "2"], "sheet does not fit a database"),
    ],
)
def test_what_goes_wrong(desk: Desk, store: Store, arguments: list[str], says: str) -> None:
    fill(store)
    before = desk.files()
    done = desk.run("anonymize", store.url, *arguments, *POLICY, "-o", "o.csv", "--json")
    assert done.status == 2
    assert says in done.err
    assert len(done.err.splitlines()) == 1
    assert done.json["error"]["kind"] == "data"
    assert desk.files().keys() == before.keys()
    assert store.tables() == ["diag"]


def test_outputs_are_checked_before_the_work(desk: Desk) -> None:
    """A query that would fail is not even asked when the output cannot be written."""
    for out, says in [
        ("sqlite:///none/new.db#t", "cannot be written"),
        ("sqlite:///new.db", "say which table"),
        ("sqlite:///d.dat#t", "is no SQLite database"),
        ("mysql://host/db#t", "no database is read by mysql://"),
    ]:
        done = desk.run("anonymize", "none.dat", *POLICY, "-o", out)
        assert (done.status, says in done.err) == (2, True), done.err
    done = desk.run("anonymize", "d.dat", *POLICY, "-o", "o.dat", "--mapping", "sqlite:///a.db#t")
    assert (done.status, "only released data go to a table" in done.err) == (2, True)
    done = desk.run("pgen", "d.dat", "-k", "2", "-o", "sqlite:///a.db#t")
    assert (done.status, "only released data go to a table" in done.err) == (2, True)
    assert list(desk.files()) == ["d.dat"]


def test_no_file_is_written_over_a_database(desk: Desk) -> None:
    store = Sqlite(desk.folder / "a.db")
    fill(store)
    source = ["anonymize", "sqlite:///a.db#diag", *COLUMNS, *POLICY]
    for arguments, says in [
        ([*source, "-o", "a.db"], "is an input"),
        ([*source, "-o", "o.csv", "--mapping", "a.db"], "is an input"),
        (["anonymize", "d.dat", *POLICY, "-o", "a.db"], "sqlite:///a.db#released"),
        (["anonymize", "d.dat", *POLICY, "-o", "b.duckdb"], "duckdb:///b.duckdb#released"),
        (
            ["anonymize", "d.dat", *POLICY, "-o", "sqlite:///a.db#t", "--mapping", "a.db"],
            "is the database of the release",
        ),
        (
            ["anonymize", "d.dat", *POLICY, "-o", "sqlite:///b.db#t", "--mapping", "./b.db"],
            "is the database of the release",
        ),
    ]:
        before = desk.files()
        done = desk.run(*arguments)
        assert (done.status, says in done.err) == (2, True), done.err
        assert desk.files() == before


@needs_posix
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_ctrl_c(desk: Desk, kind: str) -> None:
    """A query that has no row yet is given up at once."""
    if kind == "duckdb":
        pytest.importorskip("duckdb")
    url = f"{kind}:///new.db"
    done = desk.run("anonymize", "d.dat", "-k", "1", "--km", "1", "-o", f"{url}#t")
    assert done.status == 0
    long = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) "
        "SELECT count(*) AS patient, 'a' AS code FROM n"
    )
    log = desk.folder / "asked"
    process = subprocess.Popen(
        [*_traced(log), "anonymize", url, "--query", long, *COLUMNS, *POLICY, "-o", "o.csv"],
        cwd=desk.folder,
        stderr=subprocess.PIPE,
    )
    try:
        _wait_for(log, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b"overcoat: interrupted; nothing was written\n" in err
    assert b"Traceback" not in err
    assert not (desk.folder / "o.csv").exists()


def _traced(log: Path) -> list[str]:
    """Return the command, which makes a file when it waits for an answer of the database."""
    import sys

    script = f"""
import pathlib, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
from overcoat.cli import main
from overcoat.data.io.databases.fetching import Fetching
ahead = Fetching.ahead
def traced(self, ask, tell):
    def told():
        pathlib.Path({str(log)!r}).touch()
        tell()
    return ahead(self, ask, told)
Fetching.ahead = traced
main()
"""
    return [sys.executable, "-c", script]


def _wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    while not path.exists():
        assert process.poll() is None


# -- passwords ----------------------------------------------------------------------------------

SECRET = "s3cr3t!Zq"


def told(desk: Desk, done: Done) -> str:
    """Return everything that a run left behind to read."""
    files = (content for content in desk.files().values() if content)
    return "\n".join([done.err, done.out.decode(), *(c.decode("latin-1") for c in files)])


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_no_password_is_told(desk: Desk, store: Postgres) -> None:
    fill(store)
    url = store.url.replace("postgres@", f"postgres:{SECRET}@", 1)
    more = f"{url}&sslpassword={SECRET}"
    out, copy = f"{url}#released", f"{more}#copy"
    runs = [
        ["anonymize", url, *QUERY, *POLICY, "-o", out, "--mapping", "map.json"],
        ["anonymize", more, *QUERY, *POLICY, "-o", copy, "--json"],
        ["anonymize", url, *QUERY, *POLICY, "-o", out],  # exists
        ["anonymize", f"{url}#diag", *COLUMNS, *POLICY, "-o", f"{url}#diag", "--replace"],
        ["anonymize", url, "--query", "SELECT nope FROM diag", *COLUMNS, *POLICY, "-o", "o.csv"],
        ["anonymize", url, "--query", f"SELECT '{url}' AS a", "--id", "b", *POLICY, "-o", "o.csv"],
        ["anonymize", url, *QUERY, "-k", "9", "--km", "1", "-s", "0", "-o", "o.csv"],
        ["verify", url, out, *QUERY, *POLICY, "--mapping", "map.json", "--json"],
        ["verify", url, out, *QUERY, *POLICY, "--mapping", url],
        ["evaluate", url, out, *QUERY, "--mapping", "map.json", "-o", "queries.csv", "--json"],
        ["compare", url, *QUERY, *POLICY, "-o", "compared"],
        ["pgen", url, *QUERY, "-k", "2", "-o", url],
        ["pgen", url, url, *QUERY, "-k", "2", "-o", "x.txt", "--json"],
        ["anonymize", url, *QUERY, *POLICY, "-o", f"{url}#a.b.c"],
        ["anonymize", "d.dat", *POLICY, "--utility", url, "-o", "o.dat"],
        ["anonymize", "d.dat", *POLICY, "--policy", url, "-o", "o.dat", "--json"],
    ]
    statuses = []
    for arguments in runs:
        done = desk.run(*arguments, "--log-file", "log.jsonl")
        statuses.append(done.status)
        assert SECRET not in told(desk, done), arguments
    assert statuses[:4] == [0, 0, 2, 2]
    assert 70 not in statuses


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}@127.0.0.1:1/ward",
        f"postgresql://ann:{SECRET}@127.0.0.1:1/ward?pasword=x",
        f"postgresql://ann:{SECRET}/x@host/ward",
        f"postgresql://ann:{SECRET}#x@127.0.0.1:1/ward",
        f"postgresql://ann:x@{SECRET}@127.0.0.1:1/ward",
        f"postgresql://127.0.0.1:1/ward?user=ann&password={SECRET}",
        f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/ward#a.b.c",
        f"postgresql://ann:{SECRET}@[::1:1/ward",
        f"mysql://ann:{SECRET}@127.0.0.1/ward",
        f"https://ann:{SECRET}@127.0.0.1/ward.csv",
    ],
)
def test_no_password_is_told_of_a_wrong_address(desk: Desk, url: str) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    for arguments in (
        ["anonymize", url, *QUERY, *POLICY, "-o", "o.csv", "--json"],
        ["anonymize", "d.dat", *POLICY, "-o", f"{url}#t", "--json"],
    ):
        done = desk.run(*arguments)
        assert done.status == 2
        assert SECRET not in told(desk, done)
        assert list(desk.files()) == ["d.dat"]


def test_no_password_is_told_by_a_bug(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"postgresql://ann:{SECRET}@127.0.0.1/ward"

    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError(f"what is {url}?")

    monkeypatch.setattr("overcoat.application.said.read_source", fail)
    done = desk.run("anonymize", url, *QUERY, *POLICY, "-o", "o.csv", "--json")
    assert done.status == 70
    assert SECRET not in told(desk, done)


def test_values_are_shown_without_passwords() -> None:
    from overcoat.application import Input, Outputs
    from overcoat.data.io.databases.address import parse_address

    url = f"postgresql://ann:{SECRET}@host/ward#diag"
    for value in (Input(url), Outputs(url), parse_address(url), [Input(url)]):
        assert SECRET not in repr(value)
        assert SECRET not in f"{value}"


@pytest.mark.xdist_group("postgresql")
def test_passwords_of_the_environment(
    desk: Desk, postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of libpq: PGPASSWORD and a password file; and a wrong one is refused."""
    user, password = GUARDED
    query = ["--query", "SELECT 1 AS patient, 'a' AS code", *COLUMNS, "-k", "1", "--km", "1"]
    url = postgresql.url(user)
    given = url.replace("@", f":{quote(password, safe='')}@", 1)
    wrong = url.replace("@", f":{SECRET}@", 1)
    assert desk.run("anonymize", given, *query, "-o", "a.csv").status == 0
    for one in (url, wrong):
        done = desk.run("anonymize", one, *query, "-o", "b.csv")
        assert done.status == 2
        assert "cannot connect" in done.err
        assert "password" in done.err
        assert SECRET not in done.err
    monkeypatch.setenv("PGPASSWORD", password)
    assert desk.run("anonymize", url, *query, "-o", "c.csv").status == 0
    monkeypatch.delenv("PGPASSWORD")
    file = desk.folder / "pgpass"
    file.write_text(f"*:*:*:{user}:{password}\n")
    os.chmod(file, 0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert desk.run("anonymize", url, *query, "-o", "d.csv").status == 0


def test_help_names_it(desk: Desk) -> None:
    done = desk.run("anonymize", "--help")
    assert b"sqlite:///" in done.out
    assert b"--replace" in done.out
    store = Sqlite(desk.folder / "a.db")
    assert store.tables() == []
