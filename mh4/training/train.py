"""`mh4 train` in Python: read the treebanks, combine the settings, train, and load the parser."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

import numpy as np

from mh4.data import conllu
from mh4.data.sentence import ROOT, Sentence
from mh4.errors import InputError, check_flags, counted, shown, warn
from mh4.parser import config as configuration
from mh4.parser import kept_heads, systems
from mh4.parser.choices import SystemName
from mh4.parser.config import Config
from mh4.parser.contextual_vectors import Contextual
from mh4.parser.given import items_of
from mh4.parser.model_files import check_ended, not_a_file, opened, source
from mh4.parser.parsing import Parser
from mh4.parser.vectors import Vectors
from mh4.util.files import git_blob_id
from mh4.util.progress import Listener
from mh4.util.reading import path_of, paths_of
from mh4.util.text_tables import short_names

Path = str | os.PathLike[str]
Sections = Mapping[str, Mapping[str, Any]]
Settings = Path | Sections | Config
_ROLES = {"train": "a treebank of train", "dev": "a treebank of dev", "contextual": "a file of contextual vectors"}


def train(
    train: Path | Iterable[Path],
    dev: Path | Iterable[Path],
    model: Path,
    system: SystemName | None = None,
    config: Settings | Iterable[Settings] = (),
    seed: int = 1,
    progress: Callable[[dict[str, Any]], object] | Listener | None = None,
    *,
    settings: str | Iterable[str] = (),
    init: Path | None = None,
    vectors: Path | None = None,
    contextual: Path | Iterable[Path] = (),
    partial: bool = False,
) -> Parser:
    """Train a parser as ``mh4 train`` does, and load it. See there for model folders and resuming.

    train, dev: the treebank to learn, and the one that decides when to stop: CoNLL-U files or folders, one or several.
    model: the folder of the model. An interrupted training there is resumed; a finished one is only loaded.
    system: one of the systems' names; it may be omitted with `init`.
    config: one or several of TOML files, mappings such as ``{"training": {"max_updates": 500}}`` and Configs;
    later ones override earlier ones. settings: strings such as ``"training.max_updates=500"``, which override `config`.
    init: the folder of a finished model to begin with instead of random weights. The new model has the same settings,
    unless others are given; system and network (sections encoder and scorer) cannot be changed.
    seed: 0 to 2**31 - 1. The same seed gives the same model if no other thread trains or loads a model meanwhile, as
    DyNet has one random generator.
    vectors: a file with vectors of words (see mh4.parser.vectors), which are stored with the model.
    contextual: files with vectors of the words of all sentences (see mh4.parser.contextual_vectors).
    partial: whether words of the treebanks may have no head (`_`). The model then learns the heads of the other words:
    the target is the best completion under the model (hinge loss), or all completions together (likelihood). Only
    annotated words are scored.
    progress: called after each evaluation on dev with the dictionary that is written to metrics.jsonl: "updates",
    "loss" (per word), "dev_uas", "dev_las" (percent) and more. A mh4.util.progress.Listener is also called for each
    update.

    >>> mh4.train(train="train.conllu", dev="dev.conllu", model="models/mine", system="mh4-hybrid", progress=print)

    If training is interrupted (KeyboardInterrupt), the same call resumes it. Raises InputError for bad files and settings, and if the
    folder has a model trained on other files or with other settings.
    """
    check_flags(partial=partial)
    train_files, dev_files = _files(train, "train"), _files(dev, "dev")
    folder = _path(model, "model")
    from_folder = None if init is None else _path(init, "init")
    base = None
    if from_folder is not None:
        from mh4.parser.model import description

        if os.path.realpath(from_folder) == os.path.realpath(folder):
            raise InputError(
                "%s: training cannot begin with the model that it writes; choose another folder for one of them" % folder
            )
        files = opened(from_folder)
        known, _, base = description(files)
        check_ended(files)
        system = cast(SystemName, known) if system is None else system
    if system is None:
        raise InputError("no system to train, expected one of: %s" % ", ".join(systems.SYSTEMS))
    systems.get(system)
    if progress is not None and not isinstance(progress, Listener) and (isinstance(progress, type) or not callable(progress)):
        raise InputError("progress cannot be %s, expected a function or a Listener" % shown(progress))
    seed = int(seed) if isinstance(seed, np.integer) else seed
    if type(seed) is not int or not 0 <= seed < 2**31:
        raise InputError("the seed cannot be %s, expected a whole number from 0 to 2**31 - 1" % shown(seed))
    chosen = settings_of(system, config, settings, base)
    if vectors is not None and from_folder is not None:
        raise InputError("vectors of words cannot be given with init, the model to begin with: it has its own, or none")
    vector_file = None if vectors is None else _files(_path(vectors, "vectors"), "vectors")[0]
    in_context = _files(contextual, "contextual") if contextual else []
    chosen = _with_vectors(chosen, vector_file is not None, from_folder is not None, in_context)
    treebanks = {split: _read(files, partial) for split, files in (("train", train_files), ("dev", dev_files))}
    sources: dict[str, Any] = {split: _sources(read) for split, read in treebanks.items()}
    if from_folder is not None:
        weights = os.path.join(from_folder, "weights.npz") if os.path.isdir(from_folder) else from_folder
        sources["init"] = {"file": os.path.basename(os.path.abspath(from_folder)), "git_blob": git_blob_id(weights)}
    sentences = {split: [sentence for of_file in read.values() for sentence in of_file] for split, read in treebanks.items()}
    if not any(kept_heads.annotated_labels(sentence).any() for sentence in sentences["train"]):
        raise InputError("train: no word has both a HEAD and a DEPREL to learn from")
    labels = set(chain.from_iterable(sentence.deprels for sentence in sentences["train"]))
    if "_" in labels and len(labels) > 1:
        first = next(sentence for sentence in sentences["train"] if "_" in sentence.deprels)
        message = "%s: word %d has no DEPREL, but others have one; partly annotated trees are for `mh4 train --partial`"
        raise InputError(message % (first.name, first.deprels.index("_") + 1))
    if not any(map(kept_heads.has_heads, sentences["dev"])):
        raise InputError("dev: no word has a HEAD to score parses by")
    warn_of_overlap(sentences["train"], sentences["dev"], "dev")
    if from_folder is not None and not any(ROOT in sentence.deprels for sentence in sentences["train"]):
        # The vocabulary may still have the label root from the first model, but it does not mark roots here.
        chosen = replace(chosen, scorer=replace(chosen.scorer, root_label=False))
    pretrained = None
    if vector_file is not None:
        words = {split: [word for sentence in sentences[split] for word in sentence.words] for split in sentences}
        pretrained = Vectors.read(vector_file, words["train"], words["dev"], chosen.encoder.vectors_most)
        sources["vectors"] = source(vector_file)
    if in_context:
        sources["contextual"] = list(map(source, in_context))
    from mh4.training.trainer import Trainer

    listener = progress if isinstance(progress, Listener) else Listener()
    if progress is not None and progress is not listener:
        listener.evaluation = progress  # type: ignore[assignment, method-assign]
    Trainer(
        system, chosen, sentences["train"], sentences["dev"], folder, seed, sources, listener, from_folder, pretrained, in_context
    ).run()
    return Parser.load(folder, contextual=in_context)


def _read(files: Sequence[str], partial: bool) -> dict[str, list[Sentence]]:
    """Return the sentences of each file. Empty files are left out with a warning; it is an error if all are empty."""
    found = {path: [block.sentence for block in blocks] for path, blocks in conllu.each_file(files, partial=partial)}
    for sentence in chain(*found.values()) if partial else ():
        if why := kept_heads.obstacle(sentence.heads, single_root=False):
            raise InputError("%s: %s" % (sentence.name, why))
    return {path: sentences for path, sentences in found.items() if sentences}


def warn_of_overlap(train: Iterable[Sentence], others: Iterable[Sentence], split: str) -> None:
    """Warn if, of the sentences of a split with ten words or more, more than one percent are also in train."""
    known, long = {tuple(sentence.words) for sentence in train}, [sentence for sentence in others if len(sentence) >= 10]
    both = sum(tuple(sentence.words) in known for sentence in long)
    if both > len(long) / 100:
        text = "train also has %d of %s with 10 words or more, so that scores say little about other texts"
        warn(text % (both, counted(len(long), split + " sentence")), stacklevel=3)


def _path(given: Path, what: str) -> str:
    return path_of(given, what + " cannot be %s, expected a path")


def _files(given: Path | Iterable[Path], what: str) -> list[str]:
    """Return the paths of the given files and of those in the given folders.

    Raises InputError for a file that is given twice, and for a path of anything but a file.
    """
    given_paths = paths_of(given, what)
    folders = [path for path in given_paths if os.path.isdir(path) and what in ("train", "dev")]
    paths = list(chain.from_iterable(conllu.files_of([path]).values() if path in folders else [path] for path in given_paths))
    known: set[str] = set()
    for path in paths:
        if os.path.exists(path) and not os.path.isfile(path):
            raise not_a_file(path)
        if os.path.realpath(path) in known:
            raise InputError("%s: this file is given twice as %s" % (path, _ROLES[what]))
        known.add(os.path.realpath(path))
    return paths


def settings_of(
    system: str, config: Settings | Iterable[Settings], settings: str | Iterable[str], base: Config | None = None
) -> Config:
    """Return the settings of a training. Raises InputError for bad settings.

    config, settings: as for `train`. base: the settings that these change, by default the defaults.
    """
    base = base or Config()
    one = isinstance(config, (str, os.PathLike, Mapping, Config))
    several: Sequence[Any] | None = [config] if one else items_of(config)
    wrong = "config cannot be %s, expected a path, a dictionary of settings or a Config, or a list of these"
    if several is None:
        raise InputError(wrong % shown(config))
    for given in several:
        if isinstance(given, Config):
            base = given
        elif isinstance(given, Mapping):
            base = configuration.override(base, {k: dict(v) if isinstance(v, Mapping) else v for k, v in given.items()}, "config")
        else:
            base = systems.settings([path_of(given, wrong)], system, base)
    assignments = [settings] if isinstance(settings, str) else items_of(settings)
    if assignments is None:
        raise InputError("settings cannot be %s, expected strings such as training.max_updates=500" % shown(settings))
    return configuration.with_settings(base, assignments)


def _with_vectors(config: Config, given: bool, begun: bool, contextual: Sequence[str]) -> Config:
    """Return the settings that follow from the files of vectors. Raises InputError if the settings need files that are missing.

    given: whether there is a file of word vectors. begun: whether training begins with a model, whose vectors are used.
    """
    encoder = config.encoder
    if given and encoder.vectors == "none":
        encoder = replace(encoder, vectors="frozen")
    if not given and not begun and encoder.vectors != "none":
        raise InputError(
            "encoder.vectors = %s needs a file of vectors: --vectors FILE, or in Python vectors=FILE" % encoder.vectors
        )
    if contextual and not encoder.contextual:
        encoder = replace(encoder, contextual=Contextual(contextual).dimensions)
    if not contextual and encoder.contextual:
        needed = "--contextual FILE, or in Python contextual=FILE"
        raise InputError("encoder.contextual = %d needs vectors of all sentences: %s" % (encoder.contextual, needed))
    return replace(config, encoder=encoder)


def _sources(treebanks: Mapping[str, Sequence[Sentence]]) -> dict[str, Any] | list[dict[str, Any]]:
    """Return the record of a treebank, or of each of several, with their sizes."""
    if len(treebanks) == 1:
        return source(*treebanks)
    common = os.path.commonpath(list(map(os.path.abspath, treebanks)))
    names = dict(zip(treebanks, short_names([os.path.relpath(path, common) for path in treebanks]), strict=True))
    return [
        {**source(path), "file": names[path], "sentences": len(sentences), "words": sum(map(len, sentences))}
        for path, sentences in treebanks.items()
    ]
