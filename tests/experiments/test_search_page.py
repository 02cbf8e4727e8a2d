"""Search against the others, on small stand-ins: every method on every policy, and the page."""

import sys
from pathlib import Path

import pytest

from experiments import search


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "STEPS", (0, 2))
    page, runs = tmp_path / "page.md", tmp_path / "runs"
    monkeypatch.setattr(sys, "argv", ["search", "--runs", str(runs), "--page", str(page)])
    search.main()
    text = page.read_text()
    assert (tmp_path / "search-convergence.svg").read_bytes().startswith(b"<?xml")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| BMS1")]
    cells = [[cell.strip() for cell in row] for row in rows]
    policies = {row[1] for row in cells}
    assert len(policies) == 10
    for policy in policies:
        assert {"coat", "pcta", "search"} <= {row[2] for row in cells if row[1] == policy}
    met = [row for row in cells if row[2] == "search" and row[3] == "met" and row[4]]
    assert met
