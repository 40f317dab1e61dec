"""Common parts of the commands: options as passed by ``make``, their validation, usage, and exit codes."""

import argparse
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Optional

import paper
from provenance import make_command
from training.grid import Stopped
from training.run import system_and_loss
from training.treebank import SETTINGS as SETTINGS_FOLDER

from mh4.data import treebanks
from mh4.dynet_build import cpu
from mh4.errors import InputError, one_line, reason
from mh4.parser.systems import SYSTEMS
from mh4.util import streams

# The defaults of `make reproduce`.
DEFAULT_SYSTEMS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec")
DEFAULT_SEEDS = "1 2 3"
TOY_SEEDS = "1 2"
PAPER_SEEDS = "1 2 3 4 5"
MOST_JOBS = 4

# Options that have the same meaning in every command.
SETTINGS = "a file in experiments/settings, by its name: authors, those of the authors' runs; by default ours"
UD = "a folder that already has the treebank's files; otherwise they are downloaded, from github or SOURCE=lindat"
JOBS = "number of parallel runs, each on one core; by default the number of cores, at most %d" % MOST_JOBS


class UsageError(InputError):
    """LANG is not a treebank: the user needs to see the usage."""


@dataclass(frozen=True)
class Request:
    """The validated request for training runs."""

    lang: str
    systems: tuple[str, ...]
    seeds: tuple[int, ...]
    jobs: int
    ud: Optional[str]
    conll17: Optional[str] = None
    settings: str = ""

    def command(self) -> str:
        """The command to repeat it, without anything specific to this machine (JOBS, and absolute paths of folders)."""
        return make_command(
            "reproduce",
            LANG=self.lang,
            SYSTEMS=self.systems if self.systems != DEFAULT_SYSTEMS else None,
            SETTINGS=self.settings or None,
            SEEDS=[str(seed) for seed in self.seeds],
            UD=self.ud,
            CONLL17=self.conll17,
        )


def request(lang: str, systems: str, seeds: str, ud: str, jobs: str, conll17: str = "", settings: str = "") -> Request:
    """Validates the arguments; empty means default. Raises UsageError for LANG and InputError for the others."""
    if not lang.strip():
        raise UsageError("LANG is missing")
    if lang not in (*treebanks.languages(), treebanks.TOY):
        locale = re.match(r"^([A-Za-z]{2,3}_[A-Za-z]{2}|C|POSIX)([.@].*)?$", lang)
        why = (
            "is the locale of your shell; give the treebank's code after make reproduce"
            if locale
            else "is not the code of a treebank"
        )
        raise UsageError("LANG=%s %s" % (lang, why))
    chosen = tuple(dict.fromkeys(systems.split())) or DEFAULT_SYSTEMS
    for system in chosen:
        name, loss = system_and_loss(system)
        if name not in SYSTEMS:
            raise InputError(
                "SYSTEMS: no system %s; there are %s, and of those with marginals NAME-likelihood" % (system, ", ".join(SYSTEMS))
            )
        if loss == "likelihood" and not SYSTEMS[name].marginals:
            raise InputError("SYSTEMS: %s cannot be trained on likelihood, as it has no marginals" % name)
    numbers = tuple(dict.fromkeys(seeds.split() or (TOY_SEEDS if lang == treebanks.TOY else DEFAULT_SEEDS).split()))
    for number in numbers:
        if not re.match(r"^[1-9][0-9]{0,8}$", number):
            raise InputError('SEEDS: %s is not a positive whole number; expected something like SEEDS="1 2 3"' % number)
    at_a_time = number_of_jobs(jobs)
    ud, conll17 = os.path.expanduser(ud), os.path.expanduser(conll17)
    for name, folder in (("UD", ud), ("CONLL17", conll17)):
        if folder and not os.path.isdir(folder):
            raise InputError("%s: %s is not a folder" % (name, folder))
    return Request(
        lang=lang,
        systems=chosen,
        seeds=tuple(map(int, numbers)),
        jobs=at_a_time,
        ud=None if lang == treebanks.TOY else ud or None,  # the toy treebank is always our own
        conll17=None if lang == treebanks.TOY else conll17 or None,
        settings=settings_named(settings),
    )


def settings_named(name: str) -> str:
    """The name of a file in settings/, empty for the defaults. Raises InputError if there is none."""
    known = sorted(path.stem for path in SETTINGS_FOLDER.glob("*.toml"))
    if name and name not in known:
        raise InputError("SETTINGS: no settings %s; there are %s" % (name, ", ".join(known)))
    return name


def languages(langs: str, default: Sequence[str]) -> list[str]:
    """The languages of LANGS, by default those of `default`. Raises InputError if one is not the code of a treebank."""
    known = [*treebanks.languages(), treebanks.TOY]
    wanted = list(dict.fromkeys(langs.split())) or list(default)
    for lang in wanted:
        if lang not in known:
            raise InputError("LANGS: %s is not the code of a treebank; there are %s" % (lang, " ".join(known)))
    return wanted


def requests(typed: argparse.Namespace) -> list[Request]:
    """The validated requests of ``make paper``, one for each language of LANGS, by default all; other defaults are the paper's."""
    langs = languages(typed.langs, treebanks.languages())
    seeds = typed.seeds or (TOY_SEEDS if langs == [treebanks.TOY] else PAPER_SEEDS)
    systems = {lang: typed.systems or " ".join(paper.systems(lang)) for lang in langs}
    return [request(lang, systems[lang], seeds, typed.ud, typed.jobs, typed.conll17, typed.settings) for lang in langs]


def number_of_jobs(jobs: str, name: str = "JOBS") -> int:
    """The number of parallel runs; by default (empty) the number of cores, at most MOST_JOBS. name: that of the variable."""
    if not jobs.strip():
        return min(cpu.cores(), MOST_JOBS)
    if not re.match(r"^[1-9][0-9]{0,3}$", jobs.strip()):
        raise InputError("%s: %s is not a whole number from 1 to 9999" % (name, jobs))
    return int(jobs)


def options(arguments: Sequence[str], usage_line: str, names: Sequence[str]) -> argparse.Namespace:
    """The options as text, empty if not given."""
    parser = argparse.ArgumentParser(usage=usage_line[len("usage: ") :], add_help=False)
    for name in names:
        parser.add_argument("--" + name, default="")
    parser.add_argument("-h", "--help", action="store_true")
    return parser.parse_args(arguments)


def usage(line: str, toy_takes: str = "", **meanings: str) -> str:
    """The usage line and the meaning of its variables; LANG is explained here, the others in `meanings`."""
    lang = "%s,\nor toy: a small artificial language, needs no network%s" % (" ".join(treebanks.languages()), toy_takes)
    lines = [
        "  %-7s  %s" % (name, meaning.replace("\n", "\n" + " " * 11)) for name, meaning in {"LANG": lang, **meanings}.items()
    ]
    return "\n".join([line, *lines])


def usage_with_models(line: str, systems: Sequence[str], default: Sequence[str]) -> str:
    """The usage of a command that takes trained models of these systems."""
    return usage(
        line,
        SYSTEMS="from %s; by default %s, if trained" % (" ".join(systems), " and ".join(default)),
        SEEDS="of the trained models; by default all",
        UD=UD,
    )


def answered(program: str, usage: Callable[[], str], help_wanted: bool, work: Callable[[], int]) -> int:
    """The exit code of `work` or, after a one-sentence message, of its failure: 2 for bad input, 130 if interrupted."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error: paths need not be UTF-8
    if help_wanted:
        print(usage())
        return 0
    try:
        streams.open_standard()
        code = work()
        streams.finish()
        return code
    except (Stopped, KeyboardInterrupt):
        print("stopped; run the same command again to resume")
        return 130
    except UsageError as error:
        print("%s\n%s" % (one_line(str(error)), usage()), file=sys.stderr)
    except InputError as error:
        print("%s: %s" % (program, one_line(str(error))), file=sys.stderr)
    except OSError as error:  # a full disk, a folder without write permission
        print("%s: %s: %s" % (program, one_line(str(error.filename or "files")), reason(error)), file=sys.stderr)
    return 2
