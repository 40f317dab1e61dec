"""Locate the files of treebanks for training runs, and identify them by content."""

import glob
import hashlib
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from experiments import published
from experiments.engine.record_fields import File
from experiments.engine.run import system_and_loss
from experiments.engine.workplace import EXPERIMENTS
from mh4.cli.group import say
from mh4.data import conll17 as shared_task
from mh4.data import conllu, treebanks
from mh4.errors import InputError, one_line
from mh4.parser import config, systems
from mh4.util.files import git_blob_id

OWN_FILES = "own files"  # the release of a treebank of one's own
# Names with another meaning in the folders of models and results
RESERVED = ("ablations", "conll17", "partial", "report", "review", "summary", "table3", "trees")
SETTINGS, TOY_SETTINGS = EXPERIMENTS / "settings", EXPERIMENTS / "toy.toml"
AUTHORS = "authors"  # the settings of the authors' runs


@dataclass(frozen=True)
class Treebank:
    """The files to train and evaluate on, and their UD release, which git blob ids identify.

    name: names folders and files of results. It is the language's code, with the release if that is not UD 2.0, and the
        settings if they are not the defaults, so that different data and settings never mix.
    paths, blobs: of train and dev. test: the test set, and the segmented file to parse; None if either is missing.
    outputs: the available outputs of the shared task's systems for the test set, by system.
    settings: the file of settings, or its name in settings/ without .toml; empty for the defaults.
    assignments: settings that override the file's, such as ``"training.max_updates=4000"``.
    row: a row of a study, such as the ablations, in which all rows share a file of records.
    """

    lang: str
    name: str
    release: str
    paths: dict[str, Path]
    blobs: dict[str, str]
    test: tuple[Path, Path] | None = None
    outputs: dict[str, Path] = field(default_factory=dict)
    settings: str = ""
    assignments: tuple[str, ...] = ()
    row: str = ""

    @property
    def title(self) -> str:
        """The language and the release."""
        return "%s (%s)" % (self.lang, self.release)

    @property
    def settings_files(self) -> list[Path]:
        """Return the files of settings; later ones override earlier ones."""
        toy = [TOY_SETTINGS] if self.lang == treebanks.TOY else []
        file = Path(self.settings) if self.settings.endswith(".toml") else SETTINGS / (self.settings + ".toml")
        return toy + ([file] if self.settings else [])

    @property
    def to_parse(self) -> dict[str, Path]:
        """Return the files that finished models parse, by split: dev and, if there is one, the segmented test set."""
        return {"dev": self.paths["dev"], **({"test": self.test[1]} if self.test else {})}

    @property
    def gold(self) -> dict[str, Path]:
        """Return the files with the trees that parsed files are scored on, by split."""
        return {"dev": self.paths["dev"], **({"test": self.test[0]} if self.test else {})}

    @property
    def test_files(self) -> dict[str, File]:
        """Return the entries of the test files in records; none if there are none."""
        return {name: described(path) for name, path in zip(("test", "segmentation"), self.test or (), strict=False)}

    def assigned(self, run: str) -> list[str]:
        """Return the assignments for runs of this name, with the loss that a name such as mst-likelihood sets."""
        _, loss = system_and_loss(run)
        return [*(["training.loss=" + loss] if loss != config.LOSSES[0] else []), *self.assignments]

    def config(self, run: str) -> config.Config:
        """Return all settings that runs of this name are trained with."""
        system, _ = system_and_loss(run)
        return config.with_settings(systems.settings(map(str, self.settings_files), system), self.assigned(run))

    def with_settings(self, settings: str) -> "Treebank":
        """Return the treebank with the settings of a file; empty for the defaults."""
        return replace(self, name="%s-%s" % (self.name, Path(settings).stem), settings=settings) if settings else self


def settings_of(name: str) -> str:
    """Return the settings in the name of a treebank's records; empty for the defaults.

    If several match, the longest counts: my-authors, not authors, in hu-my-authors.
    """
    return max((path.stem for path in SETTINGS.glob("*.toml") if name.endswith("-" + path.stem)), key=len, default="")


def release_of(lang: str, split: str, blob: str) -> str | None:
    """Return the release, such as "UD 2.0", whose file of this language and split has this git blob id; None if there is none."""
    row = treebanks.identify_blob(blob)
    return "UD " + row.release if row and (row.lang, row.split) == (lang, split) else None


def identified(lang: str, paths: dict[str, Path]) -> Treebank:
    """Identify the files: "UD 2.0" only if both train and dev are from that release of this language."""
    blobs = {split: git_blob_id(path) for split, path in paths.items()}
    releases = {release_of(lang, split, blob) for split, blob in blobs.items()}
    release = releases.pop() if len(releases) == 1 else None
    if lang == treebanks.TOY:
        name, release = treebanks.TOY, "toy treebank"
    elif release:
        name = lang if release == published.RELEASE else "%s-ud%s" % (lang, release.removeprefix("UD "))
    else:
        digest = hashlib.sha1("".join(sorted(blobs.values())).encode()).hexdigest()[:8]
        name, release = "%s-files-%s" % (lang, digest), "unidentified files"
    return Treebank(lang=lang, name=name, release=release, paths=paths, blobs=blobs)


def own(source: str, name: str) -> Treebank:
    """Find a treebank of the user's own, with its test set if it has one.

    source: the folder of its .conllu files, or their path up to the name of the split, as in ``UD_Hungarian-Szeged/hu_szeged-ud-``.
    name: by default the name of the folder or the files. Raises InputError if the name is invalid, if train or dev is
    missing, or if there are several files for a split.
    """
    begin = os.path.join(glob.escape(source), "*") if os.path.isdir(source) else glob.escape(source) + "*"
    found = {split: sorted(map(Path, glob.glob("%s%s*.conllu" % (begin, split)))) for split in treebanks.SPLITS}
    for split, paths in found.items():
        if len(paths) > 1 or (not paths and split != "test"):
            listed = ", ".join(path.name for path in paths) or "none"
            message = "TREEBANK: expected one file %s%s*.conllu, found %s; %s"
            raise InputError(message % (begin, split, listed, "a treebank is a folder, or how the paths of its files begin"))
        for path in paths:
            check_name("TREEBANK", path)
    name = name or re.sub("[-_.]+$", "", os.path.basename(os.path.normpath(source)))
    of_ours = name in (*treebanks.languages(), treebanks.TOY, *RESERVED) or bool(settings_of(name))
    taken = of_ours or name.startswith("toy-") or name.endswith("-table")  # as pages are called
    if taken or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        why = "it has another meaning" if taken else "expected letters, digits, and - _ ."
        raise InputError("NAME: the treebank cannot be called %s: %s" % (name, why))
    files = {split: mine[0] for split, mine in found.items() if mine}
    test = files.pop("test", None)
    blobs = {split: git_blob_id(path) for split, path in files.items()}
    return Treebank(name, name, OWN_FILES, files, blobs, (test, test) if test else None)


def check_name(variable: str, path: Path) -> None:
    """Raise InputError if pages cannot show the name of a file: if it is not UTF-8, or has control characters."""
    if one_line(path.name) != path.name:
        raise InputError("%s: the name of the file %s is not printable text in UTF-8: rename it" % (variable, path))


def warn_of_overlap(bank: Treebank) -> None:
    """Warn if the development or test set of a treebank has sentences that are also in the training set."""
    from mh4.training import train  # slow to import

    files = {**bank.paths, **bank.gold}
    sentences = {split: [block.sentence for block in conllu.blocks(str(path), trees=False)] for split, path in files.items()}
    for split in ("dev", "test"):
        train.warn_of_overlap(sentences["train"], sentences.get(split, []), split)


def described(path: Path) -> File:
    """Return the entry for a file in records."""
    return {"path": path.name, "git_blob": git_blob_id(path)}


def located(lang: str, ud: str | None, settings: str = "") -> Treebank:
    """Find or download the treebank's files to train and evaluate on; for the toy treebank also those to test on.

    settings: see Treebank.
    """
    found = treebanks.locate(lang, ud=ud, splits=("train", "dev"))
    bank = identified(lang, {split: found[split] for split in ("train", "dev")}).with_settings(settings)
    return replace(bank, test=(found["test"], found["test"])) if lang == treebanks.TOY else bank


def with_test(bank: Treebank, ud: str | None, conll17: str | None) -> Treebank:
    """Return the treebank with the files to test on: from the folder `conll17` or, for UD 2.0, from data/conll17.

    Without `ud` and `conll17`, they are downloaded to data/conll17. Files that cannot be obtained are reported on
    standard error and omitted, as training does not need them. Raises InputError if `conll17` is given and the
    segmentation or the test set is missing.
    """
    if bank.lang == treebanks.TOY or (bank.release != published.RELEASE and not conll17):
        return bank
    try:
        outputs = _outputs(bank.lang, ud, conll17)
        test = treebanks.locate(bank.lang, ud=ud, splits=("test",))["test"]
    except InputError as error:
        if conll17:
            raise
        say("no scores on the test set: %s" % error, err=True)
        return bank
    return replace(bank, test=(test, outputs[shared_task.SEGMENTATION]), outputs=outputs)


def _outputs(lang: str, ud: str | None, conll17: str | None) -> dict[str, Path]:
    """Return the available outputs of the shared task's systems, as in `with_test`.

    Raises InputError if the segmentation is missing.
    """
    outputs: dict[str, Path] = {}
    if conll17 or ud:
        folder = Path(conll17) if conll17 else shared_task.default_folder()
        named = {system: folder / shared_task.file_name(lang, system) for system in shared_task.SYSTEMS}
        outputs = {system: path for system, path in named.items() if path.is_file()}
        if shared_task.SEGMENTATION not in outputs:
            name = named[shared_task.SEGMENTATION].name
            if conll17:
                raise InputError("CONLL17: %s has no %s" % (conll17, name))
            raise InputError("CONLL17 does not name a folder with %s, and %s has none" % (name, folder))
        return outputs
    for system in shared_task.SYSTEMS:  # the segmentation is the first
        try:
            outputs.update(shared_task.download(lang, [system]))
        except InputError as error:
            if not outputs:
                raise
            say("no scores for %s: %s" % (shared_task.file_name(lang, system), error), err=True)
            break
    return outputs
