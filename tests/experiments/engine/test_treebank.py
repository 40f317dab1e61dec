"""The names of treebanks depend on the content of their files."""

import pytest
from samples import fake_manifest, row

from experiments.engine import treebank


@pytest.mark.parametrize(
    "train, dev, name, release",
    [
        ("train 2.0", "dev 2.0", "eu", "UD 2.0"),
        ("train 1.4", "dev 1.4", "eu-ud1.4", "UD 1.4"),
        ("train 2.0", "dev 1.4", None, "unidentified files"),
        ("train 2.0", "something else", None, "unidentified files"),
        ("dev 2.0", "dev 2.0", None, "unidentified files"),
        ("other language", "dev 2.0", None, "unidentified files"),
    ],
)
def test_a_treebank_is_called_what_its_files_are(tmp_path, monkeypatch, train, dev, name, release):
    rows = {"%s %s" % (split, number): row("eu", split, number) for split in ("train", "dev") for number in ("2.0", "1.4")}
    fake_manifest(monkeypatch, {**rows, "other language": row("hu", "train", "2.0")})
    paths = {"train": tmp_path / "train", "dev": tmp_path / "dev"}
    paths["train"].write_text(train)
    paths["dev"].write_text(dev)
    bank = treebank.identified("eu", paths)
    assert bank.release == release
    assert bank.name == name if name else bank.name.startswith("eu-files-")
    paths["train"].write_text("edited")
    assert treebank.identified("eu", paths).name != bank.name
