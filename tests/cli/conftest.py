"""The desk all these tests work at."""

from pathlib import Path

import pytest

from cli.command import DATA, Desk


@pytest.fixture
def desk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Desk:
    desk = Desk(tmp_path, monkeypatch, capsysbinary)
    desk.write({"d.dat": DATA})
    return desk
