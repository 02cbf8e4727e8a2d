"""What to type instead: the command that would do where another failed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from overcoat.errors import OvercoatError, UnknownItemsError, VerificationError
from overcoat.words import without_passwords

__all__ = ["starting_instead"]


def starting_instead(error: OvercoatError, argv: Sequence[str]) -> str | None:
    """Return how to go on from the mapping that `apply` could not use; None if that cannot help.

    Merging further helps where crowds have become too small, and where items are new. It takes no
    group apart and brings nothing back.

    >>> argv = ["overcoat", "apply", "may.csv", "--use", "map.json", "-k", "5", "-o", "out.csv"]
    >>> print(starting_instead(UnknownItemsError(["x"]), argv))
    its groups can be kept and merged further, and new items placed, as far as utility sets allow:
      overcoat anonymize may.csv --start map.json -k 5 -o out.csv --mapping NEW.json
    """
    helps = isinstance(error, UnknownItemsError)
    if isinstance(error, VerificationError) and error.verdict is not None:
        helps = {*error.verdict.n_violations} == {"privacy"}
    if not helps or "apply" not in argv:
        return None
    at = list(argv).index("apply")
    words = ["overcoat", "anonymize", *argv[at + 1 :]]
    words = ["--start" + word[5:] if _is_use(word) else word for word in words]
    if not any(word.split("=")[0] == "--mapping" for word in words):
        words += ["--mapping", "NEW.json"]
    command = without_passwords(shlex.join(words))
    return (
        "its groups can be kept and merged further, and new items placed, as far as utility sets "
        f"allow:\n  {command}"
    )


def _is_use(word: str) -> bool:
    return word == "--use" or word.startswith("--use=")
