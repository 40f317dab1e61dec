"""``python -m experiments NAME``: a command for each module of ``studies/``."""

import pkgutil
from importlib import import_module
from pathlib import Path

import click

from experiments import studies
from experiments.engine.workplace import Bench
from mh4.cli.group import Commands

TOOLS = ["predictions"]  # commands that are not studies


class Studies(Commands):
    """The group of all studies. Only the requested study is imported."""

    once = False  # an option may be repeated: programs write these command lines

    def list_commands(self, context: click.Context) -> list[str]:
        return [module.name for module in pkgutil.iter_modules(studies.__path__)] + TOOLS

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        return getattr(import_module("experiments.%s.%s" % ("engine" if name in TOOLS else "studies", name)), name)


@click.group(cls=Studies, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", default="", help="The folder of models, records and tables; by default runs/.")
@click.option("--record", is_flag=True, help="Write records and tables to experiments/results/, which git tracks.")
@click.pass_context
def main(context: click.Context, home: str, record: bool) -> None:
    """Training runs, measurements and tables; `make` has a target for each study."""
    bench = context.ensure_object(Bench)
    bench.recording |= record
    if home:
        bench.home = Path(home).resolve()
        bench.recorded = bench.home / "results"


if __name__ == "__main__":
    main(prog_name="experiments")
