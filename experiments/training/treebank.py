"""Treebanks as trainings read them: where the files are, and what they are by their content."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Dict, Optional, Tuple

import paper
from mh4 import treebanks
from mh4.errors import InputError

SEGMENTATION = "%s-udpipe.conllu"


@dataclass(frozen=True)
class Treebank:
    """The files to train and evaluate on, and what they are: a release of UD if their git blob ids say so.

    name: of the folders and files of results: the language's code, with the release when that is not UD 2.0, so that different
        data never mix.
    paths, blobs: of train and dev. test: the test set, and the file with its words that is parsed; None where one is missing.
    """

    lang: str
    name: str
    release: str
    paths: Dict[str, Path]
    blobs: Dict[str, str]
    test: Optional[Tuple[Path, Path]] = None


def identified(lang: str, paths: Dict[str, Path]) -> Treebank:
    """Says what the files are: "UD 2.0" only if train and dev both are those of that release for this language."""
    blobs = {split: treebanks.git_blob_id(path) for split, path in paths.items()}
    rows = {split: treebanks.identify(path) for split, path in paths.items()}
    releases = {row.release if row and (row.lang, row.split) == (lang, split) else None for split, row in rows.items()}
    if lang == treebanks.TOY:
        name, release = treebanks.TOY, "toy treebank"
    elif len(releases) == 1 and None not in releases:
        number = releases.pop()
        name, release = (lang if "UD " + number == paper.RELEASE else "%s-ud%s" % (lang, number)), "UD " + number
    else:
        name, release = "%s-files-%s" % (lang, hashlib.sha1("".join(sorted(blobs.values())).encode()).hexdigest()[:8]), "unidentified files"
    return Treebank(lang=lang, name=name, release=release, paths=paths, blobs=blobs)


def located(lang: str, ud: Optional[str], conll17: Optional[str] = None) -> Treebank:
    """The treebank's files, downloaded if need be; those to test on where the folder `conll17` (or data/conll17) has them."""
    found = treebanks.locate(lang, ud=ud, splits=("train", "dev"))
    bank = identified(lang, {split: found[split] for split in ("train", "dev")})
    if lang == treebanks.TOY:
        return replace(bank, test=(found["test"], found["test"]))
    segmentation = Path(conll17 or treebanks.DATA / "conll17") / (SEGMENTATION % lang)
    if segmentation.is_file():
        return replace(bank, test=(treebanks.locate(lang, ud=ud, splits=("test",))["test"], segmentation))
    if conll17:
        raise InputError("CONLL17: %s has no %s" % (conll17, segmentation.name))
    return bank
