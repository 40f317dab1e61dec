"""Score the outputs of the shared task in chunks, in tables and in comparisons, against the official scorer."""

import os
from pathlib import Path

import pytest
import segmented
from test_chunks import official_counts, scored
from test_comparison import agrees_with_the_scorer
from test_score_tables import add_up_to_the_counts

from mh4.analysis import evaluation

pytestmark = pytest.mark.slow


def test_chunks_and_tables():
    """Chunks of a file and one of its systems add up to the whole file, and the tables of each chunk to its counts."""
    for k, (gold, systems) in enumerate(segmented.shared_task_files().items()):
        path, total = systems[k % len(systems)], {}
        for chunk, (system,) in evaluation.chunks(gold, [path]):
            found = evaluation.evaluate(chunk, system)
            add_up_to_the_counts(chunk, system, found)
            evaluation.add(total, found.counts)
        assert total == official_counts(gold, path)


@pytest.mark.parametrize("words", [1, 100])
def test_chunks_of_any_size(monkeypatch, words):
    """Counts do not depend on the size of chunks, nor on how many systems are scored together."""
    files = segmented.shared_task_files()
    gold = min(files, key=os.path.getsize)
    expected = scored(gold, *files[gold])[0]
    monkeypatch.setattr(evaluation, "_CHUNK", words)
    assert scored(gold, *files[gold])[0] == expected
    assert [counts for system in files[gold] for counts in scored(gold, system)[0]] == expected


def test_comparison():
    """Comparisons agree with the scorer for languages with multiword tokens and for one written without spaces."""
    files = segmented.shared_task_files()
    chosen = [gold for gold in files if Path(gold).name.partition("-")[0] in ("he", "hu", "zh")]
    assert chosen
    for gold in chosen:
        agrees_with_the_scorer(gold, files[gold][0], files[gold][-1])
