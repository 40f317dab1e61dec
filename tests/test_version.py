"""The version of mh4 and the commit of its code."""

import subprocess

from mh4 import version


def test_the_commit_of_a_checkout(tmp_path, monkeypatch):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *who, *arguments], cwd=str(tmp_path), check=True, stdout=-1).stdout.decode().strip()

    monkeypatch.setattr(version, "PACKAGE", tmp_path / "mh4")
    for path in (tmp_path / "mh4" / "code.py", tmp_path / "docs" / "page.md"):
        path.parent.mkdir()
        path.write_text("1")
    assert version.commit() == "" and version.described() == version.__version__
    git("init", "-q")
    assert version.commit() == ""  # nothing is committed yet
    git("add", "-A")
    git("commit", "-q", "-m", "a")
    head = git("rev-parse", "HEAD")[:12]
    (tmp_path / "docs" / "page.md").write_text("2")
    assert version.commit("docs") == head and version.commit() == head + "+changes"
    assert version.described() == "%s (commit %s)" % (version.__version__, head)
    (tmp_path / "mh4" / "code.py").write_text("2")
    assert version.commit("docs") == head + "+changes"
    (tmp_path / ".git").rename(tmp_path / "away")  # as in a wheel
    assert version.commit() == ""
