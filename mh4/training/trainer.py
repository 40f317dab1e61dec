"""Training: minibatches, Adam, evaluation of averaged weights on dev, and a model folder from which to resume exactly.

Training begins with random weights, or with a model that has already been trained.

The folder contains config.toml, vocabulary.json, weights.npz (the best so far on dev) and metrics.jsonl (one line per
evaluation); also checkpoint.npz while training is running, and calibration.json and summary.json once it has finished.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from operator import attrgetter
from typing import Any

import numpy as np

from mh4 import version
from mh4.analysis.attachment import attachment_scores
from mh4.data.sentence import Sentence
from mh4.errors import InputError, counted, warn
from mh4.parser import authors, kept_heads, long_sentences, systems
from mh4.parser.choices import Wanted
from mh4.parser.config import Config, Training, differences, listed
from mh4.parser.model import Model, description
from mh4.parser.model_files import Folder, other_content
from mh4.parser.network.graph import backward, dy
from mh4.parser.parsing import Parser, longest, naming
from mh4.parser.vectors import Vectors
from mh4.parser.vocabulary import Vocabulary
from mh4.training.calibration import calibrate
from mh4.training.loss import minibatch_loss
from mh4.training.summary import complete_lines
from mh4.util import reading
from mh4.util.batching import shuffled_minibatches
from mh4.util.files import append_line, git_blob_id, locked, make_folder, write_text
from mh4.util.progress import Listener

ROOT_LABEL = "scorer.root_label"  # a setting that does not affect the network
CAN_CHANGE = ("training.evaluate_updates", "training.patience", "training.max_updates")  # when a training is resumed

# Parts of error messages: decoders reject NaN and scores that are too large, and the optimizer rejects such gradients.
_DIVERGED = ("scores must be below", "no derivation: scores of -inf", "Magnitude of gradient is bad")


@dataclass
class Progress:
    """The progress of a training run, which a checkpoint stores together with the weights."""

    updates: int = 0
    epoch: int = 0
    batch: int = 0  # the next minibatch of the epoch
    evaluations: int = 0
    best: float = -1.0  # the best score on dev
    best_uas: float = -1.0  # the UAS in that evaluation
    stale: int = 0  # evaluations since the best, or since the learning rate fell
    falls: int = 0  # of the learning rate
    words: int = 0  # trained on, over all epochs
    seconds: float = 0.0  # of training, without evaluation
    evaluation_seconds: float = 0.0
    cpu_seconds: float = 0.0  # of training and evaluation, on all cores
    changes: list[dict[str, Any]] = field(default_factory=list)  # of settings: after how many updates, and their new values
    weights: str = ""  # the git blob id of weights.npz


class Trainer:
    """The training of one system on a treebank, or on several together (Section 4.3), which writes to the model folder `folder`.

    train, dev: sentences with trees.
    sources: a description of where they come from, for summary.json. If "dev" is a list, its entries are treebanks,
    which follow one another in `dev`, each with the number of its "sentences"; they are also scored by themselves.
    init: the folder of a model of the same system and network to begin with. Its vocabulary is extended, and its
    vectors are kept.
    vectors: word vectors, if the encoder uses any. contextual: files with contextual vectors of all sentences.

    An unfinished run in the folder with the same settings and sources, under whatever file names, is resumed. The
    result is the same to the bit as without interruption. Settings for how long to train (CAN_CHANGE) may differ.
    Raises InputError if the folder contains anything else, or if another process is training there.

    DyNet has one random generator. So making or loading another model in the same process during training changes the
    result, except in the listener's `evaluation`.
    """

    def __init__(
        self,
        system: str,
        config: Config,
        train: Sequence[Sentence],
        dev: Sequence[Sentence],
        folder: str,
        seed: int = 1,
        sources: dict[str, Any] | None = None,
        listener: Listener | None = None,
        init: str | None = None,
        vectors: Vectors | None = None,
        contextual: Sequence[str] = (),
    ) -> None:
        self.train, self.dev, self.folder, self.files = authors.learned(train, config), dev, folder, Folder(folder)
        self.settings, self.sources, self.listener = config.training, sources or {}, listener or Listener()
        if self.settings.loss == "likelihood" and systems.get(system).marginals is None:
            raise InputError("%s cannot be trained with training.loss = likelihood, as it has no marginals" % system)
        first = None if init is None else _first(init, system, config)
        vocabulary = Vocabulary.of(self.train, config)
        if first:
            vocabulary, vectors = first.vocabulary.extended(vocabulary), first.vectors
        self.model = Model(system, config, vocabulary, seed, vectors)
        if first:
            self.model.begin_with(first)
        # Exact decoding of longer sentences would hold up every epoch and evaluation for minutes.
        self.most = 2 * long_sentences.default(Parser(self.model))
        self.longest = self.most if self.settings.longest == Training().longest else self.settings.longest
        self._warn_of_long_sentences()
        if contextual:
            self.model.read_contextual(contextual, [*train, *dev])  # reports missing vectors before training begins
        self.trees = [self._training_tree(sentence) for sentence in self.train]
        self.left_out = sum(tree is None for tree in self.trees)
        if self.left_out == len(train):
            raise InputError("training.longest = %d, and all sentences have more words: no tree to learn" % self.longest)
        self.optimizer = dy.AdamTrainer(self.model.parameters, self.settings.learning_rate)
        self.optimizer.set_clip_threshold(self.settings.clip)
        self.optimizer.set_sparse_updates(self.settings.sparse_updates)
        # Updated only about 100 times per window, or at every tenth update, the average costs next to nothing.
        step = min(max(1, self.settings.averaged_updates // 100), 10)
        self.optimizer.exponential_moving_average(1 - step / self.settings.averaged_updates, step)
        self.rng = np.random.default_rng(seed)
        self.progress = Progress()
        self.version = version.described()  # the checkout may change during training

    def _warn_of_long_sentences(self) -> None:
        """Warn of sentences that are too long to be decoded exactly, and say how they are treated."""
        what = {"dev": "they are parsed as `mh4 parse` does it"}
        if self.longest == self.most:
            what["train"] = "their trees are not learned (training.longest=N learns sentences of up to N words)"
        for split, becomes in what.items():
            long = [sentence for sentence in getattr(self, split) if len(sentence) > self.most]
            if long:
                many = "%s with more than %d words" % (counted(len(long), "sentence"), self.most)
                first = "%s has %d" % (long[0].name or "the first", len(long[0]))
                warn("%s: %s (%s): %s" % (split, many, first, becomes), stacklevel=3)

    def _training_tree(self, sentence: Sentence) -> np.ndarray | None:
        """Return the tree to learn (System.training_tree); None if the sentence is too long."""
        if len(sentence) > self.longest:
            return None
        single_root, roots = self.model.config.scorer.single_root, int((sentence.heads[1:] == 0).sum())
        if not kept_heads.whole(sentence.heads) and type(self.model.system) is not systems.GlobalSystem:
            can = "partly annotated trees are only learned by systems with exact decoding, and not with settings of the authors' runs"
            raise InputError("%s: %s" % (sentence.name, can))
        if single_root and roots > 1:
            raise InputError(
                "%s: %d words have the root as head, expected one (scorer.single_root=false allows more)" % (sentence.name, roots)
            )
        with naming(sentence, "train on"):
            return self.model.system.training_tree(sentence.heads, single_root)

    # The loop

    def run(self) -> dict[str, Any]:
        """Train until the dev score has converged; return the summary, immediately if the folder has a finished run."""
        make_folder(self.folder)
        with locked(self.folder):
            if self._open_folder():
                self._train()
                self._finish()
            if self.files.has("checkpoint.npz"):  # a finished run has left it if it was killed right here
                os.unlink(self.files.place("checkpoint.npz"))
            return self.files.record("summary.json")

    def _train(self) -> None:
        settings, progress = self.settings, self.progress
        lengths = [len(sentence) for sentence in self.train]
        losses: list[float] = []
        words_before, seconds_before = progress.words, progress.seconds
        while not self._finished():
            # The minibatches of an epoch depend only on the seed and the epoch, so that training can resume in mid-epoch.
            rng = np.random.default_rng([self.model.seed, progress.epoch])
            minibatches = shuffled_minibatches(lengths, settings.batch_tokens, rng, settings.batches == "similar")
            every = max(settings.evaluate_updates, -(-len(minibatches) // 4))
            done = sum(lengths[k] for batch in minibatches[: progress.batch] for k in batch)
            self.listener.epoch(progress.epoch + 1, sum(lengths), done)
            while progress.batch < len(minibatches) and not self._finished():
                losses.append(self.learn(minibatches[progress.batch]))
                progress.batch += 1
                progress.updates += 1
                if progress.updates % every == 0 or progress.updates == settings.max_updates:
                    words = progress.words - words_before
                    self._evaluate(
                        {
                            "epoch": round(progress.epoch + progress.batch / len(minibatches), 2),
                            "loss": round(sum(losses) / words, 4),
                            "tokens_per_second": round(words / (progress.seconds - seconds_before)),
                        }
                    )
                    losses.clear()
                    words_before, seconds_before = progress.words, progress.seconds
            if progress.batch == len(minibatches):
                progress.epoch, progress.batch = progress.epoch + 1, 0

    def _finished(self) -> bool:
        return self._stale() and not self._rate_can_fall() or self.progress.updates >= self.settings.max_updates

    def _stale(self) -> bool:
        return self.progress.stale >= self.settings.patience

    def _rate_can_fall(self) -> bool:
        return self.progress.falls < self.settings.rate_falls

    def learn(self, batch: Sequence[int]) -> float:
        """Make one update, on the sentences with indices `batch`; return their summed loss."""
        words = sum(len(self.train[k]) for k in batch)
        value = 0.0
        sentences, trees = [self.train[k] for k in batch], [self.trees[k] for k in batch]
        most = max((len(sentence) for sentence, tree in zip(sentences, trees, strict=True) if tree is not None), default=0)
        if most > self.most // 2:
            self.listener.learning(most)
        try:
            with self._timed("seconds"), self.model.lock, naming(longest(sentences), "train on"):
                loss = minibatch_loss(self.model, self.settings, sentences, trees, self.rng)
                if loss is not None:
                    value = loss.value()
                    backward(loss)
                    self.optimizer.update()
        except (ValueError, RuntimeError) as error:
            if not any(message in str(error) for message in _DIVERGED):
                raise
            raise InputError("%s: training has diverged, try a lower learning rate (%s)" % (self.folder, error)) from error
        self.progress.words += words
        value *= self.settings.loss_scale
        self.listener.update(words, value / words)
        return value

    @contextmanager
    def _timed(self, seconds: str) -> Iterator[None]:
        """Add the wall time of the block to this field of the progress, and the process time to cpu_seconds."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        setattr(self.progress, seconds, getattr(self.progress, seconds) + (time.perf_counter() - wall))
        self.progress.cpu_seconds += time.process_time() - cpu

    # Evaluation

    def _evaluate(self, metrics: dict[str, Any]) -> None:
        """Parse dev with the averaged weights, and save them if they are the best so far."""
        progress, tags = self.progress, self.model.predicted_tags
        with self.model.lock:
            with self._timed("evaluation_seconds"):
                self.optimizer.swap_params_to_moving_average(bias_correction=True)
                parsed = self._parsed_dev(bool(tags))
                scores = attachment_scores(self.dev, parsed, tags)
                by_treebank = [
                    {"file": name, **attachment_scores(self.dev[part], parsed[part], tags)}
                    for name, part in self._dev_treebanks()
                    if any(map(kept_heads.has_heads, self.dev[part]))
                ]
            score = scores[self.settings.best_by]
            if score > progress.best or self.settings.keep_last and score == progress.best:
                progress.best, progress.best_uas, progress.stale = score, scores["uas"], 0
                self.model.save_weights(self.files.place("weights.npz"))
                progress.weights = git_blob_id(self.files.place("weights.npz"))
            else:
                progress.stale += 1
            self.optimizer.swap_params_to_weights()
        if self._stale() and self._rate_can_fall():
            progress.stale, progress.falls = 0, progress.falls + 1
            self.optimizer.learning_rate /= 4
            self.optimizer.restart()
        progress.evaluations += 1
        metrics = {"evaluation": progress.evaluations, "updates": progress.updates, **metrics}
        metrics.update(("dev_" + name, score) for name, score in scores.items())
        if by_treebank:
            metrics["dev_treebanks"] = by_treebank
        metrics["best_dev_uas"] = progress.best_uas
        metrics["seconds"] = round(progress.seconds + progress.evaluation_seconds, 1)
        append_line(self.files.place("metrics.jsonl"), json.dumps(metrics))
        self._checkpoint()
        self.listener.evaluation(metrics)
        # Reseed the random generators after every checkpoint, so that a resumed run draws the same numbers. This has to
        # follow the call of the listener, which may load a model and so draw numbers.
        self._reseed()

    def _parsed_dev(self, tags: bool) -> list[Sentence]:
        parser, progress = Parser(self.model), self.listener.evaluating
        if all(len(sentence) <= self.most for sentence in self.dev):
            return parser.parse_as_usual(self.dev, progress, Wanted(tags=tags))
        return long_sentences.parse(parser, self.dev, self.most, tags=tags, progress=progress)

    def _dev_treebanks(self) -> list[tuple[str, slice]]:
        """Return the name of each of several treebanks, and the places of its sentences in dev."""
        treebanks = self.sources.get("dev")
        if not isinstance(treebanks, list):
            return []
        stops = list(accumulate(treebank["sentences"] for treebank in treebanks))
        return [(b["file"], slice(stop - b["sentences"], stop)) for b, stop in zip(treebanks, stops, strict=True)]

    # The folder

    def _open_folder(self) -> bool:
        """Check the folder, and load its checkpoint if it has one. Return whether there is training to do."""
        names = set(os.listdir(self.folder))
        if "config.toml" not in names:
            if names & {"weights.npz", "checkpoint.npz", "metrics.jsonl", "summary.json"}:
                raise InputError("%s: contains parts of a model but no config.toml; choose another folder" % self.folder)
            if any(reading.CONLLU in name.lower() for name in names):  # a treebank, which must not look like a model
                raise InputError("%s: contains CoNLL-U files, which are no part of a model; choose another folder" % self.folder)
            self.model.save_all_but_weights(self.folder)
            return True
        finished = "summary.json" in names
        there = self._settings_there(finished)
        if finished:
            self._check_sources(self.files.record("summary.json"), "summary.json")
            return False
        if "checkpoint.npz" in names:
            self._resume(there)
        else:  # interrupted before the first evaluation was recorded, or a copy of a model, without its record
            if "weights.npz" in names and self.files.text("vocabulary.json") != self.model.vocabulary.to_json():
                differing = "the words, tags or labels of train differ"
                raise InputError(
                    "%s: contains a model trained on other files (%s); choose another folder" % (self.folder, differing)
                )
            self.model.save_all_but_weights(self.folder)
            self._keep_metrics(0)
        return True

    def _check_sources(self, record: dict[str, Any], name: str) -> None:
        """Raise InputError, naming the files, if `sources` differ in content from those in a record of the folder."""
        with self.files.intact(name):
            differing = other_content(record.get("sources", {}), self.sources)
        if differing:
            raise InputError("%s: contains a model trained on other files (%s); choose another folder" % (self.folder, differing))

    def _settings_there(self, finished: bool) -> dict[str, Any]:
        """Return the settings that may change (CAN_CHANGE), as in the folder. Raises InputError if others have changed.

        Once the training has finished, none may change.
        """
        system, seed, config = description(self.files)
        one = {"system": (system, self.model.system.name), "seed": (seed, self.model.seed)}
        differing = {name: values for name, values in one.items() if values[0] != values[1]}
        differing.update(differences(config, self.model.config))
        if any(finished or name not in CAN_CHANGE for name in differing):
            raise InputError(
                "%s: contains a %smodel with other settings (%s); choose another folder"
                % (self.folder, "finished " if finished else "", listed(differing))
            )
        return {name: attrgetter(name)(config) for name in CAN_CHANGE}

    def _checkpoint(self) -> None:
        state = {"progress": asdict(self.progress), "sources": self.sources}
        optimizer = np.frombuffer(self.optimizer.save(), dtype=np.uint8)
        self.model.save_weights(self.files.place("checkpoint.npz"), state=np.array(json.dumps(state)), optimizer=optimizer)

    def _resume(self, there: dict[str, Any]) -> None:
        state: dict[str, Any] | None = None
        with suppress(InputError), self.files.arrays("checkpoint.npz", sys.maxsize, "damaged") as arrays:  # see below
            state = json.loads(str(arrays["state"]))
        if state is not None:  # before the weights, whose shapes differ if the files do
            self._check_sources(state, "checkpoint.npz")
        self.model.load_weights(self.files)  # the best so far must be there
        checkpoint = self.model.load_weights(self.files, "checkpoint.npz")
        try:
            state = json.loads(str(checkpoint["state"]))
            progress = Progress(**state["progress"])
            self.optimizer.populate(checkpoint["optimizer"].tobytes())
        except (KeyError, TypeError, ValueError, RuntimeError):
            raise InputError(
                "%s: contains a training run that this mh4 cannot resume; delete it or choose another folder" % self.folder
            ) from None
        for change in progress.changes:  # the last may not have been written to config.toml
            there.update((name, value) for name, value in change.items() if name in there)
        here = {name: attrgetter(name)(self.model.config) for name in there}
        changes = {name: value for name, value in here.items() if value != there[name]}
        if changes and progress.weights not in ("", git_blob_id(self.files.place("weights.npz"))):
            # The weights are from an evaluation after the checkpoint, which may not take place with other settings.
            raise InputError(
                "%s: was interrupted while a model was saved; resume it with its own settings until it has saved another"
                % self.folder
            )
        self.progress = progress
        self._keep_metrics(progress.evaluations)
        write_text(self.files.place("vocabulary.json"), self.model.vocabulary.to_json())
        self._reseed()
        if changes:
            progress.changes.append({"updates": progress.updates, **changes})
            self._checkpoint()
        write_text(self.files.place("config.toml"), self.model.describe())

    def _reseed(self) -> None:
        key = [self.model.seed, self.progress.evaluations]
        self.rng = np.random.default_rng(key)
        dy.reset_random_seed(int(np.random.SeedSequence(key).generate_state(1)[0]))

    def _keep_metrics(self, evaluations: int) -> None:
        """Delete the lines of metrics.jsonl that were written after the checkpoint."""
        path = self.files.place("metrics.jsonl")
        kept = complete_lines(path)[:evaluations] if os.path.exists(path) else []
        if len(kept) < evaluations:
            raise InputError("%s: damaged: expected %s, one for each evaluation so far" % (path, counted(evaluations, "line")))
        if os.path.exists(path):
            write_text(path, "".join(kept))

    def _finish(self) -> None:
        """Calibrate the best model, and write summary.json with the scores of its evaluation."""
        progress = self.progress
        self.model.load_weights(self.files)
        parser = Parser(self.model)
        most = min(self.most, long_sentences.default(parser, confidence=True) * 3 // 2)  # a longer one would take minutes
        found = calibrate(parser, [sentence for sentence in self.dev if len(sentence) <= most])
        if found:
            self.model.calibrate(found)
            found.save(self.folder)
        with self.files.intact("metrics.jsonl"):
            evaluations = [json.loads(line) for line in complete_lines(self.files.place("metrics.jsonl"))]
            ordered = evaluations[::-1] if self.settings.keep_last else evaluations
            best = max(ordered, key=lambda metrics: metrics["dev_" + self.settings.best_by])  # the first of several
        partly = not all(kept_heads.annotated_labels(sentence).all() for sentence in [*self.train, *self.dev])
        summary = {
            "finished": True,
            "system": self.model.system.name,
            "seed": self.model.seed,
            **{name: score for name, score in best.items() if name.startswith("dev_")},
            "best_evaluation": best["evaluation"],
            "evaluations": progress.evaluations,
            "updates": progress.updates,
            "epochs": evaluations[-1]["epoch"],
            "seconds": round(progress.seconds + progress.evaluation_seconds),
            "cpu_seconds": round(progress.cpu_seconds),
            "tokens_per_second": round(progress.words / progress.seconds),
            "mh4": self.version,
            **({"trees_left_out": self.left_out} if self.left_out else {}),
            **({"partial": True} if partly else {}),
            **({"changes": progress.changes} if progress.changes else {}),
            "sources": self.sources,
        }
        write_text(self.files.place("summary.json"), json.dumps(summary, indent=2) + "\n")


def evaluate(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """Parse the words of `gold` and score the result: uas, las, and the tags that the model predicts, in percent of all words."""
    tags = parser.model.predicted_tags
    return attachment_scores(gold, parser.parse(gold, tags=bool(tags)), tags)


def _first(folder: str, system: str, config: Config) -> Model:
    """Load the model to begin with. Raises InputError if it has another system or network."""
    model = Model.load(folder)
    differing = {} if model.system.name == system else {"system": (model.system.name, system)}
    differing.update(
        (k, v) for k, v in differences(model.config, config).items() if k.startswith(("encoder.", "scorer.")) and k != ROOT_LABEL
    )
    if differing:
        raise InputError(
            "%s: training can only begin with a model of the same system and network (%s)" % (folder, listed(differing))
        )
    return model
