"""The log and summary in the folder of a run."""

import json

import pytest

from experiments.engine import progress
from experiments.engine.run import FAILED, Run
from experiments.engine.workplace import Bench
from mh4.errors import InputError


def test_of_a_training_the_last_line_of_its_log_is_displayed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "REPORT_SECONDS", 0)
    run = Run("mh3", 1, tmp_path)
    show = progress.display([run], Bench().console)
    for line, said in (("mh4 train", "training; log in "), ("evaluation 1", "evaluation 1"), ("evaluation 2", "evaluation 2")):
        with open(run.log, "a") as log:
            log.write(line + "\n")
        run.follow()
        show()
        assert capsys.readouterr().out.startswith("mh3 seed 1  " + said)
    show()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("damage", [{}, {"dev_uas": "80"}, {"dev_uas": None}])
def test_a_finished_run_without_its_score_is_named(tmp_path, damage):
    """A summary without dev_uas, by which members of ensembles are ordered, is an error."""
    (tmp_path / "summary.json").write_text(json.dumps({"finished": True, **damage}))
    with pytest.raises(InputError, match="summary.json: damaged: no dev_uas"):
        _ = Run("mh3", 1, tmp_path).dev_uas


def test_paths_are_shown_with_their_brackets_and_logs_do_not_control_the_terminal(tmp_path, capsys):
    run = Run("mh3", 1, tmp_path / "[bold] :x:", state=FAILED, failure="ended with exit code 2", exit_code=2)
    run.folder.mkdir()
    run.log.write_bytes("started\n\x1b[2J \x9b \u202e\n".encode())
    assert progress.failures([run], Bench().console) == 1
    failed, log, advice = capsys.readouterr().out.splitlines()
    assert failed == "mh3 seed 1 failed: ended with exit code 2 (%s)" % run.log
    assert log == r"    \x1b[2J \x9b \u202e" and "delete %s to" % run.folder in advice
