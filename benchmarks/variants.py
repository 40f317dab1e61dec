"""The speed of the variants of the decoders, which are compiled for several kinds of processors.

    .venv/bin/python benchmarks/variants.py [LENGTH ...] >benchmarks/results/variants.md

They take turns, each in processes of its own, so that other load on the machine affects all of them equally.
"""

import json
import os
import statistics
import subprocess
import sys

import decoders

from mh4.decoders.search import VARIANTS
from mh4.util import cpu
from mh4.util.processes import with_parent

TURNS = 3
LENGTHS = [20, 40, 80]


def measure(lengths):
    """Seconds for each decoder, by length and name."""
    decoders.SECONDS = 0.2
    return {n: decoders.seconds(n) for n in lengths}


def in_turns(turns, builds, script, lengths):
    """What `SCRIPT --measure LENGTHS` prints as JSON, in each of its turns, by name of a build, which is a Python and an environment."""
    found = {name: [] for name in builds}
    for _ in range(turns):
        for name, (python, env) in builds.items():
            command = [python, script, "--measure", *map(str, lengths)]
            done = subprocess.run(
                command, env={**os.environ, **env}, check=True, stdout=subprocess.PIPE, preexec_fn=with_parent()
            )
            found[name].append(json.loads(done.stdout))
    return found


def run(main, measure, lengths, given):
    """The program: with these lengths or those given, its main function; with `--measure`, its part in a turn."""
    if given[:1] == ["--measure"]:
        print(json.dumps(measure([int(n) for n in given[1:]])))
    else:
        main([int(n) for n in given] or lengths)


def main(lengths):
    fastest, *others = reversed(VARIANTS)
    times = in_turns(TURNS, {name: (sys.executable, {"MH4_SIMD": name}) for name in [fastest, *others]}, __file__, lengths)
    print(
        "# The variants of the decoders\n\n%s, one core.\n\n    python benchmarks/variants.py%s\n\nMilliseconds of processor time for a "
        "sentence of n words with random scores in the variant %s, and how many times as long others take: medians of %d processes.\n"
        % (cpu.name(), "".join(" %d" % n for n in lengths if lengths != LENGTHS), fastest, TURNS)
    )
    print("| decoder | n | %s |\n|---|---:|%s" % (" | ".join(times), "---:|" * len(times)))
    for decoder in times[fastest][0][str(lengths[0])]:
        for n in map(str, lengths):
            if all(decoder in turn[n] for turns in times.values() for turn in turns):
                own, *rest = (1000 * statistics.median(turn[n][decoder] for turn in turns) for turns in times.values())
                print("| %s | %s | %.3g | %s |" % (decoder, n, own, " | ".join("%.2f" % (other / own) for other in rest)))


if __name__ == "__main__":
    run(main, measure, LENGTHS, sys.argv[1:])
