"""The commands of studies: their usage, and how they respond to bad input and interruption."""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import click

from mh4.cli.group import Stopped, reporting_errors, say
from mh4.errors import InputError
from mh4.util import streams

LISTS = ("langs", "rows", "systems", "seeds")
# Of what is studied, not of where and by whom.
CHOICES = ("lang", "treebank", "name", *LISTS, "length", "settings", "system", "seed", "updates")
VARIABLES = (*CHOICES, "ud", "later", "conll17", "jobs", "slurm", "cores", "format")  # of all studies


class UsageError(InputError):
    """LANG is not a treebank, so the usage is printed."""


class Command(click.Command):
    """A command whose function returns an exit code or None. It reports errors as the commands of `mh4` do."""

    def invoke(self, context: click.Context) -> Any:
        with reporting_errors(self.name or ""):
            try:
                code = super().invoke(context) or 0
                streams.finish()
            except (KeyboardInterrupt, Stopped):
                print("stopped; run the same command again to resume")
                code = 130
            except UsageError as error:
                say(str(error), *self.get_help(context).split("\n"), err=True)
                code = 2
        context.exit(code)


class Study(Command):
    """The command of a study. Its options are the variables of its `make` target, in either case; its module begins with its usage."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Ignore variables of other studies, since make passes on all of them, unless they choose what is studied."""
        arguments = [re.sub(r"^--[A-Z0-9]+(?==)", lambda name: name[0].lower(), each) for each in arguments]
        own = {parameter.name for parameter in self.params}
        others = set(VARIABLES) - own
        given = dict(each[2:].split("=", 1) for each in arguments if each.startswith("--") and "=" in each)
        for name in (name for name in CHOICES if given.get(name) and name in others):
            with reporting_errors(self.name or ""):
                instead = "; to choose some of its treebanks, give LANGS" if name == "lang" and "langs" in own else ""
                message = "is not of one treebank" if name == "lang" else "has no choice of these"
                raise InputError("%s=%s: this study %s%s" % (name.upper(), given[name], message, instead))
        begins = tuple("--%s=" % name for name in others)
        return super().parse_args(context, [each for each in arguments if not each.startswith(begins)])

    def format_usage(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("usage: %s\n" % self._introduced()[0].replace("\n", "\n" + " " * 7))

    def format_help(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(context, formatter)
        options = (each for each in self.params if isinstance(each, click.Option))
        shown = {each.opts[0][2:].upper(): each.help or "" for each in options}
        width = max([7, *map(len, shown)])
        for name, meaning in shown.items():
            formatter.write("  %-*s  %s\n" % (width, name, meaning.replace("\n", "\n" + " " * (width + 4))))

    def get_short_help_str(self, limit: int = 45) -> str:
        return self._introduced()[1].replace("\n", " ")

    def _introduced(self) -> tuple[str, str]:
        """Return the usage and purpose of a study, from the first paragraph of its module."""
        paragraph = (sys.modules[self.callback.__module__].__doc__ or "").partition("\n\n")[0]
        usage, _, what = paragraph.removeprefix("``").partition("``:")
        return usage, what.strip()


def study(function: Callable[..., Any]) -> click.Command:
    """Decorate the function of a study, which gets the bench that it works at, and its variables."""
    return click.command(cls=Study)(click.pass_obj(function))


def chosen(given: str, known: Collection[str], default: Iterable[str], complaint: Callable[[str], str]) -> list[str]:
    """Return the words of a variable, or `default`. Raises InputError with the complaint about an unknown word."""
    wanted = list(dict.fromkeys(given.split() or default))
    for word in wanted:
        if word not in known:
            raise InputError(complaint(word))
    return wanted


def requested_systems(systems: str, known: Sequence[str], default: Sequence[str]) -> list[str]:
    """Return the systems that SYSTEMS names. Raises InputError if one is not among those `known`."""
    return chosen(systems, known, default, lambda system: "SYSTEMS: %s is not one of %s" % (system, ", ".join(known)))
