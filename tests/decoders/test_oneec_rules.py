"""The rules of 1-Endpoint-Crossing, by enumeration, and the recurrences that are generated from them."""

from collections import Counter
from pathlib import Path

import brute
import numpy as np
import pytest

from mh4.decoders.charts.oneec import generate as oneec_generate
from mh4.decoders.charts.oneec import rules as oneec_rules
from mh4.decoders.charts.oneec.rules import ITEMS, RULES, STATES, SUM_RULES, instances, state_arcs, tables

ALGEBRAS = [(oneec_generate.MAXIMA, oneec_generate.KERNELS), (oneec_generate.SUMS, oneec_generate.SUM_KERNELS)]
EVERY_RULE = [(kernels, number) for algebra, kernels in ALGEBRAS for number in range(len(algebra.rules))]
every_rule = pytest.mark.parametrize("kernels, number", EVERY_RULE)


def language(n, rules=RULES):
    """Return what the rules derive over nodes 0..n: the number of derivations by (state, crossed arcs, gaps).

    Gaps are not filled, but represented as (first node, second node, state), from left to right.
    """
    items = {}

    def value(kind, nodes):
        if (kind, nodes) not in items:
            items[kind, nodes] = gaps(*nodes) if kind == "gap" else derive(kind, nodes)
        return items[kind, nodes]

    def gaps(a, b):
        swapped = {(-1, -1): (-1, -1), (-1, 0): (1, -1), (1, -1): (-1, 0)}
        rows = {state: (a, b, state) if a < b else (b, a, swapped[state]) for state in STATES[2]}
        return Counter((state, frozenset(), frozenset([row])) for state, row in rows.items())

    def derive(kind, nodes):
        found = Counter()
        for number, rule in enumerate(rules):
            if rule.result[0] != kind or not allowed(kind, nodes):
                continue
            for named in placed(rule, dict(zip(rule.result[1:], nodes))):
                antecedents = [value(item[0], tuple(named[node] for node in item[1:])) for item in rule.antecedents]
                for states, directions, result in all_instances[number]:
                    arcs = {arc[::-1] if d else arc for arc, d in zip(rule.arcs, directions)}
                    made = frozenset((named[h], named[m]) for h, m in arcs)
                    for key, count in joined(result, made, [select(item, state) for item, state in zip(antecedents, states)]):
                        found[key] += count
        return found

    def select(antecedent, state):
        return [(arcs, gaps, count) for (found, arcs, gaps), count in antecedent.items() if found == state]

    def joined(state, arcs, antecedents):
        found = [(arcs, frozenset(), 1)]
        for antecedent in antecedents:
            found = [(a | b, g | h, count * more) for a, g, count in found for b, h, more in antecedent]
        return [((state, a, g), count) for a, g, count in found]

    def allowed(kind, nodes):
        """Return whether the nodes are in the order that ITEMS gives, or reversed."""
        names = next(rule.result[1:] for rule in rules if rule.result[0] == kind)
        orders = [[nodes[names.index(name)] for name in order] for order in ITEMS[kind]]
        return any(order in (sorted(order), sorted(order, reverse=True)) for order in orders)

    def placed(rule, named):
        missing = sorted({node for item in rule.antecedents for node in item[1:]} - set(named))
        for chosen in np.ndindex(*[n + 1] * len(missing)):
            every = {**named, **dict(zip(missing, chosen))}
            order = [every[node] for node in rule.order]
            if len(set(order)) == len(order) and order in (sorted(order), sorted(order, reverse=True)):
                yield every

    all_instances = [list(instances(rule)) for rule in rules]
    return value("complex", (0, n))


@pytest.mark.parametrize("n", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_the_rules_derive_complexes(n):
    """What is derived is 1EC trees in which exactly the stated arcs are crossed, and all complexes are derived.

    A gap represents an arc between its ends, or none. A tree may lack one arc and be in two components; then 0 and n
    have an arc from above.
    """
    found = set()
    for state, arcs, gaps in language(n):
        drawn = arcs | {(a, b) if s[1] == 0 else (b, a) for a, b, s in gaps if s != (-1, -1)}
        heads = {m: h for h, m in drawn}
        assert len(heads) == len(drawn)
        touched = {node for arc in arcs for node in arc}  # the others are inside gaps
        assert touched - set(heads) == {node for node, root in zip((0, n), state) if root == -1}
        crossing = {a: [set(b) for b in drawn if brute.cross(a, b)] for a in drawn}
        assert {arc for arc, others in crossing.items() if others} == arcs
        assert all(set.intersection(*others) for others in crossing.values() if others)
        if state == (-1, 0) and len(touched) == n + 1:
            found.add(tuple(heads.get(m, -1) for m in range(n + 1)))
    expected = set()
    for heads in brute.class_trees(n, "1ec"):
        crossed = brute.crossed_arcs(heads)
        if heads[n] != 0 and {m for arc in crossed for m in arc} == set(range(n + 1)) and hang_together(crossed):
            expected.add(heads)
    assert expected and expected <= found


@pytest.mark.parametrize("n", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_the_rules_for_sums_derive_the_same_once(n):
    """The rules for sums derive every complex once, those for maxima some complexes several times."""
    once, often = language(n, SUM_RULES), language(n)
    assert set(once.values()) == {1} and once.keys() == often.keys()
    assert max(often.values()) == {3: 3, 4: 4, 5: 6, 6: 8}[n]


def hang_together(arcs):
    """Return whether all arcs are connected by crossing."""
    left = set(arcs)
    agenda = [left.pop()]
    while agenda:
        arc = agenda.pop()
        crossing = {other for other in left if brute.cross(arc, other)}
        left -= crossing
        agenda += crossing
    return not left


def test_the_compiler_is_given_these_rules():
    made = Path(oneec_rules.__file__).with_name("recurrences.hpp")
    assert made.read_text() == oneec_generate.header(), "the rules have changed: build the decoders again"


def test_the_file_for_the_compiler_is_written_at_once(tmp_path, monkeypatch):
    """A write that fails changes no file."""
    path = tmp_path / "recurrences.hpp"
    path.write_text("of earlier rules")

    def fail(part, text):
        part.open("w").close()
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "write_text", fail)
        with pytest.raises(OSError, match="full"):
            oneec_generate.write(path)
    assert path.read_text() == "of earlier rules" and list(tmp_path.iterdir()) == [path]
    oneec_generate.write(path)
    assert path.read_text() == oneec_generate.header() and list(tmp_path.iterdir()) == [path]


@every_rule
def test_every_rule_is_applied(kernels, number):
    """A rule that no kernel applies is an error when the decoders are built."""
    result = kernels[0].algebra.rules[number].result[0]
    fewer = [kernel._replace(targets=[one for one in kernel.targets if one.item != result]) for kernel in kernels]
    with pytest.raises(ValueError, match="^%s .*: no kernel applies this rule" % result):
        oneec_generate.check(fewer)


@pytest.mark.parametrize("rules", [RULES, SUM_RULES], ids=["maxima", "sums"])
def test_the_table_of_the_rules(rules):
    """The table has all states of a complex, and no instance in which a word has two heads."""
    states, table = tables(rules)
    assert states["gap"] == states["complex"] == STATES[2]
    for rule, rows in zip(rules, table):
        assert rows
        for left, right, result, _, _ in rows:
            inside = state_arcs(rule.antecedents[0][1:], states[rule.antecedents[0][0]][left])
            if len(rule.antecedents) == 2:
                inside += state_arcs(rule.antecedents[1][1:], states[rule.antecedents[1][0]][right])
            assert len({m: h for h, m in inside}) == len(inside)  # no word gets two heads
            assert result < len(states[rule.result[0]])
