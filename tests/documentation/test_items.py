"""Pictures of deduction steps (docs/extensions/items.py): what is drawn, and that a page cannot show a step that does not exist."""

import importlib
import re

import pytest
from toy import ROOT

DOCS = ROOT / "docs"
DIRECTIVE = re.compile(r"^```\{items\}[^\n]*\n(.*?)^```$", re.S | re.M)


@pytest.fixture
def items(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    return importlib.import_module("items")


def test_the_steps_of_the_pages(items):
    """Each picture in which something is made from something says of which system it is, so that it is checked."""
    steps = []
    for page in DOCS.rglob("*.md"):
        for content in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            found = items.read(content.splitlines())
            checked = re.search(r"^(steps|rules) of: ", content, re.M)
            assert checked or not any(step.made for step in found) or page.stem == "oneec", (page, content)
            steps += found
    assert {"Shift", "Combine", "Link", "LA", "RA", "LA'", "RA'", "LA2", "RA2"} <= {step.name for step in steps}
    for step in steps:
        assert items.drawn(step).count("<svg ") == len(step.taken) + (step.made is not None)


@pytest.mark.parametrize(
    ("k", "step"),
    [
        (4, "[0 = 3] => [3 3+1]"),
        (4, "[a = b = c] + [c = d] => [a = b = c = d]"),
        (4, "[a = b = c; a -> b] => [a = (b) = c]"),
        (5, "[a = b = c = d] + [d = e] => [a = b = c = d = e]"),
    ],
)
def test_steps_of_figure_2(items, k, step):
    (read,) = items.read(["Step: " + step, "steps of: mh%d" % k])
    assert read.made


def test_steps_may_have_the_same_name(items):
    lines = ["Link: [a = b = c; a -> b] => [a = (b) = c]", "", "Link: [a = b = c; c -> b] => [a = (b) = c]", "steps of: mh4"]
    assert [str(step.taken[0]) for step in items.read(lines)] == ["a b c; a -> b", "a b c; c -> b"]


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


def test_the_drawing(items):
    item = items.read_item("<x> . a/s0 = (u) = b; x -- u; a .. b; a -> u")
    assert [node.name for node in item.nodes] == ["x", "a", "u", "b"] and item.open == ("a", "b")
    assert item.between == [".", "=", "="] and [arc.kind for arc in item.arcs] == ["--", "..", "->"]
    drawing = items.picture(item)
    counts = {"outside": 1, "waiting": 2, "region": 2, "note": 1, "beyond": 1, "arrowhead": 1, "arc crossed": 2}
    for kind, count in counts.items():
        assert len(re.findall(r'class="%s\b' % kind, drawing)) == count, kind
    assert 'class="arc crossed elsewhere"' in drawing and 'aria-label="[x a u b; x -- u; a .. b; a -&gt; u]"' in drawing


def test_arcs_that_share_space_are_on_different_levels(items):
    item = items.read_item("a b c d; a -> b; b -> c; a -> c; b -> d; c -> d")
    levels = items.levels(item.arcs)
    for a, one in enumerate(item.arcs):
        for b, other in enumerate(item.arcs[:a]):
            if one.span[0] < other.span[1] and other.span[0] < one.span[1]:
                assert levels[a] != levels[b]
    assert levels == [1, 1, 2, 3, 1]
