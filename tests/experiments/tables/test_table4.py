"""Table 4, from records."""

import pytest
from samples import record

from experiments.engine.records import load
from experiments.tables.treebank import Dev


def test_test_scores_and_the_time_to_the_papers_mean_stand_beside_each_run(tmp_path):
    record(tmp_path, "hu", "mh4-hybrid", 1, 85.0, test_las=76.543, seconds_to_paper=3599.9)
    record(tmp_path, "hu", "mst", 1, 82.0, seconds_to_paper=None)  # it was never as good
    lines = Dev("hu", load("hu", tmp_path)).write(tmp_path)[0].read_text(encoding="utf-8").splitlines()
    header = next(line for line in lines if "test LAS" in line).strip("| ").split(" | ")
    assert header[3:5] == ["LAS", "test LAS"] and header[7:9] == ["time", "to the paper's mean"]
    assert "| mh4-hybrid | 1 | 85.00 | 80.00 | 76.54 |  |  | 1:02:05 | 0:59:59 |  | 2018-07-15 | abc |" in lines
    assert "| mst | 1 | 82.00 | 77.00 |  |  |  | 1:02:05 |  |  | 2018-07-15 | abc |" in lines


def test_the_segmentation_of_the_test_set_is_that_of_its_file_or_of_the_baseline(tmp_path):
    files = [{"path": name, "git_blob": name} for name in ("test.conllu", "hu-udpipe.conllu")]
    for name, segmentation, said in (("mine", files[0], "gold segmentation"), ("hu", files[1], "baseline")):
        record(tmp_path, name, "mst", 1, 82.0, test_las=76.5, test=files[0], segmentation=segmentation)
        page = Dev(name, load(name, tmp_path)).write(tmp_path)[0].read_text(encoding="utf-8")
        assert said in next(line for line in page.splitlines() if line.startswith("Test LAS"))


@pytest.mark.parametrize(
    "name, release", [("eu-ud1.4", "UD 1.4"), ("eu-files-0123abcd", "unidentified files"), ("toy", "toy treebank")]
)
def test_other_data_are_never_compared_with_the_paper(tmp_path, name, release):
    record(tmp_path, name, "mh4-hybrid", 1, 84.0, lang="toy" if name == "toy" else "eu", release=release)
    (markdown,) = Dev(name, load(name, tmp_path)).write(tmp_path)
    text = markdown.read_text(encoding="utf-8")
    assert release in text.splitlines()[0] and "| system | seeds | dev UAS |" in text
    assert "84.13" not in text and "are not comparable" in text  # 84.13: the paper's, for eu
    (row,) = Dev(name, load(name, tmp_path)).rows()
    assert row.paper is None and row.difference is None
