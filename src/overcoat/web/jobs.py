"""Work in processes of its own: several at a time, ended at once, and what became of each is told.

A job is known by the digest of its task, so the same work is done once; what it found lies in a
folder and is found again after a restart. A worker process does one job after another. If it dies,
by a fault or because the system took its memory, its job is told as such, and the next one gets a
new process; the server only ever reads what a worker says.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overcoat._version import __version__
from overcoat.web.choices import digest_of
from overcoat.web.workers import Worker
from overcoat.web.workspace import Project, write_json

__all__ = ["ENDED", "Job", "Jobs", "Limits"]

ENDED = ("done", "failed", "cancelled", "killed")
_PATIENCE = 300.0  # seconds that a worker waits for more to do
_SOON_TO_TELL = 3.0  # seconds of a stage after which its pace says something


@dataclass(frozen=True)
class Limits:
    """What jobs may use.

    Attributes
    ----------
    jobs : how many may run at a time
    memory : bytes for each; None: what the machine has
    """

    jobs: int = field(default_factory=lambda: max(2, os.cpu_count() or 1))
    memory: int | None = None


@dataclass(frozen=True)
class Pace:
    """When a stage began, and with how much done.

    >>> Pace(0, began=100.0).left(25, 100, now=110.0)
    30
    >>> Pace(0, began=100.0).left(99, 100, now=101.0) is None  # too early to tell
    True
    """

    done: int = 0
    began: float = field(default_factory=time.monotonic)

    def left(self, done: int, total: int, now: float | None = None) -> int | None:
        """Return the seconds until all is done, if it goes on as it went."""
        spent = (time.monotonic() if now is None else now) - self.began
        if spent < _SOON_TO_TELL or done <= self.done:
            return None
        return round(spent * max(total - done, 0) / (done - self.done))


@dataclass
class Job:
    """A piece of work, and how far it has got.

    Attributes
    ----------
    id : the digest of its task
    project : whose it is
    task, params : what is to be done
    state : waiting, running, done, failed, cancelled or killed
    stage, completed, total : how far it has got; `total` is 0 where nobody knows
    error : what went wrong: `kind`, `message` and more
    """

    id: str
    project: Project
    task: str
    params: Mapping[str, Any]
    state: str = "waiting"
    stage: str = ""
    completed: int = 0
    total: int = 0
    pace: Pace = field(default_factory=Pace)
    error: dict[str, Any] | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    runner: asyncio.Task[None] | None = None
    watchers: int = 0

    @property
    def folder(self) -> Path:
        """Where what it found is kept."""
        return self.project.jobs / self.id

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED

    def get_on(self, stage: str, completed: int, total: int) -> None:
        """Take note of how far it has got."""
        if (stage, total) != (self.stage, self.total):
            self.pace = Pace(completed)
        self.stage, self.completed, self.total = stage, completed, total

    @property
    def remaining(self) -> int | None:
        """In how many seconds this stage will be over; None as long as nobody can know."""
        if self.state != "running" or not self.total:
            return None
        return self.pace.left(self.completed, self.total)

    def result(self) -> dict[str, Any]:
        """Return what it found."""
        content = json.loads((self.folder / "result.json").read_text("utf-8"))
        assert isinstance(content, dict)
        return content

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "id": self.id,
            "task": self.task,
            "state": self.state,
            "stage": self.stage,
            "completed": self.completed,
            "total": self.total,
            "remaining": self.remaining,
            "error": self.error,
        }


class Jobs:
    """All jobs of a server.

    Parameters
    ----------
    limits : what they may use
    given : sources that the server was told of, by name; their addresses may hold passwords, so
        tasks have the names only
    """

    def __init__(
        self, limits: Limits | None = None, given: Mapping[str, str] | None = None
    ) -> None:
        self.limits, self._given = limits or Limits(), dict(given or {})
        self._jobs: dict[tuple[str, str], Job] = {}
        self._room = asyncio.Semaphore(self.limits.jobs)
        self._idle: list[tuple[float, Worker]] = []
        self._busy: dict[str, Worker] = {}
        self._listeners: dict[str, set[asyncio.Queue[Job]]] = {}
        self._tidying: asyncio.Task[None] | None = None

    # -- what others ask for -----------------------------------------------------------------------

    @staticmethod
    def called(task: str, params: Mapping[str, Any]) -> str:
        """Return by what the job is known that does this."""
        return digest_of({"task": task, "params": params, "overcoat": __version__})

    def ensure(self, project: Project, task: str, params: Mapping[str, Any]) -> Job:
        """Return the job that does this; it is begun unless it was before."""
        identifier = self.called(task, params)
        key = (project.id, identifier)
        job = self._jobs.get(key)
        if job is None:
            job = self._jobs[key] = Job(identifier, project, task, params)
            if not self._recall(job):
                job.runner = asyncio.create_task(self._run(job))
        return job

    def again(self, job: Job) -> Job:
        """Begin a job anew that has ended without a result."""
        if job.state == "done" or not job.ended:
            return job
        shutil.rmtree(job.folder, ignore_errors=True)
        self._jobs.pop((job.project.id, job.id), None)
        return self.ensure(job.project, job.task, job.params)

    def planned(self, project: Project, task: str, params: Mapping[str, Any]) -> Job | None:
        """Return the job that does this if it was begun, and do not begin it."""
        return self.find(project, self.called(task, params))

    def drop(self, job: Job) -> None:
        """Forget a job that ended without a result, so that it can be begun anew."""
        if job.state in ("cancelled", "killed"):
            self._jobs.pop((job.project.id, job.id), None)

    def find(self, project: Project, identifier: str) -> Job | None:
        """Return a job by its digest, also one from before a restart."""
        job = self._jobs.get((project.id, identifier))
        if job is None and identifier.isalnum():
            with suppress(OSError, ValueError, KeyError):
                said = json.loads((project.jobs / identifier / "task.json").read_text("utf-8"))
                job = Job(identifier, project, said["task"], said["params"])
                if not self._recall(job):
                    return None
                self._jobs[project.id, identifier] = job
        return job

    def listed(self, project: Project) -> list[Job]:
        """Return the jobs of a project that this server knows of."""
        return [job for (owner, _), job in self._jobs.items() if owner == project.id]

    async def cancel(self, job: Job) -> None:
        """End a job now."""
        if job.runner is not None and not job.ended:
            job.runner.cancel()
            with suppress(asyncio.CancelledError):
                await job.runner
            self._settle(job, "cancelled")

    async def forget(self, project: Project) -> None:
        """End all jobs of a project."""
        for job in self.listed(project):
            await self.cancel(job)
            self._jobs.pop((project.id, job.id), None)

    async def warm(self) -> None:
        """Have a worker ready before there is something to do."""
        if not self._idle and not self._busy:
            worker = Worker()
            await worker.start()
            self._rest(worker)

    @asynccontextmanager
    async def events(self, project: Project) -> AsyncIterator[asyncio.Queue[Job]]:
        """Give a queue of the jobs of a project that got on."""
        queue: asyncio.Queue[Job] = asyncio.Queue(1000)
        listeners = self._listeners.setdefault(project.id, set())
        listeners.add(queue)
        try:
            yield queue
        finally:
            listeners.discard(queue)

    async def end(self) -> None:
        """End everything."""
        if self._tidying is not None:
            self._tidying.cancel()
        for job in [*self._jobs.values()]:
            await self.cancel(job)
        for _, worker in self._idle:
            await worker.end()
        self._idle.clear()

    @property
    def workers(self) -> list[int]:
        """The numbers of all processes."""
        every = [*self._busy.values(), *(worker for _, worker in self._idle)]
        return [worker.pid for worker in every if worker.pid is not None]

    def worker_of(self, job: Job) -> int | None:
        """Return the number of the process that does a job; None if none does."""
        worker = self._busy.get(f"{job.project.id}/{job.id}")
        return None if worker is None else worker.pid

    # -- how it is done ----------------------------------------------------------------------------

    def _recall(self, job: Job) -> bool:
        """Take what a job found before; False if there is nothing."""
        if (job.folder / "result.json").is_file():
            job.state = "done"
        elif (job.folder / "error.json").is_file():
            job.state = "failed"
            job.error = json.loads((job.folder / "error.json").read_text("utf-8"))
        else:
            return False
        job.over.set()
        return True

    async def _run(self, job: Job) -> None:
        part = job.folder.with_suffix(".part")
        try:
            async with self._room:
                worker = self._take()
                self._busy[f"{job.project.id}/{job.id}"] = worker
                try:
                    await self._work(job, worker, part)
                except BaseException:
                    await worker.end()
                    raise
                finally:
                    self._busy.pop(f"{job.project.id}/{job.id}", None)
                    self._rest(worker)
        except asyncio.CancelledError:
            self._settle(job, "cancelled")
            raise
        except Exception as error:  # of the server's own: a full disk, for one
            self._settle(job, "killed", {"kind": "bug", "message": type(error).__name__})
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)

    async def _work(self, job: Job, worker: Worker, part: Path) -> None:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        job.state = "running"
        self._tell(job)
        task = {
            "task": job.task,
            "params": job.params,
            "files": str(job.project.files),
            "folder": str(part),
            "given": self._given,
            "memory": self.limits.memory,
            "threads": max(1, (os.cpu_count() or 1) // max(1, len(self._busy))),
        }
        async for said in worker.lines(task):
            if "stage" in said:
                job.get_on(said["stage"], said["done"], said["of"])
                self._tell(job)
            elif "error" in said:
                write_json(part / "task.json", {"task": job.task, "params": job.params})
                if said["error"].get("kind") not in ("bug", "memory"):  # which may go better
                    write_json(part / "error.json", said["error"])
                    _replace(part, job.folder)
                self._settle(job, "failed", said["error"])
                return
            elif "result" in said:
                write_json(part / "result.json", said["result"])
                write_json(part / "task.json", {"task": job.task, "params": job.params})
                _replace(part, job.folder)
                self._settle(job, "done")
                return
        self._settle(job, "killed", {"kind": "killed", "message": "", "status": worker.status})

    def _take(self) -> Worker:
        while self._idle:
            _, worker = self._idle.pop()
            if worker.status is None:
                return worker
        return Worker()

    def _rest(self, worker: Worker) -> None:
        if worker.status is None and worker.pid is not None:
            self._idle.append((time.monotonic(), worker))
            if self._tidying is None or self._tidying.done():
                self._tidying = asyncio.create_task(self._tidy())

    async def _tidy(self) -> None:
        """End workers that nobody has needed for a while."""
        while self._idle or self._busy:
            await asyncio.sleep(5)
            now = time.monotonic()
            late = [one for one in self._idle if now - one[0] > _PATIENCE]
            for one in late:
                self._idle.remove(one)
                await one[1].end()

    def _settle(self, job: Job, state: str, error: dict[str, Any] | None = None) -> None:
        if not job.ended:
            job.state, job.error = state, error
            job.over.set()
            self._tell(job)

    def _tell(self, job: Job) -> None:
        for queue in self._listeners.get(job.project.id, ()):
            with suppress(asyncio.QueueFull):  # whoever is so slow asks again
                queue.put_nowait(job)


def _replace(part: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
