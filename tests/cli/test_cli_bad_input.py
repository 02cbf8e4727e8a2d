"""A table of what people get wrong: the exit status, the words, and that nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from cli.bad_sources import SOURCES
from cli.command import Content, Desk, words

LONG = "patient,code\n1,038\n1,401\n2,038\n2,401\n3,038\n"
MIXED = "äöü\n".encode()  # then bytes of Latin-1 are strays
TREE = "".join(f"{leaf};x;*\n" for leaf in "abcd") + "e;y;*\nf;y;*\n"


@dataclass(frozen=True)
class Bad:
    """One row of the table: the message holds every one of `says`, in this order."""

    what: str
    arguments: str
    says: tuple[str, ...]
    files: Mapping[str, Content] = field(default_factory=dict)
    status: int = 2


def anonymize(more: str, data: str = "d.dat", km: str = "--km 2", k: str = "-k 2") -> str:
    return f"anonymize {data} {k} {km} {more} -o o.dat --mapping map.json"


def with_file(option: str, name: str, content: Content, *says: str, km: str = "--km 2") -> Bad:
    return Bad(
        f"{option} {name}", anonymize(f"{option} {name}", km=km), says, files={name: content}
    )


def with_data(name: str, content: Content, *says: str, more: str = "") -> Bad:
    return Bad(f"data {name}", anonymize(more, data=name), says, files={name: content})


def toml(what: str, content: Content, *says: str) -> Bad:
    return Bad(
        f"toml: {what}",
        "anonymize d.dat --policy p.toml -o o.dat --mapping map.json",
        says,
        files={"p.toml": content},
    )


COLUMNS = "--id patient --item code"

DATA_FILES = [
    Bad("no data file", anonymize("", data="no.dat"), ("no.dat: no such file",)),
    Bad("a directory", anonymize("", data="sub"), ("sub: no data file",), {"sub/x": ""}),
    with_data("empty.dat", "", "empty.dat:1: the file is empty"),
    with_data("mixed.dat", MIXED + b"caf\xe9 b\nna\xefve\n", "mixed.dat:2: not UTF-8", "dat:3:"),
    with_data("mixed.csv", MIXED + b"caf\xe9,b\n", "mixed.csv:2: not UTF-8"),
    with_data("quote.csv", 'a,b\n"c,d\n', "quote.csv:2:"),
    with_data("ragged.csv", LONG + "4\n5,1,2\n", "ragged.csv:7:", "ragged.csv:8:", more=COLUMNS),
    with_data("header.csv", "patient,code\n", "header.csv: the file holds no", more=COLUMNS),
    with_data(
        "columns.csv",
        LONG,
        "columns.csv:1: no column 'diagnosis'",
        "'patient', 'code'",
        more="--id patient --item diagnosis",
    ),
    with_data("bad.parquet", b"PAR1\x15nonsense", "bad.parquet: not a sound Parquet file"),
    with_data("short.dat.gz", b"\x1f\x8b\x08\x00\x00", "short.dat.gz:", "gzip"),
    with_data("plain.dat.gz", "a b\n", "plain.dat.gz: not a sound gzip file"),
    with_data("one.csv", LONG, "both columns", more="--id patient"),
    with_data("same.csv", LONG, "cannot be one column", more="--id code --item code"),
    with_data("list.csv", LONG, "list column needs Parquet", more="--items code"),
    with_data("sep.csv", LONG, "the separator must be one character", more="--sep ab"),
    with_data("sep.dat", "a\n", "the separator must be one character", more="--sep ''"),
]

WIDE = "--id patient --item diag_1,diag_2"
TEXTS = [
    with_data("u.csv", LONG + "4,é\n", "u.csv:7: not ASCII", more=f"{COLUMNS} --encoding ascii"),
    with_data("x.csv", LONG, "no encoding 'klingon'; usual ones", more="--encoding klingon"),
    with_data(
        "cut.csv",
        LONG.encode("utf-16")[:-1],
        "cut.csv:6: ends within a character of UTF-16; copy it again",
        more=COLUMNS,
    ),
    with_data("x.parquet", b"PAR1\x15", "--encoding is for texts", more="--encoding latin-1"),
    with_data("x.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00", "x.xls: is an old Excel file"),
    with_data(
        "semi.csv",
        LONG.replace(",", ";"),
        "semi.csv:1: no column 'Code' (did you mean 'code'?); the columns are 'patient', 'code'",
        more="--id patient --item Code",
    ),
    with_data(
        "table.csv",
        "patient;code\n" + "".join(f"{n};x{n % 5}\n" for n in range(30)),
        "table.csv:1: looks like a table",
        "--id patient --item code",
    ),
    with_data("wide.csv", "patient;diag_1\n1;a\n", "no column 'diag_2' (did you mean", more=WIDE),
    with_data("twice.csv", "a,b\nx,y\n", "'a' is named more than once", more="--item a,a"),
    with_data("alone.csv", "a,b\nx,y\n", "a long table needs both columns", more="--item a"),
    with_data("ragged.csv", "a;b;c\nx;y\n", "ragged.csv:2: 2 fields where", more="--item a,b"),
]

JANUARY = "patient,code\n1,a\n2,a\n"


def with_files(what: str, files: Mapping[str, Content], *says: str, data: str = "in") -> Bad:
    placed = {f"in/{name}": content for name, content in files.items()}
    return Bad(what, anonymize(COLUMNS, data=data), says, files=placed)


FOLDERS = [
    with_files("no data file", {"x.md": "", "old/x.csv": ""}, "in: no data file", "old, x.md"),
    with_files("no match", {"x.csv": ""}, "in/2*.csv: no such file, and as", data="'in/2*.csv'"),
    with_files("two kinds", {"1.csv": JANUARY, "2.dat": "a"}, "in: holds files of several kinds"),
    with_files("two separators", {"1.csv": JANUARY, "2.csv": JANUARY.replace(",", ";")}, "unlike"),
    with_files("other columns", {"1.csv": JANUARY, "2.csv": "patient,x\n1,a\n"}, "in/2.csv:1: no"),
    with_files("a broken file", {"1.csv": JANUARY, "2.csv": JANUARY + "3\n"}, "2.csv:4: 1 fields"),
    with_files("an empty file", {"1.csv": JANUARY, "2.csv": ""}, "in/2.csv: is empty"),
    with_files("half a file", {"1.csv": JANUARY, "2.csv.part": "x"}, "2.csv.part: is half-written"),
    with_files("a job that runs", {"1.csv": JANUARY, "_temporary/1": "x"}, "in: a job is writing"),
    Bad(
        "a release in the folder of the input",
        "anonymize in -k 2 --km 2 -o in/out.csv --id patient --item code",
        ("in/out.csv: is an input; name another file for the output",),
        files={"in/1.csv": JANUARY},
    ),
    Bad(
        "a release that the pattern would match",
        "anonymize '2026-*.csv' -k 2 --km 2 -o 2026-out.csv --id patient --item code",
        ("2026-out.csv: is an input; name another file for the output",),
        files={"2026-1.csv": JANUARY},
    ),
]

SETS = [
    Bad("no set file", anonymize("--utility no.txt"), ("no.txt: no such file",)),
    with_file("--privacy", "p.txt", "a b\n\na B\n", "p.txt:3: item 'B'", "near: 'b'", km=""),
    with_file("--utility", "u.txt", "# x\nx: a bb\n", "u.txt:2: item 'bb' does not occur"),
    with_file("--linkable", "l.txt", "a\nzz\n", "l.txt:2: item 'zz' does not occur in the data"),
    with_file(
        "--utility", "u.txt", "x: a b\ny: b c\n", "u.txt:2: item 'b' is in set 'x'", "line 1"
    ),
    with_file("--utility", "u.txt", "x: a\nx: b\n", "u.txt:2: the name 'x' was given before"),
    with_file("--utility", "u.json", '{"x": ["a"],\n "x": ["b"]}', "u.json:2: the name 'x'"),
    with_file("--privacy", "p.txt", "a\nname:\n", "p.txt:2: set 'name' is empty", km=""),
    with_file("--privacy", "p.txt", "# nothing\n\n", "p.txt:1: the file names no set", km=""),
    with_file("--privacy", "p.txt", MIXED + b"a\n\xff\n", "p.txt:3: not UTF-8", km=""),
    with_file("--privacy", "p.json", '[["a"],\n["a" "b"]]', "p.json:2: not JSON", km=""),
    with_file("--privacy", "p.json", "[]", "p.json:1: the file names no set", km=""),
    with_file("--privacy", "p.json", "7", "p.json:1: expected a list of lists", km=""),
    with_file(
        "--privacy",
        "p.json",
        '[["a", "b"],\n ["a", 7, null],\n "ab",\n ["a", "b"]]',
        "p.json:2: item 7 is not a string",
        "p.json:2: item None is not a string",
        "p.json:3: 'ab' is not a set",
        km="",
    ),
    with_file(
        "--privacy",
        "p.json",
        '[["a", "b"],\n ["b", "a"], ["a", "cc"],\n ["é"],\n []]',
        "p.json:2: item 'cc' does",
        "p.json:3: item 'é' does",
        "p.json:4: the set is empty",
        km="",
    ),
    with_file("--privacy", "p.json", "[" * 100_000, "p.json:1: not JSON", km=""),
    with_file("--privacy", "p.json", f"[[{'1' * 5000}]]", "p.json:1: not JSON", km=""),
    Bad(
        "all problems of all files at once",
        "anonymize d.dat -k 0 -s 200 --km 2 --privacy p.txt --privacy p.json --privacy no.txt "
        "--utility u.txt --linkable l.txt --hierarchy h.csv --distances w.csv --penalties y.csv "
        "-o o.dat",
        (
            "no.txt: no such file",
            "h.csv:2: leaf 'a' has a path already",
            "w.csv:1: a distance must be a number from 0 to 1",
            "y.csv:1: expected item,penalty",
            "k must be a whole number of at least 1, not 0",
            "max_suppressed (s) is a percentage from 0 to 100, not 200",
            "p.txt:1: item 'A' does not occur in the data; near: 'a'",
            "p.json:1: item 'z1'",
            "l.txt:1: item 'z3'",
            "u.txt:1: item 'z2'",
        ),
        files={
            "p.txt": "A b\n",
            "p.json": '[["z1"]]',
            "u.txt": "z2\n",
            "l.txt": "z3\n",
            "h.csv": "a;*\na;*\n",
            "w.csv": "a,b,2\n",
            "y.csv": "a,much\n",
        },
    ),
]

NUMBERS = [
    Bad("k = 0", anonymize("", k="-k 0"), ("k must be a whole number of at least 1, not 0",)),
    Bad("k = -1", anonymize("", k="-k -1"), ("k must be a whole number of at least 1, not -1",)),
    Bad("k = five", anonymize("", k="-k five"), ("-k", "'five' is not a valid integer")),
    Bad("k = 2.5", anonymize("", k="-k 2.5"), ("-k", "'2.5' is not a valid integer")),
    Bad("no k", anonymize("", k=""), ("k is missing",)),
    *(
        Bad(f"s = {s}", anonymize(f"-s {s}"), ("percentage from 0 to 100", s))
        for s in ("200", "-1", "nan", "inf")
    ),
    Bad("s = lots", anonymize("-s lots"), ("--max-suppressed", "'lots' is not a valid float")),
    Bad("km = 0", anonymize("", km="--km 0"), ("at least 1, not 0",)),
    with_file("--linkable", "l.txt", "a\n", "linkable items need km", km="--pgen"),
    with_file("--private", "q.txt", "a\n", "private items need km", km="--pgen"),
    with_file("--private", "q.txt", "a\nzz\n", "q.txt:2: item 'zz' does not occur in the data"),
    Bad("h alone", anonymize("--h 20"), ("h needs private items",)),
    *(
        Bad(
            f"h = {h}",
            anonymize(f"--private q.txt --h {h}"),
            ("h is a percentage from 0 to 100", h),
            files={"q.txt": "a\n"},
        )
        for h in ("101", "-1", "nan", "inf")
    ),
    Bad(
        "h, p, private and linkable items at once",
        anonymize("--private q.txt --linkable l.txt --h 200", km="--km 0"),
        (
            "p must be a whole number of at least 1, not 0",
            "h is a percentage from 0 to 100, not 200.0",
            "q.txt:2: item 'zz' does not occur",
            "l.txt:1: item 'yy' does not occur",
            "q.txt:1: item 'a' is private and cannot be linkable too",
        ),
        files={"q.txt": "a\nzz\n", "l.txt": "yy\na b\n"},
    ),
    Bad(
        "h with a method that merges",
        anonymize("--private q.txt --h 20"),
        ("coat cannot limit", "greedy can"),
        files={"q.txt": "a\n"},
    ),
    Bad(
        "greedy with other families",
        anonymize("--algorithm greedy --pgen --privacy p.txt"),
        ("one family", "not itemsets of p.txt", "not every part of every transaction"),
        files={"p.txt": "a b\n"},
    ),
    Bad("nothing to protect", anonymize("", km=""), ("nothing to protect", "privacy", "pgen")),
    Bad("algorithm", anonymize("--algorithm cote"), ("no algorithm 'cote'", "coat")),
    Bad("rest", anonymize("--rest alone"), ("--rest", "'alone'", "together")),
    Bad(
        "several of what is compared",
        "compare d.dat --km 2 -k 2 -k 3",
        ("-k is given twice: several values go into --sweep, as in --sweep k=5,10",),
    ),
    Bad("pgen with k = 0", "pgen d.dat -k 0 -o o.dat", ("at least 1, not 0",)),
]

TREES = [
    with_file("--hierarchy", "h.csv", TREE.replace("d;x;*\n", ""), "h.csv: item 'd' of the data"),
    with_file("--hierarchy", "h.csv", "a;x;b\n", "items of the data", "'b' (an inner node there"),
    with_file("--hierarchy", "h.csv", TREE + "g;y;all\n", "h.csv:7: the path ends in 'all'", "'*'"),
    with_file("--hierarchy", "h.csv", TREE + "g;y;x;*\n", "h.csv:7: node 'y' has parent '*'"),
    with_file("--hierarchy", "h.csv", TREE + "a;y;*\n", "h.csv:7: leaf 'a' has a path already"),
    with_file("--hierarchy", "h.csv", TREE + "g\n", "h.csv:7: a path needs at least"),
    with_file("--hierarchy", "h.csv", TREE + "g;;*\n", "h.csv:7: empty name in the path g;;*"),
    with_file("--hierarchy", "h.csv", TREE + "g;y;y;*\n", "h.csv:7: a node stands twice"),
    with_file("--hierarchy", "h.csv", "\n", "h.csv:1: the hierarchy is empty"),
    Bad("fan-out 1", anonymize("--hierarchy balanced:1"), ("fan-out", "at least 2, not 1")),
]

NUMBER_FILES = [
    with_file(
        "--distances",
        "w.csv",
        "a,b,0.5\n# no\na,c,1.5\nb,c\na,d,-1\nb,d,nan\nc,d,x\n",
        "w.csv:3: a distance must be a number from 0 to 1, not 1.5",
        "w.csv:4: expected item, item, distance",
        "w.csv:5:",
        "w.csv:6:",
        "w.csv:7:",
    ),
    with_file(
        "--penalties",
        "y.csv",
        'a,1\nb,much\nc\nd,-1\ne,nan\nf,inf\n"a,1\na,1\na,2\n',
        "y.csv: 6 lines are not item,penalty with a number of at least 0: line 2, line 3, line 4,",
        "y.csv:9: item 'a' has another penalty already",
    ),
]

TOML = [
    toml("no file", "km = 2\nk = 2\nprivacy = 'gone.txt'", "gone.txt: no such file"),
    toml("syntax", "k = 2\nkm = \n", "p.toml:2: not TOML"),
    toml("monstrous number", f"k = {'1' * 5000}\n", "p.toml", "not TOML"),
    toml("monstrous nesting", f"k = {'[' * 100_000}\n", "p.toml", "not TOML"),
    toml("mixed", b"k = 2\n# \xff\n# " + MIXED, "p.toml:2: not UTF-8"),
    toml(
        "keys and types, all at once",
        'k = 2\nkmm = 2\npgen = "yes"\n[utility]\nx = ["a"]\nk = 5\n',
        "p.toml:2: unknown key 'kmm'; did you mean 'km'?",
        "p.toml:3: pgen must be true or false",
        "p.toml:6: in set 'k', 5 is not a set of items",
    ),
    toml("k is true", "k = true\nkm = 2\n", "p.toml:1: k must be a whole number"),
    toml("k is text", 'k = "2"\nkm = 2\n', "p.toml:1: k must be a whole number"),
    toml("s twice", "k = 2\nkm = 2\ns = 1\nmax-suppressed = 2\n", "p.toml:4: max-suppressed was"),
    toml("no sets", "k = 2\nprivacy = []\n", "p.toml:2: privacy is empty"),
    toml("no private", "k = 2\nkm = 2\nprivate = []\n", "p.toml:3: private is empty"),
    toml(
        "private and linkable",
        "k = 2\nkm = 2\nlinkable = ['a', 'b']\nprivate = ['b']\nh = 20\n",
        "p.toml:4: item 'b' is private",
    ),
    toml("h is no number", "k = 2\nkm = 2\nprivate = ['b']\nh = 'x'\n", "p.toml:4: h must be"),
    toml("no linkable", "k = 2\nkm = 2\nlinkable = []\n", "p.toml:3: linkable is empty"),
    toml("rest", "k = 2\nkm = 2\nrest = 'alone'\n", "together or intact, not 'alone'"),
    toml(
        "unknown items",
        "k = 2\nkm = 2\nlinkable = ['a', 'B']\nprivacy = [['a', 'zz']]\n[utility]\nx = ['F']\n",
        "p.toml:4: item 'zz' does not occur",
        "p.toml:3: item 'B' does not occur in the data; near: 'b'",
        "p.toml:6: item 'F' does not occur in the data; near: 'f'",
    ),
]

GOOD_MAP = '{"items": {"a": "a", "b": "b"}, "groups": {"a": ["a"], "b": ["b"]}}'


def mapping(what: str, content: str, *says: str) -> Bad:
    return Bad(
        f"mapping: {what}",
        "apply d.dat --use m.json -k 2 --km 2 -o o.dat --mapping map.json",
        says,
        files={"m.json": content},
    )


MAPPINGS = [
    mapping("not JSON", '{"items":\n oops}', "m.json:2: not JSON"),
    mapping("a list", "[]", 'm.json: expected {"items"'),
    mapping("no groups", '{"items": {}}', "m.json: expected"),
    mapping("key twice", '{"items": {"a": "a", "a": null}, "groups": {}}', "m.json:", "twice"),
    mapping("wrong label", GOOD_MAP.replace('"b": "b"', '"b": "a"'), "m.json: item 'b' has label"),
    mapping("no such item", GOOD_MAP.replace('["b"]', '["b", "q"]'), "m.json: group 'b' has 'q'"),
    mapping("two groups", GOOD_MAP.replace('["b"]', '["a", "b"]'), "m.json: item 'a' is in"),
    mapping("not a label", GOOD_MAP.replace('"b": "b"', '"b": 7'), "m.json:", "not 7"),
    mapping("missing", GOOD_MAP, "m.json: 4 items of the data are not in the mapping: 'c', 'd',"),
]

OUTPUTS = [
    Bad("json and -", "anonymize d.dat -k 2 --km 2 --json -o -", ("both want standard output",)),
    Bad("pgen, json and -", "pgen d.dat -k 2 --json -o -", ("both want standard output",)),
    Bad("no -o", "anonymize d.dat -k 2 --km 2", ("Missing option '-o'",)),
    Bad("unknown option", anonymize("--linkabel x"), ("No such option", "--linkable")),
    Bad("unknown command", "anonymise d.dat", ("No such command 'anonymise'",)),
    Bad("no command", "", ("Usage: overcoat",)),
    Bad("no data", "anonymize", ("Missing argument 'DATA'",)),
    Bad("no folder", "anonymize d.dat -k 2 --km 2 -o no/o.dat", ("no/o.dat: cannot be written",)),
    Bad("directory", "anonymize d.dat -k 2 --km 2 -o s", ("s: is a directory",), {"s/x": ""}),
    Bad("device", "anonymize d.dat -k 2 --km 2 -o /dev/null", ("/dev/null: is not a regular",)),
    Bad(
        "mapping folder",
        "anonymize d.dat -k 2 --km 2 -o o.dat --mapping no/m.json",
        ("no/m.json: cannot be written",),
    ),
    Bad("one file", anonymize("").replace("map.json", "./o.dat"), ("two outputs", "one file")),
    Bad(
        "onto the input",
        "anonymize d.dat -k 2 --km 2 -o ./d.dat",
        ("d.dat: is an input; name another file for the output",),
    ),
    Bad(
        "mapping onto the input",
        "anonymize d.dat -k 2 --km 2 -o o.dat --mapping d.dat",
        ("d.dat: is an input; name another file for the output",),
    ),
    Bad(
        "pgen onto the input",
        "pgen d.dat -k 2 -o d.dat",
        ("d.dat: is an input; name another file for the output",),
    ),
    Bad("mapping to -", "anonymize d.dat -k 2 --km 2 -o o.dat --mapping -", ("needs a file",)),
    Bad("pgen folder", "pgen d.dat -k 2 -o no/p.txt", ("no/p.txt: cannot be written",)),
    Bad("demo in a file", "demo --out d.dat", ("d.dat",)),
    Bad(
        "text cannot hold lists",
        "anonymize d.dat -k 2 --km 2 -o o.csv --to list",
        ("o.csv: lists need Parquet",),
    ),
    Bad(
        "white space",
        "anonymize d.csv -k 2 --km 2 -o o.dat",
        ("item 'a b' contains white space", ".csv"),
        files={"d.csv": "a b,c\na b,c\n"},
    ),
    Bad("no mapping", "verify d.dat d.dat -k 2 --km 2", ("Missing option '--mapping'",)),
    Bad(
        "no released file",
        "verify d.dat no.dat --mapping m.json -k 2 --km 2",
        ("no.dat: no such file",),
        files={"m.json": GOOD_MAP},
    ),
]

INFEASIBLE = [
    Bad(
        "infeasible",
        anonymize("--rest intact -s 20", k="-k 5"),
        (
            "the policy cannot be met within s = 20 % (at most 1 of 6 items suppressed)",
            "5 items (83.33 %) would have had to go",
            "constraints that could not be met",
            "  {c}",
            "would have been suppressed: b, c, d, e, f",
            "a larger s",
        ),
        status=3,
    ),
]

TABLE = [
    *DATA_FILES,
    *TEXTS,
    *FOLDERS,
    *SETS,
    *NUMBERS,
    *TREES,
    *NUMBER_FILES,
    *TOML,
    *MAPPINGS,
    *OUTPUTS,
    *INFEASIBLE,
    *(Bad(*row) for row in SOURCES),
]


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: bad.what)
@pytest.mark.parametrize("earlier", [False, True], ids=["", "earlier"])
def test_bad_input(desk: Desk, bad: Bad, earlier: bool) -> None:
    desk.write(bad.files)
    if earlier:
        desk.write({"o.dat": "an earlier release\n", "map.json": "an earlier mapping\n"})
    before = desk.files()

    done = desk.run(*words(bad.arguments))

    assert done.status == bad.status, done.err
    position = 0
    for said in bad.says:
        assert said in done.err[position:], done.err
        position = done.err.index(said, position)
    assert "Traceback" not in done.err
    assert "hush" not in done.err, "the password"
    assert desk.files() == before
    if "--json" not in bad.arguments:
        assert done.out == b""


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: bad.what)
def test_bad_input_as_json(desk: Desk, bad: Bad) -> None:
    desk.write(bad.files)
    done = desk.run(*words(bad.arguments), "--json")

    assert done.status == bad.status
    content = done.json
    assert content["exit_code"] == bad.status
    assert content["error"]
    assert content.get("verified", False) is False
    for problem in content.get("problems", []):
        assert set(problem) == {"message", "file", "line"}
        where = ":".join(str(p) for p in (problem["file"], problem["line"]) if p is not None)
        assert f"{where}: {problem['message']}".removeprefix(": ") in done.err
    if bad.status == 3:
        assert content["unmet"] == [["c"], ["d"], ["e"], ["f"]]
        assert content["would_be_suppressed"] == ["b", "c", "d", "e", "f"]
        assert content["needed_percent"] == pytest.approx(500 / 6)
        assert content["max_suppressed"] == 20


@dataclass(frozen=True)
class Odd:
    """Worth a note, and no more."""

    privacy: str
    notes: tuple[str, ...]
    more: str = ""


UNKNOWN = "--ignore-unknown"
NOTES = [
    Odd("a b\nb a\n", ("p.txt:2: the set was given before (line 1)",)),
    Odd("a b c d e\n", ("p.txt:1: the set has 5 items, the largest transaction 3",)),
    Odd("a a\n", ("p.txt:1: item 'a' stands twice",)),
    Odd("a zz\n", ("p.txt:1: item 'zz' does not occur in the data and is left out",), UNKNOWN),
    Odd("a b\n", ("k = 1 protects nobody",), "-k 1"),
]


@pytest.mark.parametrize("odd", NOTES, ids=lambda odd: odd.notes[0])
def test_a_note_is_no_error(desk: Desk, odd: Odd) -> None:
    desk.write({"p.txt": odd.privacy})
    command = f"anonymize d.dat -k 2 --privacy p.txt {odd.more} -o o.dat"

    done = desk.run(*words(command))
    assert done.status == 0
    for note in odd.notes:
        assert f"note: {note}" in done.err
    assert any(odd.notes[0] in note for note in desk.run(*words(command), "--json").json["notes"])
    assert desk.run(*words(command), "-q").err == ""


def test_a_file_full_of_strangers_is_told_once_and_soon(desk: Desk) -> None:
    desk.write({"p.txt": "A x0\n\n" + "".join(f"x{number}\n" for number in range(1, 2000))})
    run = words("anonymize d.dat -k 2 --privacy p.txt -o o.dat")
    done = desk.run(*run)
    assert done.status == 2
    assert done.err == (
        "overcoat: error: p.txt: 2,001 items do not occur in the data: 'A' (line 1, near: 'a'), "
        "'x0' (line 1), 'x1' (line 3), …\n"
        "if these are no typing errors but codes that nobody has this time: ignore_unknown "
        "(--ignore-unknown) lets a policy name any; known (--known FILE) those of a list\n"
    )
    told = desk.run(*run, "--json").json["error"]
    assert told["message"] in done.err
    assert len(told["problems"]) == 300
    assert told["problems"][2] == {
        "message": "item 'x1' does not occur in the data",
        "file": "p.txt",
        "line": 3,
    }


# Five things of one kind, what is told of them, and where.
KINDS = [
    Bad(
        "utility sets that overlap",
        anonymize("--utility u.txt"),
        ("u.txt: 5 items are in another set already: 'a' (line 2), 'b' (line 2), 'c' (line 3), …",),
        files={"u.txt": "a b c d e\nb a\nd c\ne\n"},
    ),
    Bad(
        "names of utility sets",
        anonymize("--utility u.txt"),
        ("u.txt: 4 names were given before: 'x' (line 2), 'x' (line 3), 'x' (line 4), …",),
        files={"u.txt": "x: a\nx: b\nx: c\nx: d\nx: e\n"},
    ),
    Bad(
        "empty sets",
        anonymize("--privacy p.json", km=""),
        ("p.json: 4 sets are empty: line 1, line 2, line 3, …",),
        files={"p.json": "[[],\n[],\n[],\n[]]"},
    ),
    Bad(
        "no sets",
        anonymize("--privacy p.json", km=""),
        ("p.json: 4 entries are no sets of items: 1 (line 1), 2 (line 1), 3 (line 1), …",),
        files={"p.json": "[1,2,3,4]"},
    ),
    Bad(
        "no strings",
        anonymize("--privacy p.json", km=""),
        ("p.json: 4 items are not strings: 1 (line 1), 2 (line 1), 3 (line 1), …",),
        files={"p.json": "[[1,2,3,4]]"},
    ),
    Bad(
        "private and linkable",
        anonymize("--private q.txt --linkable l.txt"),
        ("q.txt: 4 items are private and cannot be linkable too: 'a' (line 1), 'b' (line 1),",),
        files={"q.txt": "a b c d\n", "l.txt": "a b c d\n"},
    ),
    Bad(
        "broken quotes",
        anonymize("--privacy p.txt --sep ,", data="c.csv", km=""),
        ("p.txt: 4 lines have quotes that are not in order: line 1, line 2, line 3, …",),
        files={"p.txt": 'a"b\n' * 4, "c.csv": "a,b\n"},
    ),
    Bad(
        "items without a path",
        anonymize("--hierarchy h.csv"),
        (
            "h.csv: 5 items of the data are not in the hierarchy: 'b' (an inner node there, not a "
            "leaf), 'c', 'd', …",
        ),
        files={"h.csv": "a;b;*\n"},
    ),
    Bad(
        "paths",
        anonymize("--hierarchy h.csv"),
        (
            "h.csv: 4 leaves have a path already: 'a' (line 2), 'a' (line 3), 'a' (line 4), …",
            "h.csv: 4 paths do not end in the root; the root is '*' (line 1): 'b' (line 6), 'c'",
            "h.csv: 4 paths have an empty name: line 10, line 11, line 12, …",
            "h.csv: 4 paths lack at least a leaf and a root: leaf;parent;…;root: line 14, line 15,",
        ),
        files={
            "h.csv": "a;*\n" * 5 + "".join(f"x{x};{x}\n" for x in "bcde") + "y;;*\n" * 4 + "z\n" * 4
        },
    ),
    Bad(
        "parents",
        anonymize("--hierarchy h.csv"),
        (
            "h.csv: 4 leaves have a node twice on their path: 'x' (line 1), 'x' (line 2),",
            "h.csv: 4 nodes have another parent than before: 'n' below '*' (line 6), 'n' below",
        ),
        files={
            "h.csv": "x;y;y;*\n" * 4 + "a;n;m;*\n" + "".join(f"{leaf};n;*\n" for leaf in "bcde")
        },
    ),
    Bad(
        "distances",
        anonymize("--distances w.csv"),
        (
            "w.csv: 4 lines have no distance from 0 to 1: line 1, line 2, line 3, …",
            "w.csv: 4 lines are not item, item, distance: line 5, line 6, line 7, …",
            "w.csv: 4 distances were given before, as others: 'a' and 'b' (line 10), 'b' and 'a'",
        ),
        files={"w.csv": "a,b,2\n" * 4 + "a\n" * 4 + "a,b,1\na,b,0\nb,a,0.5\na,b,0.1\na,b,0.2\n"},
    ),
    Bad(
        "penalties",
        anonymize("--penalties y.csv"),
        (
            "y.csv: 4 lines are not item,penalty with a number of at least 0: line 1, line 2,",
            "y.csv: 4 items have another penalty already: 'a' (line 6), 'a' (line 7), 'a' (line 8)",
        ),
        files={"y.csv": "a,x\n" * 4 + "a,1\na,2\na,3\na,4\na,5\n"},
    ),
    mapping(
        "many faults",
        '{"items": {"a": "x", "b": "x", "c": "x", "d": "x"},"groups": {"x": ["q", "r", "s", "t"]}}',
        "m.json: 4 members of groups are no items of the mapping: 'q', 'r', 's', …",
        "m.json: 4 items have other labels than groups say: 'a', 'b', 'c', …",
    ),
    mapping(
        "items twice",
        '{"items": {"a": "x"}, "groups": {"x": ["a", "a", "a", "a", "a"]}}',
        "m.json: 4 items are in a group twice or in two groups: 'a', 'a', 'a', …",
    ),
    mapping(
        "items it does not know",
        '{"items": {"a": "a"}, "groups": {"a": ["a"]}}',
        "m.json: 5 items of the data are not in the mapping: 'b', 'c', 'd', …",
    ),
    with_data(
        "ragged.csv",
        LONG + "4\n" * 5,
        "ragged.csv: 5 lines have not the 2 fields of the header: 1 fields (line 7), 1 fields",
        more=COLUMNS,
    ),
    Bad(
        "white space",
        "anonymize d.csv -k 2 --km 2 -o o.dat",
        ("o.dat: 4 items contain white space, which separates the items of this layout; write",),
        files={"d.csv": "a 1,a 2,a 3,a 4\n" * 2},
    ),
]


@pytest.mark.parametrize("bad", KINDS, ids=lambda bad: bad.what)
def test_one_kind_is_told_once(desk: Desk, bad: Bad) -> None:
    desk.write(bad.files)
    done = desk.run(*words(bad.arguments))
    assert done.status == bad.status
    begins = "overcoat: error: "  # what follows a problem, such as a cure, does not
    told = [line.removeprefix(begins) for line in done.err.splitlines() if line.startswith(begins)]
    assert len(told) == len(bad.says), done.err
    for line, said in zip(told, bad.says, strict=True):
        assert line.startswith(said), line


def test_one_kind_of_note_is_told_once(desk: Desk) -> None:
    desk.write({"p.txt": "a b\na zz\na yy xx\nb a ww\n" + "a b\n" * 4})
    run = words("anonymize d.dat -k 2 --privacy p.txt --ignore-unknown -o o.dat")
    notes = [
        "p.txt: 4 items do not occur in the data and are left out: 'zz' (line 2), 'yy' (line 3), "
        "'xx' (line 3), …",
        "p.txt: 6 sets were given before: line 3, line 4, line 5, …",
    ]
    done = desk.run(*run)
    assert [line for line in done.err.splitlines() if line.startswith("note: p.txt")] == [
        f"note: {note}" for note in notes
    ]
    assert desk.run(*run, "--json").json["notes"][:2] == notes


def test_the_second_of_two_sets_of_one_name_is_protected_too(desk: Desk) -> None:
    # JSON readers keep the last of two equal keys; here that would leave people unprotected.
    desk.write({"p.json": '{"x": ["a", "b"],\n "x": ["c", "d"]}'})
    done = desk.run("anonymize", "d.dat", "-k", "2", "--privacy", "p.json", "-o", "o.dat", "--json")
    assert done.json["n_constraints"] == 2


def test_a_hierarchy_with_a_very_long_name(desk: Desk) -> None:
    """Longer than the csv module takes."""
    long = "x" * 140_000
    desk.write({"h.csv": "".join(f"{item};{long};*\n" for item in "abcdef")})
    run = words("anonymize d.dat -k 2 --km 2 --hierarchy h.csv -o o.dat")
    assert desk.run(*run).status == 0
    desk.write({"h.csv": f'a;"{long};*\n'})
    done = desk.run(*run, "-q")
    assert done.status == 2
    assert done.err == "overcoat: error: h.csv:1: a quote opens here and never closes\n"
