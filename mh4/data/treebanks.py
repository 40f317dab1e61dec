"""Treebanks: listing and fetching their files, and identifying a file by its content.

treebanks.tsv, the manifest, lists the Universal Dependencies files of the paper's 20 treebanks with their git blob ids. They are
fetched from the git tags on GitHub or extracted from the release archives on LINDAT; a file gets its name only when it is
complete and its blob id is verified. This repository contains no treebank text; toy.py generates the toy treebank.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mh4.data import toy
from mh4.errors import InputError
from mh4.util.fetching import Collection, Source
from mh4.util.files import git_blob_id

DATA = Path("data")  # in the current folder
SPLITS = ("train", "dev", "test")
TOY = "toy"
RELEASE = "2.0"  # the release to fetch; the manifest lists others in order to identify them


class ManifestRow(NamedTuple):
    """A treebank file: language code, repository and tag on github.com/UniversalDependencies, git blob id, UD release."""

    lang: str
    repository: str
    split: str
    tag: str
    file: str
    git_blob_sha1: str
    release: str


LINDAT = "https://lindat.mff.cuni.cz/repository/server/api/core/bitstreams/handle"
_ARCHIVES = {  # by git tag: the release, and the test sets of the CoNLL 2017 shared task
    "r2.0": "11234/1-1983/ud-treebanks-v2.0.tgz",
    "r2.0-test": "11234/1-2184/ud-test-v2.0-conll2017.tgz",
}


def _on_github(row: ManifestRow) -> tuple[str, Sequence[str]]:
    return "/".join([row.repository, row.tag, row.file]), ()


def _on_lindat(row: ManifestRow) -> tuple[str, Sequence[str]]:
    # .../UD_Hungarian/hu-ud-train.conllu or .../gold/.../hu.conllu
    return _ARCHIVES[row.tag], [row.file] if row.split != "test" else [row.file, row.lang + ".conllu"]


# The LINDAT addresses are untested: they follow its repository's documented pattern .../bitstreams/handle/HANDLE/FILE (the
# older .../xmlui/bitstream/handle/... only serves browsers). Since everything fetched is checked against the manifest, a wrong
# address can only fail.
SOURCES = {
    "github": Source("https://raw.githubusercontent.com/UniversalDependencies", _on_github),
    "lindat": Source(LINDAT, _on_lindat),
}
_COLLECTION = Collection(
    Path(__file__).with_name("treebanks.tsv"), ManifestRow, "UD " + RELEASE, "--ud FOLDER, with make UD=FOLDER", SOURCES
)
manifest, identify_blob = _COLLECTION.rows, _COLLECTION.identify


def languages() -> list[str]:
    """Return the codes of the paper's 20 treebanks, in the order of its tables ("toy" is not among them)."""
    return list(dict.fromkeys(row.lang for row in manifest() if row.release == RELEASE))


def identify(path: str | Path) -> ManifestRow | None:
    """Return the manifest row (release, language, split) of a file, identified by its content; None if it is not in the manifest."""
    return identify_blob(git_blob_id(path))


def default_folder() -> Path:
    """Return the folder of fetched files: data/ud-2.0 in the current folder."""
    return DATA.absolute() / ("ud-" + RELEASE)


def locate(
    lang: str, ud: str | None = None, to: str | None = None, splits: Sequence[str] | None = None, source: str | None = None
) -> dict[str, Path]:
    """Return the files of a treebank, by split: from the folder `ud` if given, otherwise generated ("toy") or fetched into `to`.

    ud: a folder with LANG-ud-SPLIT.conllu files, of any language; then nothing is fetched.
    to: where to keep fetched files; by default data/ud-2.0 (data/toy) in the current folder.
    splits: the splits needed; by default all three or, with `ud`, those that are in the folder.
    source: one of SOURCES: "github" (raw files at the release's git tags) or "lindat" (archives, kept for other languages); by
    default "github", and "lindat" if GitHub does not answer (see Collection.places).
    Raises InputError if a file cannot be obtained.
    """
    if lang == TOY:
        return toy.write(to or DATA.absolute() / "toy")
    if ud:
        return _local(lang, Path(ud), splits)
    rows = {row.split: row for row in manifest() if row.lang == lang and row.release == RELEASE}
    if not rows:
        raise InputError("no treebank for language %r, expected one of: %s" % (lang, " ".join(languages() + [TOY])))
    folder = Path(to) if to else default_folder()
    return {split: _COLLECTION.fetch(rows[split], folder, source) for split in splits or SPLITS}


def _local(lang: str, folder: Path, splits: Sequence[str] | None) -> dict[str, Path]:
    if not folder.is_dir():
        raise InputError("%s is not a folder" % folder)
    paths = {split: folder / f"{lang}-ud-{split}.conllu" for split in SPLITS}
    there = {split: path for split, path in paths.items() if path.is_file()}
    missing = [paths[split].name for split in splits or SPLITS if split not in there]
    if missing and (splits or not there):
        raise InputError("%s has no %s" % (folder, " and no ".join(missing)))
    return {split: path for split, path in there.items() if not splits or split in splits}
