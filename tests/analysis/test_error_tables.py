"""`mh4 evaluate --by errors`, on files counted by hand (segmented.py); test_score_tables.py has any files."""

import json
from pathlib import Path

from running import succeeds

from mh4.analysis import error_tables, score_tables
from mh4.analysis.evaluation import Counts


def pairs_of(gold, system):
    (result,) = score_tables.score_files(gold, [system])
    return result.pairs


def test_words_that_are_not_aligned(paths):
    """B joins the last two words of gold, makes c a root, and gives d a wrong head but the right relation."""
    pairs = pairs_of(paths[0], paths[2])
    assert error_tables.scores(pairs)["without punctuation"]["LAS"] == Counts(4, 4, 1, 3)
    found = error_tables.by_relation(pairs)
    assert found["root"] == {"right": 1, "not aligned": 1} and found["obj"] == {"both": 1}
    assert found["punct"] == {"head": 1, "not aligned": 1}


def test_the_tables(paths):
    """A has one wrong head and one wrong relation, and lacks the subtype of the last punctuation mark."""
    official, scores, relations, confused = succeeds("evaluate", *paths[:2], "--by", "errors").decode().rstrip("\n").split("\n\n")
    assert "UAS" in official
    assert [line.split()[-2:] for line in scores.splitlines()[2:]] == [["83.33", "66.67"], ["75.00", "50.00"], ["83.33", "50.00"]]
    assert [line.split() for line in relations.splitlines()[1:]] == [
        "relation words right relation head both not aligned".split(),
        "punct 2 2 0 0 0 0".split(),
        "root 2 2 0 0 0 0".split(),
        "det 1 0 0 1 0 0".split(),
        "obj 1 0 1 0 0 0".split(),
        "total 6 4 1 1 0 0".split(),
    ]
    assert confused.splitlines()[-1].split() == "obj as nmod 1 1".split()
    several = succeeds("evaluate", *paths, "--by", "errors", "--format", "csv").decode().split("\n\n")
    assert [part.split(",")[0] for part in several[1::3]] == [Path(path).name for path in paths[1:]]
    systems = json.loads(succeeds("evaluate", *paths, "--by", "errors", "--json"))["systems"]
    assert [one["errors"] for one in systems] == [error_tables.record(pairs_of(paths[0], path)) for path in paths[1:]]
    piped = succeeds("evaluate", paths[0], "-", "--by", "errors", stdin=Path(paths[1]).read_bytes())
    assert piped.decode().rstrip().endswith(confused)
