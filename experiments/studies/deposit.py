"""``make deposit [LANGS="hu got"] [UD=folder]``: an archive to deposit: code, records and trained models

Writes ``runs/deposit/``: the code of the last commit with all records, packed models with their cards, and a page with
the checksum and the licence of each file. The models are those that are best on dev, for each treebank, with our
settings and the authors', and for each of the paper's three non-projective systems.
"""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from experiments import pages
from experiments.engine import models
from experiments.engine.command import languages, study
from experiments.engine.ensemble_runs import MEMBERS
from experiments.engine.provenance import commit
from experiments.engine.treebank import SETTINGS, Treebank, located
from experiments.engine.workplace import EXPERIMENTS, Bench, report_written
from mh4 import __version__
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.training.card import pack
from mh4.util.text_tables import Table

ABOUT = """\
The code of mh4 at commit %s with the records of all runs, and models trained with it. `mh4 parse --model FILE` parses with a model, and
`mh4 info --card FILE` shows its card. A model is under the licence of its treebank."""
LICENCE = "https://github.com/UniversalDependencies/%s/blob/%s/LICENSE.txt"


@study(langs="the treebanks, by default all with trained models")
def deposit(bench: Bench, langs: str, ud: str) -> None:
    every = {"": "", **{path.stem: "-" + path.stem for path in sorted(SETTINGS.glob("*.toml"))}}
    known = (*treebanks.languages(), treebanks.TOY)
    there = [lang for lang in known if any(bench.models(lang + end).is_dir() for end in every.values())]
    folder = bench.home / "deposit"
    with tempfile.TemporaryDirectory() as made:
        rows = []
        for lang in languages(langs, there):
            for settings in every:
                rows += _models(bench, located(lang, ud or None, settings), Path(made))
        if not rows:
            raise models.untrained(" or ".join(MEMBERS), bench.models(""))
        rows.insert(0, [_code(Path(made)), "code and records", "MIT, see its NOTICE"])
        sums = [[*row, hashlib.sha256((Path(made) / row[0]).read_bytes()).hexdigest()] for row in rows]
        table = Table(["file", "content", "licence", "SHA-256"], sums, right=4)
        pages.write(Path(made), "README", "mh4 " + __version__, [ABOUT % commit().removesuffix("+changes"), table])
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
    report_written([folder / "README.md"])


def _models(bench: Bench, bank: Treebank, folder: Path) -> list[list[str]]:
    """Pack the best model of each system; return the rows of the table."""
    rows = []
    for system in MEMBERS:
        runs = models.finished_runs(bench, bank, system)
        if not runs:
            continue
        best = max(runs, key=lambda run: run.dev_uas)
        sources = [row for row in treebanks.manifest() if row.git_blob_sha1 == bank.blobs["train"]]
        licence = LICENCE % (sources[0].repository, sources[0].tag) if sources else "the licence of its treebank"
        about = {"name": "%s-%s" % (bank.name, system), "language": bank.lang, "treebank": bank.title, "licence": licence}
        name = about["name"] + ".mh4"
        pack(str(best.folder), str(folder / name), about)
        rows.append([name, "%s, seed %d, dev UAS %.2f" % (system, best.seed, best.dev_uas), licence])
    return rows


def _code(folder: Path) -> str:
    """Write the archive of the last commit, and return its name."""
    name = "mh4-%s.tar.gz" % __version__
    command = ["git", "archive", "--prefix=mh4-%s/" % __version__, "--output=%s" % (folder / name), "HEAD"]
    done = subprocess.run(command, cwd=EXPERIMENTS.parent, capture_output=True, text=True)
    if done.returncode:
        raise InputError("git archive failed: %s" % done.stderr.strip())
    return name
