"""The speed of the variants of the decoders in a wheel, next to a build for this processor.

    .venv/bin/python benchmarks/variants.py PYTHON [LENGTH ...] >benchmarks/results/variants.md

PYTHON is that of an environment in which a wheel is installed (`make package` leaves wheels in dist/). The variants and the build of
the Python that runs this take turns, each in processes of its own, so that other load on the machine affects all of them equally.
"""

import json
import os
import statistics
import subprocess
import sys

import decoders

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


def run(main, measure, lengths, usage):
    """The program: with a build and lengths, by default these, its main function; with `--measure`, its part in a turn."""
    given = [int(n) for n in sys.argv[2:]]
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(given)))
    elif len(sys.argv) < 2:
        sys.exit(usage)
    else:
        main(sys.argv[1], given or lengths)


def main(python, lengths):
    code = "from mh4.decoders.shared import processor; print(*processor.variants())"
    variants = subprocess.run([python, "-I", "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    if not variants:
        sys.exit("mh4: in %s, there is no wheel of mh4 with variants" % python)
    builds = {"for this processor": (sys.executable, {}), **{name: (python, {"MH4_SIMD": name}) for name in variants}}
    times = in_turns(TURNS, builds, __file__, lengths)
    print(
        "# The variants of a wheel\n\n%s, one core.\n\n    python benchmarks/variants.py PYTHON%s\n\nMilliseconds of processor time for a "
        "sentence of n words with random scores in a build for this processor, and how many times as long the variants of the "
        "wheel take: medians of %d processes.\n" % (cpu.name(), "".join(" %d" % n for n in lengths if lengths != LENGTHS), TURNS)
    )
    print("| decoder | n | %s |\n|---|---:|%s" % (" | ".join(times), "---:|" * len(times)))
    for decoder in times["for this processor"][0][str(lengths[0])]:
        for n in map(str, lengths):
            if all(decoder in turn[n] for turns in times.values() for turn in turns):
                own, *others = (1000 * statistics.median(turn[n][decoder] for turn in turns) for turns in times.values())
                print("| %s | %s | %.3g | %s |" % (decoder, n, own, " | ".join("%.2f" % (other / own) for other in others)))


if __name__ == "__main__":
    run(main, measure, LENGTHS, __doc__)
