"""Jobs: told by stage, ended at once, several at a time; one that dies harms nothing else."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from overcoat.data.samples import write_baskets
from overcoat.web.choices import Choices
from overcoat.web.jobs import Job, Limits
from overcoat.web.parts import Parts
from overcoat.web.studio import Studio
from overcoat.web.views import Views
from overcoat.web.workspace import Project, Workspace

pytestmark = pytest.mark.xdist_group("serve")

LONG = {"k": 5, "km": 2, "algorithm": "search", "steps": 100_000_000}


def with_studio(
    folder: Path | None, work: Callable[[Studio], Awaitable[None]], limits: Limits | None = None
) -> None:
    """Do something with a studio, and end it."""

    async def run() -> None:
        studio = Studio(Workspace(folder), limits=limits or Limits(2))
        try:
            await work(studio)
        finally:
            await studio.end()

    asyncio.run(run())


def project_with(studio: Studio, text: str) -> Project:
    project = studio.workspace.create("one")
    (project.files / "data.txt").write_text(text, "utf-8")
    return project


async def begun(job: Job) -> None:
    """Wait until it is in the middle of its search."""
    for _ in range(3000):
        if job.stage.startswith("anonymize"):
            return
        assert not job.ended, job.error
        await asyncio.wait({asyncio.ensure_future(job.over.wait())}, timeout=0.02)
    raise AssertionError(job.to_json())


@pytest.fixture(scope="module")
def baskets(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("data") / "data.txt"
    write_baskets(path, 3000, 300)
    return path.read_text("utf-8")


def test_cancel_and_others_go_on(baskets: str) -> None:
    async def work(studio: Studio) -> None:
        project = project_with(studio, baskets)
        slow = studio.job(project, Choices("data.txt", {}, LONG), "run")
        await begun(slow)
        quick = studio.job(project, Choices("data.txt"), "glimpse")
        await quick.over.wait()
        assert quick.state == "done"
        assert not slow.ended
        worker = studio.jobs.worker_of(slow)
        assert worker is not None
        await studio.jobs.cancel(slow)
        assert slow.state == "cancelled"
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
        assert not [*project.jobs.glob("*.part")]
        assert studio.jobs.find(project, slow.id) is slow

    with_studio(None, work)


def test_a_job_that_is_killed_is_told(baskets: str) -> None:
    async def work(studio: Studio) -> None:
        project = project_with(studio, baskets)
        slow = studio.job(project, Choices("data.txt", {}, LONG), "run")
        other = studio.job(project, Choices("data.txt"), "glimpse")
        await begun(slow)
        await other.over.wait()
        worker = studio.jobs.worker_of(slow)
        assert worker is not None
        os.kill(worker, signal.SIGKILL)  # as the system does where memory runs out
        await slow.over.wait()
        assert slow.state == "killed"
        assert slow.error is not None
        assert slow.error["kind"] == "killed"
        assert other.state == "done"
        again = studio.job(project, Choices("data.txt").changed(km=1), "run")
        await again.over.wait()
        assert again.state == "done", again.error

    with_studio(None, work)


def test_a_job_that_needs_too_much_memory_is_told(baskets: str) -> None:
    async def work(studio: Studio) -> None:
        project = project_with(studio, baskets)
        job = studio.job(project, Choices("data.txt"), "run")
        await job.over.wait()
        assert job.state == "failed"
        assert job.error is not None
        assert job.error["kind"] in ("data", "memory")
        assert "memory" in job.error["message"]

    with_studio(None, work, Limits(1, 1000))


def test_what_is_wrong_is_told_in_plain_names(tmp_path: Path) -> None:
    async def work(studio: Studio) -> None:
        project = project_with(studio, "a b\n")
        (project.files / "sets.txt").write_text("x: nothing\n", "utf-8")
        choices = Choices("data.txt").changed(utility="sets.txt")
        job = studio.job(project, choices, "run")
        await job.over.wait()
        assert job.state == "failed"
        assert job.error is not None
        assert job.error["message"].startswith("sets.txt:1: ")
        assert str(tmp_path) not in str(job.error)
        assert studio.job(project, choices, "run") is job

    with_studio(tmp_path / "kept", work)


def test_results_survive_a_restart(tmp_path: Path) -> None:
    found = []

    async def first(studio: Studio) -> None:
        project = project_with(studio, "a b\na b\na b\na b\na b\nc a\n")
        choices = Choices("data.txt")
        project.keep(choices)
        job = studio.job(project, choices, "profile")
        await job.over.wait()
        found.append((project.id, job.id, job.result()))

    async def second(studio: Studio) -> None:
        ((identifier, job_id, result),) = found
        project = studio.workspace.project(identifier)
        assert project is not None
        job = studio.job(project, project.latest(), "profile")
        assert (job.id, job.state, job.result()) == (job_id, "done", result)
        assert studio.jobs.workers == []

    with_studio(tmp_path / "kept", first)
    with_studio(tmp_path / "kept", second)


def test_events_tell_every_job(baskets: str) -> None:
    async def work(studio: Studio) -> None:
        project = project_with(studio, baskets)
        async with studio.jobs.events(project) as queue:
            jobs = [studio.job(project, Choices("data.txt").changed(k=k), "run") for k in (2, 3, 4)]
            seen: dict[str, list[str]] = {job.id: [] for job in jobs}
            while not all(job.ended for job in jobs) or not queue.empty():
                told = await asyncio.wait_for(queue.get(), 60)
                seen[told.id].append(told.stage)
        assert all(job.state == "done" for job in jobs)
        assert all(any(stages) for stages in seen.values())

    with_studio(None, work)


def test_what_is_shown_is_of_one_moment(baskets: str) -> None:
    """A job may end while a page is put together: it is shown as it was, and asked for again."""

    async def work(studio: Studio) -> None:
        project = project_with(studio, baskets)
        choices = Choices("data.txt").changed(max_suppressed=100)
        views = Views()
        parts = Parts(studio, views)
        values = parts.base(project, choices, "result")
        values |= await parts.part(project, choices, "run", patience=0)
        assert not values["run"].ended
        await studio.job(project, choices, "run").over.wait()
        page = views.page("region.html", name="run", **values)
        assert 'aria-busy="true"' in page
        values |= await parts.part(project, choices, "run")
        assert 'class="verdict good"' in views.page("region.html", name="run", **values)

    with_studio(None, work)


def test_a_change_ends_what_was_begun_for_the_choices_before(baskets: str) -> None:
    """The cores are for what is looked at now."""

    async def work(studio: Studio) -> None:
        project = project_with(studio, baskets)
        old = Choices("data.txt", {}, LONG)
        job = studio.job(project, old, "run")
        await begun(job)
        await studio.supersede(project, old, old.changed(k=6))
        assert job.state == "cancelled"
        assert studio.planned(project, old, "run") is None

    with_studio(None, work)
