"""Outputs of the CoNLL 2017 shared task: its baseline segmentation, and the two systems of the paper's Tables 5 and 6.

conll17.tsv, the manifest, lists them for the paper's 20 treebanks with their git blob ids and their locations on GitHub; LINDAT
has the outputs of all systems in one archive.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mh4.data import treebanks
from mh4.errors import InputError
from mh4.util.fetching import Collection, Source

SEGMENTATION = "udpipe"  # the baseline, UDPipe 1.1: the input of the paper's parsers
SYSTEMS = {  # with descriptions
    SEGMENTATION: "the segmentation and the baseline, UDPipe 1.1",
    "stanford": "CoNLL #1, Dozat, Qi & Manning 2017",
    "c2l2": "CoNLL #2, Shi, Wu, Chen & Cheng 2017",
}


class Output(NamedTuple):
    """A system's output for a test set: language code, system, location on github.com, our file name for it, git blob id."""

    lang: str
    system: str
    repository: str
    commit: str
    path: str
    file: str
    git_blob_sha1: str


_ARCHIVE = "11234/1-2424/conll2017-test-runs-v3.tgz"  # on LINDAT; named after the folder in the manifest


def _on_github(row: Output) -> tuple[str, Sequence[str]]:
    return "/".join([row.repository, row.commit, row.path]), ()


def _on_lindat(row: Output) -> tuple[str, Sequence[str]]:
    return _ARCHIVE, ["/".join(row.path.split("/")[-4:])]  # TEAM/TIME/output/hu.conllu


SOURCES = {"github": Source("https://raw.githubusercontent.com", _on_github), "lindat": Source(treebanks.LINDAT, _on_lindat)}
_TASK = "the CoNLL 2017 shared task"
_COLLECTION = Collection(Path(__file__).with_name("conll17.tsv"), Output, _TASK, "make CONLL17=FOLDER", SOURCES)
manifest, identify_blob = _COLLECTION.rows, _COLLECTION.identify


def file_name(lang: str, system: str) -> str:
    """Return the name of a system's output for a language in a folder of outputs."""
    return "%s-%s.conllu" % (lang, system)


def default_folder() -> Path:
    """Return the folder of fetched outputs: data/conll17 in the current folder."""
    return treebanks.DATA.absolute() / "conll17"


def download(
    lang: str, systems: Sequence[str] = tuple(SYSTEMS), to: str | None = None, source: str | None = None
) -> dict[str, Path]:
    """Fetch systems' outputs for a language into the folder `to` (by default data/conll17), skipping files already there.

    Returns their paths by system. source: one of SOURCES: "github" (raw files) or "lindat" (the archive, kept for other languages);
    by default "github", and "lindat" if GitHub does not answer (see Collection.places).
    Raises InputError if a file cannot be fetched.
    """
    rows = {row.system: row for row in manifest() if row.lang == lang}
    if not rows:
        langs = dict.fromkeys(row.lang for row in manifest())
        raise InputError("no outputs of the shared task for language %r, expected one of: %s" % (lang, " ".join(langs)))
    folder = Path(to) if to else default_folder()
    return {system: _COLLECTION.fetch(rows[system], folder, source) for system in systems}
