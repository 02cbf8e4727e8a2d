"""The reference of the Python API is what the docstrings say."""

from tools.api import PAGE, reference


def test_the_reference_is_true() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run: make docs"
