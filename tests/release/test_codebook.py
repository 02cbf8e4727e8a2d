"""A codebook comes back as it was written, whatever the labels are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overcoat.release.codebook import Row, codebook_bytes, codebook_cells, read_codebook

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from(' \t\r\n"=,;_x000D'), min_size=1
)
CELLS = st.none() | TEXT
ROWS = st.tuples(
    TEXT, CELLS, CELLS, st.none() | st.integers(1, 99), CELLS, st.sampled_from([None, "yes", "no"])
)


@pytest.mark.parametrize("name", ["b.csv", "b.tsv", "b.csv.gz", "b.xlsx"])
@pytest.mark.parametrize("like", [",", ";"])
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)
@given(rows=st.lists(ROWS, max_size=5), bom=st.booleans())
@example(
    rows=[("a\r\nb", None, " ", 1, '"', None), ("\ufeff", None, "\r", 1, "_x0041_", "no")], bom=True
)
def test_it_comes_back(tmp_path: Path, name: str, like: str, rows: list[Row], bom: bool) -> None:
    path = tmp_path / name
    path.write_bytes(codebook_bytes(name, rows, bom=bom, like=like))
    assert read_codebook(path, name, like=like) == codebook_cells(rows)
