"""The application: pages, the REST interface, what errors look like; behind the guard."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from overcoat._version import __version__
from overcoat.errors import OvercoatError
from overcoat.web.api import make_api
from overcoat.web.guard import Guard, allowed_hosts
from overcoat.web.pages import Pages
from overcoat.web.results import make_results
from overcoat.web.studio import Studio
from overcoat.web.views import Views, static_files

__all__ = ["make_app"]

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_REFUSED = {"host": 400, "origin": 403, "key": 401}


def make_app(
    studio: Studio, host: str, port: int, scheme: str = "http", *, sample: bool = False
) -> Guard:
    """Return the application, as a server takes it.

    Parameters
    ----------
    studio : what it is about
    host, port, scheme : where it is served: no other name is answered
    sample : whether there is a sample hospital from the beginning
    """
    views = Views(kept=studio.workspace.kept)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        begun = asyncio.create_task(studio.begin(sample=True)) if sample else None
        yield
        if begun is not None:
            begun.cancel()
        await studio.end()

    app = FastAPI(
        title="Overcoat",
        version=__version__,
        summary="Publish transactions safely and usefully",
        description="The same as the pages of `overcoat serve`, for programs.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=lifespan,
    )
    app.include_router(make_api(studio))
    app.include_router(make_results(studio))
    app.include_router(Pages(studio, views).router())
    cookie = f"overcoat_{port}"
    _add_small(app, studio, views, cookie, secure=scheme == "https")
    _add_errors(app, views)
    return Guard(app, studio.session, allowed_hosts(host, port), scheme, cookie)


def _add_small(app: FastAPI, studio: Studio, views: Views, cookie: str, *, secure: bool) -> None:
    """Add the way in, the files that pages are made of, and the page for programs."""

    @app.get("/enter", include_in_schema=False)
    async def enter(token: str = "") -> Response:
        key = studio.session.exchange(token)
        if key is None:
            return _page(views, 401, "key", inside=False)
        # Not led on by the answer: a browser that came from elsewhere would not send the cookie.
        page = HTMLResponse(views.page("enter.html"))
        page.set_cookie(cookie, key, httponly=True, samesite="strict", secure=secure, path="/")
        asyncio.get_running_loop().call_soon(lambda: _warm(studio))
        return page

    @app.post("/end", include_in_schema=False)
    async def end() -> HTMLResponse:
        studio.stop_soon()
        told = views.t("base.ended_kept" if studio.workspace.kept else "base.ended_text")
        title = views.t("base.ended")
        page = views.page("message.html", title=title, lines=[told], go="", inside=False)
        return HTMLResponse(page)

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        content = static_files().get(name)
        if content is None:
            raise HTTPException(404)
        kind = _TYPES.get(name[name.rfind(".") :], "application/octet-stream")
        kept = {"cache-control": "private, max-age=31536000, immutable"}
        return Response(content, media_type=kind, headers=kept)

    @app.get("/rest", include_in_schema=False)
    async def rest() -> HTMLResponse:
        tags: dict[str, list[dict[str, str]]] = {}
        for path, calls in app.openapi()["paths"].items():
            for method, one in calls.items():
                call = {"method": method.upper(), "path": path, "text": one["description"]}
                tags.setdefault(one["tags"][0], []).append(call)
        return HTMLResponse(views.page("rest.html", title=views.t("rest.title"), tags=tags))

    @app.api_route("/refused/{why}", include_in_schema=False)
    async def refused(why: str, request: Request) -> Response:
        status = _REFUSED.get(why, 404)
        if _for_programs(request):
            message = views.t(f"error.{why if why in _REFUSED else 'missing'}")
            return _json(status, why, message)
        return _page(views, status, why if why in _REFUSED else "missing", inside=False)


def _warm(studio: Studio) -> None:
    """Have a worker ready by the time that a file is chosen."""
    task = asyncio.ensure_future(studio.jobs.warm())
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


def _add_errors(app: FastAPI, views: Views) -> None:
    @app.exception_handler(OvercoatError)
    async def wrong(request: Request, error: OvercoatError) -> Response:
        if _for_programs(request):
            problems = [
                {"message": one.message, "file": one.file, "line": one.line}
                for one in getattr(error, "problems", ())
            ]
            return _json(400, error.kind, str(error), problems)
        return _page(views, 400, "cannot", str(error).splitlines())

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        status = error.status_code
        if _for_programs(request):
            told = _json(status, "refused", str(error.detail))
            told.headers.update(error.headers or {})
            return told
        if status == 413:
            return _page(views, status, "large", [str(error.detail)])
        return _page(views, status, "missing")

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        problems = [
            {
                "message": f"{'.'.join(map(str, one['loc']))}: {one['msg']}",
                "file": None,
                "line": None,
            }
            for one in error.errors()
        ]
        if _for_programs(request):
            return _json(422, "usage", "not what the description says", problems)
        return _page(views, 404, "missing")

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> Response:
        traceback.print_exception(error)
        if _for_programs(request):
            return _json(500, "bug", "a fault of Overcoat; the terminal has the details")
        return _page(views, 500, "bug")


def _for_programs(request: Request) -> bool:
    asked = request.scope.get("state", {}).get("asked", request.url.path)
    return str(asked).startswith("/api/")


def _json(
    status: int, kind: str, message: str, problems: Sequence[Mapping[str, Any]] = ()
) -> JSONResponse:
    told = problems or [{"message": message, "file": None, "line": None}]
    return JSONResponse({"error": {"kind": kind, "message": message, "problems": told}}, status)


def _page(
    views: Views, status: int, kind: str, lines: list[str] | None = None, *, inside: bool = True
) -> HTMLResponse:
    told = lines if lines is not None else [views.t(f"error.{kind}_text")]
    title = views.t(f"error.{kind}")
    page = views.page("message.html", title=title, lines=told, go="/", inside=inside)
    return HTMLResponse(page, status)
