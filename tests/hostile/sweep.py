"""Run every command of mh4 on malformed CoNLL-U files (corpus.py) and damaged models (damage.py).

Every command must succeed, or explain the error in one line and exit with code 2, within 30 seconds of processor time.
It must not change its input, and must not leave any files behind if it fails. Files that are CoNLL-U must be parsed,
others must be rejected.

    make sweep                          all of it, which takes some minutes (EVERY=10: a tenth)
    sweep.py --every 10 --only files    every tenth file; --only models for the models
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import corpus  # noqa: E402
import damage  # noqa: E402
import sandbox  # noqa: E402

from mh4.training import trainer  # noqa: E402, F401  (imported once here rather than in every child process)

# A network so small that two updates take almost no time.
TINY = [
    "encoder.char_dim=4",
    "encoder.char_units=8",
    "encoder.word_dim=8",
    "encoder.word_min_count=1",
    "encoder.units=8",
    "scorer.mlp_units=8",
    "training.max_updates=2",
    "training.evaluate_updates=1",
]
SYSTEMS = ("mst", "mh4-hybrid")


class Sweep:
    """Run the commands, and collect their failures."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = self.runs = 0
        self.slowest = (0.0, "")
        self.failures: list[str] = []
        self.good = folder / "good.conllu"
        self.good.write_text(corpus.GOOD, encoding="utf-8")
        self.models = {system: folder / system for system in SYSTEMS}
        for system, model in self.models.items():
            done = sandbox.run(*self.training(system, self.good, model))
            assert done.code == 0, done.stderr

    def training(self, system: str, train: Path, model: Path) -> list[str]:
        settings = [part for setting in TINY for part in ("--set", setting)]
        files = ["--train", str(train), "--dev", str(self.good)]
        return ["train", "--quiet", "--system", system, *files, "--model", str(model), *settings]

    def run(self, name: str, *arguments: str, stdin: bytes = b"", succeeds: bool | None = None) -> sandbox.Outcome:
        """Run a command; `succeeds` is whether it must succeed, if that is known."""
        done = sandbox.run(*arguments, stdin=stdin)
        self.runs += 1
        self.slowest = max(self.slowest, (done.seconds, "%s, mh4 %s" % (name, arguments[0])))
        complaint = done.complaint()
        if not complaint and succeeds is not None and succeeds != (done.code == 0):
            complaint = "refused: " + done.stderr if succeeds else "accepted"
        if complaint:
            self.fail(name, arguments, complaint)
        return done

    def fail(self, name: str, arguments: tuple[str, ...], complaint: str) -> None:
        self.failures.append("%s | mh4 %s | %s" % (name, " ".join(arguments[:3]), complaint.strip()))
        print("FAILED", self.failures[-1], flush=True)

    # --------------------------------------------------------------------------------------------------------- files

    def file(self, case: corpus.Case) -> None:
        """Run every command that reads CoNLL-U on this file."""
        place = self.folder / "case"
        place.mkdir()
        path, out, new = place / "case.conllu", place / "out.conllu", place / "model"
        path.write_bytes(case.content)
        good, given = str(self.good), str(path)
        mst, mh4 = (str(self.models[system]) for system in SYSTEMS)
        tree = False if case.tree is False else None  # for commands that may also reject it for other reasons
        self.run(case.name, "parse", "--model", mst, given, "-o", str(out), succeeds=case.readable)
        if out.exists():
            self.compare(case, out.read_bytes())
            out.unlink()
        for arguments in (
            ["parse", "--model", mh4, "--tags", "--decode", "greedy", "-"],
            ["parse", "--model", mst, "--confidence", "--decode", "mbr", "--keep-deps", "-"],
            ["ensemble", "--model", mst, "--model", mh4, "--model", mst, "-"],
        ):
            self.run(case.name, *arguments, stdin=case.content, succeeds=case.readable)
        self.files += 1
        if self.files % 10 == 1:  # not always, as it starts a new process, which takes longer than all other commands
            segmenter = ["segmenter", "train", "--quiet", given, "--dev", good, "--epochs", "1", "-o", os.devnull]
            self.run(case.name, *segmenter, succeeds=False if case.readable is False else None)
        self.run(case.name, "coverage", given, succeeds=case.tree)
        self.run(case.name, "coverage", "--json", "-", stdin=case.content, succeeds=case.tree)
        for arguments in (
            ["test", "--model", mh4, given],
            ["evaluate", given, given, "--by", "deprel"],
            ["evaluate", good, given],
            ["compare", given, given, given],
            ["view", given, given],
        ):
            self.run(case.name, *arguments, stdin=case.content, succeeds=tree)
        voted = None if case.readable is None else tree
        self.run(case.name, "ensemble", "--vote", given, "-", stdin=case.content, succeeds=voted)
        for arguments in (["view", "-"], ["view", "--model", mh4, "-"]):
            if self.run(case.name, *arguments, "--html", str(out), stdin=case.content, succeeds=tree).code == 0:
                out.unlink()
        left_over = sorted(str(path.relative_to(place)) for path in place.rglob("*"))
        if left_over != ["case.conllu"]:
            self.fail(case.name, ("*",), "left behind: %s" % left_over)
        self.run(case.name, *self.training("mst", path, new), succeeds=tree)
        if path.read_bytes() != case.content or self.good.read_text(encoding="utf-8") != corpus.GOOD:
            self.fail(case.name, ("*",), "an input file has changed")
        shutil.rmtree(place)

    def compare(self, case: corpus.Case, parsed: bytes) -> None:
        """Check that only HEAD, DEPREL and DEPS of words differ, that DEPS is empty, and that empty nodes are gone."""
        mark = b"\xef\xbb\xbf"  # only kept in the first sentence
        lines = case.content.replace(b"\n" + mark, b"\n").split(b"\n")
        before = [line for line in lines if not re.match(b"(%s)?[0-9]+[.]" % mark, line)]
        after = parsed.split(b"\n")
        rows = [(a.split(b"\t"), b.split(b"\t")) for a, b in zip(before, after)]
        same = all(a == b or (len(a) == len(b) == 10 and a[:6] + [b"_"] + a[9:] == b[:6] + b[8:]) for a, b in rows)
        empty = not parsed and not case.content.strip(b"\r\n " + mark)
        if not empty and (len(before) != len(after) or not same):
            self.fail(case.name, ("parse",), "the output differs in more than HEAD, DEPREL and DEPS")

    # -------------------------------------------------------------------------------------------------------- models

    def model(self, done: damage.Damage) -> None:
        """Run every command that uses a model on a damaged copy."""
        place = self.folder / "case"
        shutil.copytree(self.models["mst"], place)
        done.apply(place)
        before = self.contents(place)
        for arguments in (
            ["info", str(place)],
            ["parse", "--model", str(place), str(self.good)],
            ["test", "--model", str(place), str(self.good)],
            ["view", "--model", str(place), str(self.good)],
            ["ensemble", *2 * ["--model", str(self.models["mst"])], "--model", str(place), str(self.good)],
        ):
            succeeds = None if arguments[0] == "info" and not done.sound else done.sound  # info may report what is wrong
            self.run(done.name, *arguments, succeeds=succeeds)
        if self.contents(place) != before:
            self.fail(done.name, ("*",), "the model has changed")
        shutil.rmtree(place) if place.is_dir() else place.unlink()

    def contents(self, place: Path) -> dict[str, bytes | None]:
        paths = [place, *place.rglob("*")]
        return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", choices=["files", "models"], default="")
    asked = parser.parse_args()
    files = [] if asked.only == "models" else list(corpus.cases())[:: asked.every]
    models = [] if asked.only == "files" else list(damage.damages())[:: asked.every]
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(Path(folder))
        for case in files:
            sweep.file(case)
        for one in models:
            sweep.model(one)
    print(
        "%d files and models, %d commands, %d failures; the slowest took %.1f s (%s)"
        % (len(files) + len(models), sweep.runs, len(sweep.failures), *sweep.slowest)
    )
    return 1 if sweep.failures else 0


if __name__ == "__main__":
    sys.exit(main())
