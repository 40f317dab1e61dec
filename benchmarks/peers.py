"""Measure mh4 beside other parsers on the same treebanks: accuracy, time of training and parsing, size.

    .venv/bin/python benchmarks/peers.py FOLDER WORK [--conll17 FOLDER] [--treebanks hu ...] [--peers mh4 ...] [--minutes 30]

FOLDER has treebanks with the file names of UD 2.0 (hu-ud-train.conllu, ...). The folder --conll17 has the segmentation
of their test sets in the shared task (hu-udpipe.conllu, ...); without it, test sets are parsed with their gold
segmentation. Each peer is installed from PyPI in a separate environment in WORK, trained and run there, one process and
one thread at a time. Each result becomes a line of benchmarks/results/peers.jsonl. Recorded results are not measured
again, and finished trainings are not repeated. The page benchmarks/results/peers.md is made from these lines. A
training is stopped after --minutes of CPU time; then the best model that it has written is used. If experiments/results
has records of mh4 on a treebank, only the speed and size of mh4 are measured.
"""

import argparse
import datetime
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import venv
from itertools import product
from pathlib import Path
from typing import NamedTuple

from common import ROOT, commit, printed

from experiments.engine.records import RESULTS, load_any
from experiments.engine.run import ONE_THREAD
from mh4.analysis import evaluation
from mh4.data import conllu
from mh4.data.cells import DEPREL, DEPS, FEATS, HEAD, LEMMA, MISC, UPOS, XPOS
from mh4.util import cpu
from mh4.util.files import append_line, write_text
from mh4.util.processes import with_parent
from mh4.util.text_tables import Table

SCORES = ("dev_uas", "dev_las", "test_uas", "test_las")
BRIEF = " --set training.max_updates=500"  # a training of mh4 whose scores are not used
COPIES = 3  # of a test set, to measure the speed of parsing alone, without the start
UDPIPE = """
import sys
from ufal.udpipe import InputFormat, Model, Pipeline, ProcessingError, Sentence, Trainer
def sentences(path):
    reader, found = InputFormat.newConlluInputFormat(), [Sentence()]
    reader.setText(open(path, encoding="utf-8").read())
    while reader.nextSentence(found[-1], error):
        found.append(Sentence())
    return found[:-1]
error, (mode, model, one, other, *options) = ProcessingError(), sys.argv[1:]
if mode == "train":
    options = 2 * (options or [Trainer.DEFAULT])  # of the tagger and the parser
    trained = Trainer.train("morphodita_parsito", sentences(one), sentences(other), Trainer.NONE, *options, error)
    open(model, "wb").write(trained)
else:
    model = Model.load(model)
    pipeline = Pipeline(model, "conllu", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    parsed = pipeline.process(open(one, encoding="utf-8").read(), error)
    open(other, "w", encoding="utf-8").write(parsed)
sys.exit(error.message if error.occurred() else 0)
"""
SUPAR_INI = """\
[Training]
lr=2e-3
mu=.9
nu=.9
eps=1e-12
weight_decay=0
clip=5.0
decay=.75
decay_steps=5000
batch_size=500
epochs=1000
patience=100
min_freq=2
fix_len=20"""


class Peer(NamedTuple):
    """A parser: packages of PyPI, its own first, and arguments of Python in which {name} stands for a file or folder.

    tagged: whether its input has the tags that UDPipe predicts; otherwise the input has words only.
    """

    packages: str
    train: str
    parse: str
    note: str
    tagged: bool = False


SMALL = "but without pretrained vectors, and in minibatches of 500 words rather than 5,000, since too few of 5,000 words fit in the time"
TORCH = " torch==2.13.0"  # for this version, pip may find a build without CUDA
STANZA = "-m stanza.models.parser --lang xx --shorthand xx_xx --cpu --no_pretrain --save_dir {model} --save_name best.pt "
SUPAR = "-m supar.cmds.biaffine_dep --tree --device -1 --threads 1 --path {model}/best.pt "
PEERS = {
    "mh4": Peer(
        "mh4",
        "-m mh4 train --system mh4-hybrid --train {train} --dev {dev} --model {model}/parser --quiet",
        "-m mh4 parse --model {model}/parser {input} -o {output} --quiet",
        "the system mh4-hybrid with default settings; scores are means over recorded runs, minutes over those whose CPU time is recorded",
    ),
    "udpipe": Peer(
        "ufal.udpipe",
        "{work}/udpipe.py train {model}/best.udpipe {train} {dev}",
        "{work}/udpipe.py parse {model}/best.udpipe {input} {output}",
        "its tagger, whose tags its parser needs, and its parser, with default options (published models have options tuned for each "
        "treebank); times and size are for both",
    ),
    "stanza": Peer(
        "stanza" + TORCH,
        STANZA + "--train_file {train} --eval_file {dev} --batch_size 500 --no_checkpoint",
        STANZA + "--mode predict --no_gold_labels --eval_file {input} --output_file {output}",
        "its parser with default settings, %s; its input has tags predicted by UDPipe's tagger, in training as well, "
        "which times and size exclude" % SMALL,
        tagged=True,
    ),
    "supar": Peer(
        "supar" + TORCH,
        SUPAR + "--conf {work}/supar.ini train -b --feat char --punct --embed= --train {train} --dev {dev} --test {one}",
        SUPAR + "predict --data {input} --pred {output}",
        "its biaffine parser of words and characters, %s; its predefined settings are a download, so these are ours (SUPAR_INI)"
        % SMALL,
    ),
}
FILES = {"udpipe.py": UDPIPE, "supar.ini": SUPAR_INI}  # files that the commands need


def main():
    parser = argparse.ArgumentParser(description="Measure mh4 beside other parsers.")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="has the treebanks")
    parser.add_argument("work", metavar="WORK", type=Path, help="where the peers are installed and trained")
    parser.add_argument("--conll17", type=Path, metavar="FOLDER", help="has the segmentation of the test sets")
    parser.add_argument("--treebanks", nargs="+", default=["hu", "got", "cu"], metavar="LANG")
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS, metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--minutes", type=float, default=30, help="the CPU time of each training")
    parser.add_argument("--results", type=Path, metavar="FOLDER", default=ROOT / "benchmarks" / "results", help="of the page")
    options = parser.parse_args()
    lines = options.results / "peers.jsonl"
    for treebank, name in product(options.treebanks, options.peers):
        if (treebank, name) not in recorded(lines):
            append_line(str(lines), json.dumps(measure(treebank, name, options)))
        write_text(str(lines.with_suffix(".md")), page(recorded(lines)))


def recorded(path):
    """Return the records in a file, by treebank and peer."""
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines() if path.exists() else ())
    return {(record["treebank"], record["peer"]): record for record in records}


def measure(treebank, name, options):
    """Train a peer on a treebank, parse its dev and test sets, and return the record."""
    peer, work = PEERS[name], options.work.resolve()
    gold = {part: options.folder / ("%s-ud-%s.conllu" % (treebank, part)) for part in ("train", "dev", "test")}
    segmented = dict(gold, test=options.conll17 / (treebank + "-udpipe.conllu")) if options.conll17 else gold
    model, runs = work / treebank / name, runs_of_mh4(treebank) if name == "mh4" else []
    (python, version), folders = installed(name, work), {"work": work, "model": model}
    model.mkdir(parents=True, exist_ok=True)
    for file, text in FILES.items():
        (work / file).write_text(text, encoding="utf-8")
    tags = {part: work / treebank / "udpipe" / (part + ".out") if peer.tagged else None for part in gold}
    record = {"treebank": treebank, "peer": name, "date": str(datetime.date.today()), "commit": commit(), "cpu": cpu.name()}
    record.update(version=version, load=round(os.getloadavg()[0], 1), test=segmented["test"].name)
    record.update(trained(peer, python, folders, gold, tags, BRIEF if runs else "", options.minutes))
    if not record["megabytes"]:  # no model within the limit
        return record
    seconds = {}
    # Only UDPipe parses train, too: its tags are the input of other peers.
    for part, copies in (("train", 1), ("dev", 1), ("test", 1), ("test", COPIES))[name != "udpipe" :]:
        source = written(model / "input.conllu", segmented[part], tags[part], copies, blind=True)
        output = model / ("%s.out" % part if copies == 1 else "copies.out")
        seconds[copies], status = run(python, peer.parse, dict(folders, input=source, output=output), model / "parse.log")
        if status:
            sys.exit("%s cannot parse: see %s" % (name, model / "parse.log"))
        if copies == 1 and part != "train":
            merged = model / "merged.conllu"
            merged.write_text(with_trees(segmented[part], output), encoding="utf-8")
            scores = evaluation.official(str(gold[part]), str(merged))
            record.update({"%s_%s" % (part, metric.lower()): scores[metric].f1 for metric in ("UAS", "LAS")})
    words = sum(map(len, conllu.read(str(segmented["test"]), trees=False)))
    record["words_per_second"] = round((COPIES - 1) * words / (seconds[COPIES] - seconds[1]))
    if runs:
        record.update({score: statistics.mean(run[score] for run in runs) for score in SCORES}, runs=len(runs), ended=True)
        record["minutes"] = round(statistics.mean(run["cpu_seconds"] for run in runs if "cpu_seconds" in run) / 60, 2)
    return record


def trained(peer, python, folders, gold, tags, options, minutes):
    """Train a peer, unless that has been done; return the minutes, whether training ended by itself, and the size."""
    model, done = folders["model"], folders["model"] / "trained.json"
    if not done.exists():
        files = {part: written(model / (part + ".conllu"), path, tags[part]) for part, path in gold.items() if part != "test"}
        files.update(folders, one=model / "one.conllu")
        files["one"].write_text(files["dev"].read_text(encoding="utf-8").partition("\n\n")[0] + "\n\n", encoding="utf-8")
        seconds, status = run(python, peer.train + options, files, model / "train.log", minutes)
        if status not in (0, -signal.SIGXCPU):
            sys.exit("training failed: see %s" % (model / "train.log"))
        sizes = [path.stat().st_size for path in model.rglob("*") if path.is_file() and path.suffix not in (".conllu", ".log")]
        figures = {"minutes": round(seconds / 60, 2), "limit_minutes": minutes, "ended": not status}
        write_text(str(done), json.dumps({**figures, "megabytes": round(sum(sizes) / 1e6, 1)}))
    return json.loads(done.read_text())


def runs_of_mh4(treebank):
    """Return the recorded runs of mh4-hybrid on a treebank."""
    return [run for run in load_any(treebank, RESULTS) if run["system"] == "mh4-hybrid"]


def installed(name, work):
    """Return the Python of a peer's environment, which is made if missing, and the version of the peer."""
    packages, python = PEERS[name].packages.split(), work / "environments" / name / "bin" / "python"
    if name == "mh4":
        python = sys.executable
    elif not python.exists():
        venv.create(str(python.parent.parent), with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    code = "from importlib.metadata import version; print(version(%r))" % packages[0]
    return str(python), "%s %s" % (packages[0], printed([python, "-c", code]))


def run(python, arguments, files, log, minutes=None):
    """Return the CPU seconds that a command takes, and its exit code. minutes: CPU time after which it is stopped."""

    def prepare():
        ends_with_parent()
        if minutes:
            resource.setrlimit(resource.RLIMIT_CPU, (int(60 * minutes), int(60 * minutes) + 5))

    ends_with_parent = with_parent()
    command = [python, *(word.format(**files) for word in arguments.split())]
    environment = {**os.environ, **ONE_THREAD, "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}  # SuPar's models are pickled
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, preexec_fn=prepare, env=environment, cwd=files["model"])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def written(path, treebank, tagged=None, copies=1, blind=False):
    """Write the words of a treebank with its own tags, or those of the file `tagged`; return the path.

    blind: without gold annotation. The head of each word is the word before, and the only tags are those of `tagged`.
    """
    blocks, lines = list(conllu.blocks(str(treebank), trees=not blind)), []
    tags = (UPOS, XPOS, FEATS)
    for block, other in zip(blocks, conllu.blocks(str(tagged), trees=False) if tagged else blocks, strict=True):
        columns = {column: other.column(column) for column in tags}
        for k, row in enumerate(block.sentence.rows):
            cells = block.lines[row].rstrip("\r\n").split("\t")
            cells[DEPS] = cells[MISC] = "_"
            for column in tags:
                cells[column] = "_" if blind and not tagged else columns[column][k]
            if blind:
                cells[LEMMA], cells[HEAD], cells[DEPREL] = "_", str(k), "dep" if k else "root"
            lines.append("\t".join(cells))
        lines.append("")
    path.write_text(("\n".join(lines) + "\n") * copies, encoding="utf-8")
    return path


def with_trees(treebank, parsed):
    """Return the text of a treebank with the trees of a parsed file."""
    pairs = zip(*(conllu.blocks(str(path), trees=False) for path in (treebank, parsed)), strict=True)
    return "".join(block.text({k: parse.column(k) for k in (HEAD, DEPREL)}) for block, parse in pairs)


def page(records):
    """Return the page of all records."""
    lines = [INTRODUCTION]
    for treebank in dict.fromkeys(treebank for treebank, _ in records):
        rows = [row(records.get((treebank, name), {"version": name + ", not measured yet"})) for name in PEERS]
        lines += ["## %s\n" % treebank, Table(HEADER, rows, 1).markdown(), ""]
    measured = [name for name in PEERS if any(name in key for key in records)]
    lines += ["## Settings", "", *("- %s: %s." % (name, PEERS[name].note) for name in measured)]
    return "\n".join(lines) + "\n"


def row(record):
    """Return the cells of a row of the table. Scores are empty if there was no model."""
    name = record["version"] + (", mean of %d" % record["runs"] if "runs" in record else "")
    scores = ["%.2f" % record[key] if key in record else "" for key in SCORES]
    minutes = "%s%.0f" % ("" if record["ended"] else "≥ ", record["minutes"]) if "minutes" in record else ""
    return [name, *scores, minutes, *(str(record.get(key, "")) for key in ("words_per_second", "megabytes"))]


HEADER = ("parser", "dev UAS", "dev LAS", "test UAS", "test LAS", "training, min", "parsing, words/s", "MB")
INTRODUCTION = """\
# Beside other parsers

By `benchmarks/peers.py FOLDER WORK --conll17 CONLL17`, on treebanks of UD 2.0; all figures with dates, versions and commits are in
`benchmarks/results/peers.jsonl`.

All parsers were trained on the same files. None was given pretrained vectors, nor gold tags of what it parses. Dev has its gold
segmentation, test has the segmentation of the shared task of 2017. UAS and LAS are by the official scorer. Minutes are CPU time
of one thread; speed is words per second of CPU time, from file to file, without the time to start. Other programs ran on the
machine (its load is in the records), so times can be wrong by half.

≥ marks a training that was stopped at a limit of CPU time, before it had converged: with more time, the parser is better than these
scores. Stanza and SuPar are made for GPUs and for pretrained vectors or language models, with which they score far higher.
"""


if __name__ == "__main__":
    main()
