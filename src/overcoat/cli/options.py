"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from overcoat.cli.limits import limit_options

if TYPE_CHECKING:
    from overcoat.application import Input, Statement

__all__ = [
    "FILE",
    "allow_option",
    "cost_options",
    "crowd_option",
    "data_options",
    "json_option",
    "layout_option",
    "names_option",
    "output_options",
    "policy_options",
    "reading_options",
    "seed_option",
    "start_option",
    "state",
    "talk_options",
    "together",
]


F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path()


def together(options: Sequence[Callable[[F], F]]) -> Callable[[F], F]:
    """Return one decorator that adds several options, in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_reading_options = together(
    [
        click.option("--id", "id_", metavar="COLUMN", help="Long table: the transaction's column."),
        click.option(
            "--item",
            multiple=True,
            metavar="COLUMN",
            help="Long table: the item's column. Wide table: its columns, as A,B,C.",
        ),
        click.option("--items", metavar="COLUMN", help="Parquet: the list column."),
        click.option(
            "--sep",
            metavar="CHAR",
            help="What separates items (or columns): one character, or 'tab'. "
            "Default: white space in .dat and .txt, comma in .csv, tab in .tsv, or what is found.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            help="Of a text, such as windows-1252. Default: what is found.",
        ),
        click.option("--header", is_flag=True, help="The basket file starts with a header line."),
        click.option("--sheet", metavar="NAME", help="Workbook: its sheet, by name or number."),
        click.option("--query", metavar="SQL", help="Database: the statement whose rows to read."),
        click.option(
            "--omop",
            is_flag=True,
            help="DATA is an OMOP common data model: a database (URL#SCHEMA) or a folder.",
        ),
        click.option(
            "--domain",
            metavar="NAME",
            help="OMOP and FHIR: condition, drug or procedure, or several. Default: condition.",
        ),
        click.option("--system", metavar="URI", help="FHIR: the system whose codes to take."),
        click.option(
            "--pad", type=int, metavar="N", help="Put zeros in front of codes of fewer digits."
        ),
        click.option("--trim", is_flag=True, help="Drop blanks around codes."),
        click.option("--upper", is_flag=True, help="Write codes in capital letters."),
    ]
)


# The options above that are handed on as they are.
_SAID = (
    "item",
    "items",
    "encoding",
    "header",
    "sheet",
    "query",
    "omop",
    "domain",
    "system",
    "pad",
    "trim",
    "upper",
)


def reading_options(function: F) -> F:
    """Add the options that say how `data` is to be read; the command gets an `Input`."""

    @wraps(function)
    def gathered(data: str, id_: str | None, sep: str | None, **others: Any) -> Any:
        from overcoat.application import Input
        from overcoat.data.io import Asked

        said = {name: others.pop(name) for name in _SAID}
        # Given several times, it names several columns; once, they may be split by commas.
        said["item"] = said["item"][0] if len(said["item"]) == 1 else said["item"] or None
        asked = Asked(id=id_, sep=_separator(sep), **said)
        return function(data=Input(data, asked), **others)

    return _reading_options(cast(F, gathered))


def data_options(function: F) -> F:
    """Add DATA and the options that say how it is to be read; the command gets an `Input`."""
    return click.argument("data", type=FILE, metavar="DATA")(reading_options(function))


# What tells the cost of a release: `evaluate` takes these and no more of a policy.
_COSTS = {
    "--utility": click.option(
        "--utility",
        type=FILE,
        metavar="FILE",
        help="Sets of items that may be merged with each other. Default: one set of all. "
        "'omop:ID,ID' takes what is below these concepts of an OMOP model.",
    ),
    "--utility-level": click.option(
        "--utility-level",
        metavar="LEVEL",
        help="The sets are the nodes of --hierarchy at this level: steps below the root, or what "
        "stands before a colon in their names.",
    ),
    "--hierarchy": click.option(
        "--hierarchy",
        type=FILE,
        metavar="FILE",
        help="Weights: leaf;parent;…;root on each line. 'balanced:5' builds one with "
        "fan-out 5 over the items in order, 'omop' takes that of an OMOP model.",
    ),
    "--distances": click.option(
        "--distances",
        type=FILE,
        metavar="FILE",
        help="Weights: item,item,distance from 0 to 1 on each line, instead of a hierarchy.",
    ),
    "--penalties": click.option(
        "--penalties",
        type=FILE,
        metavar="FILE",
        help="Loss of suppressing an item: item,penalty on each line. Default: its share of "
        "the transactions.",
    ),
    "--known": click.option(
        "--known",
        type=FILE,
        metavar="FILE",
        help="A code list or hierarchy: policy files may name its codes though they do not occur.",
    ),
    "--ignore-unknown": click.option(
        "--ignore-unknown",
        is_flag=True,
        default=None,
        help="Policy files may name any item; absent ones are noted.",
    ),
    "--policy": click.option(
        "--policy",
        type=FILE,
        metavar="FILE.toml",
        help="All of the above in one file; options given here win.",
    ),
}

policy_options = together(
    [
        click.option(
            "-k",
            "k",
            type=int,
            metavar="K",
            help="The crowd (k): a protected itemset must match at least K people, or nobody.",
        ),
        click.option(
            "--privacy", type=FILE, multiple=True, metavar="FILE", help="Protect these itemsets."
        ),
        click.option(
            "--km",
            type=int,
            metavar="M",
            help="The known items (m): protect all itemsets of (up to) M items.",
        ),
        click.option(
            "--linkable",
            type=FILE,
            metavar="FILE",
            help="With --km: only over the items in FILE.",
        ),
        click.option(
            "--private",
            type=FILE,
            metavar="FILE",
            help="With --km: nobody knows the items in FILE; all others are public.",
        ),
        click.option(
            "--h",
            "h",
            type=float,
            metavar="PERCENT",
            help="With --private: of those who match M public items, at most so many percent may "
            "share one private item. Default: 100.",
        ),
        click.option(
            "--pgen", is_flag=True, default=None, help="Protect every part of every transaction."
        ),
        _COSTS["--utility"],
        _COSTS["--utility-level"],
        click.option(
            "--rest",
            type=click.Choice(["together", "intact"]),
            help="Items in no utility set: one more set, or left alone. Default: together.",
        ),
        click.option(
            "-s",
            "--max-suppressed",
            type=float,
            metavar="PERCENT",
            help="The share that may be left out (s): how many percent of the occurring items may "
            "be suppressed. Default: 0.5.",
        ),
        _COSTS["--hierarchy"],
        _COSTS["--distances"],
        _COSTS["--penalties"],
        click.option("--algorithm", metavar="NAME", help="The method. Default: coat."),
        click.option(
            "--minimise",
            metavar="LOSS",
            help="What the method is to minimise; exact: ul (default), ncp or flat; search: useful "
            "(default), ul, ncp, flat or queries.",
        ),
        _COSTS["--known"],
        _COSTS["--ignore-unknown"],
        _COSTS["--policy"],
    ]
)

cost_options = together(list(_COSTS.values()))

allow_option = click.option(
    "--allow-identifiers",
    is_flag=True,
    help="Go on although items look like identifiers of people.",
)

output_options = together(
    [
        click.option(
            "-o",
            "--output",
            type=FILE,
            metavar="RELEASED",
            help="Where to write the released data; - for standard output. A table: URL#TABLE.",
        ),
        click.option(
            "--mapping", type=FILE, metavar="MAP.json", help="Where to write the mapping."
        ),
        click.option(
            "--codebook",
            type=FILE,
            metavar="BOOK.csv",
            help="Where to write a table of what became of each item: .csv, .tsv or .xlsx.",
        ),
        click.option(
            "--to",
            type=click.Choice(["basket", "long", "list"]),
            help="Layout of the released file. Default: by its name, else as the input.",
        ),
        click.option(
            "--keep-order",
            is_flag=True,
            help="Keep the rows in the order of the input. This can link rows to people.",
        ),
        click.option("--dry-run", is_flag=True, help="Do everything but write; -o is not needed."),
        allow_option,
        click.option(
            "--replace",
            is_flag=True,
            help="A table that exists is replaced; without it, it is refused. Files always are.",
        ),
    ]
)

names_option = click.option(
    "--label-from",
    type=click.Choice(["utility", "hierarchy"]),
    help="Name a group after the utility set or the node of the hierarchy that it is.",
)

start_option = click.option(
    "--start",
    type=FILE,
    metavar="MAP.json",
    help="The mapping of an earlier release: keep its groups, only merge further; place new items.",
)

layout_option = click.option(
    "--to",
    type=click.Choice(["basket", "long", "list"]),
    help="Layout of RELEASED, where its name does not say it.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


_talk_options = together(
    [
        click.option("-q", "--quiet", is_flag=True, help="Say nothing but warnings and errors."),
        click.option("-v", "--verbose", is_flag=True, help="Say what is being done."),
        click.option(
            "--log-file", type=FILE, metavar="FILE", help="Add what happens to FILE, as JSON lines."
        ),
    ]
)


def talk_options(function: F) -> F:
    """Add the options that say how much is told, and of the machine what is used.

    The command gets `quiet` and `limits`; the rest is done.
    """

    @wraps(function)
    def talking(verbose: bool, log_file: str | None, **others: Any) -> Any:
        from overcoat.cli.log import begin_log

        if log_file is not None and log_file in (others.get("output"), others.get("mapping")):
            raise click.UsageError("--log-file is to be a file of its own")
        begin_log(log_file, verbose=verbose)
        return function(**others)

    return limit_options(_talk_options(cast(F, talking)))


seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="SEED",
    help="Of the draws.",
)
crowd_option = click.option(
    "-k",
    "k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="K",
    help="How many people make a crowd.",
)


def state(
    data: Input, *, policy: str | None, cost_only: bool = False, **settings: Any
) -> Statement:
    """Return what the options and the policy file state; the options win."""
    from overcoat.application import Statement

    settings["privacy"] = settings.get("privacy") or None
    return Statement.of(settings, policy, sep=data.set_sep, privacy=not cost_only, data=data)


def _separator(sep: str | None) -> str | None:
    """Let people write a tab without shell tricks."""
    return "\t" if sep in ("tab", r"\t") else sep
