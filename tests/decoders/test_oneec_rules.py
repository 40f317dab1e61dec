"""The rules of 1-Endpoint-Crossing and the recurrences that are generated from them, by enumeration."""

import re
from collections import Counter
from itertools import product
from pathlib import Path

import brute
import numpy as np
import pytest
from common import rng_for

from mh4.decoders.oneec import generate as oneec_generate
from mh4.decoders.oneec import rules as oneec_rules
from mh4.decoders.oneec.rules import ITEMS, RULES, STATES, instances, state_arcs, tables


def language(n):
    """All that oneec_rules derives over nodes 0..n, by item and nodes: sets of (state, crossed arcs, gaps).

    Gaps are not filled: they are kept as (first node, second node, state).
    """
    items = {}

    def value(kind, nodes):
        if (kind, nodes) not in items:
            if kind == "gap":
                items[kind, nodes] = {(state, frozenset(), frozenset([(*nodes, state)])) for state in STATES[2]}
            else:
                items[kind, nodes] = frozenset(derive(kind, nodes))
        return items[kind, nodes]

    def derive(kind, nodes):
        if not allowed(kind, nodes):
            return
        for number, rule in enumerate(RULES):
            if rule.result[0] != kind:
                continue
            for named in placed(rule, dict(zip(rule.result[1:], nodes))):
                antecedents = [value(item[0], tuple(named[node] for node in item[1:])) for item in rule.antecedents]
                for states, directions, result in all_instances[number]:
                    arcs = {arc[::-1] if d else arc for arc, d in zip(rule.arcs, directions)}
                    made = frozenset((named[h], named[m]) for h, m in arcs)
                    yield from joined(result, made, [select(found, state) for found, state in zip(antecedents, states)])

    def select(antecedent, state):
        return [(arcs, gaps) for found, arcs, gaps in antecedent if found == state]

    def joined(state, arcs, antecedents):
        found = [(arcs, frozenset())]
        for antecedent in antecedents:
            found = [(a | b, g | h) for a, g in found for b, h in antecedent]
        return {(state, a, g) for a, g in found}

    def allowed(kind, nodes):
        """Whether the nodes are in the order that ITEMS gives, or reversed."""
        names = next(rule.result[1:] for rule in RULES if rule.result[0] == kind)
        orders = [[nodes[names.index(name)] for name in order] for order in ITEMS[kind]]
        return any(order in (sorted(order), sorted(order, reverse=True)) for order in orders)

    def placed(rule, named):
        missing = sorted({node for item in rule.antecedents for node in item[1:]} - set(named))
        for chosen in np.ndindex(*[n + 1] * len(missing)):
            every = {**named, **dict(zip(missing, chosen))}
            order = [every[node] for node in rule.order]
            if len(set(order)) == len(order) and order in (sorted(order), sorted(order, reverse=True)):
                yield every

    all_instances = [list(instances(rule)) for rule in RULES]
    return value("complex", (0, n))


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_the_rules_derive_complexes(n):
    """Crossed arcs and gaps are 1EC trees in which exactly the stated arcs are crossed, and all complexes occur.

    A gap stands for an arc between its ends, or for none. Without one arc the tree may be in two components: 0 and n then
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


def hang_together(arcs):
    """Whether all arcs are connected by crossing."""
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
    """A write that fails leaves the file as it was, and nothing else."""
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


@pytest.mark.parametrize("number", range(len(RULES)))
def test_the_kernels_apply_every_rule_once_wherever_it_is_needed(number, monkeypatch):
    """If it is missing or occurs twice, the decoders are not built."""
    orders = [key for key in oneec_generate.needed_rules() if key[0] == number]
    assert orders and all(oneec_generate.needed_rules()[key] == oneec_generate.applied_rules()[key] == 1 for key in orders)
    steps_of = oneec_generate.steps_of
    for times in (0, 2):
        monkeypatch.setattr(
            oneec_generate,
            "steps_of",
            lambda kernel, times=times: [s for s in steps_of(kernel) for _ in range(times if s.number == number else 1)],
        )
        with pytest.raises(ValueError, match="but %d times in the kernels" % times):
            oneec_generate.header()


def test_an_order_in_which_no_item_is_needed(monkeypatch):
    kernels = [
        kernel._replace(orders=[*kernel.orders, ("x", "b", "a")]) if kernel.name == "near" else kernel
        for kernel in oneec_generate.KERNELS
    ]
    monkeypatch.setattr(oneec_generate, "KERNELS", kernels)
    with pytest.raises(ValueError, match="needed 0 times, but 1 times in the kernels"):
        oneec_generate.check()


@pytest.mark.parametrize("number", range(len(RULES)))
def test_products_are_the_instances_of_a_rule(number):
    """Taking maxima before sums neither omits nor adds an instance."""
    rows = tables()[1][number]
    for key in {row[2:] for row in rows}:
        cases = [row for row in rows if row[2:] == key]
        made = Counter(pair for left, right in oneec_generate.products(cases) for pair in product(left, right))
        assert made == Counter(row[:2] for row in cases)


@pytest.mark.parametrize("number", range(len(RULES)))
def test_a_kernel_updates_by_all_instances_of_a_rule(number):
    """The generated lines, run on numbers, against the table."""
    rng = rng_for("kernel", number)
    rows = tables()[1][number]
    kernel, step = next(
        (kernel, step) for kernel in oneec_generate.KERNELS for step in oneec_generate.steps_of(kernel) if step.number == number
    )
    antecedents, arcs = oneec_generate.accessors(step)
    values = {name: rng.normal(size=9).tolist() for name, _ in antecedents + arcs}
    expected = {}
    for left, right, result, first, second in rows:
        total = sum(values[name][state] for (name, _), state in zip(antecedents, (left, right)))
        total += sum(values[name][direction] for (name, _), direction in zip(arcs, (first, second)))
        expected[result] = max(expected.get(result, -np.inf), total)
    found = {}

    if oneec_generate.is_hoisted(kernel, step):
        sums = values[oneec_generate.hoisted_name(step)] = {}
        for line in oneec_generate.hoisted_text(step, rows).splitlines():
            if line.startswith("    sums["):
                exec(line.strip(" ;"), {"maximum": max, "sums": sums, **values})
    for line in oneec_generate.updates(kernel, step, rows):
        result, value = re.fullmatch(r"update_maximum\(\w+\[(\d+)\], (.*)\);", line).groups()
        value = eval(value, {"maximum": max, **values})
        found[int(result)] = max(found.get(int(result), -np.inf), value)
    assert found == pytest.approx(expected) and set(found) == set(expected)


def test_the_table_of_the_rules():
    """The omitted states and instances are those that cannot be used in a complex."""
    states, table = tables()
    assert states["gap"] == states["complex"] == STATES[2]
    for rule, rows in zip(RULES, table):
        assert rows
        for left, right, result, _, _ in rows:
            inside = state_arcs(rule.antecedents[0][1:], states[rule.antecedents[0][0]][left])
            if len(rule.antecedents) == 2:
                inside += state_arcs(rule.antecedents[1][1:], states[rule.antecedents[1][0]][right])
            assert len({m: h for h, m in inside}) == len(inside)  # no word gets two heads
            assert result < len(states[rule.result[0]])
