"""The command `mh4 train`."""

import os

import click
from click.shell_completion import CompletionItem

from mh4.cli.group import say
from mh4.cli.paths import NAMED_OUTPUT, NAMED_PATH
from mh4.errors import InputError


class _SystemOption(click.Option):
    """The option --system, whose help and completion name all systems."""

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        from mh4.parser.systems import SYSTEMS

        return [CompletionItem(name) for name in SYSTEMS if name.startswith(incomplete)]

    def get_help_record(self, context: click.Context) -> tuple[str, str] | None:
        from mh4.parser.systems import SYSTEMS

        of_paper, beyond = ([s.name for s in SYSTEMS.values() if s.in_paper is paper] for paper in (True, False))
        self.help = "%s; beyond the paper %s." % (_either(of_paper), _either(beyond))
        return super().get_help_record(context)


def _names_of_settings(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from mh4.parser.settings import sections

    names = ("%s.%s=" % (section.name, setting.name) for section in sections() for setting in section.settings)
    return [name for name in names if name.startswith(incomplete)]


def _either(names: list[str]) -> str:
    return " or ".join(", ".join(names).rsplit(", ", 1))


@click.command()
@click.option("--system", required=True, metavar="NAME", cls=_SystemOption)
@click.option("--train", "train_file", required=True, type=NAMED_PATH, metavar="FILE", help="Training treebank (CoNLL-U).")
@click.option(
    "--dev",
    "dev_file",
    required=True,
    type=NAMED_PATH,
    metavar="FILE",
    help="Development treebank, for early stopping (CoNLL-U).",
)
@click.option(
    "--model",
    "folder",
    required=True,
    type=NAMED_PATH,
    metavar="DIR",
    help="Model folder: a new one, or that of a run to resume.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True, metavar="N", help="Of all random numbers."
)
@click.option(
    "--config",
    "config_files",
    multiple=True,
    type=NAMED_PATH,
    metavar="FILE.toml",
    help="Settings, as written by `mh4 settings --toml`, or the config.toml of any model; may be repeated.",
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
    "--log", type=NAMED_OUTPUT, metavar="FILE", help="Also add the lines of progress to this file, with the time of each."
)
@click.option("--quiet", is_flag=True, help="No progress, only the result.")
def train(
    system: str,
    train_file: str,
    dev_file: str,
    folder: str,
    seed: int,
    config_files: tuple[str, ...],
    settings: list[str],
    log: str | None,
    quiet: bool,
) -> None:
    """Train a parser on a treebank.

    DIR always holds the model that is best on dev so far. Run the same command again to resume an interrupted training run,
    with the same result as an uninterrupted one; if training has finished, this only prints the result again.
    """
    from mh4.data import conllu
    from mh4.parser import config as configuration
    from mh4.parser import systems
    from mh4.util.progress import TrainingProgress

    systems.get(system)
    config = configuration.with_settings(systems.settings(config_files, system), settings)
    for path in (train_file, dev_file):
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError("%s: not a file; training reads its files more than once" % path)
    sentences, dev = conllu.read(train_file), conllu.read(dev_file)
    from mh4.training.trainer import Trainer

    with TrainingProgress(log, quiet) as listener:
        sources = {"train": _source(train_file), "dev": _source(dev_file)}
        trainer = Trainer(system, config, sentences, dev, folder, seed, sources, listener)
        summary = trainer.run()
    reached = "dev UAS %(dev_uas).2f, LAS %(dev_las).2f after %(updates)d updates, %(tokens_per_second)d tokens/s" % summary
    say("%s: %s, seed %d: %s" % (folder, system, seed, reached))


def _source(path: str) -> dict[str, str]:
    from mh4.util.files import git_blob_id

    return {"file": os.path.basename(path), "git_blob": git_blob_id(path)}
