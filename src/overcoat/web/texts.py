"""What the pages say, in one place: a catalogue for each language."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["LANGUAGE", "Texts", "stage_words", "texts_in"]

LANGUAGE = "en"


class Texts:
    """The texts of one language.

    >>> Texts({"data": {"people": "{n:,} people", "people_1": "1 person"}})("data.people", n=1200)
    '1,200 people'
    >>> Texts({"data": {"people": "{n:,} people", "people_1": "1 person"}})("data.people", n=1)
    '1 person'
    """

    def __init__(self, content: dict[str, Any], language: str = LANGUAGE) -> None:
        self.language = language
        self._texts = {
            f"{part}.{name}": text
            for part, texts in content.items()
            for name, text in texts.items()
        }

    def __call__(self, name: str, /, **values: Any) -> str:
        """Return a text with its values; of `NAME` and `NAME_1` the second where `n` is one."""
        if values.get("n") == 1 and f"{name}_1" in self._texts:
            name = f"{name}_1"
        text: str = self._texts[name]
        return text.format(**values) if values else text

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)


@cache
def texts_in(language: str = LANGUAGE) -> Texts:
    """Return the texts of a language."""
    file = resources.files("overcoat.web").joinpath("locales", f"{language}.toml")
    return Texts(tomllib.loads(file.read_text("utf-8")), language)


def stage_words(texts: Texts, stage: str, remaining: int | None = None) -> str:
    """Say what a job is doing, and how long that will take yet.

    >>> stage_words(texts_in(), "read"), stage_words(texts_in(), "verify", 130)
    ('reading', 'checking by counting, about 3 minutes left')
    """
    name, _, note = stage.partition(": ")
    words = texts(f"work.stage_{name}") if f"work.stage_{name}" in texts else ""
    left = "" if remaining is None else _left(texts, remaining)
    return ", ".join(filter(None, [words, note, left]))


def _left(texts: Texts, seconds: int) -> str:
    """Say how long something will take, as roughly as it is known."""
    if seconds < 60:
        return texts("work.left_seconds", n=max(5, 5 * math.ceil(seconds / 5)))
    minutes = math.ceil(seconds / 60)
    if minutes <= 90:
        return texts("work.left_minutes", n=minutes)
    return texts("work.left_hours", n=math.ceil(minutes / 60))
