"""``make text LANG=hu``: accuracy from raw text, with a segmenter trained on the treebank, compared with that on given segmentations.

An experiment that is not in the paper, whose parsers read the segmentation of the shared task's baseline. The models are those trained
by ``make reproduce``. The raw text is rebuilt from the test set as the shared task made it: sentences are separated by a space only,
paragraphs by blank lines, and lines wrap.
"""

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import TextWrapper

import options
from provenance import EXPERIMENTS, make_command
from rich.console import Console
from tables import raw_text as table
from tables.raw_text import BASELINE, GOLD, OURS, Row
from tables.writer import show, write_pages
from training.run import Run, requested_models
from training.treebank import Treebank, located, with_test

from mh4.analysis import evaluation
from mh4.data import conllu
from mh4.data.conllu import Block
from mh4.errors import InputError
from mh4.parser.systems import SYSTEMS
from mh4.util.files import write_text

DEFAULT_SYSTEMS = ("mh4-hybrid",)
LINE = 80  # characters, as in the shared task

USAGE = 'usage: make text LANG=hu [SYSTEMS="mh4-hybrid 1ec"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder]'


def raw_text(blocks: Iterable[Block]) -> str:
    """The text of CoNLL-U, according to its words, multiword tokens, SpaceAfter=No and "# newpar" and "# newdoc"."""
    paragraphs = [""]
    for block in blocks:
        if any(re.match("# *new(par|doc)", line) for line in block.lines) and paragraphs[-1]:
            paragraphs.append("")
        paragraphs[-1] += "".join(_surface(block))
    wrapped = TextWrapper(LINE, break_long_words=False, break_on_hyphens=False)
    return "".join(wrapped.fill(paragraph) + "\n\n" for paragraph in paragraphs)


def _surface(block: Block) -> Iterator[str]:
    """Each token, with the space after it if there is one."""
    covered = 0
    for line in block.lines:
        cells = line.rstrip("\r\n").split("\t")
        number, _, last = cells[conllu.ID].partition("-")
        if len(cells) == 10 and "." not in number and int(number) > covered:
            covered = int(last or number)
            yield cells[conllu.FORM] + ("" if "SpaceAfter=No" in cells[conllu.MISC].split("|") else " ")


def measure(bank: Treebank, models: Sequence[Run], segmenter: str, folder: Path) -> Iterator[Row]:
    """A row for each model and segmentation; files go to `folder`."""
    from mh4.data.segmenter import Segmenter
    from mh4.parser.parsing import Parser

    assert bank.test is not None
    test, segmented = bank.test
    text, parsed = folder / "text.txt", folder / "parsed.conllu"
    write_text(str(text), raw_text(conllu.blocks(str(test), trees=False)))
    inputs = {OURS: list(Segmenter(segmenter).blocks(str(text)))}
    if segmented != test:  # the toy treebank has no baseline
        inputs[BASELINE] = list(conllu.blocks(str(segmented), trees=False))
    inputs[GOLD] = list(conllu.blocks(str(test), trees=False))
    for model in models:
        parser = Parser.load(str(model.folder))
        for name, blocks in inputs.items():
            sentences = parser.parse([block.sentence for block in blocks])
            write_text(str(parsed), "".join(b.text(s.columns()) for b, s in zip(blocks, sentences)))
            scores = evaluation.official(str(test), str(parsed))
            yield Row(model, name, {metric: scores[metric].f1 for metric in table.METRICS})


def usage() -> str:
    """The usage line and the meaning of its variables."""
    return options.usage(
        USAGE,
        SYSTEMS="from %s; by default %s" % (" ".join(SYSTEMS), " and ".join(DEFAULT_SYSTEMS)),
        SEEDS="of the trained models; by default all",
        UD=options.UD,
        CONLL17="a folder that already has the shared task's segmentation; otherwise it is downloaded",
    )


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; exit codes and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud", "conll17"))
    return options.answered("text", usage, typed.help, lambda: _text(typed, home))


def _text(typed, home: Path) -> int:
    from mh4.data.segmenter import train

    asked = options.request(typed.lang, "", typed.seeds, typed.ud, "", typed.conll17)
    bank = with_test(located(asked.lang, asked.ud), asked.ud, asked.conll17)
    if bank.test is None:
        raise InputError("no test set with the segmentation of the shared task: name its folder, CONLL17=folder")
    models = requested_models(home / "runs" / bank.name, typed.systems, typed.seeds, list(SYSTEMS), DEFAULT_SYSTEMS)
    console, segmenter = Console(highlight=False), home / "runs" / bank.name / "segmenter.udpipe"
    if not segmenter.exists():
        console.print("training a segmenter on %s" % bank.paths["train"].name, soft_wrap=True)
        train(str(bank.paths["train"]), str(bank.paths["dev"]), str(segmenter))
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(bank, models, str(segmenter), Path(folder)))
    results, name = home / "results", bank.name + "-text"
    folders = {"UD": asked.ud, "CONLL17": asked.conll17}
    repeat = make_command("text", LANG=asked.lang, SYSTEMS=typed.systems.split(), SEEDS=typed.seeds.split(), **folders)
    pages = write_pages(results, name, table.markdown(bank, segmenter, rows, repeat), table.as_csv(bank, rows))
    show(console, table.summary(rows), "F1 by the official scorer, on the test set.", pages)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
