"""`verify` says no when it must; `apply` publishes next month under the mapping of this one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from cli.command import Desk, words

POLICY = ("-k", "2", "--km", "2")
APPLY = ("apply", "next.dat", "--use", "map.json", *POLICY, "-o", "next-out.dat")
VERIFY = ("verify", "d.dat", "o.dat", "--mapping", "map.json")


@pytest.fixture
def released(desk: Desk) -> Desk:
    desk.write({"u.txt": "x: a b c d\ny: e f\n"})
    done = desk.run(
        "anonymize", "d.dat", *POLICY, "--utility", "u.txt", *words("-s 40 -o o.dat"),
        "--mapping", "map.json",
    )  # fmt: skip
    assert done.status == 0, done.err
    return desk


def test_verify_says_yes(released: Desk) -> None:
    done = released.run(*VERIFY, *POLICY, "-s", "40", "--utility", "u.txt")
    assert (done.status, done.out) == (0, b"")
    assert "yes" in done.err
    assert released.run(*VERIFY, *POLICY, "-s", "40", "-q").err == ""


def spoil_map(change: Callable[[dict[str, Any]], None]) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        mapping = desk.mapping()
        change(mapping)
        desk.write({"map.json": json.dumps(mapping)})

    return spoil


def without_item(mapping: dict[str, Any]) -> None:
    label = mapping["items"].pop("a")
    mapping["groups"][label].remove("a")
    mapping["groups"] = {k: v for k, v in mapping["groups"].items() if v}


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        desk.write({"o.dat": "".join(f"{line}\n" for line in change(desk.lines("o.dat")))})

    return spoil


SPOILED: dict[str, tuple[Callable[[Desk], None], str, str]] = {
    "a row lost": (lines(lambda rows: rows[1:]), "rows", "times, the data give it"),
    "a row more": (lines(lambda rows: [*rows, rows[0]]), "rows", "times, the data give it"),
    "an item back": (lines(lambda rows: [*rows[:-1], "e"]), "rows", "which is no label"),
    "the original": (lambda desk: desk.write({"o.dat": desk.read("d.dat")}), "rows", "no label"),
    "an item unknown": (spoil_map(without_item), "mapping", "'a' is not in the mapping"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_verify_says_no_to_a_spoiled_release(released: Desk, how: str) -> None:
    spoil, kind, says = SPOILED[how]
    spoil(released)
    before = released.files()
    done = released.run(*VERIFY, *POLICY, "-s", "40", "-q")
    assert done.status == 4
    assert "verified    NO" in done.err
    assert kind in done.err
    assert says in done.err
    content = released.run(*VERIFY, *POLICY, "-s", "40", "--json").json
    assert content["verified"] is False
    assert kind in content["n_violations"]
    assert released.files() == before


@pytest.mark.parametrize(
    ("policy", "kind", "says"),
    [
        ("-k 5 --km 2 -s 40", "privacy", "fewer than k = 5"),
        ("-k 2 --pgen -s 0.5", "suppression", "more than s = 0.5 %"),
        ("-k 2 --km 2 -s 40 --utility cross.txt", "utility", "reaches across"),
    ],
)
def test_verify_says_no_to_another_policy(
    released: Desk, policy: str, kind: str, says: str
) -> None:
    groups = released.mapping()["groups"]
    merged = next(items for items in groups.values() if len(items) > 1)
    released.write({"cross.txt": f"one: {merged[0]}\nother: {merged[1]}\n"})
    done = released.run(*VERIFY, *words(policy))
    assert done.status == 4
    assert kind in done.err
    assert says in done.err


def test_apply(released: Desk) -> None:
    released.write({"next.dat": "a\nb c\nb d\nd\nc a b\ne\na b d\n"})
    done = released.run(*APPLY, "-s", "40", "--mapping", "next.json", "--json")
    assert done.status == 0, done.err
    assert done.json["verified"] is True
    assert done.json["n_transactions"] == 7
    label_of = released.mapping()["items"]
    rows = [line.split() for line in released.lines("next.dat")]
    wanted = sorted(sorted({label_of[item] for item in row} - {None}) for row in rows)
    assert [line.split() for line in released.lines("next-out.dat")] == wanted
    # The same mapping, known as that of another release.
    assert released.mapping("next.json").pop("release") != released.mapping().pop("release")
    assert released.mapping("next.json")["items"] == released.mapping()["items"]
    done = released.run(*words("verify next.dat next-out.dat --mapping next.json -s 40"), *POLICY)
    assert done.status == 0, done.err


def test_apply_to_an_unknown_item(released: Desk) -> None:
    released.write({"next.dat": "a b\na new\nnewer\n", "next-out.dat": "earlier\n"})
    before = released.files()
    done = released.run(*APPLY, "-s", "40")
    assert done.status == 2
    assert "map.json: item 'new' of the data is not in the mapping" in done.err
    assert "map.json: item 'newer' of the data is not in the mapping" in done.err
    assert released.files() == before


@pytest.mark.parametrize("earlier", [False, True])
def test_apply_when_the_policy_no_longer_holds(released: Desk, earlier: bool) -> None:
    released.write({"next.dat": "a b\nb\nc\nd\n" + "a d\n" * 3 + "e\n"})
    if earlier:
        released.write({"next-out.dat": "earlier\n"})
    label = released.mapping()["items"]["a"]
    before = released.files()
    done = released.run(*APPLY, "-k", "20", "-s", "40", "--json")
    assert done.status == 4
    assert "verification failed" in done.err
    assert "fewer than k = 20" in done.err
    content = done.json
    assert content["verified"] is False
    assert content["exit_code"] == 4
    assert any(label in violation["itemset"] for violation in content["violations"])
    assert released.files() == before


def test_private_items(desk: Desk) -> None:
    """Two of six with a have x, and all of those with b; so b has to go unless h is 100."""
    desk.write({"p.dat": "a b x\na b x\na\na\ny a\ny a\n", "private.txt": "x\n"})
    private = words("-k 2 --km 2 --private private.txt -s 40")
    run = ("anonymize", "p.dat", *private, *words("--algorithm greedy -o o.dat --mapping map.json"))
    check = ("verify", "p.dat", "o.dat", "--mapping", "map.json", *private)
    done = desk.run(*run, "--h", "50")
    assert done.status == 0, done.err
    assert "over 3 public items, at most 50 % sharing a private item" in done.err
    assert "or nobody, at most 50 % of them with the same private item" in done.err
    assert sorted(desk.lines("o.dat")) == ["a", "a", "a x", "a x", "a y", "a y"]
    assert desk.run(*check, "--h", "50").status == 0

    # Another h, given to verify or in a policy file, is another promise.
    done = desk.run(*check, "--h", "33.3")
    assert done.status == 4
    assert "of the 6 with {a}, 2 (33.33 %) have the private x, more than h = 33.3 %" in done.err
    assert "largest k   none" in done.err
    desk.write({"policy.toml": 'k = 2\nkm = 2\ns = 40\nprivate = ["x"]\nh = 33.3\n'})
    done = desk.run(*check[:5], "--policy", "policy.toml", "--json")
    assert (done.status, done.json["largest_k"]) == (4, 0)
    assert done.json["violations"][0]["itemset"] == ["a"]
    assert desk.run(*check[:5], *words("--policy policy.toml --h 34")).status == 0

    # Without a limit nothing has to change.
    assert desk.run(*run).status == 0
    assert "a b x" in desk.lines("o.dat")


def test_what_changed_places_is_said(desk: Desk) -> None:
    assert (
        desk.run(*words("anonymize d.dat -k 3 --km 2 -s 40 -o o.dat --mapping map.json")).status
        == 0
    )
    done = desk.run(*words("verify o.dat d.dat --mapping map.json -k 3 --km 2 -s 40"))
    assert done.status == 4
    assert "the original and the release may have changed places" in done.err
    done = desk.run(*words("evaluate o.dat d.dat --mapping map.json"))
    assert done.status == 2
    assert "they look like a release; give the original" in done.err


def test_a_mapping_that_does_not_protect_comes_with_advice(desk: Desk) -> None:
    assert (
        desk.run(*words("anonymize d.dat -k 3 --km 2 -s 40 -o o.dat --mapping map.json")).status
        == 0
    )
    done = desk.run(*words("apply d.dat --use map.json -k 6 --km 2 -s 40 -o n.dat"))
    assert done.status == 4
    assert "find a new one (anonymize)" in done.err


def test_more_than_there_are(desk: Desk) -> None:
    done = desk.run(*words("anonymize d.dat -k 30 --km 2 -o o.dat"))
    assert done.status == 3
    assert "k = 30 is more than the 7 people there are" in done.err


def test_distances_of_items_that_are_not_there_are_noted(desk: Desk) -> None:
    desk.write({"far.csv": "a,b,0.1\nzz,c,0.2\n"})
    done = desk.run(*words("anonymize d.dat -k 3 --km 2 -s 40 -o o.dat --distances far.csv"))
    assert done.status == 0
    assert "note: 1 item of far.csv not in the data: zz" in done.err
