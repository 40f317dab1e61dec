"""The instructions in CONTRIBUTING.md for adding a system."""

import re

import toy

from mh4 import config, trees
from mh4.parsing import Parser
from mh4.systems import SYSTEMS
from mh4.training.trainer import Trainer


def test_the_new_system_trains_and_parses(tmp_path):
    text = (toy.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    known = dict(SYSTEMS)
    try:
        exec(example, {})
        (name,) = set(SYSTEMS) - set(known)
        sentences = toy.sentences(tmp_path)[:30]
        settings = config.with_settings(toy.SMALL, ["training.max_updates=60", "training.evaluate_updates=60"])
        summary = Trainer(name, settings, sentences, sentences, str(tmp_path / "model")).run()
        assert summary["system"] == name and summary["dev_uas"] > 60
        for sentence in Parser.load(str(tmp_path / "model")).parse(sentences):
            assert trees.in_class(sentence.heads, SYSTEMS[name].tree_class) and (sentence.heads[1:] == 0).sum() == 1
    finally:
        SYSTEMS.clear()
        SYSTEMS.update(known)
