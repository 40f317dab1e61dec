"""``make calibration LANG=hu``: how far the probabilities that trained models give to their arcs can be trusted.

An experiment that is not in the paper. The models are those trained by ``make reproduce``, of the systems that have marginals. The
temperature is fitted on every other sentence of the development set, and everything is measured on the rest.
"""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import options
from provenance import EXPERIMENTS, make_command, report_written
from rich.console import Console
from tables import calibration as table
from tables import drawings
from tables.writer import write_pages
from training.calibrating import measure
from training.run import requested_models
from training.treebank import located

from mh4.data import conllu
from mh4.parser.systems import with_marginals
from mh4.util.files import make_folder

DEFAULT_SYSTEMS = ("mh4-hybrid", "mst")

USAGE = 'usage: make calibration LANG=hu [SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UD=folder]'


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; exit codes and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud"))
    usage = partial(options.usage_with_models, USAGE, with_marginals(), DEFAULT_SYSTEMS)
    return options.answered("calibration", usage, typed.help, lambda: _calibration(typed, home))


def _calibration(typed, home: Path) -> int:
    asked = options.request(typed.lang, "", typed.seeds, typed.ud, "")
    drawings.check()
    bank = located(asked.lang, asked.ud)
    models = requested_models(home / "runs" / bank.name, typed.systems, typed.seeds, with_marginals(), DEFAULT_SYSTEMS)
    sentences = conllu.read(str(bank.paths["dev"]))
    console, measured = Console(highlight=False), []
    for model in models:
        console.print("calibrating %s, seed %d, on %s" % (model.system, model.seed, bank.paths["dev"].name), soft_wrap=True)
        measured.append(measure(model.folder, sentences))
    results, name = home / "results", bank.name + "-calibration"
    make_folder(results)
    drawing = results / (name + ".png")
    table.plot(drawing, "%s (%s), development set" % (bank.lang, bank.release), models, measured)
    repeat = make_command("calibration", LANG=asked.lang, SYSTEMS=typed.systems.split(), SEEDS=typed.seeds.split(), UD=asked.ud)
    page = table.markdown(bank, models, measured, repeat)
    written = write_pages(results, name, page, table.as_csv(bank, models, measured))
    table.summary(models, measured).print(console)
    report_written([*written, drawing])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
