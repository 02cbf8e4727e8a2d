"""Line ends: files with the lone CR of old Macintosh systems say what they say with LF."""

import gzip
import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overcoat.data.io import read
from overcoat.data.io.lines import LineFeeds, line_end
from overcoat.errors import DataError, PolicyError
from overcoat.measures.queries import Workload
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.sets import Sets
from overcoat.policy.weights import Distances

LONG: dict[str, Any] = {"id": "id", "item": "item"}


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("x.dat", "a b\nc d\n", {}),
        ("x.dat", "a b\n\nc d", {}),
        ("x.dat", 'a "b\nc d"\n', {}),
        ("x.txt", "items\na b\nc d\n", {"header": True}),
        ("x.csv", "a,b\nc,d\n", {}),
        ("x.csv", 'a,"b, c"\n"d"\n', {}),
        ("x.csv", "a;b\nc;d\n", {"sep": ";"}),
        ("x.csv", "id,item\n1,a\n2,b\n1,c\n", LONG),
        ("x.tsv", "id\titem\n1\ta\n2\tb\n", LONG),
        ("x.dat", "a\n" + "b c\n" * 40_000, {}),
        ("x.csv", '"' + 9 * (10_000 * "a" + "\r\n") + '"\nb\n', {}),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_cr_for_lf(
    name: str, text: str, options: dict[str, Any], packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / (name + ".gz" * packed)
    marked = text.replace("\r\n", "\0")
    seen = []
    for end in ("\n", "\r"):
        raw = marked.replace("\n", end).replace("\0", "\r\n").encode()
        path.write_bytes(gzip.compress(raw) if packed else raw)
        data = read(path, keep_order=True, **options)
        assert data.file_digest == hashlib.sha256(path.read_bytes()).hexdigest()
        assert data.positions is not None
        seen.append((list(data), data.positions.tolist()))
    assert seen[0] == seen[1]
    assert len(seen[0][1]) > 1


@pytest.mark.parametrize(
    ("text", "options", "rows"),
    [
        (b"a\rb\nc\n", {}, [("a", "b"), ("c",)]),
        (b"a\r\nb\r\n", {}, [("a",), ("b",)]),
        (b"a\rb,c\nd\n", {"sep": ","}, [("a\rb", "c"), ("d",)]),
        (b'"a\rb",c\rd\r', {"sep": ","}, [("a\rb", "c"), ("d",)]),
        (b'"a\nb",c\rd\r', {"sep": ","}, [("a\nb", "c"), ("d",)]),
        (b'id,item\r1,"a\nb"\r2,"c\rd"\r', LONG, [("a\nb",), ("c\rd",)]),
    ],
)
def test_a_cr_among_others(
    text: bytes, options: dict[str, Any], rows: list[tuple[str, ...]]
) -> None:
    assert list(read(io.BytesIO(text), **options)) == [(row, 1) for row in rows]


def test_a_table_with_cr_is_still_a_table() -> None:
    text = b"patient,code\r" + b"".join(b"%d,x%d\r" % (i, i % 7) for i in range(30))
    with pytest.raises(DataError, match="looks like a table with the columns patient, code"):
        read(io.BytesIO(text))


def test_both_kinds_of_line_ends() -> None:
    """Where the first LF comes after millions of CRs, neither can be meant for white space."""
    text = b"a b\r" * 2_000_000 + b"c\nd\n"
    with pytest.raises(DataError, match=r"^standard input: some lines end in CR, others in LF; "):
        read(io.BytesIO(text))


def test_errors_count_lines() -> None:
    with pytest.raises(DataError, match=r"^standard input:3: 1 fields where the header has 2$"):
        read(io.BytesIO(b"id,item\r1,a\r2\r"), **LONG)


def test_small_files(tmp_path: Path) -> None:
    def write(text: str) -> Path:
        path = tmp_path / "x.txt"
        path.write_text(text, newline="")
        return path

    data = read([{"a", "b"}, {"b", "c"}])
    sets = Sets.read(write("# sets\rone: a b\r\rc\r"))
    domain, lint = Domain.of(data), Lint()
    assert [s.items for s in sets.resolve(domain, lint)] == [("a", "b"), ("c",)]
    assert not lint.errors
    tree = Hierarchy.read(write("a;x;*\rb;x;*\r"))
    assert tree.ancestors == {"a": ("x", "*"), "b": ("x", "*")}
    assert list(Workload.read(write("a b\rc\r"), data)) == [("a", "b"), ("c",)]
    assert Distances.read(write("a,b,0.5\rb,c,1\r")).pairs.keys() == {("a", "b"), ("b", "c")}
    with pytest.raises(PolicyError, match=r"x.txt:2: expected item, item, distance"):
        Distances.read(write("a,b,0.5\rb,c\r"))


@given(st.lists(st.sampled_from([b"a", b",", b'"', b"\r", b"\n"]), max_size=12), st.integers(1, 5))
@example([b'"', b"\n", b'"', b"\r", b"a"], 1)
@settings(derandomize=True, deadline=None)
def test_pieces_do_not_matter(parts: list[bytes], size: int) -> None:
    """By the definition: a byte is in quotes when an odd number of quotes comes before it."""
    text = b"".join(parts)
    outside = [text.count(b'"', 0, place) % 2 == 0 for place in range(len(text))]
    breaks = {byte for byte, out in zip(text, outside, strict=True) if out and byte in b"\r\n"}
    end = line_end(text, quote='"')
    assert end == (b"\n" if 10 in breaks else b"\r" if breaks else b"")
    if end == b"\r":
        stream = LineFeeds(io.BytesIO(text), quote='"', name="x")
        pieces = list(iter(lambda: stream.read(size), b""))
        expected = [
            10 if out and byte == 13 else byte for byte, out in zip(text, outside, strict=True)
        ]
        assert b"".join(pieces) == bytes(expected)
