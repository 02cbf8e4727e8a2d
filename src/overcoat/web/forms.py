"""What forms ask for: from choices and what was filled in to other choices."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from overcoat.errors import DataError
from overcoat.web.choices import METHODS, Choices
from overcoat.web.saving import opened_policy
from overcoat.web.sets import read_sets
from overcoat.web.studio import Studio
from overcoat.web.texts import texts_in
from overcoat.web.workspace import Project

__all__ = ["Form", "changed_by"]

t = texts_in()

_MOST_SETS = 20_000
_LONGEST = 200  # characters of the name of a set


class Form:
    """What was filled in."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self._pairs)

    def text(self, name: str) -> str:
        """Return what stands in a field, without blanks around; empty where there is none."""
        return next((value.strip() for key, value in self._pairs if key == name), "")

    def all(self, name: str) -> list[str]:
        """Return all values of a field."""
        return [value for key, value in self._pairs if key == name]

    def whole(self, name: str, low: int, high: int) -> int:
        """Return a whole number between two others, or raise."""
        text = self.text(name)
        if not text.isdecimal() or not low <= int(text) <= high:
            raise DataError(
                t("form.whole", field=t(f"form.field_{name}"), low=low, high=high, text=text)
            )
        return int(text)

    def percent(self, name: str) -> float:
        """Return a percentage, or raise."""
        text = self.text(name).replace(",", ".").removesuffix("%").strip()
        try:
            value = float(text)
        except ValueError:
            value = -1
        if not 0 <= value <= 100:
            raise DataError(t("form.percent", field=t(f"form.field_{name}"), text=text))
        return int(value) if value == int(value) else value


Change = Callable[[Studio, Project, Choices, Form], Awaitable[Choices]]


async def changed_by(
    action: str, studio: Studio, project: Project, choices: Choices, form: Form
) -> Choices:
    """Return what is chosen once a form was sent."""
    change = _ACTIONS.get(action)
    if change is None:
        raise DataError(t("form.unknown"))
    return studio.checked(project, await change(studio, project, choices, form))


async def _source(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Take a file for the data; how it is read is found anew."""
    source = form.text("source")
    if source == choices.source:
        return choices
    chosen = Choices(source, {}, choices.settings, choices.names, choices.allow_identifiers)
    return await with_guess(studio, project, studio.checked(project, chosen))


async def with_guess(studio: Studio, project: Project, choices: Choices) -> Choices:
    """Return choices with what the first rows of the data say about how they are to be read."""
    job = studio.job(project, choices, "glimpse")
    await job.over.wait()
    if job.state != "done":
        return choices
    found = job.result()
    if len(found["tables"]) == 1 and "#" not in choices.source:  # of a database with no other
        (table,) = found["tables"]
        return await with_guess(
            studio, project, replace(choices, source=f"{choices.source}#{table}")
        )
    return choices.read_as(**found["guess"])


async def _reading(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Say how the data are to be read."""
    said: dict[str, Any] = dict.fromkeys(("id", "item", "items", "header", "sep", "query"))
    layout = form.text("layout")
    roles: dict[str, list[str]] = {}
    for column, role in zip(form.all("column"), form.all("role"), strict=False):
        roles.setdefault(role, []).append(column)
    if layout == "table":
        ids, items = roles.get("id", []), roles.get("item", [])
        if len(ids) > 1:
            raise DataError(t("form.ids"))
        if not items:
            raise DataError(t("form.no_item"))
        said["id"] = ids[0] if ids else None
        said["item"] = items[0] if len(items) == 1 and ids else items
    elif layout == "lists":
        lists = roles.get("items", []) or roles.get("item", [])
        said["items"] = lists[0] if lists else None
    elif layout == "baskets":
        said["header"] = "header" in form
    if form.text("sep"):
        sep = form.text("sep")
        said["sep"] = {"tab": "\t", "space": None}.get(sep, sep)
    for name in ("encoding", "sheet", "domain", "system", "query"):
        if name in form:
            said[name] = form.text(name) or None
    if "shape" in form:
        said |= {"trim": "trim" in form, "upper": "upper" in form}
        said["pad"] = form.whole("pad", 1, 20) if form.text("pad") else None
    if "omop" in form:
        said["omop"] = form.text("omop") == "yes"
    taken = choices.read_as(**said)
    if form.text("table"):
        base = choices.source.partition("#")[0]
        source = f"{base}#{form.text('table')}"
        if source != choices.source:
            taken = Choices(source, {}, choices.settings, choices.names)
            return await with_guess(studio, project, studio.checked(project, taken))
    return taken


async def _names(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Take a file that says what items are called; or none."""
    return Choices.from_json(choices.to_json() | {"names": form.text("names")})


async def _identifiers(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Insist on items that look like identifiers of people, or no more."""
    return Choices.from_json(choices.to_json() | {"allow_identifiers": "allow" in form})


async def _protect(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Say what must not identify."""
    said: dict[str, Any] = {}
    if "k" in form:
        said["k"] = form.whole("k", 1, 10**9)
    if "s" in form:
        said["max_suppressed"] = form.percent("s")
    if "known" in form:
        known = form.text("known")
        said |= {"km": None, "pgen": known == "all"}
        if known.isdecimal():
            said["km"] = form.whole("known", 1, 20)
    if "listed" in form:
        said["privacy"] = read_sets(form.text("listed")) or None
    if "linkable_kind" in form:
        few = form.text("linkable_kind") == "listed"
        said["linkable"] = [x for line in read_sets(form.text("linkable")) for x in line] or None
        if not few:
            said["linkable"] = None
    if "algorithm" in form:
        if form.text("algorithm") not in METHODS:
            raise DataError(t("form.method"))
        said["algorithm"] = form.text("algorithm")
    if "rest" in form:
        said["rest"] = form.text("rest") if form.text("rest") == "intact" else None
    taken = choices.changed(**said)
    if taken.settings.get("linkable") and not taken.settings.get("km"):
        taken = taken.changed(linkable=None)
    return taken


async def _keep(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Say where the utility sets come from."""
    kind = form.text("kind")
    said: dict[str, Any] = {"utility": None, "utility_level": None}
    if kind == "table":
        said["utility"] = form.text("file")
    elif kind == "level":
        said["utility_level"] = form.whole("level", 1, 100)
    elif kind == "hand":
        return await _by_hand(studio, project, choices)
    if "rest" in form:
        said["rest"] = form.text("rest") if form.text("rest") == "intact" else None
    return choices.changed(**said)


async def _hierarchy(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Take a hierarchy; or none, and then no level of it either."""
    file = form.text("file") or None
    taken = choices.changed(hierarchy=file, known=file)
    return taken if file else taken.changed(utility_level=None)


# -- sets by hand ----------------------------------------------------------------------------------


async def _by_hand(studio: Studio, project: Project, choices: Choices) -> Choices:
    """Bring the sets into a file of their own, where they can be edited."""
    name = choices.settings.get("utility")
    if isinstance(name, str) and name.startswith("sets-"):
        return choices
    sets: dict[str, list[str]] = {}
    if name or choices.settings.get("utility_level"):
        job = studio.jobs.ensure(
            *(project, "sets", studio.params(project, choices, "sets") | {"write": True})
        )
        await studio.result(job)
        sets = project.sets_of(job.folder / "sets.json")
    file = project.place_sets(sets)
    return choices.changed(utility=file, utility_level=None)


async def _edit(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Move items between sets; make, rename and remove sets."""
    choices = await _by_hand(studio, project, choices)
    sets = project.sets(choices.settings["utility"])
    items, target = form.all("item"), form.text("target")
    new = form.text("new")[:_LONGEST]
    match form.text("do"):
        case "move" if items:
            target = new or target
            if not target:
                raise DataError(t("form.no_set"))
            _take_out(sets, items)
            sets.setdefault(target, []).extend(items)
        case "take-out" if items:
            _take_out(sets, items)
        case "rename" if new and target in sets:
            if new != target and new in sets:
                raise DataError(t("form.taken", name=new))
            sets = {new if name == target else name: inside for name, inside in sets.items()}
        case "remove":
            sets.pop(target, None)
        case "move" | "take-out":
            raise DataError(t("form.no_items"))
    if len(sets) > _MOST_SETS:
        raise DataError(t("form.many_sets", most=_MOST_SETS))
    sets = {name: inside for name, inside in sets.items() if inside}
    return choices.changed(utility=project.place_sets(sets))


def _take_out(sets: dict[str, list[str]], items: list[str]) -> None:
    gone = set(items)
    for name, inside in sets.items():
        if not gone.isdisjoint(inside):
            sets[name] = [one for one in inside if one not in gone]


# -- policies --------------------------------------------------------------------------------------


async def _cure(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Take one of the policies that were tried and are met."""
    job = studio.job(project, choices, "cures")
    proposals = {one["name"]: one for one in (await studio.result(job))["proposals"]}
    found = proposals.get(form.text("name"))
    if found is None:
        raise DataError(t("form.cure"))
    settings: Mapping[str, Any] = found["settings"]
    taken = choices.changed(**{key: one for key, one in settings.items() if key != "utility"})
    if "utility" in settings:
        taken = taken.changed(utility_level=None, utility=project.place_sets(settings["utility"]))
    return taken


async def _policy(studio: Studio, project: Project, choices: Choices, form: Form) -> Choices:
    """Open a policy file among the files of the project."""
    return await opened_policy(studio, project, choices, form.text("file"))


_ACTIONS: dict[str, Change] = {
    "source": _source,
    "reading": _reading,
    "names": _names,
    "identifiers": _identifiers,
    "protect": _protect,
    "keep": _keep,
    "hierarchy": _hierarchy,
    "edit": _edit,
    "cure": _cure,
    "policy": _policy,
}
