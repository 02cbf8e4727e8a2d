"""What the tools write is up to date: the reference of the Python API, the pictures."""

from tools.api import PAGE, reference
from tools.pictures import FOLDER, pictures


def test_the_reference_is_true() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run: make docs"


def test_the_pictures_are_true() -> None:
    found = pictures()
    assert sorted(found) == ["guide-risk.svg", "guide-told.svg"]
    for name, content in found.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == content, "run: make docs"
