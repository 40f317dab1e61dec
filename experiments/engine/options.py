"""The options of studies, which are the variables of ``make``, and their validation."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import click

from experiments import published
from experiments.engine.command import LISTS, UsageError, chosen
from experiments.engine.executor import Jobs, check_slurm
from experiments.engine.provenance import make_command
from experiments.engine.run import system_and_loss
from experiments.engine.treebank import SETTINGS as SETTINGS_FOLDER
from experiments.engine.treebank import Treebank, located, own, with_test
from mh4.cli.options import together
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.parser import systems as registry
from mh4.parser.systems import SYSTEMS
from mh4.util import cpu
from mh4.util.text_tables import Form

# The defaults of `make reproduce`.
DEFAULT_SYSTEMS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec")
DEFAULT_SEEDS = "1 2 3"
TOY_SEEDS = "1 2"
PAPER_SEEDS = "1 2 3 4 5"
MOST_JOBS = 4

Decorator = Callable[[Callable], Callable]


def variable(name: str, meaning: str) -> Decorator:
    """Declare a variable, empty by default."""
    return click.option("--" + name, default="", help=meaning)


def lang(more: str = "") -> Decorator:
    """Declare LANG, the treebank. more: further help."""
    codes = " ".join(treebanks.languages())
    return variable("lang", "%s,\nor toy: a small artificial language, needs no network%s" % (codes, more))


# Variables that have the same meaning in every study.
TREEBANK: Decorator = together(
    variable("treebank", "instead of LANG, a treebank of your own: the folder of its .conllu files, or how their paths begin"),
    variable("name", "what that is called in runs/; by default as the folder or the files"),
)
UD = variable("ud", "a folder that already has the treebank's files; otherwise they are downloaded, from github or SOURCE=lindat")
CONLL17 = variable("conll17", "as for make reproduce")
FORMAT = variable("format", "latex, markdown or csv: tables of scores in this form, for a paper")
JOBS: Decorator = together(
    variable("jobs", "number of parallel runs, each on one core; by default the number of cores, at most %d" % MOST_JOBS),
    variable(
        "slurm", "options of sbatch, such as --partition=main: runs are made by JOBS jobs of the cluster, by default one each"
    ),
)
SETTINGS = variable("settings", "authors, the settings of the authors' runs, or a TOML file of settings; by default ours")


def of_models(systems_known: Sequence[str], default: Sequence[str]) -> Decorator:
    """Declare LANG, SYSTEMS, SEEDS and UD for a study of trained models of these systems."""
    meaning = "from %s; by default %s, if trained" % (" ".join(systems_known), " and ".join(default))
    chosen = variable("systems", meaning), variable("seeds", "of the trained models; by default all")
    return together(lang(), *chosen, UD)


def repeat(**others: str | Sequence[str] | None) -> str:
    """Return the command of the running study as it was typed, without anything specific to this machine.

    others: other values of some variables.
    """
    context = click.get_current_context()
    variables: dict[str, str | Sequence[str] | None] = {}
    for option in context.command.params:
        name, value = option.name or "", context.params[option.name or ""]
        if name in LISTS:
            variables[name.upper()] = value.split()
        elif name in ("ud", "later", "conll17", "treebank"):  # the toy treebank is always our own
            variables[name.upper()] = None if context.params.get("lang") == treebanks.TOY else os.path.expanduser(value)
        elif name not in ("jobs", "slurm", "format"):
            variables[name.upper()] = value
    return make_command(context.command.name or "", **{**variables, **others})


@dataclass(frozen=True)
class Request:
    """A valid request for training runs. own: a treebank of one's own."""

    lang: str
    systems: tuple[str, ...]
    seeds: tuple[int, ...]
    jobs: Jobs
    ud: str | None
    conll17: str | None = None
    settings: str = ""
    own: Treebank | None = None

    def treebank(self, test: bool = True) -> Treebank:
        """Find or download the treebank. test: with the files to test on."""
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
    """Check the arguments; empty means default. Raises UsageError for LANG and InputError for the others."""
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
            raise InputError(
                "SYSTEMS: no system %s; there are %s, and of those with marginals NAME-likelihood" % (system, ", ".join(SYSTEMS))
            )
        if loss == "likelihood" and not SYSTEMS[trained].marginals:
            raise InputError("SYSTEMS: %s cannot be trained on likelihood, as it has no marginals" % trained)
    given = tuple(dict.fromkeys(seeds.split() or (TOY_SEEDS if lang == treebanks.TOY else DEFAULT_SEEDS).split()))
    for number in given:
        if not re.match(r"^[1-9][0-9]{0,8}$", number):
            raise InputError('SEEDS: %s is not a positive whole number; expected something like SEEDS="1 2 3"' % number)
    at_a_time = Jobs(0 if slurm and not jobs else number_of_jobs(jobs), slurm)
    if slurm:
        check_slurm()
    ud, conll17 = os.path.expanduser(ud), os.path.expanduser(conll17)
    for what, folder in (("UD", ud), ("CONLL17", conll17)):
        if folder and not os.path.isdir(folder):
            raise InputError("%s: %s is not a folder" % (what, folder))
    if lang == treebanks.TOY:  # which is always our own
        ud = conll17 = ""
    known = sorted(path.stem for path in SETTINGS_FOLDER.glob("*.toml"))
    if settings.endswith(".toml"):
        settings = os.path.abspath(os.path.expanduser(settings))
        registry.settings([settings], chosen[0])  # which names what is wrong
    elif settings and settings not in known:
        raise InputError(
            "SETTINGS: no settings %s; there are %s, or give a file that ends in .toml" % (settings, ", ".join(known))
        )
    return Request(lang, chosen, tuple(map(int, given)), at_a_time, ud or None, conll17 or None, settings, mine)


def form(given: str) -> Form:
    """Return the form of tables that FORMAT names, by default text."""
    known: dict[str, Form] = {name: name for name in get_args(Form)}
    if given and given not in known:
        raise InputError("FORMAT: %s is not one of %s" % (given, ", ".join(known)))
    return known[given or "text"]


def languages(langs: str, default: Sequence[str]) -> list[str]:
    """Return the languages of LANGS, or `default`. Raises InputError if one is not the code of a treebank."""
    known = [*treebanks.languages(), treebanks.TOY]
    unknown = "LANGS: %s is not the code of a treebank; there are %s"
    return chosen(langs, known, default, lambda lang: unknown % (lang, " ".join(known)))


def requests(langs: str = "", systems: str = "", seeds: str = "", **others: str) -> list[Request]:
    """Return the requests of ``make paper``, one for each language of LANGS, by default all; other defaults are the paper's."""
    wanted = languages(langs, treebanks.languages())
    seeds = seeds or (TOY_SEEDS if wanted == [treebanks.TOY] else PAPER_SEEDS)
    return [request(lang, systems or " ".join(published.systems(lang)), seeds, **others) for lang in wanted]


def number_of_jobs(jobs: str, name: str = "JOBS") -> int:
    """Return the number of parallel runs; by default (empty) the number of cores, at most MOST_JOBS. name: of the variable."""
    if not jobs.strip():
        return min(cpu.cores(), MOST_JOBS)
    if not re.match(r"^[1-9][0-9]{0,3}$", jobs.strip()):
        raise InputError("%s: %s is not a whole number from 1 to 9999" % (name, jobs))
    return int(jobs)
