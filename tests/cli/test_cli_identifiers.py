"""Identifiers among the items, as a custodian meets them on the command line."""

from __future__ import annotations

import pytest

from cli.command import Desk, words

PATIENTS = """patient,diagnosis
Ann,type 1 diabetes
Ann,asthma
Bob,type 2 diabetes
Bob,asthma
Cem,type 2 diabetes
Cem,bronchitis
"""
BASKETS = "".join(f"{10_000 + 7 * n},flu,{('gout', 'ache')[n % 2]}\n" for n in range(30))
POLICY = "-k 2 --km 1 -s 100 -o o.csv --mapping map.json"

BAD = {
    "swapped": ("--id diagnosis --item patient", PATIENTS, "comes from 'diagnosis': are the two"),
    "columns not named": ("", PATIENTS, "one row is 'diagnosis', 'patient'"),
    "a wide table without a header": ("", BASKETS, "'10000' and '10007'"),
    "e-mail": ("", "".join(f"x{n}@y.example,a\n" for n in range(4)), "4 items look like e-mail"),
}


@pytest.mark.parametrize("what", BAD)
def test_identifiers_are_refused_and_nothing_is_written(desk: Desk, what: str) -> None:
    more, content, says = BAD[what]
    desk.write({"d.csv": content})
    before = desk.files()
    done = desk.run(*words(f"anonymize d.csv {more} {POLICY} --json"))
    assert done.status == 2
    assert desk.files() == before
    assert says in done.err
    assert "overcoat: error: d.csv: " in done.err
    assert done.json["error"]["kind"] == "data"

    insisted = desk.run(*words(f"anonymize d.csv {more} {POLICY} --json --allow-identifiers"))
    assert insisted.status == 0
    assert insisted.json["allow_identifiers"] is True
    assert any(says in why for why in insisted.json["identifiers"])
    assert any(says in note for note in insisted.json["notes"])
    assert "note: published because you insist" in insisted.err

    told = desk.run(*words(f"anonymize d.csv {more} {POLICY} --allow-identifiers"))
    assert "\nidentifiers published as asked: " in told.err

    apply = f"apply d.csv {more} --use map.json -k 2 --km 1 -s 100 -o p.csv"
    assert desk.run(*words(apply)).status == 2
    assert desk.run(*words(apply), "--allow-identifiers").status == 0


def test_honest_data_say_that_nothing_was_found(desk: Desk) -> None:
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.dat --json --allow-identifiers"))
    assert done.json["identifiers"] == []
    assert done.json["notes"] == []


@pytest.mark.parametrize("command", ["pgen d.csv -o out -k 2", "compare d.csv -o out -k 2 --km 1"])
def test_other_commands_that_keep_items_look_too(desk: Desk, command: str) -> None:
    lines = "".join(f"{code},{n}\n" for n in range(40) for code in ("flu", "gout"))
    desk.write({"d.csv": f"code,patient\n{lines}"})
    before = desk.files()
    swapped = f"{command} --id code --item patient"
    done = desk.run(*words(swapped))
    assert done.status == 2
    assert "are the two swapped?" in done.err
    assert desk.files() == before
    assert desk.run(*words(f"{swapped} --allow-identifiers")).status == 0
