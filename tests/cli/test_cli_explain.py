"""`overcoat explain`."""

from __future__ import annotations

from cli.command import Desk, words

POLICY = "-k 3 --km 2 -s 40"


def test_why(desk: Desk) -> None:
    assert desk.run(*words(f"anonymize d.dat {POLICY} -o o.dat --mapping map.json")).status == 0
    done = desk.run(*words(f"explain e a d.dat --mapping map.json {POLICY}"))
    assert done.status == 0, done.err
    text = done.out.decode()
    label = desk.mapping()["items"]["e"]
    assert f"e: 1 person; published as {label}" in text
    assert (
        "{d} matched only 2 people:\n     d was merged with e: 3 people told as one of 2 items ("
        in text
    )
    content = desk.run(*words(f"explain e d.dat --mapping map.json {POLICY} --json")).json
    (one,) = content["explained"]
    assert (one["item"], one["label"], one["people"]) == ("e", label, 1)
    members = {item for step in one["reasons"] for item in [*step["group"], *step["partner"]]}
    assert members == {item for item, to in desk.mapping()["items"].items() if to == label}
    assert content["notes"] == []
    for step in one["reasons"]:
        for other in step["alternatives"]:
            union = {*(step["group"]), *other["partner"]}
            rows = (line.split() for line in desk.read("d.dat").decode().splitlines())
            assert other["people"] == sum(not union.isdisjoint(row) for row in rows)


def test_suppressed_and_untouched(desk: Desk) -> None:
    desk.write({"u.txt": "x: a b c d\n"})
    run = f"{POLICY} --utility u.txt --rest intact"
    done = desk.run(*words(f"explain e d.dat {run}"))
    assert "e: 1 person; suppressed" in done.out.decode()
    assert "could not be merged with anything any more, and was suppressed" in done.out.decode()
    done = desk.run(*words("explain a d.dat -k 1 --km 1"))
    assert "a: 5 people; published as it is" in done.out.decode()
    assert "no constraint asked for anything else" in done.out.decode()


def test_another_mapping_is_noted(desk: Desk) -> None:
    assert (
        desk.run(*words("anonymize d.dat -k 5 --km 1 -s 40 -o o.dat --mapping map.json")).status
        == 0
    )
    done = desk.run(*words(f"explain e d.dat --mapping map.json {POLICY}"))
    assert done.status == 0
    assert "note: map.json: is not what this method finds" in done.err


def test_a_set_and_a_label_stand_for_their_items(desk: Desk) -> None:
    desk.write({"u.txt": "first: a b c\n"})
    run = "-k 2 --km 1 -s 40 --utility u.txt"
    assert desk.run(*words(f"anonymize d.dat {run} -o o.dat --mapping map.json")).status == 0
    mapping = desk.mapping()["items"]
    label = next(to for item, to in mapping.items() if to not in (None, item))
    for asked, items in (
        ("first", ["a", "b", "c"]),
        (label, [item for item, to in mapping.items() if to == label]),
    ):
        done = desk.run("explain", asked, *words(f"d.dat --mapping map.json {run} --json"))
        assert done.status == 0, done.err
        assert [one["item"] for one in done.json["explained"]] == items


def test_an_item_that_is_not_there(desk: Desk) -> None:
    done = desk.run(*words(f"explain zebra yak d.dat {POLICY}"))
    assert done.status == 2
    assert "'zebra' is no item of the data, no utility set and no label" in done.err
    assert "yak" in done.err
