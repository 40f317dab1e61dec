"""If the disk fails or is full while a command writes, old files stay intact and one sentence is printed.

A preloaded library (calls.cpp) makes system calls fail. All cases run in one process.
"""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiny
import toy
from running import preloading

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")]
OLD = "old\n"

RUN = """
import contextlib, ctypes, io, json, os, sys
from mh4.cli import main

library = ctypes.CDLL(None)
place, cases = sys.argv[1], json.load(sys.stdin)
for case in cases:
    call, number, after, old, outputs, arguments = case
    for name in os.listdir(place):
        os.unlink(os.path.join(place, name))
    for name in outputs if old else ():
        with open(os.path.join(place, name), "w") as file:
            file.write(old)
    kept = call.encode(), place.encode()
    library.refuse(*kept, number, ctypes.c_long(after))
    said, code = io.StringIO(), 0
    with contextlib.redirect_stderr(said):
        try:
            main(arguments, prog_name="mh4")
        except SystemExit as end:
            code = end.code
    refused = library.number_refused()
    library.refuse(b"", b"", 0, ctypes.c_long(0))
    found = {}
    for name in sorted(os.listdir(place)):
        with open(os.path.join(place, name), "rb") as file:
            found[name] = file.read().hex()
    print(json.dumps([code, said.getvalue(), refused, found]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A function that runs cases and returns for each: exit code, messages, number of failed calls, and files."""
    folder = tmp_path_factory.mktemp("refusing")
    environment, place = preloading(Path(__file__).with_name("calls.cpp"), folder), folder / "place"
    place.mkdir()

    def run(cases):
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(place)], input=json.dumps(cases), stdout=-1, stderr=-1, env=environment, text=True
        )
        assert done.returncode == 0, done.stderr
        outcomes = [json.loads(line) for line in done.stdout.splitlines()]
        return [(*outcome[:3], {name: bytes.fromhex(text) for name, text in outcome[3].items()}) for outcome in outcomes]

    run.folder, run.place = folder, place
    return run


@pytest.fixture(scope="module")
def arguments(run):
    """The arguments of a command, by the names of its outputs."""
    good = run.folder / "good.conllu"
    good.write_text(tiny.as_conllu(tiny.PROJECTIVE, tiny.CROSSING) * 200, encoding="utf-8")
    sentences = toy.sentences(run.folder)
    model = run.folder / "model"
    toy.untrained("mst", sentences, model)
    short = run.folder / "short.conllu"
    short.write_text(tiny.as_conllu(tiny.PROJECTIVE) + "a\n", encoding="utf-8")
    vote = ["ensemble", "--vote", str(good), str(good), "--quiet", "-o"]
    parse = ["parse", "--model", str(model), str(short), "--quiet", "--rejects", str(run.place / "bad.gz"), "-o"]
    return {
        ("out",): [*vote, str(run.place / "out")],
        ("out.gz",): [*vote, str(run.place / "out.gz")],
        ("bad.gz", "out"): [*parse, str(run.place / "out")],
    }


def test_outputs_stay_whole(run, arguments):
    failures = [("write", errno.ENOSPC, 0), ("write", errno.EIO, 1), ("fsync", errno.EIO, 0), ("rename", errno.ENOSPC, 0)]
    failures += [("sync", errno.EIO, 0), ("rename", errno.EIO, 1), ("rename", errno.EACCES, 0)]
    cases = [
        (*failure, old, outputs, command) for outputs, command in arguments.items() for failure in failures for old in ("", OLD)
    ]
    whole = {outputs: run([("", 0, 0, "", outputs, command)])[0] for outputs, command in arguments.items()}
    for code, said, _, found in whole.values():
        assert (code, said) == (0, "") and all(found.values())
    tried = set()
    for (call, number, _, old, outputs, _), (code, said, refused, found) in zip(cases, run(cases), strict=True):
        complete = whole[outputs][3]
        if not refused:  # fewer calls than that
            assert code == 0 and found == complete
            continue
        tried.add((call, number, outputs))
        assert code == 2 and said.count("\n") == 1 and said.startswith("mh4: %s" % run.place), (code, said)
        assert said.endswith(": cannot be written: %s\n" % os.strerror(number)), said
        for name in {*found, *outputs}:
            before = OLD.encode() if old else None
            assert name in outputs and found.get(name) in (before, complete[name]), (call, name, found.get(name))
        if call in ("write", "fsync") and len(outputs) == 1:
            assert found == (dict.fromkeys(outputs, OLD.encode()) if old else {})
    assert len(tried) >= 12, tried
