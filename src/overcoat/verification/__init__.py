"""Verification by the definitions, apart from the algorithms."""

from overcoat.verification.verify import LISTED, Verdict, Violation, verify

__all__ = ["LISTED", "Verdict", "Violation", "verify"]
