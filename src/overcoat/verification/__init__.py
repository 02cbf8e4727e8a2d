"""Verification by the definitions, apart from the algorithms."""

from overcoat.verification.verdict import LISTED, Verdict, Violation
from overcoat.verification.verify import verify, verify_published

__all__ = ["LISTED", "Verdict", "Violation", "verify", "verify_published"]
