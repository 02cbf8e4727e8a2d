"""Contexts: everything tells how far it is, can be cancelled, and gives the same on any threads."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import overcoat as oc
from overcoat.context import Stage

DATA = oc.datasets.baskets(400, 40, mean=5)
POLICY = oc.Policy(5, oc.AllItemsets(3))


def test_every_stage_is_told() -> None:
    told: list[str] = []
    context = oc.Context(progress=lambda stage, done, of: told.append(stage))
    result = oc.anonymize(DATA, policy=POLICY, context=context)
    assert list(dict.fromkeys(told)) == ["policy", "anonymize", "apply", "verify", "measure"]
    assert set(result.seconds) == set(told)


class Cancel:
    """Says yes from the n-th time on that it is asked."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("after", [0, 1, 2, 5, 20])
def test_cancelling_ends_the_work_wherever_it_is(after: int) -> None:
    with pytest.raises(oc.CancelledError):
        oc.anonymize(DATA, policy=POLICY, context=oc.Context(cancelled=Cancel(after)))
    assert oc.CancelledError.exit_code == 130


def test_the_same_on_any_number_of_threads() -> None:
    results = [
        oc.anonymize(DATA, policy=POLICY, context=oc.Context(threads=threads))
        for threads in (1, 2, 3, 8)
    ]
    for result in results[1:]:
        assert result.mapping == results[0].mapping
        assert result.verdict == results[0].verdict
        assert list(result.trace) == list(results[0].trace)


def test_a_memory_limit_is_heeded() -> None:
    with pytest.raises(oc.DataError, match=r"needs about .* of memory, and 0 MiB can be had"):
        oc.anonymize(DATA, policy=POLICY, context=oc.Context(memory=1000))


def jobs_that(*, fail: bool) -> list[Callable[[Stage], int]]:
    def endless(stage: Stage) -> int:
        done = 0
        while True:
            done += 1
            stage(done)

    def failing(stage: Stage) -> int:
        raise ZeroDivisionError

    return [endless, failing if fail else endless]


def test_a_job_that_fails_ends_the_others() -> None:
    stage = oc.Context(threads=2).start("work")
    with pytest.raises(ZeroDivisionError):
        stage.side_by_side(jobs_that(fail=True))


def test_cancelling_ends_all_jobs() -> None:
    stage = oc.Context(threads=2, cancelled=Cancel(3)).start("work")
    with pytest.raises(oc.CancelledError):
        stage.side_by_side(jobs_that(fail=False))


def test_what_jobs_return_comes_in_their_order() -> None:
    jobs = [lambda stage, n=n: n * n for n in range(20)]
    for threads in (1, 2, 5):
        assert oc.Context(threads=threads).start("work").side_by_side(jobs) == [
            n * n for n in range(20)
        ]


def test_where_there_are_no_threads_to_be_had_one_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    jobs = [lambda stage, n=n: n for n in range(3)]
    assert oc.Context(threads=4).start("work").side_by_side(jobs) == [0, 1, 2]


def test_no_job_is_begun_after_the_end() -> None:
    begun: list[Stage] = []

    def failing(stage: Stage) -> None:
        raise ZeroDivisionError

    def job(stage: Stage) -> None:
        begun.append(stage)
        stage()

    with pytest.raises(ZeroDivisionError):
        oc.Context(threads=2).start("work").side_by_side([failing, *([job] * 1000)])
    assert len(begun) < 1000


@pytest.mark.parametrize(
    "wrong",
    [
        {"threads": 0},
        {"threads": "2"},
        {"memory": -1},
        {"engine": "gpu"},
        {"progress": 3},
        {"cancelled": True},
    ],
)
def test_what_a_context_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(oc.PolicyError):
        oc.Context(**wrong)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_things_are_worked_on_in_their_order(threads: int) -> None:
    stage = oc.Context(threads=threads).start("work")
    assert list(stage.in_order(lambda n, part: n * n, range(50))) == [n * n for n in range(50)]
    assert list(stage.in_order(lambda n, part: n, [])) == []


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_things_are_taken_as_they_are_needed(threads: int) -> None:
    taken: list[int] = []

    def things() -> Iterator[int]:
        for n in range(100):
            taken.append(n)
            yield n

    stage = oc.Context(threads=threads).start("work")
    made = stage.in_order(lambda n, part: n, things())
    assert next(made) == 0
    assert len(taken) <= 2 * threads + 1
    made.close()  # type: ignore[attr-defined]
    assert len(taken) <= 2 * threads + 1


def test_what_fails_on_a_thing_ends_all() -> None:
    def work(n: int, part: Stage) -> int:
        if n == 3:
            raise ZeroDivisionError
        while n > 3:
            part()
        return n

    stage = oc.Context(threads=2).start("work")
    made = stage.in_order(work, range(10))
    assert [next(made) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_work_in_order_can_be_cancelled() -> None:
    def endless(n: int, part: Stage) -> int:
        while True:
            part()

    stage = oc.Context(threads=2, cancelled=Cancel(3)).start("work")
    with pytest.raises(oc.CancelledError):
        list(stage.in_order(endless, range(10)))


def test_without_threads_things_are_worked_on_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    stage = oc.Context(threads=4).start("work")
    assert list(stage.in_order(lambda n, part: -n, range(3))) == [0, -1, -2]
