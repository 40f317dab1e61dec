"""The instructions in CONTRIBUTING.md for adding a system."""

import re

import toy

from mh4 import trees
from mh4.decoders import mhk
from mh4.parser import config, systems
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS, GreedySystem
from mh4.training.trainer import Trainer


def test_the_new_system_trains_and_parses(tmp_path):
    text = (toy.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    new = eval(example, {**vars(systems), "mhk": mhk})
    known = dict(SYSTEMS)
    greedy = {name: system for name, system in known.items() if isinstance(system, GreedySystem)}
    try:
        SYSTEMS.clear()
        SYSTEMS.update({**{name: system for name, system in known.items() if name not in greedy}, new.name: new, **greedy})
        sentences = toy.sentences(tmp_path)[:30]
        settings = config.with_settings(toy.SMALL, ["training.max_updates=60", "training.evaluate_updates=60"])
        summary = Trainer(new.name, settings, sentences, sentences, str(tmp_path / "model")).run()
        assert summary["system"] == new.name and summary["dev_uas"] > 60
        for sentence in Parser.load(str(tmp_path / "model")).parse(sentences):
            assert trees.in_class(sentence.heads, new.tree_class) and (sentence.heads[1:] == 0).sum() == 1
    finally:
        SYSTEMS.clear()
        SYSTEMS.update(known)
