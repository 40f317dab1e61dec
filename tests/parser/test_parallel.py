"""Parsing files in chunks, and with several processes."""

import pytest
import toy

from mh4.data import conllu
from mh4.errors import OutOfMemory
from mh4.parser import parallel
from mh4.parser.parsing import Parser
from mh4.util import cpu, processes


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    toy.untrained("mh3", toy.sentences(folder)[:40], folder)
    return str(folder)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 3])
def test_chunks_come_back_in_order(model, monkeypatch, processes):
    monkeypatch.setattr(parallel, "CHUNK_WORDS", 20)
    paths = toy.generator.write(model)
    read = []

    def blocks():
        for block in conllu.blocks(str(paths["dev"]), trees=False):
            read.append(block)
            yield block

    ahead = 0
    done = []
    for block, parsed in parallel.parse(Parser.load, (model,), blocks(), processes):
        ahead = max(ahead, len(read) - len(done))
        done.append(block)
        assert parsed.words == block.sentence.words and len(parsed.heads) == len(parsed.words) + 1
    assert done == read and len(done) == 80
    assert ahead < 70  # the file is not read whole before there is a result


@pytest.mark.slow
def test_as_many_processes_as_make_sense(model, monkeypatch):
    """Not more than there are cores, nor than there are chunks."""
    started = []

    class Counted(processes.Child):
        def __init__(self):
            started.append(self)
            super().__init__()

    monkeypatch.setattr(processes, "Child", Counted)
    blocks = [conllu.Block([], conllu.Sentence(["w"] * 5)) for _ in range(10)]
    assert len(list(parallel.parse(Parser.load, (model,), blocks, 99_999_999_999))) == 10
    assert len(started) <= 1
    monkeypatch.setattr(parallel, "CHUNK_WORDS", 10)
    monkeypatch.setattr(cpu, "cores", lambda: 3)
    assert len(list(parallel.parse(Parser.load, (model,), blocks, 99_999_999_999))) == 10
    assert 3 <= len(started) <= 4


@pytest.mark.slow
def test_an_iteration_that_is_given_up_ends_its_processes(model, monkeypatch):
    monkeypatch.setattr(parallel, "CHUNK_WORDS", 10)
    monkeypatch.setattr(cpu, "cores", lambda: 2)
    children = []
    start = processes.Child
    monkeypatch.setattr(processes, "Child", lambda: children.append(start()) or children[-1])
    blocks = (conllu.Block([], conllu.Sentence(["w"] * 5)) for _ in range(10**9))
    parsed = parallel.parse(Parser.load, (model,), blocks, 2)
    next(parsed)
    assert len(children) == 2
    parsed.close()
    assert not any(child._kill.alive for child in children)


@pytest.mark.slow
@pytest.mark.parametrize("best, read", [(1, 6), (5, 2)])
def test_of_the_best_trees_there_are_no_more_words_in_memory(model, monkeypatch, best, read):
    monkeypatch.setattr(parallel, "CHUNK_WORDS", 30)
    blocks = (conllu.Block([], conllu.Sentence(["w"] * 5)) for _ in range(20))
    parsed = parallel.parse(Parser.load, (model,), blocks, best=best)
    assert len(next(parsed)[1].alternatives or ()) == best - 1
    assert len(list(blocks)) == 20 - read
    parsed.close()


def without_memory():
    raise OutOfMemory("FILE, line 1, sentence 1: not enough memory")


@pytest.mark.slow
def test_errors_come_from_other_processes_as_they_are():
    block = conllu.Block([], conllu.Sentence(["w"]))
    with pytest.raises(OutOfMemory, match="^FILE, line 1, sentence 1: not enough memory$"):
        list(parallel.parse(without_memory, (), [block], 2))
