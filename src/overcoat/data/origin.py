"""Where transactions came from, and how they were understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from overcoat.data.layout import Layout

__all__ = ["NOWHERE", "Origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """What reading found out besides the transactions.

    Attributes
    ----------
    layout : how the input was laid out, None for Python objects
    file_digest : SHA-256 of the input file, None where there is none; of several files that of
        their list, each line with the digest of a file, two blanks and its name
    read_as : how the input was understood, in words; empty where there was nothing to understand
    notes : what its owner should know, a sentence each
    names : what items are called, where the source says it
    parts : digests of the files, where there are several
    """

    layout: Layout | None = None
    file_digest: str | None = None
    read_as: str = ""
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ()


NOWHERE = Origin()  # of what was made here
