"""Next month: --start, what it keeps, what it says, what it refuses."""

from __future__ import annotations

import json

import pytest

from .command import DATA, Desk, words

POLICY = words("-k 2 --km 2 -s 20")
LATER = DATA + "a x\nb x\nx\ng\ng\n"


@pytest.fixture
def month(desk: Desk) -> Desk:
    """A release of last month, and this month's data with two new items."""
    first = desk.run("anonymize", "d.dat", *POLICY, *words("-o o.dat --mapping map.json"))
    assert first.status == 0, first.err
    desk.write({"later.dat": LATER})
    return desk


def start(desk: Desk, *more: str, data: str = "later.dat") -> list[str]:
    return ["anonymize", data, *POLICY, *words("--start map.json -o l.dat --mapping l.json"), *more]


def test_groups_are_kept(month: Desk) -> None:
    done = month.run(*start(month), "--json")
    assert done.status == 0, done.err
    before, after = month.mapping()["groups"], month.mapping("l.json")["groups"]
    for items in before.values():
        assert any({*items} <= {*group} for group in after.values())
    for label in before.keys() & after.keys():
        assert before[label] == after[label]
    moved = done.json["moved"]
    assert moved["start"] == "map.json"
    assert moved["split"] == []
    assert set(moved["new"]) == {"g", "x"}
    assert moved["new"] == {item: month.mapping("l.json")["items"][item] for item in "gx"}
    assert moved["kept"] + len(moved["grew"]) + len(moved["joined"]) == len(before)
    done = month.run("verify", "later.dat", "l.dat", "--mapping", "l.json", *POLICY)
    assert done.status == 0, done.err


def test_what_moved_is_said(month: Desk) -> None:
    done = month.run(*start(month))
    assert "since then  " in done.err
    assert "2 new items" in done.err
    assert "0 split" in done.err
    # Without a start there is nothing to say.
    done = month.run("anonymize", "later.dat", *POLICY, *words("-o m.dat --json"))
    assert done.json["moved"] is None


def test_suppressed_items_stay_suppressed(desk: Desk) -> None:
    content = {"items": {"a": "a", "b": None}, "groups": {"a": ["a"]}}
    desk.write({"map.json": json.dumps(content), "later.dat": "a b\n" * 9 + "c\n" * 9})
    done = desk.run(*start(desk), "-s", "40", "--json")
    assert done.status == 0, done.err
    assert done.json["suppressed"] == ["b"]
    # They count: less than one of three is too little, whatever the policy asks for.
    done = desk.run(*start(desk), "-s", "30", "-o", "none.dat")
    assert done.status == 3
    assert "1 item of these was suppressed by the mapping that was started from" in done.err
    assert "constraints that could not" not in done.err
    assert "none.dat" not in desk.files()
    desk.write({"u.txt": "A: a b\nC: c\n"})
    done = desk.run(*start(desk), "-s", "30", "-o", "none.dat", "--utility", "u.txt")
    assert done.status == 3
    assert "would do" not in done.err


def test_items_that_are_gone_stay_in_their_group(month: Desk) -> None:
    month.write({"less.dat": "a b\n" * 5 + "c\n" * 5})
    done = month.run(*start(month, data="less.dat"))
    assert done.status == 0, done.err
    assert {*month.mapping("l.json")["items"]} == {*"abcdef"}
    # The month after, they are where they were.
    again = ["anonymize", "d.dat", *POLICY, *words("--start l.json -o n.dat --mapping n.json")]
    done = month.run(*again)
    assert done.status == 0, done.err
    groups = month.mapping("n.json")["groups"].values()
    for items in month.mapping()["groups"].values():
        assert any({*items} <= {*group} for group in groups)


def test_a_new_item_is_placed_with_its_nearest(desk: Desk) -> None:
    paths = [
        ("401", "40", "*"),
        ("402", "40", "*"),
        ("403", "40", "*"),
        ("404", "40", "*"),
        *((str(n), str(n // 10), "*") for n in (501, 502, 601)),
    ]
    groups = {"(401|402|403)": ["401", "402", "403"], "501": ["501"], "502": ["502"]}
    items = {item: label for label, members in groups.items() for item in members}
    rows = "401\n402\n403\n501\n502\n" * 5
    desk.write(
        {
            "tree.txt": "".join(";".join(path) + "\n" for path in paths),
            "map.json": json.dumps({"items": items, "groups": groups}),
            "later.dat": rows + "404\n" + "601\n" * 5,
        }
    )
    done = desk.run(*start(desk), "--hierarchy", "tree.txt", "--json")
    assert done.status == 0, done.err
    found = desk.mapping("l.json")["groups"]
    assert found["(401|402|403|404)"] == ["401", "402", "403", "404"]
    # What nobody asked for is as it was; and so is a new item that nothing is wrong with.
    assert {"501", "502", "601"} <= {*found}
    # COAT alone takes the smallest, however far away.
    done = desk.run(*start(desk), "--json")
    assert desk.mapping("l.json")["items"]["404"] == "(404|501)"


@pytest.mark.parametrize("algorithm", ["apriori", "greedy"])
def test_methods_that_cannot(month: Desk, algorithm: str) -> None:
    done = month.run(*start(month), "--algorithm", algorithm, "--hierarchy", "balanced:2")
    assert done.status == 2
    assert f"{algorithm} cannot go on from an earlier mapping (start)" in done.err
    assert "l.dat" not in month.files()


def test_pcta_can(month: Desk) -> None:
    done = month.run(*start(month), "--algorithm", "pcta", "--json")
    assert done.status == 0, done.err
    assert done.json["moved"]["split"] == []


@pytest.mark.parametrize(
    ("content", "status", "says"),
    [
        ("{", 2, "map.json:1: not JSON"),
        ("[]", 2, 'map.json: expected {"items": {…}, "groups": {…}}'),
        ('{"items": {"a": "g"}, "groups": {}}', 2, "map.json: "),
        (
            '{"items": {"tea": "tea"}, "groups": {"tea": ["tea"]}}',
            2,
            "map.json: knows none of the items of these data",
        ),
        (None, 2, "map.json"),
    ],
)
def test_bad_starts(desk: Desk, content: str | None, status: int, says: str) -> None:
    desk.write({"later.dat": LATER, "l.dat": "earlier\n"})
    if content is not None:
        desk.write({"map.json": content})
    before = desk.files()
    done = desk.run(*start(desk), "--json")
    assert done.status == status
    assert says in done.err
    assert done.json["error"]["kind"] == "mapping"
    assert desk.files() == before


def test_groups_across_utility_sets_are_named(desk: Desk) -> None:
    groups = {"(a|b)": ["a", "b"], "(c|d)": ["c", "d"], "(e|f)": ["e", "f"]}
    items = {item: label for label, members in groups.items() for item in members}
    content = json.dumps({"items": items, "groups": groups})
    desk.write({"map.json": content, "later.dat": LATER, "u.txt": "A: a c d\nB: b\n"})
    done = desk.run(*start(desk), "--utility", "u.txt")
    assert done.status == 2
    assert "map.json: the group '(a|b)' reaches across utility sets (a is in A, b is in B)" in (
        done.err
    )
    assert "(c|d)" not in done.err
    # Items to be left alone are not; and items that do not occur any more count, too.
    done = desk.run(*start(desk), "--utility", "u.txt", "--rest", "intact")
    assert "the group '(e|f)' is of items that are to be left alone (rest: intact)" in done.err
    desk.write({"less.dat": "a\n" * 5 + "c\n" * 5})
    done = desk.run(*start(desk, data="less.dat"), "--utility", "u.txt")
    assert done.status == 2
    assert "a is in A, b is in B" in done.err


def test_a_release_is_not_the_next_month(month: Desk) -> None:
    done = month.run(*start(month, data="o.dat"))
    assert done.status == 2
    assert "they look like a release; give the original" in done.err


def test_the_start_is_not_overwritten(month: Desk) -> None:
    before = month.files()
    done = month.run("anonymize", "later.dat", *POLICY, *words("--start map.json -o map.json"))
    assert done.status == 2
    assert month.files() == before


def test_a_label_that_is_an_item_by_now(desk: Desk) -> None:
    content = {"items": {"a": "x", "b": "x"}, "groups": {"x": ["a", "b"]}}
    desk.write({"map.json": json.dumps(content), "later.dat": "a b\n" * 5 + "x\n" * 5 + "y\n" * 5})
    done = desk.run(*start(desk))
    assert done.status == 0, done.err
    assert desk.mapping("l.json")["items"] == {"a": "(a|b)", "b": "(a|b)", "x": "x", "y": "y"}


def test_the_codebook_has_both_labels(month: Desk) -> None:
    done = month.run(*start(month), "--codebook", "book.csv")
    assert done.status == 0, done.err
    head, *rows = (line.split(",") for line in month.lines("book.csv"))
    assert head[-1] == "earlier_label"
    before, after = month.mapping()["items"], month.mapping("l.json")["items"]
    assert {row[0]: row[2] for row in rows} == {item: after[item] or "" for item in after}
    assert {row[0]: row[-1] for row in rows} == {item: before.get(item) or "" for item in after}
    done = month.run(*start(month), "--codebook", "book.xlsx")
    assert done.status == 0, done.err


def test_apply_proposes_it(month: Desk) -> None:
    command = ["apply", "later.dat", "--use", "map.json", *POLICY, "-o", "l.dat"]
    done = month.run(*command)
    assert done.status == 2
    proposed = "overcoat anonymize later.dat --start map.json -k 2 --km 2 -s 20 -o l.dat"
    assert f"  {proposed} --mapping NEW.json\n" in done.err
    # And it does.
    done = month.run(*words(proposed)[1:], "--mapping", "NEW.json")
    assert done.status == 0, done.err
    # So it is when crowds have become too small.
    done = month.run("apply", "d.dat", "--use=map.json", *words("-k 8 --km 2 -s 20 -o l.dat"))
    assert done.status == 4
    assert "  overcoat anonymize d.dat --start=map.json -k 8" in done.err


def test_apply_does_not_propose_what_cannot_help(month: Desk) -> None:
    month.write({"u.txt": "A: a\nB: b\nC: c\nD: d\nE: e\nF: f\n"})
    done = month.run(
        "apply", "d.dat", "--use", "map.json", *POLICY, "-o", "n.dat", "--utility", "u.txt"
    )
    assert done.status == 4
    assert "--start" not in done.err


def test_explain_goes_on_as_well(month: Desk) -> None:
    assert month.run(*start(month)).status == 0
    asked = ["x", "later.dat", *POLICY, "--mapping", "l.json", "--start", "map.json"]
    done = month.run("explain", *asked)
    assert done.status == 0, done.err
    assert "is not what this method finds" not in done.err


def test_proposals_go_on_as_well(desk: Desk) -> None:
    """Sets name what only the earlier month had, and stay whole in what is proposed."""
    groups = {"(a|b)": ["a", "b"], "(c|d)": ["c", "d"], "e": ["e"], "f": ["f"]}
    items: dict[str, str | None] = {i: label for label, of in groups.items() for i in of}
    content = json.dumps({"items": items | {"g": None}, "groups": groups})
    rows = "a c\n" + "a e\na\nc\nc e\ne\nf\n" * 4
    desk.write({"map.json": content, "later.dat": rows, "u.txt": "A: a b\nC: c d\nE: e\n"})
    run = words("anonymize later.dat -k 3 --km 2 --utility u.txt --start map.json -s 15")
    done = desk.run(*run, *words("-o l.dat --mapping l.json --suggest ways"))
    assert done.status == 3, done.err
    ways = sorted(path.name for path in (desk.folder / "ways").glob("*.toml"))
    assert {"m.toml", "sets.toml", "suppress.toml"} <= {*ways}
    for way in ways:
        again = words(f"anonymize later.dat --policy ways/{way} --start map.json --json")
        done = desk.run(*again, *words("-o l.dat --mapping l.json --certificate c.json"))
        assert done.status == 0, (way, done.err)
        assert done.json["moved"]["split"] == []
        check = words(f"verify later.dat l.dat --mapping l.json --policy ways/{way}")
        assert desk.run(*check, "--certificate", "c.json").status == 0
