"""What some tests need of the system they run on; elsewhere they are skipped, with the reason."""

import os
from pathlib import Path

import pytest

__all__ = ["needs_full_device", "needs_posix", "needs_user"]

needs_posix = pytest.mark.skipif(
    os.name != "posix", reason="needs POSIX: signals, named pipes, permissions or a shell"
)
needs_user = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root, like Windows, may do everything"
)
needs_full_device = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no /dev/full here"
)
