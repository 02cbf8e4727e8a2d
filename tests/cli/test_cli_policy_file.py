"""`policy.toml`, and what may be named although it does not occur."""

from __future__ import annotations

import pytest

from cli.command import Desk, words

TREE = "".join(f"{leaf};x;*\n" for leaf in "abcd") + "e;y;*\nf;y;*\ng;y;*\n"
OUT = ("-o", "o.dat", "--mapping", "map.json")


def outcome(desk: Desk, *arguments: str) -> tuple[bytes, bytes]:
    done = desk.run("anonymize", "d.dat", *arguments, *OUT)
    assert done.status == 0, done.err
    return desk.read("o.dat"), desk.read("map.json")


def test_everything_in_one_file(desk: Desk) -> None:
    desk.write(
        {
            "policies/sets/private.txt": "# two\na b\nworst: c d\n",
            "policies/sets/tree.csv": TREE,
            "policies/sets/utility.txt": "left: a b c d\nright: e f\n",
            "policies/sets/linkable.txt": "a b c\nd e\n",
            "policies/sets/penalties.csv": "a,0.5\nb,1\n",
            "policies/files.toml": """
                k = 3
                s = 40
                privacy = "sets/private.txt"
                km = 2
                linkable = "sets/linkable.txt"
                utility = "sets/utility.txt"
                rest = "intact"
                hierarchy = "sets/tree.csv"
                penalties = "sets/penalties.csv"
                algorithm = "coat"
                ignore-unknown = false
            """,
            "inline.toml": """
                k = 3
                max_suppressed = 40
                km = 2
                linkable = ["a", "b", "c", "d", "e"]
                rest = "intact"
                hierarchy = "policies/sets/tree.csv"
                privacy = [["a", "b"], ["d", "c"]]
                penalties = {a = 0.5, b = 1}

                [utility]
                left = ["a", "b", "c", "d"]
                right = ["e", "f"]
            """,
            "array.toml": """
                k = 3
                max-suppressed = 40.0
                privacy = {x = ["a", "b"], worst = ["c", "d"]}
                utility = [["a", "b", "c", "d"], ["e", "f"]]
            """,
        }
    )
    sets = "policies/sets"
    by_hand = outcome(
        desk,
        *words("-k 3 -s 40 --km 2 --rest intact"),
        *words(f"--privacy {sets}/private.txt --linkable {sets}/linkable.txt"),
        *words(f"--utility {sets}/utility.txt --hierarchy {sets}/tree.csv"),
        *words(f"--penalties {sets}/penalties.csv"),
    )
    assert outcome(desk, "--policy", "policies/files.toml") == by_hand
    assert outcome(desk, "--policy", "inline.toml") == by_hand
    more = f"--rest intact --km 2 --linkable {sets}/linkable.txt --hierarchy {sets}/tree.csv"
    assert outcome(desk, "--policy", "array.toml", *words(more)) == by_hand


def test_names_of_sets_are_told(desk: Desk) -> None:
    desk.write(
        {"p.toml": "k = 2\nkm = 1\n[utility]\nleft = ['a', 'b', 'c', 'd']\nright = ['e', 'f']\n"}
    )
    run = words("anonymize d.dat --policy p.toml -s 40 -o o.dat")
    assert "1 count of 2 kept: left" in desk.run(*run).err
    named, _ = desk.run(*run, "--json").json["named_sets"]
    assert (named["name"], named["before"], named["after"], named["exact"]) == ("left", 6, 6, True)


def test_options_win(desk: Desk) -> None:
    desk.write(
        {
            "p.toml": "k = 2\ns = 1\nkm = 1\nrest = 'intact'\nprivacy = 'gone.txt'\npgen = true\n",
            "p.txt": "a b\n",
            "u.txt": "a b c d e f\n",
        }
    )
    more = words("-k 4 -s 50 --km 2 --rest together --privacy p.txt --utility u.txt")
    done = desk.run("anonymize", "d.dat", "--policy", "p.toml", *more, *OUT, "--json")
    assert done.status == 0, done.err
    content = done.json
    assert content["k"] == 4
    assert content["max_suppressed"] == 50
    families = [family["family"] for family in content["families"]]
    assert families == [
        "itemsets of p.txt",
        "all 2-itemsets",
        "every part of every transaction (Pgen)",
    ]
    both = ("--policy", "p.toml", *more)
    done = desk.run("verify", "d.dat", "o.dat", "--mapping", "map.json", *both)
    assert done.status == 0, done.err


def test_several_privacy_files(desk: Desk) -> None:
    desk.write({"p.txt": "a b\nc d\n", "q.json": '{"x": ["e", "f"]}'})
    run = words("anonymize d.dat -k 2 --privacy p.txt --privacy q.json -o o.dat --json")
    assert desk.run(*run).json["n_constraints"] == 3


@pytest.mark.parametrize(
    "known",
    ["g\nh\nzz\n", TREE + "h;y;*\nzz;y;*\n", '"g",a description\nh,another\nzz,a third\n'],
    ids=["codes", "hierarchy", "table"],
)
def test_known_codes_may_be_absent(desk: Desk, known: str) -> None:
    desk.write({"known.csv": known, "p.txt": "a g\nh zz\nb e\n", "u.txt": "x: a b g\nempty: zz\n"})
    run = words("anonymize d.dat -k 2 --privacy p.txt --utility u.txt -o o.dat --json")
    done = desk.run(*run)
    assert done.status == 2
    for where in ("p.txt:1: item 'g'", "p.txt:2: item 'h'", "p.txt:2: item 'zz'"):
        assert f"{where} does not occur in the data" in done.err
    assert "u.txt:1: item 'g'" in done.err
    assert "u.txt:2: item 'zz'" in done.err

    done = desk.run(*run, "--known", "known.csv")
    assert done.status == 0, done.err
    assert done.json["n_constraints"] == 2
    assert "p.txt:1: item 'g' does not occur in the data and is left out" in done.json["notes"]

    desk.write({"p.txt": "a gg\n"})
    done = desk.run(*run, "--known", "known.csv")
    assert done.status == 2
    assert "p.txt:1: item 'gg' does not occur in the data" in done.err
    assert "u.txt" not in done.err

    done = desk.run(*run, "--ignore-unknown")
    assert done.status == 0
    assert sum("does not occur" in note for note in done.json["notes"]) == 3


def test_known_in_the_policy_file(desk: Desk) -> None:
    desk.write({"sub/codes.txt": "g\n", "sub/p.toml": "k = 2\nkm = 2\nknown = 'codes.txt'\n"})
    desk.write({"p.txt": "a g\n"})
    run = words("anonymize d.dat --policy sub/p.toml --privacy p.txt -o o.dat")
    assert desk.run(*run).status == 0


def test_items_nobody_has_change_nothing(desk: Desk) -> None:
    desk.write({"p.txt": "a b\n", "q.txt": "a b\na zz\n", "h.csv": TREE})
    policy = words("-k 3 --km 2 -s 20 --hierarchy h.csv")
    plain = outcome(desk, *policy, "--privacy", "p.txt")
    assert outcome(desk, *policy, "--privacy", "q.txt", "--ignore-unknown") == plain


def test_sets_are_split_as_the_data(desk: Desk) -> None:
    rows = [("a", "b c"), ("a",), ("b c", "d"), ("a", "d")]
    desk.write(
        {
            "d.csv": "".join(",".join(row) + "\n" for row in rows),
            "d.txt": "".join(";".join(row) + "\n" for row in rows),
            "comma.txt": "x: a, b c\n",
            "semi.txt": "x: a; b c\n",
        }
    )
    comma = desk.run(*words("anonymize d.csv -k 2 --privacy comma.txt -o o.csv"))
    assert comma.status == 0, comma.err
    semi = desk.run(*words("anonymize d.txt --sep ; -k 2 --privacy semi.txt -o o.txt"))
    assert semi.status == 0, semi.err
    assert desk.read("o.txt") == desk.read("o.csv").replace(b",", b";")


TOML = """k = 2  # utility = [
km = 2
rest = 'intact'
"""


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ('[utility]\none = ["a", "u1"]\n"t: ]w" = [\n "b",\n "u2",\n]\n', (5, 6)),
        ('utility.one = ["a", "u1"]\nutility.two = ["u2"]\n', (4, 5)),
        ('utility = {one = ["a", "u1"], two = ["u2"]}\n', (4, 4)),
        ('utility = [\n # [\n ["a", "u1", \'[\'],\n ["b",\n "u2"], ]\n', (6, 7)),
        ('"utility" = [["a", "u1"], ["u2"]]\n', (4, 4)),
        ('[utility]\nu1 = "x"\nu2 = "x"\n', (5, 5)),
    ],
)
def test_a_set_is_found_on_its_line(desk: Desk, written: str, lines: tuple[int, ...]) -> None:
    desk.write({"p.toml": TOML + written})
    done = desk.run("anonymize", "d.dat", "--policy", "p.toml", *OUT)
    assert done.status == 2
    for item, line in zip(("u1", "u2"), lines, strict=True):
        assert f"p.toml:{line}: item '{item}' does not occur in the data" in done.err
