"""``make text LANG=hu [SYSTEMS="mh4-hybrid"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder]``: accuracy from raw text
with a segmenter trained on the treebank, compared with that on given segmentations

This is not in the paper, whose parsers read the segmentation of the shared task's baseline. The models are those trained by
``make reproduce``. The raw text is rebuilt from the test set as the shared task made it: sentences are separated by a space only,
paragraphs by blank lines, and lines wrap.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from textwrap import TextWrapper

from experiments import pages
from experiments.engine.command import repeat, request, study
from experiments.engine.models import meanings, requested_models
from experiments.engine.run import Run, read_json, write_json
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench
from experiments.pages import show
from mh4.analysis import evaluation
from mh4.data import conllu
from mh4.data.segmenter import EPOCHS
from mh4.errors import InputError, needs
from mh4.parser.systems import SYSTEMS
from mh4.util.files import git_blob_id, write_text
from mh4.util.text_tables import Table

DEFAULT_SYSTEMS = ("mh4-hybrid",)
LINE = 80  # characters, as in the shared task
METRICS = ("Sentences", "Words", "UAS", "LAS")
OURS, BASELINE, GOLD = "raw text", "baseline", "gold"  # where sentences and words are from


def raw_text(blocks: Iterable[conllu.Block]) -> str:
    """Return the text of CoNLL-U, according to its words, multiword tokens, SpaceAfter=No and "# newpar" and "# newdoc"."""
    paragraphs = [""]
    for block in blocks:
        if any(re.match("# *new(par|doc)", line) for line in block.lines) and paragraphs[-1]:
            paragraphs.append("")
        paragraphs[-1] += "".join(_surface(block))
    wrapped = TextWrapper(LINE, break_long_words=False, break_on_hyphens=False)
    return "".join(wrapped.fill(paragraph) + "\n\n" for paragraph in paragraphs)


def _surface(block: conllu.Block) -> Iterator[str]:
    """Each token, with the space after it if there is one."""
    covered = 0
    for line in block.lines:
        cells = line.rstrip("\r\n").split("\t")
        number, _, last = cells[conllu.ID].partition("-")
        if len(cells) == 10 and "." not in number and int(number) > covered:
            covered = int(last or number)
            yield cells[conllu.FORM] + ("" if "SpaceAfter=No" in cells[conllu.MISC].split("|") else " ")


def measure(bank: Treebank, models: Sequence[Run], segmenter: str, folder: Path) -> Iterator[list[str]]:
    """A row for each model and segmentation, with F1 of METRICS, in percent; files go to `folder`."""
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
            write_text(str(parsed), "".join(b.text(s.columns()) for b, s in zip(blocks, sentences, strict=True)))
            scores = evaluation.official(str(test), str(parsed))
            yield [model.system, str(model.seed), name, *("%.2f" % scores[metric].f1 for metric in METRICS)]


@study(
    **meanings(list(SYSTEMS), DEFAULT_SYSTEMS),
    conll17="a folder that already has the shared task's segmentation; otherwise it is downloaded",
)
def text(bench: Bench, lang: str, systems: str, seeds: str, ud: str, conll17: str) -> None:
    asked = request(lang, seeds=seeds, ud=ud, conll17=conll17)
    bank = asked.treebank()
    if bank.test is None:
        raise InputError("no test set with the segmentation of the shared task: name its folder, CONLL17=folder")
    models = requested_models(bench, bank, systems, seeds, list(SYSTEMS), DEFAULT_SYSTEMS)
    segmenter = trained_segmenter(bank, bench)
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(bank, models, str(segmenter), Path(folder)))
    table = Table(["system", "seed", "segmentation", *METRICS], rows, right=3)
    files = {path.name: path for path in (bank.paths["train"], bank.paths["dev"], *bank.test)}
    files["segmenter"] = segmenter
    parts = [
        table,
        NOTE % (evaluation.scorer_name(), OURS, metadata.version("ufal.udpipe"), EPOCHS, BASELINE, GOLD),
        *pages.data((name, git_blob_id(path)) for name, path in files.items()),
        "## Models",
        pages.items(map(pages.origin, models)),
        *pages.made_now(repeat()),
    ]
    written = pages.write(bench.results, bank.name + "-text", bank.title + ": from raw text", parts)
    show(bench.console, table, "F1 by the official scorer, on the test set.", written)


def trained_segmenter(bank: Treebank, bench: Bench) -> Path:
    """The segmenter of a treebank: the one that is there if the note beside it says that it was made from the same, or else a new one."""
    from mh4.data.segmenter import train

    segmenter = bench.models(bank.name) / "segmenter.udpipe"
    note = segmenter.with_suffix(".json")
    with needs("segmenting text", "text", "ufal.udpipe"):
        made_from = {**bank.blobs, "epochs": EPOCHS, "ufal.udpipe": metadata.version("ufal.udpipe")}
    if not segmenter.exists() or read_json(note) != {**made_from, "segmenter": git_blob_id(segmenter)}:
        bench.console.print("training a segmenter on %s" % bank.paths["train"].name, soft_wrap=True)
        train(str(bank.paths["train"]), str(bank.paths["dev"]), str(segmenter), report=bench.console.print)
        write_json(note, {**made_from, "segmenter": git_blob_id(segmenter)})
    return segmenter


NOTE = """\
F1 by the official scorer (%s) on the test set. %s: segmented by `mh4 segmenter train` (ufal.udpipe %s, %d epochs, the best on
dev) from the text of the test set; %s: the segmentation of the shared task's baseline, UDPipe 1.1, which is the input of
the paper's parsers; %s: that of the test set itself."""
