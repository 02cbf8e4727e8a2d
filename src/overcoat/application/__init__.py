"""One layer between the surfaces (the command, a page, a notebook) and the library.

Each function here goes all the way: it reads what the user names, states the policy, chooses the
method, does the work under a context, and writes what was asked for, all or nothing. A surface
parses what people say and renders what comes back; it composes nothing itself.
"""

from overcoat.application.checking import Assessed, Checked, evaluate, risk, verify
from overcoat.application.command import command_for
from overcoat.application.comparing import Compared, compare, pgen
from overcoat.application.deciding import check_draft, init, profile
from overcoat.application.making import anonymize, explain, notes_on
from overcoat.application.reporting import Written, report
from overcoat.application.said import Input, Outputs, Papers, Questions, Statement
from overcoat.application.weighing import (
    Survey,
    Weighed,
    glimpse,
    price,
    suggest,
    survey,
    weigh,
)

__all__ = [
    "Assessed",
    "Checked",
    "Compared",
    "Input",
    "Outputs",
    "Papers",
    "Questions",
    "Statement",
    "Survey",
    "Weighed",
    "Written",
    "anonymize",
    "check_draft",
    "command_for",
    "compare",
    "evaluate",
    "explain",
    "glimpse",
    "init",
    "notes_on",
    "pgen",
    "price",
    "profile",
    "report",
    "risk",
    "suggest",
    "survey",
    "verify",
    "weigh",
]
