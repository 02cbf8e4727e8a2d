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
_SECTION_OF = {option: title for title, text in _SECTIONS.items() for option in text.split()}


class Command(click.Command):
    """A command whose help has its options in sections."""

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
