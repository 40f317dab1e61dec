"""The command `mh4 train`."""

import os
from pathlib import Path
from typing import Any, get_args

import click

from mh4.cli.group import resumable, say
from mh4.cli.options import contextual_option
from mh4.cli.paths import NAMED_PATH, PLAIN_OUTPUT
from mh4.errors import counted
from mh4.parser.choices import SystemName


class _SystemOption(click.Option):
    """The option --system, whose help names all systems."""

    def get_help_record(self, context: click.Context) -> tuple[str, str] | None:
        from mh4.parser.systems import SYSTEMS

        of_paper, beyond = ([s.name for s in SYSTEMS.values() if s.in_paper is paper] for paper in (True, False))
        self.help = "%s; beyond the paper %s." % (_either(of_paper), _either(beyond))
        return super().get_help_record(context)


def _names_of_systems(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in get_args(SystemName) if name.startswith(incomplete)]


def _names_of_settings(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from mh4.parser.settings_help import sections

    names = ("%s.%s=" % (section.name, setting.name) for section in sections() for setting in section.settings)
    return [name for name in names if name.startswith(incomplete)]


def _either(names: list[str]) -> str:
    return " or ".join(", ".join(names).rsplit(", ", 1))


@click.command()
@click.option("--system", metavar="NAME", cls=_SystemOption, shell_complete=_names_of_systems)
@click.option(
    "--train",
    required=True,
    multiple=True,
    type=NAMED_PATH,
    metavar="FILE",
    help="Training treebank (CoNLL-U), a file or a folder; may be repeated.",
)
@click.option(
    "--dev",
    required=True,
    multiple=True,
    type=NAMED_PATH,
    metavar="FILE",
    help="Development treebank, for early stopping (CoNLL-U), a file or a folder; may be repeated.",
)
@click.option(
    "--model", required=True, type=NAMED_PATH, metavar="DIR", help="Model folder: a new one, or the folder of a run to resume."
)
@click.option("--init", type=NAMED_PATH, metavar="DIR", help="Begin with this trained model rather than with random weights.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, metavar="N", help="Seed of all random numbers.")
@click.option(
    "--config",
    multiple=True,
    type=NAMED_PATH,
    metavar="FILE.toml",
    help="Settings, as written by `mh4 settings`, or the config.toml of any model; may be repeated.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="SECTION.NAME=VALUE",
    shell_complete=_names_of_settings,
    help="One setting, of those that `mh4 settings` lists; may be repeated.",
)
@click.option(
    "--log", type=PLAIN_OUTPUT, metavar="FILE", help="Also add the lines of progress to this file, with the time of each."
)
@click.option("--quiet", is_flag=True, help="No progress, only the result.")
@click.option(
    "--vectors", type=NAMED_PATH, metavar="FILE", help="Vectors of words, in the format of word2vec, fastText (.vec) or GloVe."
)
@click.option(
    "--partial",
    is_flag=True,
    help="Words of the treebanks may lack HEAD or DEPREL (_): only what is annotated is learned and scored.",
)
@contextual_option
@resumable
def train(system: SystemName | None, model: str, init: str | None, log: str | None, quiet: bool, **given: Any) -> None:
    """Train a parser on a treebank.

    DIR always holds the model that is best on dev so far. Run the same command again to resume an interrupted training run,
    with the same result as an uninterrupted one; if training has finished, this only prints the result again. Only the settings
    training.patience, training.max_updates and training.evaluate_updates may differ when it is resumed.

    Several training treebanks are learned together, as one. The scores on all development treebanks together decide when to stop;
    each is also scored by itself.

    With --init, training continues from another model: its vocabulary keeps its weights, and new words, characters, tags and labels
    are added. System and settings are then that model's unless given; settings of the network cannot be changed.

    Vectors of words are kept with the model. Contextual vectors, in files with a matrix for each sentence, are also needed for parsing.
    """
    import mh4
    from mh4.parser.model_files import Folder
    from mh4.util.files import check_writable
    from mh4.util.progress import TrainingProgress

    if system is None and init is None:
        raise click.MissingParameter(ctx=click.get_current_context(), param_hint="'--system'", param_type="option")
    # Training creates the model's folder and those above it, so the folder of the log may be missing now.
    folder = Path(os.path.realpath(log or "")).parent
    if log and (folder == folder.parent or not Path(os.path.realpath(model)).is_relative_to(folder)):
        check_writable(log)
    with TrainingProgress(log, quiet) as listener:  # the other options have the names of mh4.train's arguments
        mh4.train(model=model, system=system, init=init, progress=listener, **given)
    files = Folder(model)
    with files.intact("summary.json"):
        summary = files.record("summary.json")
        scores = "dev UAS %(dev_uas).2f, LAS %(dev_las).2f" % summary
        reached = "%s after %s, %d tokens/s" % (scores, counted(summary["updates"], "update"), summary["tokens_per_second"])
        of_treebanks = ["  %(file)s: UAS %(uas).2f, LAS %(las).2f" % scores for scores in summary.get("dev_treebanks", ())]
        said = "%s: %s, seed %d: %s" % (model, summary["system"], given["seed"], reached)
    say(said, *of_treebanks)
