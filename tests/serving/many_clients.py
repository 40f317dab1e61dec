"""Send requests of many clients at once, and compare every answer with the output of `mh4 parse`.

    python tests/serving/many_clients.py [MODEL FILE.conllu] [--requests N] [--clients N] [--workers N] [--kill N]
        [--rounds N]

serves the model, and sends documents made of the file's sentences. In each of the first two rounds, --kill processes of
the server are killed. The memory of the server is printed after each round. By default (`make serve-test`), the model
is small and untrained, and the file is of the toy treebank.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import toy  # noqa: E402
from asking import serving  # noqa: E402
from running import COMMAND  # noqa: E402

from mh4.data import conllu  # noqa: E402


def documents(file, folder, model, number, rng):
    """Return pairs: a document of one to five sentences of the file, and the output of `mh4 parse` for it."""
    texts = ["".join(block.lines) for block in conllu.blocks(str(file), trees=False)]
    source, target = folder / "source", folder / "target"
    source.mkdir()
    for k in range(number):
        chosen = rng.sample(texts, rng.randint(1, min(5, len(texts))))
        (source / ("%d.conllu" % k)).write_text("".join(chosen), encoding="utf-8", newline="")
    files = sorted(source.iterdir())
    subprocess.run(
        [*COMMAND, "parse", "--quiet", "--tags", "--model", str(model), *map(str, files), "-o", "%s/" % target], check=True
    )
    return [(path.read_bytes().decode(), (target / path.name).read_bytes().decode()) for path in files]


def load(server, pairs, requests, clients, kills, rng):
    """Send requests, and kill processes meanwhile; return the numbers of all answers and of correct answers."""
    chosen = [rng.choice(pairs) for _ in range(requests)]
    found, begun = Counter(), threading.Semaphore(0)

    def one(pair):
        begun.release()
        data, expected = pair
        found[server.process_text(data=data, tagger="", parser="") == expected] += 1

    with ThreadPoolExecutor(clients) as threads:
        answers = [threads.submit(one, pair) for pair in chosen]
        for _ in range(kills):
            for _ in range(requests // (kills + 1)):
                begun.acquire()
            if server.children():
                os.kill(rng.choice(server.children()), signal.SIGKILL)
    for answer in answers:
        answer.result()
    return sum(found.values()), found[True]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?")
    parser.add_argument("file", nargs="?")
    for name, default in (("--requests", 1000), ("--clients", 50), ("--workers", 2), ("--kill", 3), ("--rounds", 4)):
        parser.add_argument(name, type=int, default=default)
    options = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        model, file = options.model or Path(folder) / "model", options.file or Path(folder) / "toy-ud-dev.conllu"
        if not options.model:
            toy.untrained("mh4-hybrid", toy.sentences(folder, "dev"), model)
        pairs = documents(file, Path(folder), model, 100, rng)
        models = {"model": (model, None)}
        with serving(Path(folder), models, "--workers", str(options.workers)) as server:
            for number in range(1, options.rounds + 1):
                began, kills = time.monotonic(), options.kill if number < 3 else 0
                answered, right = load(server, pairs, options.requests, options.clients, kills, rng)
                rate = options.requests / (time.monotonic() - began)
                print(
                    "round %d: %d requests by %d clients, %d processes killed: %d answered, %d as by mh4 parse, %.0f a second; %.1f MB"
                    % (number, options.requests, options.clients, kills, answered, right, rate, server.memory() / 1e6),
                    flush=True,
                )
                if right < options.requests:
                    sys.exit("answers were lost or mixed up")
            server.process.terminate()
            print("ended by SIGTERM with exit code %d" % server.process.wait(60))


if __name__ == "__main__":
    main()
