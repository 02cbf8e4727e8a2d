"""Who may ask: a token that works once is exchanged for a cookie, or for a key of a program."""

from __future__ import annotations

import secrets
import time

__all__ = ["Session"]

_LIFETIME = 3600.0  # seconds in which a token is to be used


class Session:
    """The tokens that were given out, and the keys they were exchanged for.

    >>> session = Session()
    >>> token = session.new_token()
    >>> key = session.exchange(token)
    >>> session.knows(key), session.exchange(token)
    (True, None)
    """

    def __init__(self) -> None:
        self._tokens: dict[str, float] = {}
        self._keys: set[str] = set()

    def new_token(self) -> str:
        """Return a token; it works once, within an hour."""
        token = secrets.token_urlsafe(24)
        self._tokens[token] = time.monotonic() + _LIFETIME
        return token

    def exchange(self, token: str) -> str | None:
        """Return a key for a token, which is of no use afterwards; None if it is none."""
        # Whoever guesses learns nothing from how long this takes: 192 bits are not found that way.
        ends = self._tokens.pop(token, None)
        if ends is None or time.monotonic() > ends:
            return None
        key = secrets.token_urlsafe(32)
        self._keys.add(key)
        return key

    def knows(self, key: str) -> bool:
        """Whether a key was given out here."""
        given = key.encode()
        return any(secrets.compare_digest(given, one.encode()) for one in self._keys)

    def end(self, key: str) -> None:
        """Forget a key."""
        self._keys.discard(key)
