"""Artificial treebanks and records, and readers of what the stand-in writes, for the tests of experiments."""

import gzip
import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
import toy as toy_language
from tiny import blob_id

from mh4.data import conllu, treebanks
from mh4.parser import config
from mh4.training.trainer import Trainer

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).with_name("stand_in.py")
sys.path.insert(0, str(ROOT))  # for the package `experiments`


def study(*arguments, home=None, **bench):
    """Return the exit code of `python -m experiments` for arguments; home: its folder; bench: arguments of Bench."""
    from experiments.__main__ import main
    from experiments.engine.workplace import Bench

    with pytest.raises(SystemExit) as ended, pytest.MonkeyPatch.context() as environment:
        for name in ("UD", "LATER", "CONLL17"):  # variables of `make test`
            environment.delenv(name, raising=False)
        main((*(("--home", str(home)) if home else ()), *arguments), prog_name="experiments", obj=Bench(**bench))
    return ended.value.code or 0


def toy_settings(patch, settings, folder):
    """Make a Config that of parsers of the toy treebank, by a file in `folder`; patch: a MonkeyPatch."""
    from experiments.engine import treebank

    (folder / "toy.toml").write_text(settings.to_toml())
    patch.setattr(treebank, "TOY_SETTINGS", folder / "toy.toml")


def trained(patch, home, *runs, updates=40):
    """Briefly train parsers of the toy treebank, given by system and seed, and return their summaries."""
    paths, assignments = treebanks.locate("toy"), ["training.max_updates=%d" % updates, "training.evaluate_updates=20"]
    short = config.with_settings(toy_language.SMALL, assignments)
    toy_settings(patch, short, home)
    train, dev = conllu.read(str(paths["train"]))[:80], conllu.read(str(paths["dev"]))[:20]
    folders = {run: str(home / "models" / "toy" / run[0] / ("seed%d" % run[1])) for run in runs}
    return {run: Trainer(run[0], short, train, dev, folder, run[1]).run() for run, folder in folders.items()}


def usage(name):
    """Return the usage of a study from the beginning of its file."""
    begin = (ROOT / "experiments" / "studies" / (name + ".py")).read_text(encoding="utf-8").partition("``:")[0]
    return begin.removeprefix('"""``')


def calls(stand_in, name="calls"):
    """Return the recorded calls of the stand-in to train or, with "parses", to parse."""
    path = stand_in / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def toy(*more):
    """Return the arguments for two systems on the toy treebank."""
    return ("--lang", "toy", "--systems", "mh3 mst", "--jobs", "2") + more


def as_conllu(*words):
    """Return a sentence of (form, head, relation) triples as CoNLL-U."""
    return "".join("%d\t%s\t_\t_\t_\t_\t%d\t%s\t_\t_\n" % (k, *word) for k, word in enumerate(words, start=1)) + "\n"


def row(lang, split, release):
    """Return a row of the manifest."""
    return treebanks.ManifestRow(lang, "UD", split, "r", "file", "id", release)


def fake_manifest(monkeypatch, rows):
    """Replace the manifest; rows: its row for each content of a file. All other files are unknown."""
    by_blob = {blob_id(content.encode("utf-8")): row for content, row in rows.items()}
    monkeypatch.setattr(treebanks, "identify_blob", by_blob.get)


def settings(system, lang="hu", settings_of="", **changed):
    """Return today's settings of a system as in a record, with some sections changed."""
    from experiments.engine.treebank import Treebank

    found = asdict(Treebank(lang, lang, "", {}, {}, settings=settings_of).config(system))
    return {section: {**found.get(section, {}), **changed.get(section, {})} for section in {**found, **changed}}


def record(results, name, system, seed, uas, lang="hu", release="UD 2.0", train="aa", changed=(), **more):
    """Write the record of a run, by default on files of no treebank; changed: settings that differ from today's."""
    content = {"system": system, "seed": seed, "dev_uas": uas, "lang": lang, "release": release}
    content.update(train={"path": "t.conllu", "git_blob": train}, dev={"path": "d.conllu", "git_blob": "bb"})
    content.update(dev_las=uas - 5, seconds=3725.0, commit="abc", date="2018-07-15", reproduce="make reproduce LANG=" + lang)
    if "members" not in more:
        content["settings"] = settings(system, lang, more.get("settings_of", ""), **dict(changed))
    content.update(more)
    rewrite(results, "%s/%s-seed%d" % (name, system, seed), content)


def recorded(results, run, row=""):
    """Return the record of a run such as "hu/mh3-seed1", or None."""
    path, stem = results / (run.rpartition("/")[0] + ".jsonl"), run.rpartition("/")[2]
    found = map(json.loads, path.read_text().splitlines() if path.exists() else ())
    return next((one for one in found if ("%(system)s-seed%(seed)d" % one, one.get("row", "")) == (stem, row)), None)


def rewrite(results, run, content):
    """Replace the record of a run by `content`, or delete it if that is None."""
    path, row = results / (run.rpartition("/")[0] + ".jsonl"), (content or {}).get("row", "")
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.dumps(recorded(results, run, row))
    lines = [line for line in (path.read_text().splitlines() if path.exists() else ()) if line != before]
    path.with_suffix(".new").write_text("".join(line + "\n" for line in [*lines, *([json.dumps(content)] if content else [])]))
    path.with_suffix(".new").replace(path)


def kept(tmp_path, run="hu/mh3-seed1", row=""):
    """Return the record of a run in `home`."""
    return recorded(tmp_path / "home" / "results", run, row)


def trees_file(results, run):
    """Return the path of the trees of a run such as "hu/mh3-seed1", and make its folder."""
    path = results / "trees" / (run + ".trees.gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def trees(path):
    """Return the saved trees of a model as text."""
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def tables(page):
    """Return the tables of a page, each a list of rows: dicts from column to cell."""
    found, header = [], None
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line[1:-1].split(" | ")] if line.startswith("| ") else None
        if cells and header and not set(line) <= set("|-: "):
            found[-1].append(dict(zip(header, cells, strict=True)))
        elif cells and not header:
            found.append([])
        header = (header or cells) if cells else None
    return found


def assert_nothing_of_this_machine(results, tmp_path):
    for path in results.rglob("*.*"):
        text = trees(path) if path.suffix == ".gz" else path.read_text(encoding="utf-8")
        assert str(tmp_path) not in text and str(ROOT) not in text
