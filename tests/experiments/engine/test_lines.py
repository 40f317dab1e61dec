"""Files of JSON lines, which several processes may change."""

import json
from multiprocessing import get_context
from operator import itemgetter

import pytest

from experiments.engine import lines
from mh4.errors import InputError

KEY = itemgetter("name")


def complaint(content):
    return None if isinstance(content, dict) and "name" in content else "no name"


def add(path, names):
    for name in names:
        with lines.changed(path, KEY, complaint) as found:
            found[name] = {"name": name, "value": 0.1}


def test_what_several_processes_add_is_kept_in_order(tmp_path):
    path, names = tmp_path / "new" / "x.jsonl", ["%02d" % number for number in range(40)]
    processes = [get_context("fork").Process(target=add, args=(path, names[start::4])) for start in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert path.read_text() == "".join('{"name": "%s", "value": 0.1}\n' % name for name in names)
    assert list(lines.read(path, KEY, complaint)) == names


@pytest.mark.parametrize(
    "damaged, said",
    [
        (b'{"name": "b', "not JSON: .*"),
        (b"", "not JSON: .*"),
        (b"<<<<<<< HEAD", "not JSON: .*"),
        (b"\xff", "not JSON: .*"),
        (b"[]", "no name"),
        (b'{"name": "a"}', "another line has the same key"),
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_written(tmp_path, damaged, said):
    path = tmp_path / "x.jsonl"
    content = b'{"name": "a"}\n' + damaged + b'\n{"name": "c"}\n'
    path.write_bytes(content)
    with pytest.raises(InputError, match="x.jsonl, line 2: %s: restore or delete this line$" % said):
        add(path, ["d"])
    assert path.read_bytes() == content


def test_a_change_that_fails_leaves_the_file(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"name": "a"}) + "\n")
    with pytest.raises(ZeroDivisionError), lines.changed(path, KEY, complaint) as found:
        found.clear()
        raise ZeroDivisionError
    assert list(lines.read(path, KEY, complaint)) == ["a"]
