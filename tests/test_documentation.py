"""Run the commands and code of README, the tutorial and the how-to pages, in order, on the toy treebank.

With MH4_WRITE_OUTPUTS=1 in the environment, outputs that are not as shown, or shown as `...`, are written into the page.
"""

import contextlib
import difflib
import importlib
import io
import os
import re
import subprocess

import numpy as np
import pytest
import toy
from running import INSTALLED
from toy import ROOT

import mh4
from mh4.decoders.mh4 import decode
from mh4.parser.systems import SYSTEMS

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.S | re.M)
NUMBER = re.compile(r"\d+\.\d+")
TOLERANCE = 3  # of scores and percentages: sums of floating-point numbers differ between processors
SIMILAR = 0.7  # the share of words in a drawing or table of predicted trees that must be as shown
MEASURED = re.compile(r"(?<=after )\d+(?= updates)|[\d,.]+(?= (?:tokens|words)/s)")  # differs between machines


def how_to():
    """Return the pages of docs/howto in the order of its tables of contents."""
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```$", (DOCS / "howto" / "index.md").read_text(encoding="utf-8"), re.S | re.M)
    return [DOCS / "howto" / (name + ".md") for name in " ".join(tables).split()]


PAGES = [ROOT / "README.md", DOCS / "tutorial.md", *how_to()]
OPTIONAL = {  # by package: the page on it, and the target of the Makefile that runs it
    "torch": (DOCS / "howto" / "pytorch.md", "torch-test"),
    "jax": (DOCS / "howto" / "jax.md", "torch-test"),
    "spacy": (DOCS / "howto" / "spacy.md", "spacy-test"),
}


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(block):
    """Yield the commands of a console block, each with its output."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        lines = part.split("\n")
        last = next(place for place, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[: last + 1]), "\n".join(lines[last + 1 :]).strip("\n")


def compared(shown, printed):
    """Return whether the output is as shown: `...` is any text, columns may be wider, and decimals may differ."""
    pattern, expected = "", []
    for place, text in enumerate(re.split(r"\.\.\.", shown.strip())):
        pattern += r".*?" if place else ""
        for piece in re.split(r"(\d+\.\d+|\s+)", text):
            if NUMBER.fullmatch(piece):
                pattern += r"(\d+\.\d+)"
                expected.append(float(piece))
            else:
                pattern += r"\s+" if piece.isspace() else re.escape(piece)
    found = re.fullmatch(pattern, printed.strip(), re.S)
    return bool(found) and all(abs(float(number) - wanted) <= TOLERANCE for number, wanted in zip(found.groups(), expected))


def is_long(command, shown):
    """Return whether the output is a drawing or table of predicted trees, not only scores."""
    return re.match(r"mh4 (view|compare|evaluate|review) ", command) and shown.count("\n") > 4


def similar(shown, printed):
    """Return whether most words of the output are as shown, without numbers, which differ between processors."""
    words = [re.sub(r"[-+]?\d+(\.\d+)?", "0", text).split() for text in (shown, printed)]
    return difflib.SequenceMatcher(None, *words, autojunk=False).ratio() >= SIMILAR


def write_output(page, command, shown, printed):
    text, begin = page.read_text(encoding="utf-8"), "$ %s\n" % command
    assert text.count(begin + shown) == 1
    page.write_text(text.replace(begin + shown, begin + MEASURED.sub("...", printed.rstrip())), encoding="utf-8")


def run_page(page, folder):
    names = {}
    environment = dict(os.environ, PATH="%s:%s" % (INSTALLED.parent, os.environ["PATH"]), COLUMNS="140")
    here = os.getcwd()
    for kind, block in blocks(page):
        if kind == "console":
            for command, shown in commands(block):
                done = subprocess.run(
                    ["bash", "-c", command], stdout=-1, stderr=-1, stdin=subprocess.DEVNULL, env=environment, cwd=folder
                )
                assert done.returncode == 0, (command, done.stderr.decode())
                printed = done.stdout.decode()
                as_shown = not shown or compared(shown, printed) or is_long(command, shown) and similar(shown, printed)
                if os.environ.get("MH4_WRITE_OUTPUTS") and shown and (shown == "..." or not compared(shown, printed)):
                    write_output(page, command, shown, printed)
                else:
                    assert as_shown, "%s\n%s\n--- shown:\n%s" % (command, printed, shown)
        elif kind == "python":
            os.chdir(folder)
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block, str(page), "exec"), names)
            finally:
                os.chdir(here)


@pytest.fixture
def systems():
    """The registry of systems, to which a page adds one."""
    known = dict(SYSTEMS)
    yield
    SYSTEMS.clear()
    SYSTEMS.update(known)


def folder_of(tmp_path):
    """Return a folder with the folders of a clone that the pages need."""
    for name in ("experiments", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.slow
def test_readme(tmp_path):
    run_page(ROOT / "README.md", folder_of(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("package", ["tensorboard", "mlflow"])
def test_recipes_to_follow_a_training(tmp_path, monkeypatch, package):
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    for name, value in (("MLFLOW_TRACKING_URI", "file:mlruns"), ("MLFLOW_ALLOW_FILE_STORE", "true")):  # without a database
        monkeypatch.setenv(name, value)
    (recipe,) = (block for kind, block in blocks(DOCS / "howto" / "python.md") if kind == "py" and package in block)
    names, short = {}, {"training": {"max_updates": 4, "evaluate_updates": 2}}
    exec(compile(recipe, package, "exec"), names)
    toy.sentences(tmp_path, "dev")
    dev = str(tmp_path / "toy-ud-dev.conllu")
    mh4.train(dev, dev, "model", "mst", [toy.SMALL, short], progress=names["progress"])
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and "model" not in path.parts]
    assert any(b"dev_las" in content for content in written) or list(tmp_path.rglob("dev_las"))


@pytest.mark.slow
def test_tutorial_and_how_to(tmp_path, systems):
    folder = folder_of(tmp_path)
    optional = {page for page, _ in OPTIONAL.values()}
    assert optional < set(PAGES)
    for page in PAGES[1:]:
        if page not in optional:
            run_page(page, folder)
    written = {"page.html", "tree.svg", "ensemble.conllu", "coverage.json", "large.conllu"}
    assert written <= {path.name for path in folder.iterdir()}
    assert (folder / "tree.svg").read_bytes() == (DOCS / "tree.svg").read_bytes()


@pytest.mark.parametrize("package", OPTIONAL)
def test_a_page_on_an_optional_package(tmp_path, package):
    page, target = OPTIONAL[package]
    pytest.importorskip(package, reason="%s is not installed: `make %s` runs this page" % (package, target))
    if package == "spacy":
        toy.untrained("mh4-hybrid", toy.sentences(tmp_path, "dev"), tmp_path / "models" / "toy")
    run_page(page, tmp_path)


@pytest.mark.parametrize("n", range(1, 7))
def test_the_chart_that_is_shown_is_that_of_the_decoder(n, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    best_steps = importlib.import_module("steps").best_steps
    rng = np.random.default_rng(n)
    for _ in range(10):
        *tensors, arcs = (
            rng.normal(size=size).astype(np.float32)
            for size in ((n + 2, n + 2), (6, n + 2, n + 2), (6, n + 2, n + 2), (n + 1, n + 1))
        )
        steps, best = best_steps(n, *tensors, arcs=arcs), decode(*tensors, arcs=arcs)
        assert steps[-1]["score"] == pytest.approx(best.score, abs=0.006)
        assert {step["arc"] for step in steps if step["arc"]} == {(best.heads[m], m) for m in range(1, n + 1)}
        assert len([step for step in steps if step["transition"]]) == 2 * n + 1
        made = set()
        for step in steps:
            assert set(step["used"]) <= made
            made.add(step["item"])
