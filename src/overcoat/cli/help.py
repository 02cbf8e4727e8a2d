"""Help in sections: what is the command's own, then privacy, utility, method, data, and so on."""

from __future__ import annotations

import click

__all__ = ["Command"]

# Where options stand that several commands share; all others are the command's own.
_SECTIONS = {
    "Privacy": "-k --km --privacy --linkable --private --h --pgen",
    "Utility": "--utility --utility-level --rest --max-suppressed --hierarchy --distances "
    "--penalties",
    "Policy files": "--policy --ignore-unknown",
    "Method": "--algorithm --algorithms --minimise --start",
    "Queries": "--queries --q --n-queries --among --by",
    "Data": "--id --item --items --sep --encoding --header --sheet --query --omop --domain "
    "--system --pad --trim --upper --allow-identifiers --spark",
    "Machine": "--threads --memory --temporary",
    "Output": "--output --mapping --codebook --to --keep-order --replace --label-from --dry-run "
    "--suggest --report --price --external-report --certificate --public-certificate --salt "
    "--describe --json --quiet --verbose --log-file --help",
}
_SEVERAL = ": several values go into --sweep, as in --sweep k=5,10, and methods into --algorithms"
_SECTION_OF = {option: title for title, text in _SECTIONS.items() for option in text.split()}


class Command(click.Command):
    """A command whose help has its options in sections, and that takes each option once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, instead of taking the last value in silence."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for option in order:
            if not isinstance(option, click.Option) or option.multiple or option.is_flag:
                continue
            if not option.count and order.count(option) > 1:
                hint = _SEVERAL if ctx.command.name == "compare" else ""
                raise click.UsageError(f"{max(option.opts, key=len)} is given twice{hint}", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {
            title: [] for title in ("Options", *_SECTIONS)
        }
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record is not None:
                sections[_section(parameter)].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _section(option: click.Option) -> str:
    if "--known" in option.opts:  # of policies a code list, of risk a number
        return "Policy files" if option.metavar == "FILE" else "Options"
    if (option.help or "").startswith(("With --algorithm", "With --minimise")):
        return "Method"
    found = (_SECTION_OF.get(name) for name in reversed(option.opts))
    return next((title for title in found if title), "Options")
