"""Pictures of deduction steps (docs/extensions/items.py): a page cannot show a step that does not exist."""

import importlib

import pytest
from toy import ROOT

DOCS = ROOT / "docs"


@pytest.fixture
def items(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    return importlib.import_module("items")


@pytest.mark.parametrize(
    ("k", "step"),
    [
        (4, "[a = b = c = d] + [d = e] => [a = b = c = d = e]"),  # too many nodes
        (4, "[a = b] + [c = d] => [a = b = c = d]"),  # which share no node
        (4, "[a = b = c] + [c = d] => [a = b = d]"),
        (4, "[a = b = c; b -> a] => [b = c]"),  # the first node gets no head
        (4, "[a = b = c; a -> b] => [a = b = c]"),
        (4, "[a = b = c; a -- b] => [a = (b) = c]"),
        (4, "[a = b] => [a a+1]"),
        (3, "[a = b = c = d; a -> b] => [a = (b) = c = d]"),
    ],
)
def test_what_is_no_step_of_figure_2(items, k, step):
    with pytest.raises(ValueError, match="not a step of MH%d" % k):
        items.read(["Step: " + step, "steps of: mh%d" % k])


def test_what_cannot_be_read(items):
    for item in ("[a = a]", "[a = b; a -> c]", "[a = b; a => b]"):
        with pytest.raises(ValueError):
            items.read(["Item: " + item])
    with pytest.raises(ValueError, match="not a rule of 1EC"):
        items.read(["Rule: [a = b] => [a = b] | complex l r <- gap l r", "rules of: 1ec"])
