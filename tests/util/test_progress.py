"""The progress of training as lines of text: in a pipe at once, and in a log that resumed training continues."""

import io
import re
import sys

import pytest
import toy

from mh4.data import conllu
from mh4.errors import InputError
from mh4.parser import config
from mh4.training.trainer import Trainer
from mh4.util import progress
from mh4.util.progress import TrainingProgress

EVALUATION = r"evaluation \d  epoch \d+\.\d  loss \d+\.\d{3}  dev UAS \d+\.\d\d  LAS \d+\.\d\d  best \d+\.\d\d"


class Interrupted(TrainingProgress):
    """Stops training after the first evaluation; `arrived` has the lines that were printed by then."""

    def __init__(self, error, pipe, **options):
        super().__init__(**options)
        self.error, self.pipe = error, pipe

    def evaluation(self, metrics):
        super().evaluation(metrics)
        self.arrived = self.pipe.getvalue().decode().splitlines()
        raise self.error


def test_lines_arrive_and_the_log_goes_on(treebank, tmp_path, monkeypatch):
    pipe = io.BytesIO()  # what has arrived of standard error, which is buffered because it is no terminal
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BufferedWriter(pipe, 1 << 16), encoding="utf-8"))
    sentences = conllu.read(str(treebank / "toy-ud-dev.conllu"))
    settings = config.with_settings(toy.SMALL, ["training.max_updates=20", "training.evaluate_updates=10"])
    log = tmp_path / "log"

    def train(listener):
        with listener:
            Trainer("mst", settings, sentences, sentences, str(tmp_path / "model"), listener=listener).run()

    stopped = Interrupted(KeyboardInterrupt(), pipe, log=str(log))
    with pytest.raises(KeyboardInterrupt):
        train(stopped)
    begins, evaluation = stopped.arrived
    assert begins == "training begins in epoch 1 (%d words)" % sum(map(len, sentences))
    assert re.fullmatch(EVALUATION, evaluation)
    quiet = Interrupted(InputError("a reason\x1b"), pipe, log=str(log), quiet=True)
    with pytest.raises(InputError):
        train(quiet)
    assert quiet.arrived == stopped.arrived
    train(TrainingProgress(str(log)))  # resumes: only calibration is missing
    times, lines = zip(*(line.split("  ", 1) for line in log.read_text(encoding="utf-8").splitlines()))
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", time) for time in times)
    assert list(times) == sorted(times)
    assert [re.sub(r"(epoch) \d+ .*|(evaluation \d)  .*", r"\1\2", line) for line in lines] == [
        "training begins in epoch",
        "evaluation 1",
        "training stops: interrupted",
        "training resumes in epoch",
        "evaluation 2",
        "training stops: a reason\\x1b",
    ]


def test_the_speed_of_words_that_come_in_bursts(monkeypatch):
    """The speed is right for words that come in bursts, such as all words of a chunk at once every ten seconds."""
    bar, now = progress.words_bar(hidden=True), [0.0]
    bar.get_time = lambda: now[0]
    monkeypatch.setattr(progress, "words_bar", lambda hidden: bar)
    with progress.counting("parsing") as advance:
        for _ in range(3):
            now[0] += 10
            for _ in range(2000):
                advance(5)
                now[0] += 1e-6
        assert str(progress._Speed().render(bar.tasks[0])) == "999 tokens/s"
