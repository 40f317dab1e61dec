"""Tables 1 and 2, and the command that trains their systems."""

import pytest
from samples import calls, record

from experiments.tables import treebank
from mh4.util.files import git_blob_id


@pytest.mark.slow
def test_features_trains_what_results_do_not_have(run_features, stand_in, hungarian, tmp_path, capsys):
    folder, results = hungarian, tmp_path / "home" / "results"
    blobs = {split: git_blob_id(folder / ("hu-ud-%s.conllu" % split)) for split in ("train", "dev")}
    files = {"train": blobs["train"], "dev": {"path": "hu-ud-dev.conllu", "git_blob": blobs["dev"]}}
    record(results, "hu", "mh4-hybrid", 1, 84.43, **files)
    record(results, "hu", "mh4-hybrid", 2, 84.15, **files)
    record(results, "hu", "mh4-hybrid", 3, 84.59, **files)  # not asked for, but there
    record(results, "hu", "mh3", 1, 83.0, **files)  # of no table
    assert run_features("--lang", "hu", "--ud", str(folder)) == 0
    untrained = ("greedy-mh4-two", "greedy-mh4-three", "greedy-mh4", "mh4-two")
    trained = sorted(call["run"] for call in calls(stand_in))
    assert trained == sorted("%s-%d" % (s, n) for s in untrained for n in (1, 2))
    page = (results / "hu-features.md").read_text(encoding="utf-8").splitlines()
    assert page[2].split(" | ")[-1] == "paper's average |"
    assert page[4:9] == [
        "| local | s0 b0 | greedy-mh4-two | 1 2 | 60.15 ± 0.07 | 49.83 |",
        "| local | s1 s0 b0 | greedy-mh4-three | 1 2 | 82.15 ± 0.07 | 85.17 |",
        "| local | s2 s1 s0 b0 | greedy-mh4 | 1 2 | 82.40 ± 0.07 | 85.27 |",
        "| global | s0 b0 | mh4-two | 1 2 | 83.65 ± 0.07 | 86.79 |",
        "| global | hybrid | mh4-hybrid | 1 2 3 | 84.39 ± 0.22 | 87.27 |",
    ]
    assert "averages over 10 languages" in "\n".join(page) and 'make features LANG=hu SEEDS="1 2 3"' in "\n".join(page)
    assert "82.40 ± 0.07" in capsys.readouterr().out
    assert run_features("--lang", "hu", "--ud", str(folder)) == 0  # now there is nothing to train
    assert len(calls(stand_in)) == len(trained) and "0 to train, 10 already finished" in capsys.readouterr().out


def test_the_page_is_among_those_made_from_records(tmp_path):
    record(tmp_path, "hu", "mh4-two", 1, 84.0)
    assert tmp_path / "hu-features.md" not in treebank.write("hu", tmp_path)  # without a greedy parser there is no Table 1
    record(tmp_path, "hu", "greedy-mh4", 1, 82.0)
    assert tmp_path / "hu-features.md" in treebank.write("hu", tmp_path)
    page = (tmp_path / "hu-features.md").read_text(encoding="utf-8")
    assert "| greedy-mh4 | 1 | 82.00 |" in page and "| mh4-two | 1 | 84.00 |" in page


def test_the_command_is_for_the_same_files(tmp_path):
    """Without a folder, it would be for UD 2.0."""
    for name, release, more, expected in (
        ("eu", "UD 2.0", {}, 'make features LANG=eu SEEDS="1"'),
        ("eu-ud1.4", "UD 1.4", {}, 'make features LANG=eu SEEDS="1" UD=FOLDER'),
        ("eu-ud1.4-authors", "UD 1.4", {"settings_of": "authors"}, 'make features LANG=eu SEEDS="1" SETTINGS=authors UD=FOLDER'),
        ("toy", "toy treebank", {"lang": "toy"}, 'make features LANG=toy SEEDS="1"'),
    ):
        record(tmp_path, name, "greedy-mh4", 1, 80.0, **{"lang": "eu", "release": release, **more})
        treebank.write(name, tmp_path)
        text = (tmp_path / (name + "-features.md")).read_text(encoding="utf-8")
        assert text.endswith("\n    %s\n" % expected)
