"""Policies as files: saved for the command and for later, and opened again."""

from __future__ import annotations

from overcoat.errors import DataError
from overcoat.policy.keys import FILES, written_settings
from overcoat.web.choices import SETTINGS, Choices, stated
from overcoat.web.studio import Studio
from overcoat.web.texts import texts_in
from overcoat.web.workspace import Project

__all__ = ["named_files", "opened_policy", "saved_policy"]

t = texts_in()


def saved_policy(choices: Choices) -> str:
    """Return the settings as `policy.toml` has them; as `policy.config` writes them.

    >>> print(saved_policy(Choices().changed(linkable=["a", "b"])), end="")
    k = 5
    max_suppressed = 0.5
    km = 2
    linkable = ["a", "b"]
    """
    return written_settings(stated(choices.settings))


def named_files(choices: Choices) -> list[str]:
    """Return the files that the policy names, which belong beside it."""
    settings = stated(choices.settings)
    said = [one for key in FILES if isinstance(one := settings.get(key), str)]
    return [one for one in dict.fromkeys(said) if ":" not in one and one != "omop"]


async def opened_policy(studio: Studio, project: Project, choices: Choices, file: str) -> Choices:
    """Return choices with the settings of a policy file, all of them."""
    if not project.path_of(file).is_file():
        raise DataError(t("studio.no_file"), file)
    version = {"files": project.info.get("version", 0)}
    job = studio.jobs.ensure(project, "open", {"policy": file} | version)
    found = await studio.result(job)
    settings = {key: value for key, value in found["settings"].items() if key in SETTINGS}
    taken = Choices(choices.source, choices.reading, settings, choices.names)
    # Asked of the folder as it is now: what the job found may be older than a file.
    missing = [one for one in named_files(taken) if not project.path_of(one).is_file()]
    if missing:
        raise DataError(t("studio.further", names=", ".join(missing)))
    return studio.checked(project, with_sets_in_file(project, taken))


def with_sets_in_file(project: Project, choices: Choices) -> Choices:
    """Return choices whose utility sets are in a file of their own, where they can be edited."""
    utility = choices.settings.get("utility")
    if utility is None or isinstance(utility, str):
        return choices
    if not isinstance(utility, dict):
        utility = {t("studio.set", n=number): items for number, items in enumerate(utility, 1)}
    return choices.changed(utility=project.place_sets(utility))
