"""Define the commands of studies: their variables, as for ``make``, and how they handle bad input and interruption."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from experiments import published
from experiments.engine.executor import Jobs, check_slurm
from experiments.engine.provenance import make_command
from experiments.engine.run import system_and_loss
from experiments.engine.treebank import SETTINGS, Treebank, check_name, located, own, with_test
from mh4.cli.group import reporting_errors, resumable, say
from mh4.data import treebanks
from mh4.errors import InputError, telling_warnings, unknown
from mh4.parser import systems as registry
from mh4.parser.systems import SYSTEMS
from mh4.util import cpu, streams
from mh4.util.text_tables import Form

LISTS = ("langs", "rows", "systems", "seeds")
NOT_VARIABLES = ("LANG", "NAME")  # not read from the environment, where they have other meanings

# The defaults of `make reproduce`.
DEFAULT_SYSTEMS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec")
DEFAULT_SEEDS = "1 2 3"
TOY_SEEDS = "1 2"
PAPER_SEEDS = "1 2 3 4 5"
MOST_JOBS = 4

LANG = "%s,\nor toy: a small artificial language, needs no network" % " ".join(treebanks.languages())
MEANINGS = {  # help texts of variables, shared by most studies
    "lang": LANG,
    "treebank": "instead of LANG, a treebank of your own: the folder of its .conllu files, or how their paths begin",
    "name": "what that is called in runs/; by default as the folder or the files",
    "ud": "a folder that already has the treebank's files; otherwise they are downloaded, from github or SOURCE=lindat",
    "conll17": "as for make reproduce",
    "format": "latex, markdown or csv: tables of scores in this form, for a paper",
    "jobs": "number of parallel runs, each on one core; by default the number of cores, at most %d" % MOST_JOBS,
    "slurm": "options of sbatch, such as --partition=main: runs are made by JOBS jobs of the cluster, by default one each",
    "settings": "authors, the settings of the authors' runs, or a TOML file of settings; by default ours",
}


class UsageError(InputError):
    """LANG is missing or unknown. The usage is printed as well."""


class Command(click.Command):
    """A command whose function returns an exit code or None. It reports errors as the commands of `mh4` do."""

    def invoke(self, context: click.Context) -> Any:
        with reporting_errors(self.name or ""), telling_warnings(lambda text: say(text, err=True)):
            try:
                code = resumable(super().invoke)(context) or 0
                streams.finish()
            except UsageError as error:
                say(str(error), *self.get_help(context).split("\n"), err=True)
                code = 2
        context.exit(code)


class Study(Command):
    """The command of a study.

    Its options are the variables of its `make` target, in upper or lower case. Most can also be set in the environment.
    """

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        with reporting_errors(self.name or ""):
            try:
                return super().parse_args(context, arguments)
            except click.NoSuchOption as error:
                known = [option.opts[0][2:] for option in self.params]
                raise InputError(unknown("variable", error.option_name[2:].upper(), known)) from None


def study(**meanings: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make the function of a study a command. Its arguments: the bench, and the variables of its usage, "" by default.

    meanings: help texts of variables that replace those in MEANINGS.
    """

    def command(function: Callable[..., Any]) -> click.Command:
        about = (sys.modules[function.__module__].__doc__ or "").partition("\n\n")[0].replace("``", "")
        usage, _, what = about.partition(":")
        options = [
            click.Option(["--" + name], default="", envvar=name if name not in NOT_VARIABLES else None, help=known[name.lower()])
            for name in re.findall("([A-Z0-9]+)=", usage)
        ]
        settings = {"token_normalize_func": str.lower}
        made = click.command(cls=Study, params=options, help=about, short_help=" ".join(what.split()), context_settings=settings)
        return made(click.pass_obj(function))

    known = {**MEANINGS, **meanings}
    return command


def chosen(given: str, known: Collection[str], default: Iterable[str], complaint: Callable[[str], str]) -> list[str]:
    """Return the words of a variable, or `default`. Raises InputError with the complaint about an unknown word."""
    wanted = list(dict.fromkeys(given.split() or default))
    for word in wanted:
        if word not in known:
            raise InputError(complaint(word))
    return wanted


def requested_systems(systems: str, known: Sequence[str], default: Sequence[str]) -> list[str]:
    """Return the systems that SYSTEMS names. Raises InputError if one is not among those `known`."""
    return chosen(systems, known, default, lambda system: "SYSTEMS: " + unknown("system", system, known))


def repeat(**others: str | Sequence[object] | None) -> str:
    """Return the command of the running study as it was typed, without anything specific to this machine.

    others: values that replace those of some variables.
    """
    context = click.get_current_context()
    variables: dict[str, str | Sequence[object] | None] = {}
    for option in context.command.params:
        name, value = option.name or "", context.params[option.name or ""]
        if name in LISTS and not os.path.isabs(value):  # ROWS may begin with a file
            variables[name.upper()] = value.split()
        elif name in ("ud", "later", "conll17", "treebank"):  # the toy treebank is always generated
            variables[name.upper()] = None if context.params.get("lang") == treebanks.TOY else os.path.expanduser(value)
        elif name not in ("jobs", "slurm", "format"):
            variables[name.upper()] = value
    return make_command(context.command.name or "", **{**variables, **others})


@dataclass(frozen=True)
class Request:
    """A valid request for training runs. own: the treebank named by TREEBANK, if any."""

    lang: str
    systems: tuple[str, ...]
    seeds: tuple[int, ...]
    jobs: Jobs
    ud: str | None
    conll17: str | None = None
    settings: str = ""
    own: Treebank | None = None

    def treebank(self, test: bool = True) -> Treebank:
        """Find or download the treebank. test: whether to include the files to test on."""
        if self.own:
            return self.own.with_settings(self.settings)
        bank = located(self.lang, self.ud, self.settings)
        return with_test(bank, self.ud, self.conll17) if test else bank


def request(
    lang: str,
    systems: str = "",
    seeds: str = "",
    ud: str = "",
    jobs: str = "",
    conll17: str = "",
    settings: str = "",
    slurm: str = "",
    treebank: str = "",
    name: str = "",
) -> Request:
    """Check the variables; empty means default. Raises UsageError for LANG and InputError for the others."""
    mine = own(os.path.expanduser(treebank), name) if treebank else None
    if treebank and (lang or ud or conll17):
        raise InputError("TREEBANK stands instead of LANG, UD and CONLL17: omit these")
    if name and not treebank:
        raise InputError("NAME=%s names a treebank of your own: give its files by TREEBANK" % name)
    lang = mine.name if mine else lang
    if not lang.strip():
        raise UsageError("LANG is missing")
    if not mine and lang not in (*treebanks.languages(), treebanks.TOY):
        raise UsageError("LANG=%s is not the code of a treebank" % lang)
    chosen = tuple(dict.fromkeys(systems.split())) or DEFAULT_SYSTEMS
    for system in chosen:
        trained, loss = system_and_loss(system)
        if trained not in SYSTEMS:
            message = "SYSTEMS: %s, and of those with marginals NAME-likelihood"
            raise InputError(message % unknown("system", trained, SYSTEMS))
        if loss == "likelihood" and not SYSTEMS[trained].marginals:
            raise InputError("SYSTEMS: %s cannot be trained on likelihood, as it has no marginals" % trained)
    given = tuple(dict.fromkeys(seeds.split() or (TOY_SEEDS if lang == treebanks.TOY else DEFAULT_SEEDS).split()))
    for seed in given:
        if not re.match(r"^[1-9][0-9]{0,8}$", seed):
            raise InputError('SEEDS: %s is not a positive whole number; expected something like SEEDS="1 2 3"' % seed)
    number = whole_number("JOBS", jobs) if jobs.strip() else 0 if slurm else min(cpu.cores(), MOST_JOBS)
    if slurm:
        check_slurm()
    ud, conll17 = os.path.expanduser(ud), os.path.expanduser(conll17)
    for what, folder in (("UD", ud), ("CONLL17", conll17)):
        if folder and not os.path.isdir(folder):
            raise InputError("%s: %s is not a folder" % (what, folder))
    if lang == treebanks.TOY:  # always generated
        ud = conll17 = ""
    there = sorted(path.stem for path in SETTINGS.glob("*.toml"))
    if settings.endswith(".toml"):
        settings = os.path.abspath(os.path.expanduser(settings))
        check_name("SETTINGS", Path(settings))
        registry.settings([settings], chosen[0])  # raises InputError for invalid settings
        if Path(settings).stem in there and Path(settings).parent.resolve() != SETTINGS:
            raise InputError("SETTINGS: %s has the name of settings of mh4: rename it" % settings)
    elif settings and settings not in there:
        raise InputError("SETTINGS: %s, or give a file that ends in .toml" % unknown("settings", settings, there))
    return Request(lang, chosen, tuple(map(int, given)), Jobs(number, slurm), ud or None, conll17 or None, settings, mine)


def form_of(given: str) -> Form:
    """Return the form of tables that FORMAT names, by default text."""
    known: dict[str, Form] = {name: name for name in get_args(Form)}
    if given and given not in known:
        raise InputError("FORMAT: %s is not one of %s" % (given, ", ".join(known)))
    return known[given or "text"]


def languages(langs: str, default: Sequence[str]) -> list[str]:
    """Return the languages of LANGS, or `default`. Raises InputError if one is not the code of a treebank."""
    known = [*treebanks.languages(), treebanks.TOY]
    message = "LANGS: %s is not the code of a treebank; there are %s"
    return chosen(langs, known, default, lambda lang: message % (lang, " ".join(known)))


def requests(langs: str = "", systems: str = "", seeds: str = "", **others: str) -> list[Request]:
    """Return the requests of ``make paper``, one for each language of LANGS, by default all.

    By default, systems and seeds are the paper's.
    """
    wanted = languages(langs, treebanks.languages())
    seeds = seeds or (TOY_SEEDS if wanted == [treebanks.TOY] else PAPER_SEEDS)
    return [request(lang, systems or " ".join(published.systems(lang)), seeds, **others) for lang in wanted]


def whole_number(name: str, given: str, least: int = 1, most: int = 9999) -> int:
    """Return the value of a variable as a whole number. Raises InputError unless it is one from `least` to `most`."""
    if not (re.fullmatch("[0-9]{1,9}", given.strip()) and least <= int(given) <= most):
        raise InputError("%s: %s is not a whole number from %d to %d" % (name, given, least, most))
    return int(given)
