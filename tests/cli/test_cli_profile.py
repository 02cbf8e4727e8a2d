"""`overcoat profile`: text and JSON."""

from __future__ import annotations

from cli.command import Desk, words


def test_text_and_json(desk: Desk) -> None:
    desk.write({"d.dat": "a b\n" * 90 + "c\n" * 70 + "d e\n"})
    done = desk.run(*words("profile d.dat -k 3"))
    assert done.status == 0, done.err
    text = done.out.decode()
    assert "people      161, 3 different rows" in text
    assert "rare        2 items (40.0 %) that fewer than 3 people have: d (1), e (1)" in text
    assert "risk        with 1 item known, 1 (0.6 %) of the people are unique" in text
    told = desk.run(*words("profile d.dat --json")).json
    assert told["n_people"] == 161
    assert told["rare"] == [{"item": "d", "people": 1}, {"item": "e", "people": 1}]
    assert [one["known"] for one in told["risk"]] == [1, 2, "all"]
    assert told["suspicious"] == []


def test_bad_input(desk: Desk) -> None:
    assert desk.run(*words("profile nowhere.dat")).status == 2
