"""Measure the speed of `mh4 corpus parse` beside `mh4 parse --jobs`, or its memory.

    .venv/bin/python benchmarks/corpora.py [--model DIR | --system SYSTEM] [--copies N] [--rounds N] [FILE.conllu] >corpora.md

parses N concatenated copies of the file (by default the test set of the toy treebank, for at least a minute) by both
commands in turns, with one process and with two. It prints words per second of wall time, also without the time before
the first shard.

    .venv/bin/python benchmarks/corpora.py --memory GB ... >corpora_memory.md

instead parses that many GB of copies with two workers. It prints the memory of the driver and of the largest worker
while they run, and the range of both after the first tenth.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from common import ROOT, commit, table
from parsing import number_of_words, run, saved_model

from mh4.data import treebanks
from mh4.util import cpu
from mh4.util.processes import with_parent

ROWS = 20  # of the table of memory, approximately


def main():
    parser = argparse.ArgumentParser(description="Measure mh4 corpus.")
    parser.add_argument("file", nargs="?", metavar="FILE.conllu", help="by default the test set of the toy treebank")
    parser.add_argument("--model", metavar="DIR", help="a trained model")
    parser.add_argument("--system", default="mh4-hybrid", help="the system of a random model, without --model")
    parser.add_argument("--copies", type=int, default=1000, metavar="N", help="of the file")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each is measured")
    parser.add_argument("--memory", type=float, metavar="GB", help="measure memory, on so much input")
    options = parser.parse_args()
    path = options.file or str(treebanks.locate("toy")["test"])
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        model = saved_model(options, path, name)
        if options.memory:
            title, what = "The memory of a corpus", "--memory %g" % options.memory
            measured = memory(scratch, model, path, options.memory)
        else:
            title, what = "Corpora", "--copies %d --rounds %d" % (options.copies, options.rounds)
            measured = throughput(scratch, model, path, options)
    of_model = "" if options.model else "--system %s " % options.system
    command = "    .venv/bin/python benchmarks/corpora.py %s %s%s" % (what, of_model, os.path.basename(path))
    head = "Two cores of %s; at commit %s; by" % (cpu.name(), commit())
    print("\n\n".join(["# " + title, head, command, measured]))


def concatenated(scratch, path, copies):
    """Write a file of this many copies; return its path and its number of words."""
    content, large = Path(path).read_bytes(), scratch / "large.conllu"
    with open(large, "wb") as file:
        for _ in range(copies):
            file.write(content)
    return large, copies * number_of_words(content.decode())


def throughput(scratch, model, path, options):
    """Return the table of the speed of both commands."""
    large, words = concatenated(scratch, path, options.copies)
    folder = scratch / "corpus"
    rows = []
    for number in (1, 2):
        rounds = []
        for _ in range(options.rounds):
            alone, _ = run("parse", str(large), "--model", model, "-o", str(scratch / "out"), "--jobs", str(number))
            corpus, _ = run("corpus", "parse", str(large), "--model", model, "-o", str(folder), "--workers", str(number))
            rounds.append((alone, corpus, working(folder)))
            shutil.rmtree(folder)
        alone, corpus, started = map(statistics.median, zip(*rounds, strict=True))
        rows.append(["`mh4 parse --jobs %d`" % number, "%.1f" % alone, round(words / alone), "", ""])
        share, speed = "%.0f %%" % (100 * alone / corpus), round(words / started)
        rows.append(["`mh4 corpus parse --workers %d`" % number, "%.1f" % corpus, round(words / corpus), share, speed])
    return table(["%d words" % words, "seconds, median", "words/s", "of --jobs", "words/s once started"], rows)


def working(folder):
    """Return the seconds from the start of the first shard of a corpus to the end of the last one, by their records."""
    spans = []
    for path in folder.glob("shards/*/*/*.json"):
        end = path.stat().st_mtime
        spans.append((end - json.loads(path.read_text())["seconds"], end))
    return max(end for _, end in spans) - min(start for start, _ in spans)


def memory(scratch, model, path, gigabytes):
    """Return the table of the memory of a driver and its workers, measured once a minute or more often."""
    large, words = concatenated(scratch, path, math.ceil(gigabytes * 1e9 / os.path.getsize(path)))
    folder = scratch / "corpus"
    command = [sys.executable, "-m", "mh4", "corpus", "parse", str(large), "--model", model, "-o", str(folder), "--workers", "2"]
    start, seen = time.monotonic(), []
    driver = subprocess.Popen([*command, "--quiet"], preexec_fn=with_parent(), env={**os.environ, "PYTHONPATH": str(ROOT)})
    while driver.poll() is None:
        time.sleep(max(1, min(60, gigabytes * 6)))
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(driver.pid)
            sizes = [one.memory_info().rss >> 20 for one in (process, *process.children(recursive=True))]
            shards = sum(1 for _ in folder.glob("shards/*/*/*.json"))
            seen.append((round(time.monotonic() - start), shards, sizes[0], max(sizes[1:], default=0)))
            print("%d s, %d shards; driver %d MB, largest worker %d MB" % seen[-1], file=sys.stderr)
    seconds = time.monotonic() - start
    later = [one for one in seen if seen[-1][1] / 10 <= one[1] < seen[-1][1]]
    if driver.returncode or not later:
        sys.exit("the corpus was not parsed, or too fast to be measured")
    spans = ["%d to %d MB" % (min(column), max(column)) for column in list(zip(*later, strict=True))[2:]]
    shown = table(["seconds", "shards", "driver, MB", "largest worker, MB"], seen[:: -(-len(seen) // ROWS)], right=0)
    said = "%.1f GB, %d words, were parsed in %.0f minutes. After the first tenth, the driver had %s, and the largest worker %s."
    return shown + "\n\n" + said % (large.stat().st_size / 1e9, words, seconds / 60, *spans)


if __name__ == "__main__":
    main()
