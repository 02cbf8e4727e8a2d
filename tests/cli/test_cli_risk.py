"""`overcoat risk`."""

from __future__ import annotations

import pytest

from cli.command import Desk, words


def test_before_and_after(desk: Desk) -> None:
    assert (
        desk.run(*words("anonymize d.dat -k 3 --km 2 -s 40 -o o.dat --mapping map.json")).status
        == 0
    )
    content = desk.run(*words("risk d.dat o.dat --mapping map.json -k 3 --known 2 --json")).json
    assert content["n_people"] == 7
    assert [one["known"] for one in content["before"]] == [1, 2, "all"]
    assert content["before"][0]["unique"] == 1  # e and f are of one person
    assert [one["below_k"] for one in content["after"][:2]] == [0, 0]
    assert all(one["exact"] for one in content["before"] + content["after"])


def test_of_data_alone(desk: Desk) -> None:
    done = desk.run(*words("risk d.dat --attacks 2"))
    assert done.status == 0
    text = done.out.decode()
    assert "release" not in text
    assert "items known" in text
    assert "2. knows " in text
    assert desk.run(*words("risk d.dat --json")).json["after"] is None


def test_attacks_show_the_rows_that_fit(desk: Desk) -> None:
    assert desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.dat --mapping m.json")).status == 0
    command = words("risk d.dat o.dat --mapping m.json --known 2 --attacks 20 --seed 3")
    attacks = desk.run(*command, "--json").json["attacks"]
    assert len(attacks) == 20
    items = desk.mapping("m.json")["items"]
    for one in attacks:
        labels = {items[item] for item in one["items"]} - {None}
        for known, number, rows, file in (
            ({*one["items"]}, one["before"], one["rows_before"], "d.dat"),
            (labels, one["after"], one["rows_after"], "o.dat"),
        ):
            every = [{*line.split()} for line in desk.read(file).decode().splitlines()]
            assert number == sum(known <= row for row in every)
            assert 0 < len(rows) <= 3
            for row, people in rows:
                assert known <= {*row}
                assert people == every.count({*row})
    text = desk.run(*command).out.decode()
    first = attacks[0]
    assert f"1. knows {', '.join(first['items'])}: {first['before']:,} row" in text
    assert f"original  {', '.join(first['rows_before'][0][0])}" in text


def test_linkable_items(desk: Desk) -> None:
    desk.write({"l.txt": "a b\n"})
    content = desk.run(*words("risk d.dat --linkable l.txt --known 1 --json")).json
    assert content["before"][0]["unique"] == 0
    desk.write({"l.txt": "zebra\n"})
    done = desk.run(*words("risk d.dat --linkable l.txt"))
    assert done.status == 2
    assert "l.txt:1: item 'zebra' does not occur" in done.err


@pytest.mark.parametrize(
    ("more", "words_"),
    [("o.dat", "RELEASED and --mapping go together"), ("--known 0", "0 is not in the range")],
)
def test_bad_questions(desk: Desk, more: str, words_: str) -> None:
    desk.write({"o.dat": "a\n"})
    done = desk.run("risk", "d.dat", *words(more))
    assert done.status == 2
    assert words_ in done.err


def test_a_release_of_other_data(desk: Desk) -> None:
    assert (
        desk.run(*words("anonymize d.dat -k 3 --km 2 -s 40 -o o.dat --mapping map.json")).status
        == 0
    )
    desk.write({"e.dat": "a b\nc\n"})
    done = desk.run(*words("risk e.dat o.dat --mapping map.json"))
    assert done.status == 4
    assert "the release is not the data under this mapping" in done.err


def test_several_releases(desk: Desk) -> None:
    for name, more in (("1", ""), ("2", "--algorithm pcta --hierarchy balanced:2")):
        made = f"anonymize d.dat -k 2 --km 2 -s 40 -o o{name}.dat --mapping m{name}.json {more}"
        assert desk.run(*words(made)).status == 0
    run = "risk d.dat o1.dat --mapping m1.json --known 2"
    done = desk.run(*words(run), *words("--also o2.dat --also-mapping m2.json"))
    assert done.status == 0, done.err
    text = done.out.decode()
    assert "\nrelease 2\n" in text
    assert "all releases together, at most" in text
    content = desk.run(*words(run), "--also-mapping", "m1.json", "--json").json
    assert content["same_as"] == 0
    assert content["also"] == [content["after"]]
    assert content["together"] == content["after"]
    assert "together" not in desk.run(*words(run), "--json").json


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("--also o1.dat", "give an --also-mapping for each --also"),
        ("--also o1.dat --also-mapping m1.json --also-mapping m1.json", "for each --also"),
        ("--also d.dat --also-mapping m1.json", "is not the data under this mapping"),
        ("--also-mapping none.json", "none.json"),
    ],
)
def test_wrong_further_releases(desk: Desk, more: str, says: str) -> None:
    made = "anonymize d.dat -k 3 --km 2 -s 40 -o o1.dat --mapping m1.json"
    assert desk.run(*words(made)).status == 0
    done = desk.run(*words("risk d.dat o1.dat --mapping m1.json"), *words(more))
    assert done.status in (2, 4)
    assert says in done.err
    done = desk.run(*words("risk d.dat --also-mapping m1.json"))
    assert done.status == 2
    assert "needs RELEASED" in done.err
