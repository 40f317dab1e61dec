"""``make deposit`` on models of the toy treebank: the deposit can be unpacked, loaded and checked."""

import hashlib
import re
import tarfile

import pytest
from samples import study, trained

import mh4
from mh4.data import conllu, treebanks


@pytest.mark.slow
def test_the_best_models_the_code_and_their_checksums(tmp_path, capsys):
    (tmp_path / "models" / "hungarian").mkdir(parents=True)  # of another treebank than hu
    assert study("deposit", home=tmp_path) == 2
    assert "no trained model" in capsys.readouterr().err
    with pytest.MonkeyPatch.context() as patch:
        trained(patch, tmp_path, ("mst", 1), ("mst", 2), updates=20)
        assert study("deposit", home=tmp_path) == 0
    folder = tmp_path / "deposit"
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "mh4-%s.tar.gz" % mh4.__version__, "toy-mst.mh4"]
    for name, digest in re.findall(r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", page, re.MULTILINE):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert str(tmp_path) not in page
    with tarfile.open(folder / ("mh4-%s.tar.gz" % mh4.__version__)) as archive:
        assert "mh4-%s/experiments/results/hu.jsonl" % mh4.__version__ in archive.getnames()
    dev = conllu.read(str(treebanks.locate("toy")["dev"]))[:20]
    scores = {seed: mh4.load(str(tmp_path / "models" / "toy" / "mst" / ("seed%d" % seed))).test(dev)["uas"] for seed in (1, 2)}
    assert mh4.load(str(folder / "toy-mst.mh4")).test(dev)["uas"] == max(scores.values())
