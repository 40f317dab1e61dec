"""Records of how results were made."""

import subprocess

from experiments.engine import provenance


def test_commands_are_written_down_without_absolute_paths():
    assert provenance.without_machine("mh4 train --train /a/b/hu.conllu --dev ../c/d.conllu --config=/x/y.toml") == (
        "mh4 train --train hu.conllu --dev ../c/d.conllu --config=y.toml"
    )
    assert (
        provenance.make_command("search", LANG="hu", SYSTEMS=[], SEEDS=["1", "2"], UD="/a/b/ud/")
        == 'make search LANG=hu SEEDS="1 2" UD=ud'
    )
    assert provenance.make_command("coverage", UD="../ud") == "make coverage UD=../ud"
    assert provenance.make_command("coverage", UD="", LANG=None) == "make coverage"
    assert provenance.make_command("coverage", UD="/x/a b$c") == "make coverage UD='a b$c'"
    assert provenance.make_command("coverage", UD="a\n\udcff") == "make coverage UD='a\\n\\udcff'"


def test_the_commit_on_record(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return (
            subprocess.run(["git", *who, *arguments], cwd=str(tmp_path), check=True, stdout=subprocess.PIPE)
            .stdout.decode()
            .strip()
        )

    folder = tmp_path / "experiments"
    (folder / "results").mkdir(parents=True)
    (tmp_path / "code.py").write_text("1")
    (folder / "results" / "hu.md").write_text("1")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "differences.md").write_text("1")
    git("init", "-q")
    assert provenance.commit(folder) == "unknown"
    git("add", "-A")
    git("commit", "-q", "-m", "a")
    head = git("rev-parse", "HEAD")[:12]
    (folder / "results" / "hu.md").write_text("2")
    (tmp_path / "docs" / "differences.md").write_text("2")
    assert provenance.commit(folder) == head
    (tmp_path / "code.py").write_text("2")
    assert provenance.commit(folder) == head + "+changes"
