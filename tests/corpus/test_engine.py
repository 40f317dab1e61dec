"""`mh4 corpus` with real workers, of which one is killed in mid-shard, and then the driver."""

import corpora
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from trial import Trial, contents  # noqa: E402


@pytest.mark.slow
def test_a_worker_and_the_driver_are_killed(tmp_path):
    """Nothing of theirs is left, and the next driver ends with what `mh4 parse` writes. `make corpus-test` does far more of this."""
    trial, folder = Trial(tmp_path, megabytes=3), tmp_path / "corpus"
    driver = trial.start(folder, "--workers", "2", "--quiet")
    corpora.wait_for(lambda: corpora.in_mid_shard(folder))
    corpora.workers_of(driver)[0].kill()
    corpora.wait_for(lambda: corpora.records(folder))
    workers = corpora.workers_of(driver)
    driver.kill()
    driver.communicate()
    corpora.wait_for(lambda: not any(worker.is_running() and worker.status() != "zombie" for worker in workers))
    done = len(corpora.records(folder))
    code, out, said = corpora.run(*trial.command(folder, "--workers", "1"))
    assert code == 0 and out == "" and said.count("\n") == 1 and " shards, " in said, said
    assert 1 <= done <= len(corpora.records(folder))
    code, _, said = corpora.run("corpus", "join", str(folder), "-o", str(tmp_path / "joined") + "/")
    assert code == 0 and contents(tmp_path / "joined") == trial.parsed, said
