"""Write recurrences.hpp, the rules of rules.py in C++; setup.py does so before compiling.

The header has the rules as a table, for the trace, and the *kernels* below, which fill the chart. A kernel derives some
items by all rules that result in them, with all instances unrolled. The rules do not specify where the values of items and
arcs are stored: a kernel asks its argument `at` for them. For the rule

    open a b x <- closed a t x, gap t b

it calls at.closed_a_t_x(t) and at.gap_t_b(t) for each t from at.begin to at.end - 1, and takes from them the values by
state; so if complexes.hpp lacks one of these functions, it does not compile. check() verifies that the kernels apply each
rule exactly once for each order of its nodes in the sentence that a complex can need, and raises ValueError otherwise.
"""

import os
import textwrap
from collections import Counter, namedtuple
from itertools import permutations
from pathlib import Path

from mh4.decoders.oneec import rules

# An item to derive. nodes: the kernel's names for the nodes of the rules' result. fixed: the same for further nodes of a rule,
# which otherwise take all values in between. over: apply only the rules with these further nodes (None: all rules). adds: the
# kernel updates the values in at.so_far_...(values) instead of starting at minus infinity.
Target = namedtuple("Target", "item nodes fixed over adds")

# lanes: the node whose values are in vectors. orders: the orders of the nodes in the sentence for which the kernel is called.
# keep: the items that are passed to at.keep_...
Kernel = namedtuple("Kernel", "name lanes targets orders keep")


def target(text, fixed=None, over=None, adds=False):
    item, *nodes = text.split()
    return Target(item, tuple(nodes), fixed or {}, None if over is None else set(over), adds)


def kernel(name, lanes, targets, orders, keep):
    targets = [target(text) if isinstance(text, str) else text for text in targets]
    return Kernel(name, lanes, targets, [tuple(order.split()) for order in orders], set(keep.split()))


KERNELS = [
    # Regions a b, where x is on the side of a.
    kernel(
        "near",
        "x",
        ["hooked a b x", "open a b x", "closed a b x", "neither_open a b x", "neither a b x", "arm x b a"],
        ["x a b", "b a x"],
        "open closed neither arm",
    ),
    # Regions l r, where x is beyond r.
    kernel(
        "far",
        "x",
        ["hooked l r x", "open l r x", "closed l r x", "both l r x", "spanned l r x"],
        ["l r x"],
        "open closed spanned",
    ),
    kernel("half_pivots", "a", ["half_pivot a b v"], ["a v b", "b v a"], "half_pivot"),
    kernel("pivots", None, ["pivot a b v"], ["a v b", "b v a"], "pivot"),
    kernel("wings", "b", ["wing l b a"], ["l a b"], "wing"),
    kernel("complexes_of_spanned", "x", [target("complex l x", fixed={"t": "t"}, over="t", adds=True)], ["l t x"], ""),
    kernel("complexes_of_pivots", None, [target("complex l r", over="v", adds=True)], ["l r"], ""),
    kernel("complexes_of_wings", "a", [target("complex l r", fixed={"a": "a"}, over="ab", adds=True)], ["l a r"], ""),
]


# A rule in the names of a kernel; loop is the node that takes all values in between, or None.
Step = namedtuple("Step", "rule number target antecedents arcs loop has_two")


def further_nodes(rule):
    """The nodes of a rule that its result does not have."""
    return {node for item in rule.antecedents for node in item[1:]} - set(rule.result[1:])


def steps_of(kernel):
    """All rules that the kernel applies."""
    steps = []
    for target in kernel.targets:
        for number, rule in enumerate(rules.RULES):
            if rule.result[0] != target.item or (target.over is not None and further_nodes(rule) != target.over):
                continue
            names = {**dict(zip(rule.result[1:], target.nodes)), **target.fixed}
            loops = sorted(further_nodes(rule) - set(target.fixed))
            if len(loops) > 1 or any(node in names.values() for node in loops):
                raise ValueError("%s: %s has to fix nodes" % (kernel.name, rules.rule_text(rule)))
            names.update({node: node for node in loops})
            antecedents = [(item[0], *(names[node] for node in item[1:])) for item in rule.antecedents]
            arcs = [tuple(names[node] for node in arc) for arc in rule.arcs]
            loop = loops[0] if loops else None
            steps.append(Step(rule, number, target, antecedents, arcs, loop, names.get(rule.has_two)))
    return steps


# ------------------------------------------------------------------------------------------------- what has to be derived


def node_orders(rule, order):
    """All orders of the rule's nodes in the sentence that extend this order of its result."""
    nodes = [*rule.result[1:], *sorted(further_nodes(rule))]
    for line in permutations(nodes):
        if tuple(node for node in line if node in order) != tuple(order):
            continue
        kept = tuple(node for node in line if node in rule.order)
        inside = further_nodes(rule) <= set(line[1:-1])
        if inside and (not rule.order or kept in (rule.order, rule.order[::-1])):
            if all(may_have_order(item, line) for item in rule.antecedents):
                yield line


def may_have_order(item, line):
    """Whether ITEMS allows an item, (kind, node, ...), this order of nodes in the sentence."""
    kind, *nodes = item
    names = nodes_as_result(kind)
    order = [names[nodes.index(node)] for node in line if node in nodes]
    return any(order in (list(given), list(given)[::-1]) for given in rules.ITEMS[kind])


def nodes_as_result(kind):
    """The names of an item's nodes as the result of rules, which are those in ITEMS."""
    return next((rule.result[1:] for rule in rules.RULES if rule.result[0] == kind), ("a", "b"))


def pattern(nodes, line):
    """The nodes' order in the sentence, as indices of their positions in the item."""
    return tuple(nodes.index(node) for node in line if node in nodes)


def needed_rules():
    """Counter of (number of the rule, order of its result) from which every complex l r with l < r is derived."""
    found, agenda = set(), [("complex", (0, 1))]
    while agenda:
        item, order = agenda.pop()
        for number, rule in enumerate(rules.RULES):
            if rule.result[0] == item and (number, order) not in found:
                found.add((number, order))
                for line in node_orders(rule, [rule.result[1:][i] for i in order]):
                    agenda += [(item[0], pattern(item[1:], line)) for item in rule.antecedents]
    return Counter(found)


def applied_rules():
    """The same Counter for the rules that the kernels apply."""
    found = Counter()
    for kernel in KERNELS:
        for order in kernel.orders:
            for step in steps_of(kernel):
                found[step.number, pattern(step.target.nodes, order)] += 1
    return found


def check():
    """Raise ValueError unless the kernels apply each rule exactly once wherever it is needed."""
    for key in sorted(needed_rules().keys() | applied_rules().keys()):
        if needed_rules()[key] != applied_rules()[key]:
            rule = rules.RULES[key[0]]
            order = " ".join(rule.result[1:][i] for i in key[1])
            raise ValueError(
                "%s, for %s: needed %d times, but %d times in the kernels"
                % (rules.rule_text(rule), order, needed_rules()[key], applied_rules()[key])
            )


# --------------------------------------------------------------------------------------------------------------- kernels


def products(cases):
    """The instances of one result and one choice of directions, as few (states on the left, states on the right).

    Each pair stands for the maximum of the left values plus the maximum of the right ones. Rounding preserves the order of
    sums, so the maximum over instances is bit for bit the same, whether taken before or after adding their common terms.
    """

    def merge(pairs):
        rights = {}
        for left, right in pairs:
            rights.setdefault(left, []).append(right)
        lefts = {}
        for left, of_left in rights.items():
            lefts.setdefault(tuple(of_left), []).append(left)
        return [(tuple(left), right) for right, left in lefts.items()]

    pairs = [(left, right) for left, right, *_ in cases]
    one = merge(pairs)
    other = [(left, right) for right, left in merge([pair[::-1] for pair in pairs])]
    return min(one, other, key=lambda found: (len(found), sum(len(a) + len(b) for a, b in found)))


def accessor(kind, nodes, loop):
    """The name of a value in the kernel and the call that fetches it."""
    name = "_".join((kind, *nodes))
    return name, "at.%s(%s)" % (name, loop if loop in nodes else "")


def accessors(step):
    """(name, call) of each antecedent and of each arc."""
    antecedents = [accessor(item[0], item[1:], step.loop) for item in step.antecedents]
    kinds = ["longest" if longest else "crossed" for longest in step.rule.longest]
    return antecedents, [accessor(kind, arc, step.loop) for kind, arc in zip(kinds, step.arcs)]


def best_of(name, states):
    text = "%s[%d]" % (name, states[0])
    for state in states[1:]:
        text = "maximum(%s, %s[%d])" % (text, name, state)
    return text


def summands(step, cases):
    """(result, directions, text of the sum of the antecedents) of the terms over which an item takes the maximum."""
    antecedents, _ = accessors(step)
    choices = sorted({(case[2], case[3 : 3 + len(step.arcs)]) for case in cases})
    for result, directions in choices:
        chosen = [case for case in cases if case[2] == result and case[3 : 3 + len(step.arcs)] == directions]
        for sides in products(chosen):
            yield result, directions, " + ".join(best_of(name, side) for (name, _), side in zip(antecedents, sides))


def is_hoisted(kernel, step):
    """Whether the sum of the antecedents, unlike the arcs, is the same for all lanes.

    Then it is computed once for each value of the loop's node, before the kernel is called for one block of lanes after another.
    """
    inside = {node for item in step.antecedents for node in item[1:]}
    return bool(step.loop and kernel.lanes) and len(step.antecedents) == 2 and kernel.lanes not in inside


def hoisted_name(step):
    return "_".join(("sums", *(item[0] for item in step.antecedents)))


def updates(kernel, step, cases):
    """The lines that update a target with the instances of a rule."""
    out = "_".join((step.target.item, *step.target.nodes))
    _, arcs = accessors(step)
    if is_hoisted(kernel, step):
        found = sorted({(result, directions) for result, directions, _ in summands(step, cases)})
        terms = [(result, directions, "%s[%d]" % (hoisted_name(step), i)) for i, (result, directions) in enumerate(found)]
    else:
        terms = summands(step, cases)
    lines = []
    for result, directions, text in terms:
        text += "".join(" + %s[%d]" % (name, direction) for (name, _), direction in zip(arcs, directions))
        lines.append("update_maximum(%s[%d], %s);" % (out, result, text))
    return lines


def loop_groups(steps):
    """Groups of steps with a loop: those over the same node that share values or results, which go into one loop.

    A step that shares some with several groups unites them.
    """
    groups = []
    for step in steps:
        antecedents, arcs = accessors(step)
        shared = {(step.loop, call) for _, call in antecedents + arcs} | {(step.loop, step.target.item, step.target.nodes)}
        near = [group for group in groups if group[0] & shared]
        groups = [group for group in groups if group not in near]
        groups.append((shared.union(*(group[0] for group in near)), [s for group in near for s in group[1]] + [step]))
    return [group for _, group in groups]


def indent(lines):
    return ["    " + line for line in lines]


def block(kernel, steps, table, targets):
    """The lines for steps with the same loop, or without a loop."""
    lines, known = [], set(targets)
    for step in steps:
        antecedents, arcs = accessors(step)
        if is_hoisted(kernel, step):
            antecedents = [(hoisted_name(step), "at.%s(%s)" % (hoisted_name(step), step.loop))]
        for name, call in antecedents + arcs:
            if name not in known:
                known.add(name)
                lines.append("const auto %s = %s;" % (name, call))
    for step in steps:
        lines += ["// " + step_text(step), *updates(kernel, step, table[step.number])]
    if steps[0].loop:
        lines = ["for (int %s = at.begin; %s < at.end; %s++) {" % ((steps[0].loop,) * 3), *indent(lines), "}"]
    else:
        lines = ["{", *indent(lines), "}"]
    guards = {step.has_two for step in steps}
    if len(guards) > 1:
        raise ValueError("%s: only some of the rules in a loop need a second arc of a node" % kernel.name)
    if steps[0].has_two:
        lines[0] = "if (at.may_have_two(at.%s)) %s" % (steps[0].has_two, lines[0])
    return lines


def step_text(step):
    """The rule in the names of the kernel and, if they differ, in its own."""
    here = step.rule._replace(
        result=(step.target.item, *step.target.nodes), antecedents=tuple(step.antecedents), arcs=tuple(step.arcs)
    )
    text = [rules.rule_text(rule) for rule in dict.fromkeys((here, step.rule))]
    return text[0] if len(text) == 1 else "%s   (%s)" % tuple(text)


def kernel_text(kernel, table):
    """The kernel as a function, preceded by functions for the sums that it takes from outside its loops."""
    steps = steps_of(kernel)
    names = {"_".join((target.item, *target.nodes)): target for target in kernel.targets}
    text = []
    for step in steps:
        if is_hoisted(kernel, step):
            text += [hoisted_text(step, table[step.number]), ""]
    lines = ["typedef typename At::Value Value;"]
    for name, target in names.items():
        lines.append("Value %s[%s];" % (name, "STATES[%s]" % target.item.upper()))
        lines.append("at.so_far_%s(%s);" % (name, name) if target.adds else "clear(%s);" % name)
    for group in loop_groups([step for step in steps if step.loop]):
        lines += block(kernel, group, table, names)
    for target in names.values():
        for step in steps:
            if step.target is target and not step.loop:
                lines += block(kernel, [step], table, names)
    for name, target in names.items():
        if target.item in kernel.keep or target.adds:
            lines.append("at.keep_%s(%s);" % (name, name))
    text += ["template <class At> static INLINE void %s(const At& at) {" % kernel.name, *indent(lines), "}"]
    return "\n".join(text)


def hoisted_text(step, cases):
    antecedents, _ = accessors(step)
    found = {}
    for result, directions, text in summands(step, cases):
        found.setdefault((result, directions), []).append(text)
    sums = []
    for i, key in enumerate(sorted(found)):
        text = found[key][0]
        for other in found[key][1:]:
            text = "maximum(%s, %s)" % (text, other)
        sums.append("sums[%d] = %s;" % (i, text))
    name, arguments = hoisted_name(step), ", ".join("%s %s" % ("const P%d&" % i, n) for i, (n, _) in enumerate(antecedents))
    return "\n".join(
        [
            "// %s: the best sum of the antecedents by state and direction" % rules.rule_text(step.rule),
            "enum { %s = %d };" % (name.upper(), len(sums)),
            "template <%s> static INLINE void %s(float* sums, %s) {"
            % (", ".join("class P%d" % i for i in range(len(antecedents))), name, arguments),
            *indent(sums),
            "}",
        ]
    )


# ----------------------------------------------------------------------------------------------------------------- table

HEADER = """\
// The rules of rules.py, written by generate.py when the decoders are built.
#pragma once

#include "blocks.hpp"

namespace oneec {

enum Kind {
%(kinds)s,
    KINDS
};
constexpr int STATES[KINDS] = {%(numbers)s};  // number of states of each item

// States of two nodes:
enum PairState { %(pair_states)s };
constexpr int SWAPPED[] = {%(swapped)s};  // the state of b and a, given that of a and b

struct Case {  // an instance of a rule: the numbers of its states and the directions of its arcs
    int left, right, result, first, second;
};

struct Shape {  // a rule: kinds of items and nodes; the nodes of the result are 0, 1 (, 2), then the others
    int result, nodes, antecedents, arcs, ordered;
    int has_two;  // the node that certainly has a second crossed arc, or -1
    int kinds[2], antecedent[2][3], arc[2][2], longest[2], order[4];
    int size;
    const Case* cases;
};

%(cases)s

enum { RULES = %(rules)d };
static const Shape SHAPES[RULES] = {
%(shapes)s
};

%(kernels)s

}  // namespace oneec
"""


def wrap(things, margin):
    return textwrap.fill(", ".join(things), 120, initial_indent=margin, subsequent_indent=margin)


def braces(things):
    return "{%s}" % ", ".join(map(str, things))


def shape(number, rule, size):
    nodes = list(rule.result[1:])
    for item in rule.antecedents:
        nodes += [node for node in item[1:] if node not in nodes]

    def numbers(names):
        return braces(nodes.index(name) for name in names)

    counts = len(nodes), len(rule.antecedents), len(rule.arcs), len(rule.order), nodes.index(rule.has_two) if rule.has_two else -1
    return "    {%s}," % ", ".join(
        [
            rule.result[0].upper(),
            *map(str, counts),
            braces(item[0].upper() for item in rule.antecedents),
            braces(numbers(item[1:]) for item in rule.antecedents),
            braces(map(numbers, rule.arcs)),
            braces(map(int, rule.longest)),
            numbers(rule.order),
            str(size),
            "CASES_%d" % number,
        ]
    )


def header():
    check()
    states, table = rules.tables()
    cases = []
    for number, (rule, rows) in enumerate(zip(rules.RULES, table)):
        rows = wrap(["{%s}" % ",".join(map(str, row)) for row in rows], " " * 4)
        cases.append("static const Case CASES_%d[] = {  // %s\n%s\n};" % (number, rules.rule_text(rule), rows))
    pairs = rules.STATES[2]
    swapped = [tuple(1 - root if root >= 0 else root for root in state[::-1]) for state in pairs]
    return HEADER % {
        "kinds": "\n".join(
            "    %s,%s// %s" % (kind.upper(), " " * (16 - len(kind)), " ".join(map(str, states[kind]))) for kind in rules.ITEMS
        ).rstrip(),
        "numbers": ", ".join(str(len(states[kind])) for kind in rules.ITEMS),
        "pair_states": ", ".join(rules.PAIR_STATES),
        "swapped": ", ".join(str(pairs.index(state)) for state in swapped),
        "cases": "\n".join(cases),
        "rules": len(rules.RULES),
        "shapes": "\n".join(shape(number, rule, len(rows)) for number, (rule, rows) in enumerate(zip(rules.RULES, table))),
        "kernels": "\n\n".join(kernel_text(kernel, table) for kernel in KERNELS),
    }


def write(path):
    """Write the header unless it is already up to date, so that nothing is recompiled unnecessarily; all of it or nothing."""
    path, text = Path(path), header()
    if not path.exists() or path.read_text() != text:
        part = path.with_name(".%s.%d.part" % (path.name, os.getpid()))
        try:
            part.write_text(text)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
