"""Files that come in: written as they come, within limits, whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from overcoat.web.studio import Studio
from overcoat.web.texts import texts_in
from overcoat.web.workspace import Project
from overcoat.words import size_of

__all__ = ["receive", "store"]

t = texts_in()

_SPARE = 256 << 20  # bytes of the disk that are left free
_PIECE = 1 << 20  # bytes written at a time


async def receive(studio: Studio, project: Project, name: str, request: Request) -> int:
    """Write the body of a request to a file of a project; return its size."""
    project.path_of(name)
    length = request.headers.get("content-length", "")
    if length.isdecimal():
        _check(studio, int(length))
        if int(length) > shutil.disk_usage(project.folder).free - _SPARE:
            raise HTTPException(413, t("studio.no_room"))
    size = 0
    with _incoming(studio, project, name) as path, path.open("wb") as file:
        held = bytearray()
        async for piece in request.stream():
            size += len(piece)
            _check(studio, size)
            held += piece
            if len(held) >= _PIECE:
                await run_in_threadpool(file.write, bytes(held))
                held.clear()
        file.write(held)
        if length.isdecimal() and size != int(length):
            raise HTTPException(400, t("studio.not_whole"))
    return size


async def store(studio: Studio, project: Project, name: str, file: UploadFile) -> None:
    """Keep a file that came in with a form; it lies on the disk already if it is large."""
    _check(studio, file.size or 0)
    with _incoming(studio, project, name) as path, path.open("wb") as target:
        while piece := await file.read(_PIECE):
            await run_in_threadpool(target.write, piece)


@contextmanager
def _incoming(studio: Studio, project: Project, name: str) -> Iterator[Path]:
    """Give a path to write a file to; work starts anew where it changes what is there.

    That is so when it replaces a file, or its folder grows. It is asked when the file is whole:
    while it came in, another of that name may have come, too.
    """
    with project.incoming(name) as staged:
        yield staged
        path = project.path_of(name)
        changes = path.exists() or path.parent != project.files
    if changes:
        studio.touched(project)


def _check(studio: Studio, size: int) -> None:
    if size > studio.max_upload:
        raise HTTPException(413, t("studio.too_large", size=size_of(studio.max_upload)))
