"""Encodings: found in one pass, whatever pieces the bytes come in, or taken as named."""

import codecs
import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overcoat.data.io import delimited, encoding, long, output_layout, read, write
from overcoat.data.io.encoding import BOM, Recoded, looks_wide
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError
from overcoat.mapping import Mapping
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.config import read_settings
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.sets import Sets
from overcoat.policy.weights import Distances

LONG: dict[str, Any] = {"id": "id", "item": "item"}
ROWS = [("Übelkeit", "café"), ("naïve",)]
TEXTS: dict[str, tuple[str, dict[str, Any]]] = {
    "x.dat": ("Übelkeit café\nnaïve\n", {}),
    "x.csv": ("Übelkeit,café\nnaïve\n", {}),
    "quoted.csv": ('"Übelkeit",café\nnaïve\n', {}),
    "long.csv": ("id,größe,item\n1,ä,Übelkeit\n2,ä,naïve\n1,ä,café\n", LONG),
    "old.csv": ("id,größe,item\r1,ä,Übelkeit\r2,ä,naïve\r1,ä,café\r", LONG),
}
# How a text is written, what is said of it, and whether Excel would be at a loss without a mark.
WRITTEN: dict[str, tuple[str, str, str, bool]] = {
    "UTF-8": ("", "utf-8", "", False),
    "UTF-8 with a mark": ("\ufeff", "utf-8", "", True),
    "Latin-1": ("", "latin-1", "Windows-1252", True),
    "Windows-1252": ("", "cp1252", "Windows-1252", True),
    "UTF-16 with a mark": ("", "utf-16", "UTF-16", True),
    "UTF-16-LE": ("", "utf-16-le", "UTF-16", True),
    "UTF-16-BE": ("", "utf-16-be", "UTF-16", True),
    "UTF-16-BE with a mark": ("\ufeff", "utf-16-be", "UTF-16", True),
    "UTF-32 with a mark": ("\ufeff", "utf-32-le", "UTF-32", True),
}


class Pieces(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, content: bytes, size: int) -> None:
        self._stream, self._size = io.BytesIO(content), size

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(min(size, self._size))


def recode(content: bytes, size: int = 1 << 20, name: str | None = None) -> tuple[bytes, str]:
    stream = Recoded(Pieces(content, size), content[: encoding.HEAD], "x", name)
    return b"".join(iter(lambda: stream.read(100), b"")), stream.encoding


@pytest.mark.parametrize("packed", [False, True], ids=["", "gz"])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("written", WRITTEN)
def test_the_same_text_in_any_encoding(
    written: str, text: str, packed: bool, tmp_path: Path
) -> None:
    content, options = TEXTS[text]
    mark, name, said, marked = WRITTEN[written]
    path = tmp_path / (text + ".gz" * packed)
    raw = (mark + content).encode(name)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    data = read(path, **options)
    assert data == Transactions.of(ROWS)
    assert data.file_digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert data.layout is not None
    assert data.layout.bom == marked
    assert data.origin.read_as.endswith(said)
    assert bool(data.origin.read_as) == bool(said or options)
    if not packed and text == "x.dat":
        assert read(Pieces(raw, 1)) == data


@pytest.mark.parametrize("name", ["utf-8", "utf-8-sig", "utf-16", "utf_16_be", "cp1252", "cp850"])
def test_a_named_encoding(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("Übelkeit,café\nnaïve\n".encode(name))
    assert read(path, encoding=name) == Transactions.of(ROWS)
    path.write_bytes("\ufeffÜbelkeit,café\nnaïve\n".encode("utf-8"))
    if name.startswith("utf-8"):
        assert read(path, encoding=name) == Transactions.of(ROWS)


def test_a_named_encoding_wins() -> None:
    assert list(read(io.BytesIO("é\n".encode()), encoding="latin-1")) == [(("Ã©",), 1)]
    assert list(read(io.BytesIO(b"\x80\n"))) == [(("€",), 1)]
    assert list(read(io.BytesIO(b"\x80 a\n"), encoding="latin-1")) == [(("a", "\x80"), 1)]
    # Nothing says which UTF-16 this is; with its name it can be read.
    kanji = "漢字\n".encode("utf-16-le")
    assert list(read(io.BytesIO(kanji), encoding="utf-16")) == [(("漢字",), 1)]


def test_what_windows_1252_does_not_define_is_as_in_latin_1() -> None:
    assert recode(bytes(range(0x80, 0x100)))[0].decode()[:3] == "€\x81‚"
    assert recode(b"\xe9\x81\x8d\x8f\x90\x9d")[0].decode() == "é\x81\x8d\x8f\x90\x9d"
    letters = bytes(range(0xA0, 0x100))
    assert recode(letters)[0].decode() == letters.decode("latin-1")


COPY = "copy it again"
FOUND = f"{COPY}, or leave out --encoding to have its encoding found"
MIXED = "not UTF-8, as the rest of the file is; save it in one encoding, or name it (--encoding)"
NO_TEXT = (
    "x.dat: is not a text, or has an encoding that cannot be told; if it is one, name its encoding "
    "(--encoding)"
)
BAD: list[tuple[bytes, dict[str, Any], str]] = [
    # another encoding than was named, with the line
    (b"a\nb\ncaf\xe9 d\n", {"encoding": "utf-8"}, f"x.dat:3: not UTF-8, as it should be; {FOUND}"),
    ("a\ncafé\n".encode(), {"encoding": "ascii"}, f"x.dat:2: not ASCII, as it should be; {FOUND}"),
    (b"a\nb\x81\n", {"encoding": "cp1250"}, f"x.dat:2: not cp1250, as it should be; {FOUND}"),
    (b"a\r\xe9", {"encoding": "utf-8"}, f"x.dat:1: ends within a character of UTF-8; {FOUND}"),
    # UTF-16 that was cut, or is damaged
    (
        "a\nb\nc d\n".encode("utf-16")[:-1],
        {},
        f"x.dat:3: ends within a character of UTF-16; {COPY}",
    ),
    ("a\n🦠".encode("utf-16")[:-2], {}, f"x.dat:2: ends within a character of UTF-16; {COPY}"),
    (
        "a\nb\nc".encode("utf-16") + b"\x00\xd8a\x00",
        {},
        f"x.dat:3: not UTF-16, as it should be; {COPY}",
    ),
    # mixed
    ("äöü\n".encode() + b"b\ncaf\xe9 d\n", {}, f"x.dat:3: {MIXED}"),
    # no text
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00\x00", {}, "x.dat: is an old Excel file"),
    (b"\x00\x01\x02" * 500, {}, NO_TEXT),
    (b"\x00\x01\x02\n" * 500, {"id": "a", "item": "b"}, NO_TEXT),
    (("a b\n" * 50).encode("utf-32-le"), {}, NO_TEXT),
    (b"SQLite format 3\x00\xff\x01\xfe", {}, "x.dat: is a database; name it sqlite:///x.dat"),
    (b"a\n", {"encoding": "klingon"}, "there is no encoding 'klingon'; usual ones are utf-8,"),
    (b"a\n", {"encoding": "rot13"}, "there is no encoding 'rot13'"),
    (b"a\n", {"encoding": "hex"}, "there is no encoding 'hex'"),
    (b"a\n", {"encoding": "locale"}, "there is no encoding 'locale'"),
    (b"a\n", {"encoding": ""}, "there is no encoding ''"),
    (b"a\n", {"encoding": "a\0b"}, "there is no encoding"),
    (b"PAR1\x15", {"encoding": "utf-8"}, "x.dat: --encoding is for texts; this is Parquet"),
]


@pytest.mark.parametrize(("content", "options", "message"), BAD)
def test_bad_texts(
    content: bytes,
    options: dict[str, Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.dat").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read("x.dat", **options)
    assert str(caught.value).startswith(message)


def test_a_frame_has_no_encoding() -> None:
    with pytest.raises(DataError, match="an encoding is for texts; this is a frame"):
        read(pl.DataFrame({"items": [["a"]]}), encoding="utf-8")


def test_windows_1252_that_turns_into_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_WINDOW", 64)
    latin, sound = b"caf\xe9 na\xefve\n" * 20, "café naïve\n".encode() * 20
    assert recode(latin)[1] == "Windows-1252"
    for size in (1, 50, 10_000):
        with pytest.raises(DataError, match=r"^x: the first \d+ bytes are Windows-1252, and then "):
            recode(b"ascii\n" * 100 + latin + sound, size)
        recoded, found = recode(b"ascii\n" * 100 + sound + latin, size)
        assert found == "UTF-8"  # and who needs a stray byte will find it
        assert recoded.endswith(latin)


def test_few_sequences_are_an_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a title in capital letters, in quotes of the French kind."""
    monkeypatch.setattr(encoding, "_WINDOW", 64)
    text = "café naïve\n" * 20 + "«MENÜ»" + "a" * 100 + "é"
    assert recode(text.encode("cp1252"))[0].decode() == text


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(1, 30), st.integers(4, 40))
@example([b"caf\xe9", "é".encode() * 20], 1, 16)
@example([b"a" * 7, "é".encode() * 20, b"\xe9"], 3, 8)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_pieces_do_not_matter(parts: list[bytes], size: int, window: int) -> None:
    content = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_WINDOW", window)

        def outcome(size: int) -> object:
            try:
                return recode(content, size)
            except DataError as error:
                return str(error)

        assert outcome(size) == outcome(1 << 20)


@given(st.text(), st.integers(1, 9), st.integers(4, 20))
@settings(derandomize=True, deadline=None)
def test_sound_utf_8_is_left_as_it_is(text: str, size: int, window: int) -> None:
    content = text.encode()
    if looks_wide(content) is None and not content.startswith(tuple(encoding._MARKS)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encoding, "_WINDOW", window)
            assert recode(content, size) == (content, "" if text.isascii() else "UTF-8")
    assert recode(BOM + content, size) == (content, "UTF-8")


CP1252 = bytes(range(1, 256)).decode("cp1252", "ignore")


@given(st.text(CP1252), st.integers(1, 9))
@settings(derandomize=True, deadline=None)
def test_a_named_encoding_is_what_its_decoder_says(text: str, size: int) -> None:
    for name in ("cp1252", "utf-16-le", "utf-16-be", "utf-32-le"):
        assert recode(text.encode(name), size, name)[0].decode() == text.removeprefix("\ufeff")


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "fast"])
def test_strays_in_columns_that_nobody_needs_do_no_harm(
    fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fast:
        monkeypatch.setattr(long, "POLARS_PAYS_FROM", 0)
        monkeypatch.setattr(long.Table, "_add", None)  # which would be the plain way
    rows = "".join(f"{i},é{i},ü\n" for i in range(50)).encode()
    text = b"id,item,na\xefve\n" + rows + b"1,x,caf\xe9\n2,y,\xff\xfe\n"
    data = read(io.BytesIO(text), **LONG)
    assert data.n_transactions == 50
    assert {"x", "y"} <= {*data.vocabulary}


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "fast"])
def test_strays_in_ids_and_items_are_told_with_their_lines(
    fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fast:
        monkeypatch.setattr(long, "POLARS_PAYS_FROM", 0)
        monkeypatch.setattr(delimited, "BLOCK", 64)
    rows = "".join(f"{i},é{i},ü\n" for i in range(50)).encode()
    text = b"id,item,x\n" + rows + b"1,caf\xe9,x\n2,y,\xff\n\xff,z,x\n" * 3
    with pytest.raises(DataError) as caught:
        read(io.BytesIO(text), **LONG)
    lines = [problem.line for problem in caught.value.problems]
    assert lines == [52, 54, 55, 57, 58, 60]
    assert str(caught.value) == (
        f"standard input: 6 lines are {MIXED}: line 52, line 54, line 55, …"
    )


@pytest.mark.parametrize("written", WRITTEN)
def test_policy_files(written: str, tmp_path: Path) -> None:
    mark, name, _, _ = WRITTEN[written]
    path = tmp_path / "x.txt"

    def save(text: str, path: Path = path) -> Path:
        path.write_bytes((mark + text).encode(name))
        return path

    data = read([{"Übelkeit", "café"}, {"naïve"}])
    lint = Lint()
    sets = Sets.read(save("größe: Übelkeit, café\nnaïve\n")).resolve(Domain.of(data), lint)
    assert [(one.name, one.items) for one in sets] == [
        ("größe", ("café", "Übelkeit")),
        (None, ("naïve",)),
    ]
    assert not lint.errors
    tree = Hierarchy.read(save("café;ö;*\nÜbelkeit;ö;*\n"))
    assert tree.ancestors == {"café": ("ö", "*"), "Übelkeit": ("ö", "*")}
    assert Distances.read(save("café,naïve,0.5\n")).pairs.keys() == {("café", "naïve")}
    assert read_settings(save("k = 5\n[utility]\n'ö' = ['café']\n"))["k"] == 5
    mapping = Mapping.of(["café", "naïve"], [["café", "naïve"]])
    text = json.dumps(mapping.to_json(), ensure_ascii=False)
    assert Mapping.read(save(text, tmp_path / "x.json")) == mapping


def test_a_policy_file_in_two_encodings(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("äöü\n".encode() + b"caf\xe9\n" * 2 + b"a\n" + b"\xe9\n")
    with pytest.raises(PolicyError) as caught:
        Sets.read(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 5]
    assert str(caught.value.problems[0]) == f"{path}:2: {MIXED}"


# -- and out again ------------------------------------------------------------------------------


def test_what_excel_wrote_is_written_so_that_excel_opens_it(tmp_path: Path) -> None:
    for content in ("id;item\n1;é\n".encode("latin-1"), "\ufeffid;item\n1;é\n".encode()):
        (tmp_path / "x.csv").write_bytes(content)
        data = read(tmp_path / "x.csv", **LONG)
        path = tmp_path / "released.csv"
        layout = output_layout(path, data.layout)
        write(data, path, layout=layout)
        assert path.read_bytes() == codecs.BOM_UTF8 + "id;item\n1;é\n".encode()
        assert read(path, **LONG) == data
        for name, starts in (("r.tsv", BOM), ("r.csv.gz", b"\x1f\x8b"), ("r.dat", b"\xc3\xa9")):
            write(data, tmp_path / name, layout=output_layout(name, data.layout))
            assert (tmp_path / name).read_bytes().startswith(starts)
        assert not output_layout("-", data.layout).bom
    (tmp_path / "x.csv").write_bytes("id;item\n1;é\n".encode())
    plain = read(tmp_path / "x.csv", **LONG)
    write(plain, path, layout=output_layout(path, plain.layout))
    assert path.read_bytes() == "id;item\n1;é\n".encode()


@pytest.mark.parametrize("layout", [Layout("basket"), Layout("basket", sep=","), Layout("long")])
def test_labels_of_nuls_do_not_look_like_utf_16(layout: Layout) -> None:
    data = Transactions.of([{"\0"}] * 9)
    written = io.BytesIO()
    write(data, written, layout=layout)
    options = LONG if layout.format == "long" else {"sep": layout.sep}
    assert read(io.BytesIO(written.getvalue()), **options) == data


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("a b\n".encode("utf-16-le"), "utf-16-le"),
        ("a b\n".encode("utf-16-be"), "utf-16-be"),
        ("id;größe\n".encode("utf-16-le"), "utf-16-le"),
        ("id;漢字 and some letters\n".encode("utf-16-be"), "utf-16-be"),
        (b"a b\n", None),
        (b"", None),
        (b"\0\n", None),
        (b"a\0b\nc d e f\n", None),
        (bytes(100), None),
        ("a b\n".encode("utf-32-le"), None),
    ],
)
def test_nuls_in_every_other_byte(head: bytes, found: str | None) -> None:
    assert looks_wide(head) == found
