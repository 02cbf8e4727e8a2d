"""What a pipeline hears of a run: logs, `--verbose`, digests, and the kind of a failure."""

from __future__ import annotations

import hashlib
import json
import logging
from typing import Any

import pytest

import overcoat as oc
from cli.command import Desk, words

RUN = "anonymize d.dat -k 3 --km 2 -s 40 -o o.dat --mapping map.json"


def events(desk: Desk, name: str = "log.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in desk.lines(name)]


def test_a_log_has_one_object_a_line(desk: Desk) -> None:
    done = desk.run(*words(f"{RUN} --log-file log.jsonl -q"))
    assert done.status == 0
    assert done.err == ""
    told = events(desk)
    assert told[0]["event"] == "start"
    assert told[0]["version"] == oc.__version__
    assert told[-1]["event"] == "end"
    assert told[-1]["exit_code"] == 0
    stages = [one["stage"] for one in told if one["event"] == "stage"]
    assert stages == ["read", "policy", "anonymize", "apply", "verify", "measure", "risk"]
    expected = next(one for one in told if one["event"] == "forecast")
    assert expected["expected_memory"] > 0
    published = next(one for one in told if one["event"] == "published")
    assert published["released_sha256"] == hashlib.sha256(desk.read("o.dat")).hexdigest()


def test_a_log_goes_on(desk: Desk) -> None:
    for _ in range(2):
        assert desk.run(*words(f"{RUN} --log-file log.jsonl -q")).status == 0
    assert [one["event"] for one in events(desk)].count("start") == 2


def test_a_failure_is_logged_with_its_kind(desk: Desk) -> None:
    done = desk.run(*words("anonymize d.dat -k 30 --km 2 -o o.dat --log-file log.jsonl -q"))
    assert done.status == 3
    end = events(desk)[-1]
    assert (end["event"], end["level"], end["exit_code"], end["kind"]) == (
        "end",
        "error",
        3,
        "infeasible",
    )


def test_what_is_no_log_is_not_written_to(desk: Desk) -> None:
    before = desk.files()
    for name in ("d.dat", "no/such.jsonl", "."):
        done = desk.run(*words(f"{RUN} -q"), "--log-file", name)
        assert done.status == 2
        assert name in done.err
    done = desk.run(*words(f"{RUN} --log-file o.dat"))
    assert done.status == 2
    assert "--log-file is to be a file of its own" in done.err
    assert desk.files() == before


def test_no_log_tells_a_password(desk: Desk) -> None:
    secret = "postgresql://ann:s3cret@localhost/db"
    done = desk.run("anonymize", secret, *words("-k 3 --km 2 -o o.dat --log-file log.jsonl -v"))
    assert done.status == 2
    assert "s3cret" not in done.err
    assert b"s3cret" not in desk.read("log.jsonl")


def test_verbose_says_what_is_done(desk: Desk) -> None:
    done = desk.run(*words(f"{RUN} -v"))
    assert "read done in" in done.err
    assert "coat is likely to take less than a second" in done.err
    assert done.err.splitlines()[-1].endswith("s  done")
    again = desk.run(*words(RUN))  # and a later command in this process says it no more
    assert "done in" not in again.err


def test_digests(desk: Desk) -> None:
    content = desk.run(*words(f"{RUN} --json")).json
    for key, name in (("input", "d.dat"), ("released", "o.dat"), ("mapping", "map.json")):
        assert content[f"{key}_sha256"] == hashlib.sha256(desk.read(name)).hexdigest()
    policy = oc.Policy(3, oc.AllItemsets(2), max_suppressed=40)
    assert content["policy_sha256"] == policy.digest
    piped = desk.run(*words("anonymize d.dat -k 3 --km 2 -s 40 -o o.dat --json")).json
    assert piped["mapping_sha256"] is None
    assert piped["released_sha256"] == content["released_sha256"]


def test_new_codes_are_a_kind_of_their_own(desk: Desk) -> None:
    assert desk.run(*words(RUN)).status == 0
    desk.write({"new.dat": "a b\nzebra a\n"})
    done = desk.run(*words("apply new.dat --use map.json -k 3 --km 2 -o n.dat --json"))
    assert done.status == 2
    assert done.json["error"]["kind"] == "unknown"
    assert "zebra" in done.json["error"]["problems"][0]["message"]


def test_python_logs_to_whoever_listens(caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"a", "b"}, {"a"}, {"b"}] * 3
    with caplog.at_level(logging.INFO, logger="overcoat"):
        oc.anonymize(rows, 3, oc.AllItemsets(2))
    assert "verify done in" in caplog.text
    assert {getattr(record, "event", "") for record in caplog.records} == {"stage", "forecast"}


def test_unknown_items_are_named() -> None:
    mapping = oc.Mapping.of("ab", [["a", "b"]])
    with pytest.raises(oc.UnknownItemsError, match="'c' of the data") as caught:
        mapping.apply([{"a", "c"}, {"d"}])
    assert caught.value.items == ("c", "d")
