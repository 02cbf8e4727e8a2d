"""Hierarchies from files: names of any length with any characters, and what is wrong by line."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overcoat.data.io.delimited import Dialect
from overcoat.errors import PolicyError
from overcoat.policy.hierarchy import Hierarchy

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
QUOTE = Dialect(";", trim=True).quote


def read(path: Path, text: str) -> Hierarchy:
    path.write_bytes(text.encode())
    return Hierarchy.read(path)


@given(leaves=st.sets(NAMES.filter(lambda name: name != "*"), min_size=1, max_size=6))
@example(leaves={"\r", "\n", "\r\n", '"', ";", " a ", "\u00a0", "a\rb", "#"})
@example(leaves={"x" * 200_000, "y"})
@settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_name_can_be_written(leaves: set[str], tmp_path: Path) -> None:
    text = "".join(f"{QUOTE(leaf)} ; {QUOTE(leaf)};*\n" for leaf in sorted(leaves))
    found = read(tmp_path / "h.csv", text).ancestors
    assert found == {leaf: (leaf, "*") for leaf in leaves}


@pytest.mark.parametrize(
    ("text", "ancestors"),
    [
        ("a;x;*\r\nb ; x ; *\r\n", {"a": ("x", "*"), "b": ("x", "*")}),
        ("\n a;*\n\t\n", {"a": ("*",)}),
        ("a\rb;*\nc;*\n", {"a\rb": ("*",), "c": ("*",)}),
        ('a;*\r"b\rc";*\r', {"a": ("*",), "b\rc": ("*",)}),
        ('"a\nb";*\n', {"a\nb": ("*",)}),
    ],
)
def test_lines_and_blanks(text: str, ancestors: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    assert read(tmp_path / "h.csv", text).ancestors == ancestors


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a;*\nb;;*\n", "2: empty name in the path b;;*"),
        ("a;*\nb\n", "2: a path needs at least a leaf and a root: leaf;parent;…;root"),
        ('"a\nb";*\na;x;+\n', "3: the path ends in '+', but the root is '*' (line 1); end every "),
        ('a;*\n"b;*\n', "2: a quote opens here and never closes"),
        (
            'a;*\n5" disk;*\n',
            "2: a quote inside an item; put the item in quotes and write the inner quote twice",
        ),
    ],
)
def test_what_is_wrong(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    with pytest.raises(PolicyError) as caught:
        read(path, text)
    assert str(caught.value).startswith(f"{path}:{problem}")
