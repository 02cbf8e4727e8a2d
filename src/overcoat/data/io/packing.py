"""Written files keep what a name ending in ``.gz`` promises."""

from __future__ import annotations

import io
import os
from gzip import GzipFile
from typing import BinaryIO

from overcoat.data.io.names import is_gzip_name

__all__ = ["pack", "packed"]


def packed(stream: BinaryIO) -> GzipFile:
    """Return a stream that compresses what is written to it into `stream`, which stays open."""
    # No name and no time in the header: equal input, equal bytes.
    return GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0)


def pack(name: str | os.PathLike[str], content: bytes) -> bytes:
    r"""Return `content` as it is to be written under `name`: compressed if that ends in ``.gz``.

    >>> pack("map.json", b"{}"), pack("map.json.gz", b"{}")[:2]
    (b'{}', b'\x1f\x8b')
    """
    if not is_gzip_name(os.fspath(name)):
        return content
    target = io.BytesIO()
    with packed(target) as stream:
        stream.write(content)
    return target.getvalue()
