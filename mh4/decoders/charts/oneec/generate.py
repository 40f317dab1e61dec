"""Write recurrences.hpp: the rules of rules.py in C++. setup.py runs this before compiling.

The header has the rules as a table, for the trace, and the *kernels* below, which fill the charts. MaxKernels has the
kernels of the decoder, with maxima. SumKernels has the kernels of the marginals, with SUM_RULES; each is followed by
its reverse. A kernel derives some items by all rules that result in them, with all instances unrolled. The rules do
not specify where the values of items and arcs are stored: a kernel gets them from its argument `at` (complexes.hpp).
For the rule

    open a b x <- closed a t x, gap t b

the kernel calls at.tile<CLOSED>(at.items_of_a(), t) and at.gap_t_b(t) for each t from at.begin to at.end - 1, and
indexes the results by state. Items with a value for each lane come from `tile`, since all items of a are stored alike.
Arcs come from the Links of at.chart.

The reverse of a kernel, `..._outside`, works in the opposite order. It gets the derivatives with respect to the
kernel's items from at.gradient<OPEN>(at.items_of_a(), at.b, ...), and adds to the derivatives with respect to
everything that these items are made of. For this, what at.tile returns has a function `add`.
"""

import os
import textwrap
from collections import defaultdict, namedtuple
from functools import reduce
from pathlib import Path

from mh4.decoders.charts.oneec import rules

# An item to derive. nodes: the kernel's names for the nodes of the rules' result. fixed: its names for further nodes
# of a rule; a further node that is not in `fixed` takes all values in between. over: if not None, only rules with
# exactly these further nodes apply, and the kernel updates the values in at.so_far_...(values) instead of starting at
# nothing.
Target = namedtuple("Target", "item nodes fixed over")

# What a chart computes: its rules, and C++ text that declares an item with the values of nothing, chooses one of several
# values (or adds them), combines values, and updates an item.
Algebra = namedtuple("Algebra", "rules start choose combine update")
MAXIMA = Algebra(rules.RULES, "Value %(name)s[%(size)s];\nclear(%(name)s);", "maximum(%s, %s)", " + ", "update_maximum(%s, %s);")
SUMS = Algebra(rules.SUM_RULES, "Value %(name)s[%(size)s] = {};", "(%s + %s)", " * ", "%s += %s;")

# lanes: the node whose values are in vectors. keep: the items that are passed to at.keep_...
Kernel = namedtuple("Kernel", "name lanes targets keep algebra")


def kernel(name, lanes, targets, keep, algebra=MAXIMA):
    """Return a kernel. targets: a list of Targets; or text, the items of Targets to which all rules apply."""
    if isinstance(targets, str):
        targets = [Target(item, tuple(nodes), {}, None) for item, *nodes in map(str.split, targets.split(", "))]
    return Kernel(name, lanes, targets, set(keep.split()), algebra)


def complexes(nodes, over, **fixed):
    """Return the targets for complexes of these nodes, derived by the rules that have the further nodes `over`."""
    return [Target("complex", tuple(nodes), fixed, set(over))]


# In the kernels "near", the nodes are a, b and an x on the side of a; in "far", they are l, r and an x beyond r.
NEAR = "hooked a b x, open a b x, closed a b x, neither_open a b x, neither a b x, arm x b a"
SHARED = [
    kernel("hinges", None, "hinge t b v", "hinge"),
    kernel("half_pivots", "a", "half_pivot a b v", "half_pivot"),
    kernel("pivots", None, "pivot a b v", "pivot"),
    kernel("wings", "b", "wing l b a", "wing"),
    kernel("complexes_of_spanned", "x", complexes("lx", "t", t="t"), ""),
    kernel("complexes_of_pivots", None, complexes("lr", "v"), ""),
    kernel("complexes_of_wings", "a", complexes("lr", "ab", a="a"), ""),
]
KERNELS = [
    kernel("near_left", "x", NEAR, "closed neither arm"),
    kernel("near_right", "x", NEAR, "open closed neither arm"),
    kernel("far", "x", "hooked l r x, open l r x, closed l r x, both l r x, spanned l r x", "open closed spanned"),
    *SHARED,
]
SUM_KERNELS = [
    kernel("near_left", "x", NEAR, "open closed neither_open neither arm", SUMS),
    kernel(
        "near_right",
        "x",
        "hooked a b x, open a b x, closed a b x, several a b x, several_closed a b x, neither_open a b x, neither a b x, arm x b a",
        "hooked open closed several several_closed neither_open neither arm",
        SUMS,
    ),
    kernel(
        "far",
        "x",
        "hooked l r x, open l r x, closed l r x, several l r x, several_closed l r x, tied l r x, bound l r x, bound_open l r x, "
        "tied_several l r x, bound_several l r x, both l r x, spanned l r x",
        "open closed several several_closed tied bound bound_open tied_several bound_several both spanned",
        SUMS,
    ),
    *(kernel._replace(algebra=SUMS) for kernel in SHARED),
]


# A rule that a kernel applies. number: of the rule in the algebra's list. renamed: the rule in the kernel's names.
# inputs: an Input for each antecedent, then for each arc. loop: the node that takes all values in between, or None.
Step = namedtuple("Step", "rule number target renamed inputs loop has_two")

# The values of an item or arc that a kernel reads: the name of the C++ variable, the call that fetches them from `at`,
# and how many there are.
Input = namedtuple("Input", "name call size")


def further_nodes(rule):
    """Return the nodes of a rule that its result does not have."""
    return {node for item in rule.antecedents for node in item[1:]} - set(rule.result[1:])


def steps_of(kernel):
    """Return a Step for every rule that the kernel applies."""
    steps = []
    for target in kernel.targets:
        for number, rule in enumerate(kernel.algebra.rules):
            further = further_nodes(rule)
            if rule.result[0] != target.item or target.over not in (None, further):
                continue
            names = {**dict(zip(rule.result[1:], target.nodes, strict=True)), **target.fixed}
            loops = sorted(further - set(target.fixed))
            if len(loops) > 1 or any(node in names.values() for node in loops):
                raise ValueError("%s: %s has to fix nodes" % (kernel.name, rules.rule_text(rule)))
            names.update({node: node for node in loops})
            antecedents = tuple((item[0], *(names[node] for node in item[1:])) for item in rule.antecedents)
            arcs = tuple(tuple(names[node] for node in arc) for arc in rule.arcs)
            renamed = rule._replace(result=(target.item, *target.nodes), antecedents=antecedents, arcs=arcs)
            loop = loops[0] if loops else None
            inputs = [Input("_".join(item), call(kernel, "", item, loop), states_of(item[0])) for item in antecedents]
            inputs += [arc_input(kernel, arc, longest, loop) for arc, longest in zip(arcs, rule.longest, strict=True)]
            steps.append(Step(rule, number, target, renamed, inputs, loop, names.get(rule.has_two)))
    return steps


def states_of(kind):
    """Return the number of states of an item as C++ text."""
    return "STATES[%s]" % kind.upper()


def arc_input(kernel, arc, longest, loop):
    """Return the Input for an arc."""
    links, lanes = "longest" if longest else "crossed", kernel.lanes
    view = "from_lanes" if arc[0] == lanes else "to_lanes" if arc[1] == lanes else "between"
    nodes = ["at.x" if node == lanes else node if node == loop else "at." + node for node in arc]
    return Input("_".join((links, *arc)), "at.chart.%s.%s(%s)" % (links, view, ", ".join(nodes)), 2)


def check(kernels):
    """Raise ValueError if the kernels' algebra has a rule that no kernel applies."""
    applied = {step.rule for kernel in kernels for step in steps_of(kernel)}
    for rule in kernels[0].algebra.rules:
        if rule not in applied:
            raise ValueError("%s: no kernel applies this rule" % rules.rule_text(rule))


# --------------------------------------------------------------------------------------------------------------- kernels


def products(pairs):
    """Return pairs of states as few products: (states on the left, states on the right) for all pairs of one of each.

    Each product stands for the maximum of the left values plus the maximum of the right values. Rounding preserves the
    order of sums. So the maximum over all pairs is the same to the bit, whether it is taken before or after adding
    common terms. For sums, it stands for a product of two sums; then the results are the same except for rounding.
    """

    def factored(pairs):
        """Join all pairs of a first state, then all first states that have the same second states."""
        seconds = {}
        for first, second in pairs:
            seconds.setdefault(first, []).append(second)
        firsts = {}
        for first, found in seconds.items():
            firsts.setdefault(tuple(found), []).append(first)
        return [(tuple(found), second) for second, found in firsts.items()]

    from_left = factored(pairs)
    from_right = [(left, right) for right, left in factored([(right, left) for left, right in pairs])]
    return min(from_left, from_right, key=lambda found: (len(found), sum(len(left) + len(right) for left, right in found)))


def place(kernel, item, loop=None):
    """Return the arguments of at.tile for an item with a value for each lane of the kernel, otherwise None."""
    if len(item) < 4:
        return None
    first, second, last = item[1:]
    owner, lanes = (last, first) if item[0] in ("arm", "half_pivot") else (first, last)
    if lanes != kernel.lanes:
        return None
    return "at.items_of_%s(%s), %s" % (owner, loop if loop == owner else "", second if loop == second else "at." + second)


def call(kernel, what, item, loop=None, values=None):
    """Return a call of a function of `at` for an item.

    what: "" to get the item's values, "keep" to store `values`, "gradient" to get its derivatives in `values`.
    """
    arguments = [] if values is None else [values]
    if placed := place(kernel, item, loop):
        return "at.template %s<%s>(%s)" % (what or "tile", item[0].upper(), ", ".join([placed, *arguments]))
    arguments += [loop] if loop in item[1:] else []
    return "at.%s(%s)" % ("_".join([what, *item] if what else item), ", ".join(arguments))


def chosen(algebra, name, states):
    """Return text for the best of the values of these states, or their sum."""
    return reduce(lambda text, other: algebra.choose % (text, other), ["%s[%d]" % (name, state) for state in states])


def terms(step, cases):
    """Yield the terms of an item, which is their maximum or sum, as (result, factors).

    result: the number of the item's state. factors: (name, states) of the antecedents and arcs.
    """
    names, count = [value.name for value in step.inputs], len(step.rule.antecedents)
    pairs = defaultdict(list)  # of states on the left and right, by result and directions
    for left, right, result, *directions in cases:
        pairs[result, tuple(directions[: len(step.rule.arcs)])].append((left, right))
    for result, directions in sorted(pairs):
        for sides in products(pairs[result, directions]):
            yield result, list(zip(names, [*sides[:count], *((direction,) for direction in directions)], strict=True))


def updates(kernel, step, cases):
    """Return the lines that update a target with the instances of a rule."""
    algebra, lines = kernel.algebra, []
    for result, factors in terms(step, cases):
        value = algebra.combine.join(chosen(algebra, *factor) for factor in factors)
        lines.append(algebra.update % ("%s[%d]" % (item_name(step.target), result), value))
    return lines


def item_name(target):
    return "_".join((target.item, *target.nodes))


def indent(lines):
    return ["    " + line for line in lines]


def fetched(kernel, steps):
    """Return the Inputs of the steps of a block, except the kernel's own items."""
    own = {item_name(target) for target in kernel.targets}
    return list({value.name: value for step in steps for value in step.inputs if value.name not in own}.values())


def block(kernel, steps, lines):
    """Return the lines of steps with the same loop, or without a loop, as a block."""
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


def inside_block(kernel, steps, table):
    lines = ["const auto %s = %s;" % (value.name, value.call) for value in fetched(kernel, steps)]
    for step in steps:
        lines += ["// " + step_text(step), *updates(kernel, step, table[step.number])]
    return block(kernel, steps, lines)


def step_text(step):
    """Return the rule in the kernel's names and, if these differ, in its own names."""
    text = [rules.rule_text(rule) for rule in dict.fromkeys((step.renamed, step.rule))]
    return text[0] if len(text) == 1 else "%s   (%s)" % tuple(text)


def blocks(kernel):
    """Return groups of steps, one for each block: those with a loop over the same node, then the others, one by one."""
    steps = steps_of(kernel)
    loops = dict.fromkeys(step.loop for step in steps if step.loop)
    without_loop = [[step] for target in kernel.targets for step in steps if step.target is target and not step.loop]
    return [[step for step in steps if step.loop == node] for node in loops] + without_loop


def function(name, lines):
    head = "template <class At> static INLINE void %s(const At& at) {" % name
    return "\n".join([head, *indent(["typedef typename At::Value Value;", *lines]), "}"])


def kernel_text(kernel, table):
    """Return the kernel as a function."""
    lines = []
    for target in kernel.targets:
        name = item_name(target)
        start = "Value %(name)s[%(size)s];\nat.so_far_%(name)s(%(name)s);" if target.over else kernel.algebra.start
        lines += (start % {"name": name, "size": states_of(target.item)}).split("\n")
    for steps in blocks(kernel):
        lines += inside_block(kernel, steps, table)
    for target in kernel.targets:
        if target.item in kernel.keep or target.over:
            lines.append(call(kernel, "keep", (target.item, *target.nodes), values=item_name(target)) + ";")
    return function(kernel.name, lines)


# --------------------------------------------------------------------------------------------------------------- reverse


def gradient(name):
    return "grad_" + name


def shares(out, factors):
    """Return the lines that add to the derivatives with respect to the factors of a product.

    out: the derivative with respect to the product. factors: (name, states), each the sum of its values of these states.
    """
    lines = []
    for name, states in factors:
        others = [chosen(SUMS, *other) for other in factors if other[0] != name]
        for state in states:
            lines.append("%s[%d] += %s;" % (gradient(name), state, " * ".join([out, *others])))
    return lines


def outside_block(kernel, steps, table):
    """Return the reverse of `inside_block`."""
    lines, inputs = [], fetched(kernel, steps)
    for name, source, size in inputs:
        lines += ["const auto %s = %s;" % (name, source), "Value %s[%s] = {};" % (gradient(name), size)]
    for step in reversed(steps):
        lines.append("// " + step_text(step))
        for result, factors in terms(step, table[step.number]):
            lines += shares("%s[%d]" % (gradient(item_name(step.target)), result), factors)
    lines += ["%s.add(%s);" % (name, gradient(name)) for name, _, _ in inputs]
    return block(kernel, steps, lines)


def outside_text(kernel, table):
    """Return the reverse of the kernel as a function."""
    steps, own, lines = steps_of(kernel), {item_name(target): target for target in kernel.targets}, []
    for name, target in own.items():
        lines.append("Value %s[%s] = {};" % (gradient(name), states_of(target.item)))
        if target.item in kernel.keep or target.over:
            lines.append(call(kernel, "gradient", (target.item, *target.nodes), values=gradient(name)) + ";")
    # A derivative with respect to a factor of a product needs the other factors.
    used = {"_".join(item) for step in steps if len(step.inputs) > 1 for item in step.renamed.antecedents}
    for name, target in own.items():
        if name in used:
            if target.item not in kernel.keep:
                raise ValueError("%s: the reverse needs the values of %s" % (kernel.name, target.item))
            lines.append("const auto %s = %s;" % (name, call(kernel, "", (target.item, *target.nodes))))
    for steps in reversed(blocks(kernel)):
        lines += outside_block(kernel, steps, table)
    return function(kernel.name + "_outside", lines)


# ----------------------------------------------------------------------------------------------------------------- table

HEADER = """\
// The rules of rules.py, written by generate.py when the decoders are built.
#pragma once

#include "blocks.hpp"

namespace VARIANT::oneec {

%(kinds)s

// States of two nodes:
enum PairState { %(pair_states)s };
constexpr int SWAPPED[] = {%(swapped)s};  // the state of b and a, given the state of a and b

struct Case {  // an instance of a rule: the numbers of the states of its antecedents and its result; directions of arcs
    int states[2], result, directions[2];
};

struct Shape {  // a rule: kinds of items and nodes; the nodes of the result are 0, 1 (, 2), then the others
    int kind, nodes, antecedents, arcs, ordered;
    int has_two;  // the node that certainly has a second crossed arc, or -1
    int kinds[2], antecedent[2][3], arc[2][2], longest[2], order[4];
    int size;
    const Case* cases;
};

%(cases)s

static const Shape SHAPES[] = {
%(shapes)s
};

struct MaxKernels {
%(kernels)s
};

struct SumKernels {
%(sum_kernels)s
};

}  // namespace VARIANT::oneec
"""

KINDS = """\
enum Kind {
%s
    KINDS
};
constexpr int STATES[KINDS] = {%s};  // number of states of each item"""


def braces(things):
    return "{%s}" % ", ".join(map(str, things))


def shape(number, rule, size):
    nodes = list(rule.result[1:])
    for item in rule.antecedents:
        nodes += [node for node in item[1:] if node not in nodes]

    def numbers(names):
        return braces(nodes.index(name) for name in names)

    fields = [rule.result[0].upper(), len(nodes), len(rule.antecedents), len(rule.arcs), len(rule.order)]
    fields += [nodes.index(rule.has_two) if rule.has_two else -1, braces(item[0].upper() for item in rule.antecedents)]
    fields += [braces(numbers(item[1:]) for item in rule.antecedents), braces(map(numbers, rule.arcs))]
    fields += [braces(map(int, rule.longest)), numbers(rule.order), size, "CASES_%d" % number]
    return "    %s," % braces(fields)


def kinds(states):
    """Return the enum of items, and the number of states of each item."""
    width = max(map(len, states)) + 2
    lines = ["    %s// %s" % ((kind.upper() + ",").ljust(width), " ".join(map(str, found))) for kind, found in states.items()]
    return KINDS % ("\n".join(lines).rstrip(), ", ".join(str(len(found)) for found in states.values()))


def header():
    for kernels in (KERNELS, SUM_KERNELS):
        check(kernels)
    table = rules.tables(rules.RULES)[1]
    states, sum_table = rules.tables(rules.SUM_RULES)  # SUM_RULES also have all items of RULES, in the same states
    cases = []
    for number, (rule, rows) in enumerate(zip(rules.RULES, table, strict=True)):
        text = ", ".join("{%s}" % ",".join(map(str, row)) for row in rows)
        rows = textwrap.indent(textwrap.fill(text, 116), " " * 4)
        cases.append("static const Case CASES_%d[] = {  // %s\n%s\n};" % (number, rules.rule_text(rule), rows))

    pairs = rules.STATES[2]
    swapped = [tuple(1 - root if root >= 0 else root for root in state[::-1]) for state in pairs]
    sum_kernels = [text(kernel, sum_table) for kernel in SUM_KERNELS for text in (kernel_text, outside_text)]
    return HEADER % {
        "kinds": kinds(states),
        "pair_states": ", ".join(rules.PAIR_STATES),
        "swapped": ", ".join(str(pairs.index(state)) for state in swapped),
        "cases": "\n".join(cases),
        "shapes": "\n".join(shape(number, rule, len(table[number])) for number, rule in enumerate(rules.RULES)),
        "kernels": "\n\n".join(kernel_text(kernel, table) for kernel in KERNELS),
        "sum_kernels": "\n\n".join(sum_kernels),
    }


def write(path):
    """Write the header, all of it or nothing, unless it is up to date: then nothing is recompiled unnecessarily."""
    path, text = Path(path), header()
    if not path.exists() or path.read_text() != text:
        part = path.with_name(".%s.%d.part" % (path.name, os.getpid()))
        try:
            part.write_text(text)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
