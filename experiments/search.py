"""``make search LANG=hu``: accuracy and speed of greedy and beam search compared with exact decoding, with trained global models.

An experiment that is not in the paper. The models are those trained by ``make reproduce``; each scores the development set once,
and all decoders read the same scores, so that they differ only in the search.
"""

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import options
from provenance import EXPERIMENTS, make_command, report_written
from rich.console import Console
from tables import drawings
from tables import search as table
from tables.search import DECODERS, NAMES, ROUNDS, Decoded, label
from tables.writer import write_pages
from training.run import requested_models
from training.treebank import located

from mh4.data import conllu
from mh4.parser.systems import SYSTEMS
from mh4.util.files import make_folder

DEFAULT_SYSTEMS = ("mh4-hybrid", "mh4-two")

USAGE = 'usage: make search LANG=hu [SYSTEMS="mh4-hybrid mh4-two"] [SEEDS="1 2"] [UD=folder]'


def measure(folder: Path, sentences: Sequence[conllu.Sentence]) -> dict[str, Decoded]:
    """The results of every decoder on the sentences, by name, with the model in `folder`."""
    from mh4.parser.model import Model

    model = Model.load(str(folder))
    decoders = {label(how, beam): model.system.decoder(how, beam) for how, beam in DECODERS}
    single_root = model.config.scorer.single_root
    shape = len(sentences)
    decoded = {name: Decoded(np.zeros(shape), np.zeros(shape, int), np.full(shape, np.inf)) for name in decoders}
    rng = np.random.default_rng(1)
    for batch, scores in model.score(sentences):
        for k, tensors in zip(batch, scores.trees.arrays()):
            gold = sentences[k].heads
            for _ in range(ROUNDS):
                # In random order, since the first decoder loads the scores into the caches.
                for choice in rng.permutation(len(NAMES)):
                    name = NAMES[choice]
                    start = time.perf_counter()
                    derivation = decoders[name](**tensors, single_root=single_root)
                    taken = time.perf_counter() - start
                    found = decoded[name]
                    found.score[k] = derivation.score
                    found.right[k] = (derivation.heads[1:] == gold[1:]).sum()
                    found.seconds[k] = min(found.seconds[k], taken)
    return decoded


def searched() -> list[str]:
    """The systems that can be decoded exactly and by search."""
    return [system.name for system in SYSTEMS.values() if {how for how, _ in DECODERS} <= set(system.decoders)]


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; exit codes and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud"))
    usage = partial(options.usage_with_models, USAGE, searched(), DEFAULT_SYSTEMS)
    return options.answered("search", usage, typed.help, lambda: _search(typed, home))


def _search(typed, home: Path) -> int:
    asked = options.request(typed.lang, "", typed.seeds, typed.ud, "")
    drawings.check()
    bank = located(asked.lang, asked.ud)
    models = requested_models(home / "runs" / bank.name, typed.systems, typed.seeds, searched(), DEFAULT_SYSTEMS)
    sentences = conllu.read(str(bank.paths["dev"]))
    console, measured = Console(highlight=False), {}
    for model in models:
        console.print(
            "decoding %s (%s) with %s, seed %d" % (bank.paths["dev"].name, bank.release, model.system, model.seed), soft_wrap=True
        )
        measured.setdefault(model.system, []).append(measure(model.folder, sentences))
    lengths, results, name = [len(sentence) for sentence in sentences], home / "results", bank.name + "-search"
    make_folder(results)
    drawing = results / (name + ".png")
    table.plot(drawing, "%s (%s), development set" % (bank.lang, bank.release), measured, lengths)
    repeat = make_command("search", LANG=asked.lang, SYSTEMS=typed.systems.split(), SEEDS=typed.seeds.split(), UD=asked.ud)
    page = table.markdown(bank, models, measured, lengths, repeat)
    written = write_pages(results, name, page, table.as_csv(bank, models, measured, sum(lengths)))
    for system, decoded in measured.items():
        console.print("\n" + system)
        table.table(decoded, sum(lengths)).print(console)
    report_written([*written, drawing])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
