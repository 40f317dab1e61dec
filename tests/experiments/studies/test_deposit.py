"""``make deposit`` on models of the toy treebank: what it packs can be unpacked, loaded and checked."""

import hashlib
import re
import tarfile

import pytest
import toy
from samples import study, toy_settings

import mh4
from mh4.data import conllu, treebanks
from mh4.parser import config
from mh4.training.trainer import Trainer


@pytest.mark.slow
def test_the_best_models_the_code_and_their_checksums(tmp_path, capsys):
    paths = treebanks.locate("toy")
    short = config.with_settings(toy.SMALL, ["training.max_updates=20", "training.evaluate_updates=10"])
    train, dev = conllu.read(str(paths["train"]))[:80], conllu.read(str(paths["dev"]))[:20]
    with pytest.MonkeyPatch.context() as patch:
        toy_settings(patch, short, tmp_path)
        assert study("deposit", home=tmp_path) == 2
        assert "no trained model" in capsys.readouterr().err
        for seed in (1, 2):
            Trainer("mst", short, train, dev, str(tmp_path / "models" / "toy" / "mst" / ("seed%d" % seed)), seed).run()
        assert study("deposit", home=tmp_path) == 0
    folder = tmp_path / "deposit"
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "mh4-%s.tar.gz" % mh4.__version__, "toy-mst.mh4"]
    for name, digest in re.findall(r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", page, re.MULTILINE):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert str(tmp_path) not in page
    with tarfile.open(folder / ("mh4-%s.tar.gz" % mh4.__version__)) as archive:
        assert "mh4-%s/experiments/results/hu.jsonl" % mh4.__version__ in archive.getnames()
    scores = {seed: mh4.load(str(tmp_path / "models" / "toy" / "mst" / ("seed%d" % seed))).test(dev)["uas"] for seed in (1, 2)}
    assert mh4.load(str(folder / "toy-mst.mh4")).test(dev)["uas"] == max(scores.values())
