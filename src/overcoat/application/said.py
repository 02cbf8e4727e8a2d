"""What users say: which data, what must hold, where it goes, what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Abstract
from dataclasses import dataclass, field, fields, replace
from typing import Any

from overcoat.algorithms import Method, take_method
from overcoat.context import Stage
from overcoat.data.io import Asked, read_source
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError, Problem
from overcoat.mapping import Mapping
from overcoat.measures.queries import Workload
from overcoat.policy.config import PARAMETERS, read_settings, state_policy
from overcoat.policy.omop import settle_omop
from overcoat.policy.policy import Policy
from overcoat.policy.sets import Sets

__all__ = ["Input", "Outputs", "Papers", "Questions", "Statement"]


@dataclass(frozen=True)
class Input:
    """Data as a user names them: a file, and how it is to be read."""

    source: str = field(repr=False)  # an address may hold a password
    asked: Asked = field(default_factory=Asked)

    def read(self, stage: Stage, *, keep_order: bool = False) -> Transactions:
        """Read the transactions."""
        return read_source(self.source, self.asked, keep_order=keep_order, stage=stage)

    @property
    def set_sep(self) -> str | None:
        """What splits the items of a set file: as the user says, or "", as in the data."""
        return "" if self.asked.sep is None else self.asked.sep


# What the keys of `policy.toml` state, where a policy calls it otherwise.
_PART_OF = {"utility_level": "utility", "rest": "utility", "distances": "weights"}
_PARTS = {one.name for one in fields(Policy)} - {"privacy"}


@dataclass(frozen=True)
class Statement:
    """What a user states: a policy, the method if one was named, and what it is to minimise."""

    policy: Policy
    method: str | None = None
    settings: Abstract[str, Any] = field(default_factory=dict)
    parameters: Abstract[str, Any] = field(default_factory=dict)  # of the method

    @classmethod
    def of(
        cls,
        settings: Abstract[str, Any],
        file: str | None = None,
        *,
        sep: str | None = "",
        privacy: bool = True,
        data: Input | None = None,
    ) -> Statement:
        """Join a policy file and settings; the settings win.

        Parameters
        ----------
        settings : values by the keys of `policy.toml`, None where nothing was said
        file : the policy file
        sep : how set files split items; "" as in the data
        privacy : whether the policy has to protect something; measures do without
        data : what it is about, of which a hierarchy and utility sets may come
        """
        stated = {} if file is None else read_settings(file)
        either = {"utility": "utility_level", "utility_level": "utility"}
        for key, other in either.items():
            if settings.get(key) is not None:
                stated.pop(other, None)  # what is said on the command line wins
        stated |= {key: value for key, value in settings.items() if value is not None}
        said = dict(stated)
        method = stated.pop("algorithm", None)
        parameters = {key: stated.pop(key) for key in PARAMETERS if key in stated}
        if "queries" in parameters:
            parameters["queries"] = Sets.read(parameters["queries"], sep=sep)
        stated, problems = settle_omop(stated, data)
        files = [] if file is None else [file]
        policy = state_policy(stated, sep=sep, privacy=privacy, files=files)
        return cls(policy.with_problems(problems), method, said, parameters)

    def over(self, policy: Policy) -> Policy:
        """Return another policy with what is stated here in place of what it says of that.

        What it protects stays; `k` and `max_suppressed` are taken as they were said.
        """
        parts = {part for key in self.settings if (part := _PART_OF.get(key, key)) in _PARTS}
        changed: dict[str, Any] = {part: getattr(self.policy, part) for part in parts}
        numbers = ("k", "max_suppressed")
        changed |= {key: self.settings[key] for key in numbers if key in self.settings}
        return replace(policy, **changed).with_problems(self.policy.problems)

    def bind_method(self, start: Mapping | None = None) -> tuple[Policy, Method]:
        """Return the policy and the method; an unknown name is a problem of the policy.

        `start` is the mapping of an earlier release that the method is to go on from.
        """
        try:
            method = take_method(self.method, **self.parameters)
            return self.policy, method if start is None else method.starting_from(start)
        except PolicyError as error:
            return self.policy.with_problems(error.problems), take_method(None)


@dataclass(frozen=True)
class Papers:
    """What goes with a release for people to read, and to check it by.

    Attributes
    ----------
    report, external_report : where the two editions of the report go
    certificate, public_certificate : where the two editions of the certificate go
    describe : a list of what items are called, which anyone may see
    salt : a secret by which the public certificate names the input
    price : whether the report says what each part of the policy costs, which takes a run for each
    """

    report: str | None = None
    external_report: str | None = None
    certificate: str | None = None
    public_certificate: str | None = None
    describe: str | None = None
    salt: str | None = None
    price: bool = False

    @property
    def files(self) -> dict[str, str | None]:
        """What is to be written, by name."""
        return {
            "report": self.report,
            "external_report": self.external_report,
            "certificate": self.certificate,
            "public_certificate": self.public_certificate,
        }

    @property
    def inputs(self) -> list[str | None]:
        """What is read."""
        return [self.describe, self.salt]

    def check(self, mapping: str | None) -> None:
        """Refuse what cannot be meant, before the work."""
        problems = [
            Problem(
                f"--{one.name.replace('_', '-')} needs a file; standard output is for the "
                "released data"
            )
            for one in fields(self)
            if getattr(self, one.name) == "-"
        ]
        public = {
            "--external-report": self.external_report,
            "--certificate": self.certificate,
            "--public-certificate": self.public_certificate,
        }
        if mapping is None:
            problems += [
                Problem(f"{name} is about the mapping, too: write it with --mapping")
                for name, path in public.items()
                if path is not None
            ]
        if self.salt is not None and self.public_certificate is None:
            problems.append(
                Problem("--salt is for the digest of the input in a public certificate")
            )
        if self.price and self.report is None:
            problems.append(Problem("--price is for the report: name its file with --report"))
        if problems:
            raise DataError(problems)


@dataclass(frozen=True)
class Outputs:
    """Where a release goes, and what goes with it."""

    released: str = field(repr=False)  # an address may hold a password
    mapping: str | None = None
    to: str | None = None
    keep_order: bool = False
    allow_identifiers: bool = False
    codebook: str | None = None
    label_from: str | None = None
    replace: bool = False
    dry_run: bool = False
    papers: Papers = field(default_factory=Papers)


@dataclass(frozen=True)
class Questions:
    """The queries by which a release is measured: drawn, or a user's own."""

    file: str | None = None
    sizes: Sequence[int] | None = None
    number: int = 1000
    seed: int = 0
    among: str = "all"
    by: Any = "items"

    @property
    def draws(self) -> bool:
        """Whether any are to be drawn."""
        return self.file is None or self.sizes is not None

    def read(self, data: Transactions, sep: str | None, known: Iterable[str]) -> list[Workload]:
        """Read the user's own."""
        if self.file is None:
            return []
        return [Workload.read(self.file, data, sep=sep, known=known)]
