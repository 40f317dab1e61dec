"""The speed of the variants of the decoders in a wheel, next to a build for this processor.

    .venv/bin/python benchmarks/variants.py PYTHON [LENGTH ...]

PYTHON is that of an environment in which a wheel is installed (`make package` leaves wheels in dist/). The variants and the build of
the Python that runs this take turns, each in processes of its own, so that other load on the machine affects all of them equally.
"""

import json
import os
import statistics
import subprocess
import sys

TURNS = 3
LENGTHS = [20, 40, 80]


def measure(lengths):
    """Seconds for each decoder, by length and name."""
    import decoders

    from mh4.decoders import mh3, mh4, mst

    def sentences(n, rng, heads):
        three, hybrid = decoders.transitions(rng, n, 2, 1), decoders.transitions(rng, n, 6, 2)
        arcs = decoders.random(rng, n + 1, n + 1)
        made = exact(n, rng, heads)
        return {
            **{name: made[name] for name in made if name != "plain mh4"},
            "mh3, marginals": lambda: mh3.marginals(*three),
            "mh4-hybrid, marginals": lambda: mh4.marginals(*hybrid),
            "mst, marginals": lambda: mst.marginals(arcs),
        }

    exact, decoders.sentences, decoders.SECONDS = decoders.sentences, sentences, 0.2
    return {n: decoders.seconds(n) for n in lengths}


def main(python, lengths):
    code = "from mh4.decoders import processor; print(*processor.variants())"
    variants = subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    if not variants:
        sys.exit("mh4: in %s, there is no wheel of mh4 with variants" % python)
    builds = [("for this processor", sys.executable, {})] + [(name, python, {"MH4_SIMD": name}) for name in variants]
    times = {name: [] for name, _, _ in builds}
    for _ in range(TURNS):
        for name, executable, env in builds:
            command = [executable, __file__, "--measure", *map(str, lengths)]
            done = subprocess.run(command, env={**os.environ, **env}, check=True, stdout=subprocess.PIPE)
            times[name].append(json.loads(done.stdout))
    print("Milliseconds for a sentence of n words, and how many times as long the variants of the wheel take.\n")
    print("| decoder | n | %s |\n|---|---:|%s" % (" | ".join(times), "---:|" * len(times)))
    for decoder in times["for this processor"][0][str(lengths[0])]:
        for n in map(str, lengths):
            if all(decoder in turn[n] for turns in times.values() for turn in turns):
                own, *others = (1000 * statistics.median(turn[n][decoder] for turn in turns) for turns in times.values())
                print("| %s | %s | %.3g | %s |" % (decoder, n, own, " | ".join("%.2f" % (other / own) for other in others)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure([int(n) for n in sys.argv[2:]])))
    elif len(sys.argv) < 2:
        sys.exit(__doc__)
    else:
        main(sys.argv[1], [int(n) for n in sys.argv[2:]] or LENGTHS)
