"""The rules of 1-Endpoint-Crossing trees, as data.

Take the crossed arcs of a tree that hang together by crossing, and the nodes a complex of these touches. Between
neighbouring nodes lies a *gap*, entered by no arc. So a sentence is parsed as if it were projective, out of gaps and
complexes, and all that these rules have to derive is a complex: its crossed arcs, with gaps between them. That it is
1-Endpoint-Crossing makes regions with one exterior node enough (Pitler, Kannan & Marcus, TACL 2013).

An item says of its nodes which are connected within it and which have their head there (its *state*). The region it
covers is filled: every node strictly inside has its head. Arcs between nodes of an item are not part of it unless
stated. All arcs in the rules are crossed, for the reason that the item or rule gives. Rules hold in both directions:
for "l", "a" left of "b" and for "l", "a" right of it, as the order of nodes says.

    G a b      the gap between a and b, with or without an (uncrossed) arc between them
    X l r      a complex, with l its first and r its last node, without an arc l-r
    O a b x    the region a..b with arcs between the exterior node x and its inside (one at least), each crossed from
               elsewhere by arcs that share a, so that inside only arcs of a may cross it
    L a b x    the same, with or without the arcs a-b and x-b, where b has some crossed arc
    N a b x    the region a..b with an arc x-b and perhaps others of x to its inside, crossed from elsewhere only
    J a b v    the region a..b with v inside: a has an arc crossed by an arc of v to some exterior node or to b's side, no
               other arc but those of a covers v, and b has some crossed arc. Y: its v has its arc to x.
    Z l r x    the region l..r with an arc l-r and arcs of x crossing it; each of these may be crossed by other arcs of l,
               or else by other arcs of r
    M l b a    the region l..a with arcs of b to its inside, which only arcs of a may cross, the gap a..b, and an arc of
               l to a or b or both; some arc of a crosses it and ends to the right of b

    I, W, P, B are stages of J, N and Z.

The items in one of their directions. Dotted arcs are from elsewhere; they cross, as they must, those of the item. == is a gap.

    O a b x   ............................         L a b x   ............................
              :   .------------------.                       :   .------------------.
              :---|----.             |                       :---|----.       .-----|
              a   u    s  ==  b      x                       a   u    s  ==   b     x      and perhaps a-b

    N a b x   ........                             J a b v   .--------.
              :  .---:------------.                          |    .---|------.
              :  |---:-----.      |                          |    |...|......|......
                 x   a ==  u  ==  b                          a == v   t  ==  b           to x (Y) or beyond b

    Z l r x   .------------------.                 M l b a   .---------.
              |------.     .-----|                           |    .----|-----.
              |   .--|-----|--.--|---.                       |    |    |.....|......
              l   u  s == s'  u' r   x                       l    u == a ==  b           also l-b, or both


Why the rules are complete. Let l-t be the longest arc of l in a complex X l r. It is not l-r, and the arcs that cross it
share a node. What a set of arcs has in common with the rest of the complex is only by crossing: so every node between l and r
is covered by an arc, and if no arc leads from strictly between two nodes to beyond them, there is a gap.

 1. They share p to the right of t, and no arc of t covers p. Neither does another arc c-d: for c < t it would cross l-t without
    p; for t < c, it would cross p-u, as l-t does, without l and t. So p = r. From between t and r there is a gap, since an arc
    from there to the left of t would cross l-t without p.

        .-----------.
        |     .-----|-----.          X l r <- Z l t r, G t r
        l     u     t === r

    More arcs may cross the arcs p-u, for each of these all of l or all of t. An arc p-u that an l-s crosses is to the left of
    any p-u' that a t-s' crosses: else l-s and t-s' would cross, and what crosses l-s would share nothing. So Z is made of an
    O of l, or one of t, or one of each (B). Where these meet there may be an arc to l or to t (which makes it an L), not to
    both, which would be a cycle with l-t.

 2. They share p to the right of t, and some t-w covers p. It crosses the arcs p-u, too, so what crosses these shares t, which
    makes an O of t; and what crosses t-w shares p, which makes an L of p. There is a gap from t to p: an arc from there would
    cross l-t without p, or p-u without t.

        .---------.
        |    .----|----.             X l r <- M l p t, L p r t
        |    |    .----|----.
        l    u    t == p    w

 3. They share v between l and t, and some t-u covers v. It crosses the arcs v-w, too: what crosses them shares t, and what
    crosses t-u shares v. It is 2 but for the arc of l, which goes to the other node: M l t v has an arc l-t, and perhaps l-v.

        .--------------.
        |    .---------|
        |    |    .----|----.        X l r <- M l t v, L t r v
        l    u    v == t    w

 4. They share v between l and t, and no arc of t covers v. Neither does another arc c-d, with l < c: for d < t it would cross
    v-w, as l-t does, without l and t; for t < d it would cross l-t without v. So there is a gap from l to v.

        .---------.
        |    .----|----.             X l r <- J l r v
        l == v    t    w

J a b v. Let a-t be the longest arc of a; v-w crosses it, w being beyond t, or v-x. If a has arcs to between v and t, these
cross v-w as well, so all that crosses v-w shares a, and nothing on the side of b does: W a t v, N t b v. If it has none, there
is a gap from v to t, as an arc from there would cross a-t without v or cover v; and what crosses v-w shares t: G v t, L t b v.

L a b x. Take away b's arcs to a and x. If b has no other arc to the inside, let t be the last node touched there: then comes a
gap, and L a t x; the two are O a b x. If no node is touched there is only a gap; b then has its arc to x, since nothing would
cross a-b. If b has another arc b-s, let x-u be the last arc of x to the inside. Only arcs of a cover u, and b-s, which does
not, is to the right of u. It hangs together with the rest by an arc that crosses some a-y which covers u: like x-u, so it is
u-f with f beyond y; no other arc of x crosses a-y, for it would not share u; and there is a gap from a to u, since only arcs of
a cover u. So this is J a b u, and with the arc x-u Y a b x.

The converse, that no rule makes an arc that is not crossed or is against the definition, is in what the items say; the tests
enumerate both: all complexes of up to seven nodes are derived, and all that is derived are complexes.
"""


import textwrap
from collections import namedtuple
from itertools import product

# order: of the nodes in the sentence, or reversed; empty: any allowed. The name is what the decoder calls the rule.
Rule = namedtuple("Rule", "name result parts arcs order")


def rule(name, text, arcs="", order=""):
    result, parts = text.split(" <- ")
    items = [tuple(part.split()) for part in parts.split(", ")]
    arcs = tuple(tuple(arc.split("-")) for arc in arcs.split())
    return Rule(name, tuple(result.split()), tuple(items), arcs, tuple(order.split()))


ITEMS = {  # the nodes of an item in the order of the sentence, or reversed
    "G": ["ab"],
    "X": ["lr"],
    "O": ["xab", "abx"],
    "L": ["xab", "abx"],
    "Y": ["xab", "abx"],
    "N": ["xab"],
    "P": ["xab"],
    "J": ["avb"],
    "I": ["avb"],
    "W": ["avt"],
    "B": ["lrx"],
    "Z": ["lrx"],
    "M": ["lab"],
}

RULES = [
    rule("L_G_X", "L a b x <- G a b", "x-b"),
    rule("L_O_X", "L a b x <- O a b x", "x-b"),
    rule("L_O_A", "L a b x <- O a b x", "a-b"),
    rule("L_O_AX", "L a b x <- O a b x", "a-b x-b"),
    rule("L_Y", "L a b x <- Y a b x"),
    rule("O_LG", "O a b x <- L a t x, G t b", order="a t b"),
    rule("O_Y", "O a b x <- Y a b x"),
    rule("Y_J", "Y a b x <- J a b v", "x-v", "a v b"),
    rule("P_NG", "P a b x <- N a t x, G t b", order="x a t b"),
    rule("N_P", "N a b x <- P a b x", "x-b"),
    rule("N_G", "N a b x <- G a b", "x-b"),
    # J: a's longest arc that crosses an arc of v ends at t
    rule("W_O_T", "W a t v <- O v t a", "a-t"),
    rule("W_O_TV", "W a t v <- O v t a", "a-t v-t"),
    rule("I_WN", "I a b v <- W a t v, N t b v", order="a v t b"),
    rule("I_GL", "I a b v <- G v t, L t b v", "a-t", "a v t b"),
    rule("J_IG", "J a b v <- I a b v, G a v"),
    # Z: some arcs of x crossed by arcs of l, some by arcs of r
    rule("B_LO", "B l r x <- L l t x, O r t x", order="l t r x"),
    rule("B_OL", "B l r x <- O l t x, L r t x", order="l t r x"),
    rule("Z_B", "Z l r x <- B l r x", "l-r"),
    rule("Z_O_RIGHT", "Z l r x <- O l r x", "l-r"),
    rule("Z_O_LEFT", "Z l r x <- O r l x", "l-r"),
    rule("M_A", "M l b a <- O a l b, G a b", "l-a"),
    rule("M_B", "M l b a <- O a l b, G a b", "l-b"),
    rule("M_AB", "M l b a <- O a l b, G a b", "l-a l-b"),
    # X: l's longest arc
    rule("X_ZG", "X l r <- Z l t r, G t r", order="l t r"),  # ends at t and is crossed by arcs of r
    rule("X_J", "X l r <- J l r v", order="l v r"),  # is crossed by arcs of v
    rule("X_ML", "X l r <- M l b a, L b r a", order="l a b r"),
]


# ---------------------------------------------------------------------------------------------------------------- states

# A state gives for each node of an item the index of the node that is the root of its part, -1 for the root itself.
STATES = {
    2: [(-1, -1), (-1, 0), (1, -1)],
    3: [s for s in product((-1, 0, 1, 2), repeat=3) if all(r == -1 or (r != i and s[r] == -1) for i, r in enumerate(s))],
}


def united(nodes, arcs):
    """The state of an item of these nodes, all others having their head, or None if the arcs are no such forest.

    arcs: (head, dependent), by name; a part of several nodes counts as arcs from its root to the others.
    """
    head = {}
    for h, m in arcs:
        if m in head:
            return None
        head[m] = h
    state = []
    for node in {*nodes, *head, *head.values()}:
        root, steps = node, 0
        while root in head:
            root, steps = head[root], steps + 1
            if steps > len(head):
                return None
        if root not in nodes:
            return None
    for node in nodes:
        root = node
        while root in head:
            root = head[root]
        state.append(-1 if root == node else nodes.index(root))
    return tuple(state)


def state_arcs(nodes, state):
    return [(nodes[root], node) for node, root in zip(nodes, state) if root >= 0]


def instances(rule):
    """All (states of the parts, directions of the arcs, state of the result); direction 1 is from second to first."""
    nodes = rule.result[1:]
    for states in product(*(STATES[len(part) - 1] for part in rule.parts)):
        inside = [arc for part, state in zip(rule.parts, states) for arc in state_arcs(part[1:], state)]
        for directions in product((0, 1), repeat=len(rule.arcs)):
            arcs = [arc[::-1] if d else arc for arc, d in zip(rule.arcs, directions)]
            missing = {node for part in rule.parts for node in part[1:]} - set(nodes)
            state = united(nodes, inside + arcs)
            if state is not None and missing <= {m for _, m in inside + arcs}:
                yield states, directions, state


def tables():
    """(states, cases): the states of each item that occur, and for every rule the instances in terms of their numbers.

    A state occurs if it can be derived and a complex can come of it. cases[i]: rows (number of the state of the first
    part, of the second (0 if there is none), of the result, directions of the first and second arc (0 if none)).
    """
    everything = [(rule, list(instances(rule))) for rule in RULES]

    def parts_of(rule, states):
        return {(part[0], state) for part, state in zip(rule.parts, states)}

    derived = {("G", state) for state in STATES[2]}
    useful = {("X", state) for state in STATES[2]}
    while True:
        size = len(derived), len(useful)
        for rule, cases in everything:
            for states, _, result in cases:
                parts = parts_of(rule, states)
                if parts <= derived:
                    derived.add((rule.result[0], result))
                    if (rule.result[0], result) in useful:
                        useful |= parts
        if size == (len(derived), len(useful)):
            break
    states = {
        item: [s for s in STATES[3 if len(orders[0]) == 3 else 2] if (item, s) in derived & useful]
        for item, orders in ITEMS.items()
    }
    table = []
    for rule, cases in everything:
        rows = []
        for parts, directions, result in cases:
            if (rule.result[0], result) in useful and parts_of(rule, parts) <= derived & useful:
                numbers = [states[part[0]].index(state) for part, state in zip(rule.parts, parts)] + [0]
                arcs = (*directions, 0, 0)
                rows.append((numbers[0], numbers[1], states[rule.result[0]].index(result), arcs[0], arcs[1]))
        table.append(rows)
    return states, table


# --------------------------------------------------------------------------------------------------- for the fast decoder

HEADER = """\
// The table of oneec_rules.py for the compiler, which unrolls the loops over the instances of a rule.
// Made by: python -m mh4.decoders.oneec_rules >mh4/decoders/oneec_rules.hpp

#pragma once

namespace oneec {

enum Kind { %(kinds)s, KINDS };
constexpr int STATES[KINDS] = {%(states)s};

enum RuleName {
%(rules)s,
    RULES
};

struct Case {  // an instance of a rule: the numbers of its states and the directions of its arcs
    int left, right, result, first, second;
};

template <int rule> struct Cases;

%(cases)s

struct Shape {  // a rule: kinds of items and nodes; the nodes of the result are 0, 1 (, 2), then come the others
    int result, nodes, parts, arcs, ordered;
    int kinds[2], part[2][3], arc[2][2], order[4];
    int size;
    const Case* cases;
};

static const Shape shapes[RULES] = {
%(shapes)s
};

}  // namespace oneec
"""

CASES = """\
template <> struct Cases<%(name)s> {  // %(rule)s
    static constexpr int size = %(size)d;
    static constexpr Case list[size] = {
%(cases)s
    };
};
constexpr Case Cases<%(name)s>::list[];"""


def header():
    """The table in C++."""

    def listed(things, indent):
        return textwrap.fill(", ".join(things), 120, initial_indent=indent, subsequent_indent=indent)

    def braces(things):
        return "{%s}" % ", ".join(map(str, things))

    def shape(rule, size):
        nodes = list(rule.result[1:])
        for part in rule.parts:
            nodes += [node for node in part[1:] if node not in nodes]

        def numbers(names):
            return braces(nodes.index(name) for name in names)

        return "    {%s},  // %s" % (", ".join([
            rule.result[0], *map(str, (len(nodes), len(rule.parts), len(rule.arcs), len(rule.order))),
            braces(part[0] for part in rule.parts), braces(numbers(part[1:]) for part in rule.parts),
            braces(map(numbers, rule.arcs)), numbers(rule.order), str(size), "Cases<%s>::list" % rule.name,
        ]), rule.name)

    states, table = tables()
    cases = [CASES % {"name": rule.name, "rule": written(rule), "size": len(rows),
                      "cases": listed(["{%d,%d,%d,%d,%d}" % row for row in rows], " " * 8)} for rule, rows in zip(RULES, table)]
    return HEADER % {
        "kinds": ", ".join(ITEMS),
        "states": ", ".join(str(len(states[kind])) for kind in ITEMS),
        "rules": listed([rule.name for rule in RULES], " " * 4),
        "cases": "\n\n".join(cases),
        "shapes": "\n".join(shape(rule, len(rows)) for rule, rows in zip(RULES, table)),
    }


def written(rule):
    """The rule as it stands in RULES."""
    text = "%s <- %s" % (" ".join(rule.result), ", ".join(" ".join(part) for part in rule.parts))
    return text + "".join("; " + "-".join(arc) for arc in rule.arcs)


if __name__ == "__main__":
    print(header(), end="")
