"""`--json`: one object on standard output, nothing else there, with the keys people rely on."""

from __future__ import annotations

import json

import pytest

from cli.command import Desk, words

ANONYMIZE = {
    "k": int,
    "n_transactions": int,
    "n_items": int,
    "n_groups": int,
    "n_generalized_items": int,
    "suppressed": list,
    "exactness": dict,
    "log2_ul": float,
    "n_constraints": int,
    "seconds": dict,
    "peak_memory_mb": float,
    "peak_memory_by_stage_mb": dict,
    "verified": bool,
}


def test_anonymize(desk: Desk) -> None:
    desk.write({"u.txt": "x: a b c d\n", "d.dat": desk.read("d.dat") + b"\n"})
    done = desk.run(
        *words("anonymize d.dat -k 3 --km 2 --utility u.txt --rest intact -s 40 -o o.dat"),
        *words("--mapping map.json --json"),
    )
    assert done.status == 0, done.err
    content = done.json
    for key, kind in ANONYMIZE.items():
        assert type(content[key]) is kind, key
    mapping = desk.mapping()
    merged = [items for items in mapping["groups"].values() if len(items) > 1]
    assert content["k"] == 3
    assert content["n_transactions"] == 8
    assert content["n_items"] == 6
    assert content["n_constraints"] == 15
    assert content["n_groups"] == len(merged)
    assert content["n_generalized_items"] == sum(map(len, merged))
    assert content["suppressed"] == ["e", "f"]
    assert [item for item, label in mapping["items"].items() if label is None] == ["e", "f"]
    assert content["verified"] is True
    assert content["max_suppressed"] == 40
    assert content["seconds"]["total"] >= max(content["seconds"].values())
    assert {"read", "policy", "anonymize", "verify", "write"} <= set(content["seconds"])
    assert content["released"] == "o.dat"
    assert content["mapping"] == "map.json"
    assert all(line.startswith("note: ") for line in done.err.splitlines())


def test_nothing_lost_is_null_not_minus_infinity(desk: Desk) -> None:
    done = desk.run(*words("anonymize d.dat -k 1 --km 1 -o o.dat --json"))
    assert done.json["log2_ul"] is None
    assert done.json["n_groups"] == 0


def test_all_commands(desk: Desk) -> None:
    policy = ("-k", "2", "--km", "2")
    released = desk.run("anonymize", "d.dat", *policy, "-o", "o.dat", "--mapping", "map.json")
    assert released.status == 0
    assert released.out == b""

    done = desk.run("verify", "d.dat", "o.dat", "--mapping", "map.json", *policy, "--json")
    assert done.status == 0
    assert done.json["verified"] is True
    assert done.json["violations"] == []
    assert done.json["k"] == 2
    assert done.err == ""

    done = desk.run("apply", "d.dat", "--use", "map.json", *policy, "-o", "o2.dat", "--json")
    assert done.status == 0
    assert done.json["verified"] is True
    assert set(ANONYMIZE) <= set(done.json)
    assert desk.read("o2.dat") == desk.read("o.dat")

    done = desk.run("pgen", "d.dat", "-k", "2", "-o", "p.txt", "--json")
    assert done.status == 0
    assert done.json["n_constraints"] == len(desk.lines("p.txt")) == 3
    assert (done.json["k"], done.json["n_transactions"], done.json["n_items"]) == (2, 7, 6)

    done = desk.run("demo", "--out", "demo", "--json")
    assert done.status == 0
    assert done.json["verified"] is True
    assert set(ANONYMIZE) - {"peak_memory_by_stage_mb"} <= set(done.json)
    assert (desk.folder / done.json["released"]).exists()
    assert (desk.folder / done.json["mapping"]).exists()


def test_verification_that_fails(desk: Desk) -> None:
    policy = ("-k", "2", "--km", "2")
    desk.run("anonymize", "d.dat", *policy, "-o", "o.dat", "--mapping", "map.json")
    desk.write({"o.dat": desk.read("o.dat").split(b"\n", 1)[1]})
    done = desk.run("verify", "d.dat", "o.dat", "--mapping", "map.json", *policy, "--json")
    assert done.status == 4
    content = done.json
    assert content["verified"] is False
    assert content["n_violations"] == {"rows": 1}
    assert content["violations"][0]["kind"] == "rows"
    assert "released once, the data give it 2 times" in content["violations"][0]["message"]


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt(), MemoryError()])
def test_what_nobody_expected(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("overcoat.release.walk.verify", fail)
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.dat --json"))
    expected = {KeyboardInterrupt: 130, MemoryError: 2}.get(type(error), 70)
    assert done.status == done.json["exit_code"] == expected
    assert set(desk.files()) == {"d.dat"}


@pytest.mark.parametrize("name", [b"caf\xe9.dat", "café ☕.dat".encode()])
def test_names_that_are_not_unicode(desk: Desk, name: bytes) -> None:
    import os

    output = os.fsdecode(name)
    done = desk.run_process(
        *words("anonymize d.dat -k 2 --km 2 --json -o"), output, PYTHONIOENCODING="utf-8:strict"
    )
    assert done.status == 0, done.err
    assert json.loads(done.out)["released"] == output
    assert os.path.exists(os.path.join(os.fsencode(desk.folder), name))


FAILURES = {
    "usage": ("anonymize d.dat --nonsense", 2),
    "data": ("anonymize missing.dat -k 2 --km 2 -o o.dat", 2),
    "policy": ("anonymize d.dat -k 0 --km 2 -o o.dat", 2),
    "mapping": ("apply d.dat --use d.dat -k 2 --km 2 -o o.dat", 2),
    "infeasible": ("anonymize d.dat -k 99 --km 2 -s 0 -o o.dat", 3),
    "verification": ("verify d.dat d.dat --mapping map.json -k 99 --km 1", 4),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failures_have_one_shape(desk: Desk, kind: str) -> None:
    desk.write({"map.json": json.dumps({"items": {}, "groups": {}})})
    command, status = FAILURES[kind]
    done = desk.run(*words(command), "--json")
    assert done.status == status, done.err
    if kind == "verification":
        assert done.json["verified"] is False
        assert done.json["k"] == 99
    assert done.json["exit_code"] == status
    error = done.json["error"]
    assert set(error) == {"kind", "message", "problems"}
    assert error["kind"] == kind
    assert error["problems"]
    for problem in error["problems"]:
        assert set(problem) == {"message", "file", "line"}
        assert kind == "verification" or problem["message"] in error["message"]
