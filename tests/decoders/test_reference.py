"""The reference itself: its examples are right, and it imports no other module of mh4."""

import ast
import doctest
import sys

from mh4.decoders import reference


def test_the_examples():
    found = doctest.testmod(reference)
    assert found.attempted > 10 and not found.failed


def test_it_imports_nothing_of_ours():
    tree = ast.parse(open(reference.__file__, encoding="utf-8").read())
    imported = {each.module for each in tree.body if isinstance(each, ast.ImportFrom)}
    imported |= {name.name for each in tree.body if isinstance(each, ast.Import) for name in each.names}
    assert {name.split(".")[0] for name in imported} <= {"numpy", *sys.stdlib_module_names}
