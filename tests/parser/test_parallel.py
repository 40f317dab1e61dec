"""Parsing files in chunks and by several processes."""

import pytest
import toy

from mh4.cli import main
from mh4.data import conllu
from mh4.data.block import Block
from mh4.data.sentence import Sentence
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
@pytest.mark.parametrize("jobs", [1, 3])
def test_chunks_come_back_in_order(model, monkeypatch, jobs):
    monkeypatch.setattr(parallel, "CHUNK_WORDS", 20)
    paths = toy.generator.write(model)
    read = []

    def blocks():
        for block in conllu.blocks(str(paths["dev"]), trees=False):
            read.append(block)
            yield block

    ahead = 0
    done = []
    with parallel.processes(jobs) as pool:
        for block, parsed in parallel.parse(Parser.load, (model,), blocks(), pool):
            ahead = max(ahead, len(read) - len(done))
            done.append(block)
            assert parsed.words == block.sentence.words and len(parsed.heads) == len(parsed.words) + 1
    assert done == read and len(done) == 80
    assert ahead < 70  # the first results come before the file is read


@pytest.fixture
def children(monkeypatch):
    """The processes that are started, as if on two cores."""
    found, start = [], processes.Child
    monkeypatch.setattr(processes, "Child", lambda: found.append(start()) or found[-1])
    monkeypatch.setattr(cpu, "cores", lambda: 2)
    return found


def blocks_of(number):
    return (Block([], Sentence(["w"] * 5)) for _ in range(number))


@pytest.mark.slow
def test_as_many_processes_as_make_sense(model, monkeypatch, children):
    """There are at most as many processes as cores and as chunks."""
    for least, most in [(1, 1), (2, 3)]:
        with parallel.processes(99_999_999_999) as pool:
            assert len(list(parallel.parse(Parser.load, (model,), blocks_of(10), pool))) == 10
        assert least <= len(children) <= most
        monkeypatch.setattr(parallel, "CHUNK_WORDS", 10)


@pytest.mark.slow
def test_files_share_the_processes(model, tmp_path, children):
    (tmp_path / "in").mkdir()
    for k in range(4):
        (tmp_path / "in" / ("%d.conllu" % k)).write_text("1\tw%s\n\n" % (8 * "\t_"))
    for command in ("parse", "ensemble"):
        members = ["--model", model] * (1 if command == "parse" else 2)
        out = tmp_path / "out" / command
        main([command, *members, "--jobs", "2", "--quiet", str(tmp_path / "in"), "-o", str(out)], standalone_mode=False)
        assert len(list(out.iterdir())) == 4
        assert len(children) == 2 and not any(child._kill.alive for child in children)
        children.clear()


@pytest.mark.slow
def test_processes_end_with_the_block(model, monkeypatch, children):
    """Processes end when the block ends, also in the middle of a parse."""
    monkeypatch.setattr(parallel, "CHUNK_WORDS", 10)
    with parallel.processes(2) as pool:
        next(parallel.parse(Parser.load, (model,), blocks_of(10**9), pool))
        assert len(children) == 2
    assert not any(child._kill.alive for child in children)


@pytest.mark.slow
@pytest.mark.parametrize("best, read", [(1, 6), (5, 2)])
def test_of_the_best_trees_there_are_no_more_words_in_memory(model, monkeypatch, best, read):
    monkeypatch.setattr(parallel, "CHUNK_WORDS", 30)
    blocks = blocks_of(20)
    parsed = parallel.parse(Parser.load, (model,), blocks, best=best)
    assert len(next(parsed)[1].alternatives or ()) == best - 1
    assert len(list(blocks)) == 20 - read
    parsed.close()


def without_memory():
    raise OutOfMemory("FILE, line 1, sentence 1: not enough memory")


@pytest.mark.slow
def test_errors_come_from_other_processes_as_they_are():
    block = Block([], Sentence(["w"]))
    with pytest.raises(OutOfMemory, match="^FILE, line 1, sentence 1: not enough memory$"), parallel.processes(2) as pool:
        list(parallel.parse(without_memory, (), [block], pool))
