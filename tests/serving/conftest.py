import fcntl
import os
import shutil

import pytest
import toy

from mh4.data import segmenter


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with untrained models, mst and mh3, a segmenter, and the toy treebank."""
    pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    folder = tmp_path_factory.mktemp("served")
    sentences = toy.sentences(folder, "dev")
    for system in ("mst", "mh3"):
        toy.untrained(system, sentences, folder / system)
    # Even minimal training takes ten seconds, so only one of the processes that run tests trains the segmenter.
    shared = tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    trained, dev = shared / "served-segmenter", str(folder / "toy-ud-dev.conllu")
    with open(shared / "served-segmenter.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not trained.exists():
            segmenter.train(dev, dev, str(trained), epochs=1)
    shutil.copy(trained, folder / "segmenter")
    return folder


@pytest.fixture(scope="session")
def of_both(models):
    """Both models of a server: names and files."""
    return {"toy": (str(models / "mst"), str(models / "segmenter")), "toy-mh3": (str(models / "mh3"), None)}


@pytest.fixture(scope="session")
def abilities(of_both):
    """The abilities of both models, loaded in this process."""
    from mh4.serving import answering

    return answering.load(of_both, answering.checksums_of(of_both.values()))


@pytest.fixture(scope="session")
def server(of_both, tmp_path_factory):
    """A server of both models."""
    from asking import serving

    with serving(tmp_path_factory.mktemp("server"), of_both) as server:
        yield server
