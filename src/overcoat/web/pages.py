"""The pages: each address shows a state, each form leads to another address."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.datastructures import UploadFile

from overcoat.errors import DataError, OvercoatError
from overcoat.web.choices import Choices
from overcoat.web.forms import Form, changed_by, with_guess
from overcoat.web.jobs import Job
from overcoat.web.listing import read_part
from overcoat.web.parts import INSIDE, LISTS, STEP_OF, STEPS, Parts, list_url, set_names
from overcoat.web.results import file_of
from overcoat.web.saving import named_files, saved_policy
from overcoat.web.studio import Studio
from overcoat.web.texts import texts_in
from overcoat.web.uploads import store
from overcoat.web.views import Views
from overcoat.web.workspace import Project

__all__ = ["Pages"]

t = texts_in()

_FORM = 8 << 20  # bytes of a form, at most
# A report has its style in it; it is shown as if it came from nowhere, and cannot do anything.
_REPORT_CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


class Pages:
    """All pages of a server."""

    def __init__(self, studio: Studio, views: Views) -> None:
        self._studio, self._views = studio, views
        self._parts = Parts(studio, views)

    def router(self) -> APIRouter:
        """Return the routes."""
        pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
        routes: list[tuple[str, str, Any]] = [
            ("GET", "/", self.home),
            ("POST", "/projects", self.begin),
            ("POST", "/upload", self.upload),
            ("GET", "/p/{project}", self.open),
            ("POST", "/p/{project}/delete", self.delete),
            ("GET", "/p/{project}/{choices}/policy.toml", self.policy),
            ("GET", "/p/{project}/{choices}/file/{name:path}", self.file),
            ("GET", "/p/{project}/{choices}/part/{name}", self.part),
            ("GET", "/p/{project}/{choices}/list/{name}", self.list),
            ("GET", "/p/{project}/{choices}/release/{name}", self.release),
            ("POST", "/p/{project}/{choices}/job/{job}", self.job),
            ("POST", "/p/{project}/{choices}/upload", self.give),
            ("POST", "/p/{project}/{choices}/publish", self.publish),
            ("POST", "/p/{project}/{choices}/{action}", self.change),
            ("GET", "/p/{project}/{choices}/{step}", self.step),
        ]
        for method, path, endpoint in routes:
            pages.add_api_route(path, endpoint, methods=[method], response_model=None)
        return pages

    # -- the start ---------------------------------------------------------------------------------

    async def home(self) -> str:
        """Show where to begin, and what there is."""
        projects = [
            {"id": one.id, "name": one.info["name"], "source": one.latest().source}
            for one in self._studio.workspace.listed()
        ]
        return self._views.page(
            "home.html",
            title=self._views.t("home.title"),
            projects=projects,
            given=sorted(self._studio.given),
        )

    async def begin(self, request: Request) -> Response:
        """Begin a project with the sample, or with a source of this machine."""
        form = await _form(request)
        given = form.text("given") or None
        project = await self._studio.begin(
            form.text("name"), sample=bool(form.text("sample")), given=given
        )
        if given:
            project.keep(await with_guess(self._studio, project, project.latest()))
        return _go(f"/p/{project.id}")

    async def upload(self, request: Request) -> Response:
        """Begin a project with a file, from a browser without scripts."""
        async with request.form(max_files=1, max_fields=10) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise DataError(t("form.no_file"))
            project = await self._studio.begin(file.filename)
            await store(self._studio, project, file.filename, file)
            choices = Choices(source=file.filename)
        return await self._opened(project, choices)

    async def _opened(self, project: Project, choices: Choices) -> Response:
        choices = await with_guess(self._studio, project, self._studio.checked(project, choices))
        return _go(f"/p/{project.id}/{project.keep(choices)}/data")

    async def open(self, project: str, source: str = "") -> Response:
        """Go to where a project was left; with a source, begin with that."""
        found = self._studio.project_of(project)
        if source:
            return await self._opened(found, Choices(source=source))
        latest = found.latest()
        if not latest.source:
            return _go("/")
        return _go(f"/p/{project}/{latest.digest}/data")

    async def delete(self, project: str) -> Response:
        """Delete a project."""
        await self._studio.delete(self._studio.project_of(project))
        return _go("/")

    # -- the steps ---------------------------------------------------------------------------------

    async def step(self, request: Request, project: str, choices: str, step: str) -> Response:
        """Show a step of the way."""
        if step not in STEPS:
            raise HTTPException(404)
        owner, chosen = self._studio.choices_of(project, choices)
        values = self._parts.base(owner, chosen, step)
        values |= await self._parts.step(step, owner, chosen, request.query_params)
        jobs = [one for one in values.values() if isinstance(one, Job)]
        jobs += [one["job"] for one in values.get("compared", ())]
        values["pending"] = any(not one.ended for one in jobs)
        page = HTMLResponse(self._views.page(f"{step}.html", **values))
        if "hx-request" in request.headers:  # it came by way of a form: this is its address
            page.headers["hx-push-url"] = f"/p/{project}/{choices}/{step}"
        return page

    async def change(self, request: Request, project: str, choices: str, action: str) -> Response:
        """Take a form, and go to the address of what is chosen now."""
        owner, chosen = self._studio.choices_of(project, choices)
        form = await _form(request)
        step = form.text("step") if form.text("step") in STEPS else "data"
        try:
            taken = await changed_by(action, self._studio, owner, chosen, form)
        except OvercoatError as error:
            return await self._refused(request, owner, chosen, step, error)
        await self._studio.supersede(owner, chosen, taken)
        return _go(f"/p/{project}/{owner.keep(taken)}/{step}")

    async def _refused(
        self, request: Request, project: Project, choices: Choices, step: str, error: OvercoatError
    ) -> Response:
        """Show the step again, with what was wrong."""
        values = self._parts.base(project, choices, step) | {"message": str(error)}
        values |= await self._parts.step(step, project, choices, request.query_params)
        # htmx swaps what comes with it; for others the status says that nothing was done.
        status = 200 if "hx-request" in request.headers else 422
        return HTMLResponse(self._views.page(f"{step}.html", **values), status)

    async def give(self, request: Request, project: str, choices: str) -> Response:
        """Take files, and use the first, or the policy among them, for what the form is about."""
        owner, chosen = self._studio.choices_of(project, choices)
        async with request.form(max_files=20, max_fields=20) as form:
            files = [one for one in form.getlist("file") if isinstance(one, UploadFile)]
            files = [one for one in files if one.filename]
            step = str(form.get("step")) if form.get("step") in STEPS else "data"
            try:
                for one in files:
                    if one.filename == chosen.source.partition("#")[0]:
                        raise DataError(t("form.same_name"))
                    await store(self._studio, owner, str(one.filename), one)
                names = [str(one.filename) for one in files]
                if not names:
                    raise DataError(t("form.no_file"))
                main = next((one for one in names if one.endswith(".toml")), names[0])
                action = str(form.get("action"))
                pairs = [("file", main), ("names", main), ("kind", "table"), ("step", step)]
                taken = await changed_by(action, self._studio, owner, chosen, Form(pairs))
            except OvercoatError as error:
                return await self._refused(request, owner, chosen, step, error)
        return _go(f"/p/{project}/{owner.keep(taken)}/{step}")

    async def job(self, request: Request, project: str, choices: str, job: str) -> Response:
        """End a job, or begin it again."""
        owner, _ = self._studio.choices_of(project, choices)
        found = self._studio.jobs.find(owner, job)
        if found is None:
            raise HTTPException(404)
        form = await _form(request)
        if form.text("do") == "cancel":
            await self._studio.jobs.cancel(found)
        else:
            self._studio.jobs.again(found)
        step = form.text("step") if form.text("step") in STEPS else "data"
        return _go(f"/p/{project}/{choices}/{step}")

    async def publish(self, request: Request, project: str, choices: str) -> Response:
        """Make the files, once what is not covered was read."""
        owner, chosen = self._studio.choices_of(project, choices)
        if (await _form(request)).text("confirm") != "yes":
            raise DataError(t("form.confirm"))
        self._studio.jobs.again(self._studio.job(owner, chosen, "publish"))
        return _go(f"/p/{project}/{choices}/publish")

    # -- parts of pages ----------------------------------------------------------------------------

    async def part(self, request: Request, project: str, choices: str, name: str) -> Response:
        """Return a part of a page, once its job has got on."""
        owner, chosen = self._studio.choices_of(project, choices)
        step = STEP_OF.get(name.partition("-")[0])
        if step is None:
            raise HTTPException(404)
        values = self._parts.base(owner, chosen, step)
        asked = request.query_params
        if name.startswith("method-"):
            (one,) = await self._parts.compared(owner, chosen, [name.removeprefix("method-")])
            values |= {"one": one, "algorithm": chosen.settings.get("algorithm", "coat")}
            return HTMLResponse(self._views.page("part_method.html", **values))
        values |= await self._parts.step(step, owner, chosen, request.query_params)
        if values.get(name) is None and name != "publish":
            values |= await self._parts.part(owner, chosen, name, asked)
        return HTMLResponse(self._views.page("region.html", name=name, **values))

    async def list(self, request: Request, project: str, choices: str, name: str) -> Response:
        """Return a page of a list."""
        owner, chosen = self._studio.choices_of(project, choices)
        task, table, step = LISTS.get(name, ("", "", ""))
        if not task:
            raise HTTPException(404)
        job = self._studio.job(owner, chosen, task)
        await job.over.wait()
        if job.state != "done":
            raise HTTPException(404)
        asked = request.query_params
        page = asked.get("page", "1")
        of = asked.get("of", "")
        number = int(of) if of.isdecimal() and len(of) < 10 else -1
        part = read_part(
            job.folder,
            table,
            search=asked.get("search", "")[:200],
            page=int(page) if page.isdecimal() and len(page) < 10 else 1,
            only=("number", number) if name in INSIDE else None,
        )
        values = self._parts.base(owner, chosen, step)
        values |= {"part": part, "url": list_url(values["here"], name, part), "title": name}
        if name in INSIDE:
            values["url"] += f"&of={number}"
            values["number"] = number
            name = "members"
        if name == "choose":
            values["set_names"] = set_names(job)
        inside = self._views.page(f"list_{name}.html", **values)
        if "hx-request" in request.headers:
            return HTMLResponse(inside)
        return HTMLResponse(self._views.page("list.html", inside=inside, **values))

    # -- files -------------------------------------------------------------------------------------

    async def policy(self, project: str, choices: str) -> Response:
        """Give the policy as a file."""
        _, chosen = self._studio.choices_of(project, choices)
        headers = {"content-disposition": 'attachment; filename="policy.toml"'}
        return Response(saved_policy(chosen), media_type="application/toml", headers=headers)

    async def file(self, project: str, choices: str, name: str) -> Response:
        """Give a file that the policy names."""
        owner, chosen = self._studio.choices_of(project, choices)
        if name not in named_files(chosen):
            raise HTTPException(404)
        return FileResponse(
            owner.path_of(name), media_type="application/octet-stream", filename=name
        )

    async def release(self, project: str, choices: str, name: str, view: str = "") -> Response:
        """Give a file of a release; a report can be looked at."""
        owner, chosen = self._studio.choices_of(project, choices)
        job = self._studio.planned(owner, chosen, "publish")
        if job is None or job.state != "done":
            raise HTTPException(404)
        given = file_of(job, name)
        if not view or not name.endswith(".html"):
            return given
        headers = {"content-security-policy": _REPORT_CSP}
        return FileResponse(given.path, media_type="text/html; charset=utf-8", headers=headers)


async def _form(request: Request) -> Form:
    """Return what was filled in; forms are small."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _FORM:
            raise HTTPException(413)
    try:
        text = body.decode("ascii")
        return Form(parse_qsl(text, keep_blank_values=True, max_num_fields=100_000))
    except ValueError:
        raise DataError(t("form.unreadable")) from None


def _go(address: str) -> RedirectResponse:
    """Lead to another address, of this server and no other."""
    assert not urlsplit(address).netloc
    return RedirectResponse(address, 303)
