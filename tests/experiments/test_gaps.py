"""The script of gaps runs, and its tables are what they say."""

import sys

import pytest

from experiments import gaps


def test_the_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["gaps", "--instances", "25"])
    gaps.main()
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("| | loss | instances | optimal |")
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    named = [(name, loss) for name, loss, *_ in cells]
    assert ("`coat`", "UL") in named
    assert ("optimum / bound", "flat NCP") in named
    assert len(named) == len(set(named))
    for _, _, number, optimal, median, ninety, worst in cells:
        assert int(number) > 0
        assert 0 <= float(optimal.removesuffix(" %")) <= 100
        assert 1 <= float(median) <= float(ninety) <= float(worst) + 0.05
