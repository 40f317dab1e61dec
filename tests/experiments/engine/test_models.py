"""The finished models that studies use."""

import json
from dataclasses import replace

import pytest

from experiments.engine.models import requested_models
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench
from mh4.errors import InputError

BANK = Treebank("toy", "toy", "toy treebank", {}, {})
TODAY = BANK.config("mst").to_toml()


def finished(folder, settings=TODAY, **summary):
    """Write the files of a finished model, by default with the settings of the toy treebank."""
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps({"finished": True, **summary}))
    (folder / "config.toml").write_text(settings)


def test_each_system_needs_the_seeds_that_are_asked_for(tmp_path):
    """Without one of the requested seeds or systems there is an error; a default system may lack models."""
    systems = ("mst", "mh3", "1ec")
    for name in ("mst/seed1", "mst/seed2", "mh3/seed1"):
        folder = tmp_path / "models/toy" / name
        finished(folder)
    for asked, seeds, found in (("", "", "mst 1, mst 2, mh3 1"), ("", "1", "mst 1, mh3 1"), ("mst", "2 1", "mst 1, mst 2")):
        runs = requested_models(Bench(tmp_path), BANK, asked, seeds, systems, systems)
        assert ", ".join("%s %d" % (run.system, run.seed) for run in runs) == found
    for asked, seeds, missing in (("", "1 2", "mh3 with seed 2"), ("mst", "3 1 4", "mst with seed 3, 4"), ("1ec", "", "1ec")):
        with pytest.raises(InputError, match="^no trained model of %s in " % missing):
            requested_models(Bench(tmp_path), BANK, asked, seeds, systems, systems)


@pytest.mark.parametrize("other", ["settings", "files"])
def test_models_of_other_settings_or_files_are_not_taken(tmp_path, other):
    """Models of other settings or files, as from before a default changed, are not used."""
    bank, config = replace(BANK, blobs={"train": "aa", "dev": "bb"}), BANK.config("mst")
    changed = replace(config, training=replace(config.training, patience=1))
    for seed, same in ((1, True), (2, False)):
        sources = {
            "train": {"file": "t", "git_blob": "aa"},
            "dev": {"file": "d", "git_blob": "bb" if same or other == "settings" else "cc"},
        }
        settings = (config if same or other == "files" else changed).to_toml()
        finished(tmp_path / "models/toy/mst" / ("seed%d" % seed), settings, updates=9, sources=sources)
    assert [run.seed for run in requested_models(Bench(tmp_path), bank, "", "", ["mst"], ["mst"])] == [1]
    with pytest.raises(
        InputError, match="^no trained model of mst with seed 2 in .* on today's files and with today's settings: train"
    ):
        requested_models(Bench(tmp_path), bank, "mst", "1 2", ["mst"], ["mst"])
