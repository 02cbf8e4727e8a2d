"""What templates are filled with: from what jobs have found to words, tiles and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from overcoat._version import __version__
from overcoat.html import labelled
from overcoat.reports.plots import Bars, draw
from overcoat.web.choices import Choices
from overcoat.web.jobs import Job
from overcoat.web.studio import GIVEN
from overcoat.web.texts import LANGUAGE, Texts, stage_words, texts_in
from overcoat.words import known_words, percent, share

__all__ = ["Views", "promise_of", "static_files"]

_ICONS = {
    "check": "M4 12.5l5 5L20 6.5",
    "lock": "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
    "file": "M6 3h8l5 5v13H6zM14 3v5h5",
}
_SEPS = {",": "comma", ";": "semicolon", "tab": "tab", "|": "bar", "space": "space"}
_ENCODINGS = ("", "utf-8", "windows-1252", "latin-1", "utf-16")
_ROLES = ("none", "id", "item")
_MOST_MEMBERS = 60  # of a set or group that are shown at once
_MOST_LINES = 40  # of an error
# What a method cannot honour, by how the library begins to say it: in the page's words.
_CANNOT = {
    "apriori generalizes along a hierarchy": "method.apriori_hierarchy",
    "apriori merges whole subtrees": "method.apriori_sets",
    "apriori protects all itemsets": "method.apriori_known",
}
_OPTIONS = re.compile(r" \([^()]*--[a-z][^()]*\)")  # of the command: a page has none
_INSIST = "--allow-identifiers"  # in what is said where items look like identifiers


@cache
def static_files() -> dict[str, bytes]:
    """Return the files that look and behaviour are made of, by name."""
    folder = resources.files("overcoat.web").joinpath("static")
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


class Views:
    """Templates, and the words for them."""

    def __init__(self, language: str = LANGUAGE, *, kept: bool = False) -> None:
        self.t: Texts = texts_in(language)
        self._env = Environment(
            loader=PackageLoader("overcoat.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._env.filters.update(
            n=lambda number: f"{number:,}",
            source=lambda source: source.removeprefix(GIVEN),
            label=lambda text: Markup(labelled(str(text))),
            label_long=lambda text: Markup(labelled(str(text), 600)),
            known=known_words,
            pct=percent,
            share=share,
            bytes=_bytes,
            times=_times,
            members=json.loads,
        )
        self._env.globals.update(
            t=self.t,
            version=__version__,
            icon=_icon,
            static=_static,
            job_words=lambda job: stage_words(self.t, job.stage, job.remaining),
            failed_title=self.failed_title,
            failed_lines=self.failed_lines,
            method_not=self.method_not,
            cure_words=self.cure_words,
            command_parts=_command_parts,
            identifiers=_about_identifiers,
            most_members=_MOST_MEMBERS,
            message="",
            project=None,
            steps=(),
            pending=False,
            kept=kept,
            inside=True,
        )

    def page(self, name: str, /, **values: Any) -> str:
        """Return a page, or a part of one."""
        return self._env.get_template(name).render(**values)

    # -- jobs --------------------------------------------------------------------------------------

    def failed_title(self, job: Job) -> str:
        """Say in a few words how a job ended."""
        if job.state != "failed":
            return self.t(f"work.{job.state}")
        if _about_identifiers(job):
            return self.t("work.failed_identifiers")
        name = f"work.failed_{(job.error or {}).get('kind', '')}"
        return self.t(name if name in self.t else "work.failed")

    def failed_lines(self, job: Job) -> Sequence[Markup]:
        """Say why a job has no result."""
        error = job.error or {}
        if job.state == "cancelled":
            lines = [self.t("work.cancelled_text")]
        elif job.state == "killed" and error.get("kind") == "killed":
            lines = [self.t("work.killed_text")]
        elif error.get("kind") in ("memory", "bug"):
            lines = [self.t(f"work.{error['kind']}_text")]
        elif error.get("kind") == "infeasible" and "needed" in error:
            # In the words of the page; what clashes is told by those of the policy.
            of, needed = error["n_items"], error["needed"]
            numbers = {"n": needed, "of": of, "percent": percent(needed, of)}
            why = self.t("result.why_not", allowed=f"{error['allowed']:g}", **numbers)
            lines = [why, *error["lines"][1:]]
        elif _about_identifiers(job):  # the way out is a box to tick, not an option of the command
            told = str(error.get("message", "")).splitlines()
            lines = [one for one in told if _INSIST not in one]
        else:
            lines = error.get("lines") or str(error.get("message", "")).splitlines()
        return [Markup(labelled(self._in_page(line), 1000)) for line in lines[:_MOST_LINES]]

    def _in_page(self, line: str) -> str:
        """Say what the library says without the options of the command."""
        known = next((name for begin, name in _CANNOT.items() if begin in line), None)
        return _OPTIONS.sub("", line.strip()) if known is None else self.t(known)

    def method_not(self, job: Job) -> Sequence[Markup | str]:
        """Say why a method has no result beside the others."""
        if (job.error or {}).get("kind") == "infeasible":
            return [self.t("result.method_not")]
        return self.failed_lines(job)

    def cure_words(self, proposal: Mapping[str, Any], asked: Mapping[str, Any]) -> Markup:
        """Say how a policy that was tried differs from what was asked for, in the page's words."""
        told, number = [], proposal["settings"]
        if proposal["name"] in ("suppress", "k", "m", "both"):
            if "max_suppressed" in number:
                percents = number["max_suppressed"], asked.get("max_suppressed", 0)
                words = [f"{one:g}" for one in percents]
                told.append(self.t("cure.words_s", new=words[0], old=words[1]))
            if "k" in number:
                told.append(self.t("cure.words_k", new=number["k"], old=asked.get("k", 1)))
            if "km" in number:
                told.append(self.t("cure.words_m", n=number["km"], old=asked.get("km", 0)))
        text = " ".join(told) or f"{proposal['change'][:1].upper()}{proposal['change'][1:]}."
        return Markup(labelled(text, 1000))

    # -- data --------------------------------------------------------------------------------------

    def reading(self, seen: Mapping[str, Any], choices: Choices) -> dict[str, Any]:
        """Return how the first rows are shown, and what can be corrected."""
        said = choices.reading
        layout = seen["kind"]
        if layout == "database":
            layout = "table"
        items = said.get("item", seen["guess"].get("item") if "item" not in said else None)
        several = [items] if isinstance(items, str) else list(items or ())
        if isinstance(items, str) and "," in items and items not in seen["columns"]:
            several = [one.strip() for one in items.split(",")]
        lists = said.get("items") or seen["guess"].get("items")
        roles = [
            "id" if one == said.get("id") else "item" if one in several or one == lists else "none"
            for one in seen["columns"]
        ]
        sep = {"\t": "tab", None: "space"}.get(seen["sep"], seen["sep"])
        seps = [(one, self.t(f"data.sep_{name}")) for one, name in _SEPS.items()]
        if sep not in _SEPS:
            seps.append((sep, sep))
        return {
            "seen": seen,
            "layout": layout,
            "roles": roles,
            "role_names": _ROLES,
            "sep": sep,
            "seps": seps,
            "encodings": _ENCODINGS,
            "table": choices.source.partition("#")[2],
        }

    # -- risk --------------------------------------------------------------------------------------

    def risk(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the picture of who stands alone in the original."""
        n = found["n_people"]
        two = next(one for one in found["before"] if one["known"] == found["items_known"] or 1)
        two = next((one for one in found["before"] if one["known"] == 2), two)
        headline = self.t("risk.headline_none")
        means = self.t("risk.means_none")
        if two["unique"]:
            who = share(two["unique"], n, two["exact"])
            headline = self.t("risk.headline", share=f"{who[:1].upper()}{who[1:]}")
            means = self.t("risk.means")
        return {
            "found": found,
            "risk_words": {"headline": headline, "means": means},
            "risk_chart": self._bars(self.t("risk.chart"), n, [("", found["before"])]),
        }

    def weighed(self, found: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return who stands alone before and after: as many items known as was said, and more."""
        m = settings.get("km") or 0
        known = min(m or 2, 3)
        series = [
            (self.t("result.before"), found["before"]),
            (self.t("result.after"), found["after"]),
        ]
        chart = self._bars(self.t("result.risk_chart"), found["n_people"], series)
        told = [
            ("" if one["exact"] else "~") + percent(one["unique"], found["n_people"])
            for one in (at[known - 1] for _, at in series)
        ]
        change = " → ".join(told)
        return {
            "weighed": found,
            "weigh_chart": chart,
            "weigh_change": change,
            "weigh_known": known,
            # Nothing was promised of those who know more: all lines but the first m.
            "weigh_beyond": 0 if settings.get("pgen") else len(found["before"]) - min(m, 3),
        }

    def _bars(self, title: str, n: int, series: list[tuple[str, Any]]) -> Markup:
        rows = []
        for place, first in enumerate(series[0][1]):
            values = []
            for _, crowds in series:
                number, exact = crowds[place]["unique"], crowds[place]["exact"]
                about = "" if exact or not number else "~"
                values.append((number, f"{about}{number:,} ({percent(number, n)})"))
            rows.append((known_words(first["known"]), values))
        told = " ".join(
            f"{name}: {', '.join(written for _, written in values)}." for name, values in rows
        )
        names = tuple(name for name, _ in series)
        return Markup(draw(Bars(title, f"{title}. {told}", names, rows, n)))


def promise_of(t: Texts, settings: Mapping[str, Any]) -> list[str]:
    """Say what the settings promise, in words."""
    k, sentences = settings.get("k", 1), []
    if settings.get("pgen"):
        sentences.append(t("protect.promise_all", k=k))
    if settings.get("km"):
        sentences.append(t("protect.promise_known", n=settings["km"], k=k))
    listed = settings.get("privacy")
    if isinstance(listed, str):
        sentences.append(t("protect.promise_file", k=k))
    elif listed:
        sentences.append(t("protect.promise_listed", n=len(listed), k=k))
    linkable = settings.get("linkable")
    if isinstance(linkable, list) and settings.get("km"):
        sentences.append(t("protect.promise_linkable", n=len(linkable)))
    if k == 1:
        sentences.append(t("protect.promise_weak"))
    return sentences or [t("protect.promise_nothing")]


def _about_identifiers(job: Job) -> bool:
    error = job.error or {}
    return _INSIST in str(error.get("message", ""))


def _command_parts(command: str) -> list[str]:
    """Return a command in parts that are not broken over lines where there is room for them.

    >>> _command_parts("overcoat verify a.csv --id p --item code -k 5")
    ['overcoat verify a.csv', '--id p', '--item code', '-k 5']
    """
    return re.split(r" (?=--?[a-z])", command)


def _icon(name: str) -> Markup:
    return Markup(
        '<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" '
        f'focusable="false"><path d="{_ICONS[name]}"/></svg>'
    )


def _static(name: str) -> str:
    return f"/static/{name}?{sha256(static_files()[name]).hexdigest()[:8]}"


def _bytes(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000  # type: ignore[assignment]
    return f"{size:.3g} GB"


def _times(error: float) -> str:
    return f"{error:,.1f} times the true number" if error >= 1 else f"{100 * error:.2g} %"
