"""The rules of 1-Endpoint-Crossing trees, as data.

A maximal set of crossed arcs of a tree that are connected by crossing, with the nodes that they touch, is a *complex*. Between
adjacent nodes of a complex lies a *gap*, which no arc enters. So a sentence is parsed as if it were projective, from gaps and
complexes, and all that these rules have to derive is a complex: its crossed arcs, with gaps between them. Because the tree is
1-Endpoint-Crossing, regions with one exterior node are enough (Pitler, Kannan & Marcus, TACL 2013).

An item names the two ends of its region first; a third node lies outside the region (x) or inside it (v, and the a of a wing).
The region is filled: every node strictly inside has its head. Which of the item's nodes are connected within it, and which have
their head there, is its *state* (see STATES). Arcs between the nodes of an item are not part of it unless stated. All arcs in
the rules are crossed, for the reason given by the item or the rule. The arcs of a node are all those incident to it, in either
direction. Each rule is also used mirrored: its `order` fixes the left-to-right order of the nodes up to mirroring, and ITEMS
lists the orders that an item allows.

The items, with their closest counterparts in Pitler, Kannan & Marcus (2013) and Pitler (TACL 2014). There, an item [i,j,x] is
the interval i..j with the exterior node x, and the letter tells at which ends arcs may cross those of x: L left, R right, LR
both, N neither. Their items mix crossed and uncrossed arcs. Here the two are separate: complexes, and the items that they are
made of, have the crossed arcs, gaps have all others, and only the latter have siblings and grandparents in the score.

    Pitler  item

    Int     gap a b             between a and b, with or without an (uncrossed) arc between them
    Int     complex l r         a complex, with l its first and r its last node, without an arc l-r
    L, R    open a b x          the region a..b with arcs between the exterior node x and its inside (at least one), each
                                crossed from elsewhere by arcs that share a, so that inside only arcs incident to a may
                                cross it: L if a is the left end, R if it is the right one. b has no arc to a or x
    L, R    closed a b x        the same, with or without the arcs a-b and x-b, where b has some crossed arc
    N       neither a b x       the region a..b with an arc x-b and perhaps others between x and its inside, crossed only
                                from elsewhere
    N       neither_open a b x  the same before it has the arc x-b
    LR      both l r x          the region l..r with arcs between x and its inside; each may be crossed either by arcs
                                incident to l or by arcs incident to r
    LR      spanned l r x       the same with an arc l-r, which crosses the arcs of x

Intermediate items, without a counterpart:

    pivot a b v         the region a..b with v inside: a has an arc crossed by an arc of v to some exterior node or to b's
                        side, only arcs incident to a cover v, and b has some crossed arc. For open, closed, complex
    half_pivot a b v    the same without the gap between a and v
    arm a t v           a's longest arc a-t that crosses an arc of v, and what lies between v and t: a half_pivot up to t
    hooked a b x        a pivot whose v has its arc to x
    wing l b a          the region l..b with a inside: between l and a arcs incident to b, which only arcs incident to a may
                        cross; from a to b a gap; and an arc of l to a or b or both. Some arc of a ends beyond b and crosses an
                        arc of l. For complex

Pictures of the items, each in one of its directions: .---. is an arc, == or === a gap. Dotted arcs are made elsewhere and cross
those of the item.

    open a b x      ............................       closed a b x  ............................
                    :   .------------------.                         :   .------------------.
                    :---|----.             |                         :---|----.       .-----|
                    a   u    s  ==  b      x                         a   u    s  ==   b     x      and perhaps a-b

    neither a b x   ........                           pivot a b v   .--------.
                    :  .---:------------.                            |    .---|------.
                    :  |---:-----.      |                            |    |...|......|......
                       x   a ==  u  ==  b                            a == v   t  ==  b      to x (hooked) or beyond b

    spanned l r x   .------------------.               wing l b a    .---------.
                    |------.     .-----|                             |    .----|-----.
                    |   .--|-----|--.--|---.                         |    |    |.....|......
                    l   u  s == s'  u' r   x                         l    u == a ==  b      also l-b, or both


Why the rules are complete. Let l-t be the longest arc of l in a complex l r. It is not l-r, and the arcs that cross it
share a node. A set of arcs is connected to the rest of the complex only by crossing: so every node between l and r is covered
by an arc, and if no arc leads from strictly between two nodes to beyond them, there is a gap between them.

 1. They share p to the right of t, and no arc of t covers p. Nor does any other arc c-d: for c < t it would cross l-t
    without p; for t < c, it would cross p-u, as l-t does, without l and t. So p = r. Between t and r there is a gap,
    since an arc from there to the left of t would cross l-t without p.

        .-----------.
        |     .-----|-----.          complex l r <- spanned l t r, gap t r
        l     u     t === r

    Further arcs may cross the arcs p-u, for each p-u either all from l or all from t. An arc p-u crossed by an l-s is to the left
    of any p-u' crossed by a t-s': otherwise l-s and t-s' would cross, and the arcs that cross l-s would share no node. So a
    spanned item is made of an open item of l, or one of t, or one of each (both). Where these meet there may be an arc to l or
    to t (which makes it a closed item), but not to both, which would form a cycle with l-t.

 2. They share p to the right of t, and some t-w covers p. It also crosses the arcs p-u, so the arcs that cross these share t,
    which makes an open item of t; and the arcs that cross t-w share p, which makes a closed item of p. There is a gap from t
    to p: an arc from there would cross l-t without p, or p-u without t.

        .---------.
        |    .----|----.             complex l r <- wing l p t, closed p r t
        |    |    .----|----.
        l    u    t == p    w

 3. They share v between l and t, and some t-u covers v. It also crosses the arcs v-w: the arcs that cross these share t, and
    the arcs that cross t-u share v. This is case 2 except for the arc of l, which goes to the other node: wing l t v has an arc
    l-t, and perhaps l-v.

        .--------------.
        |    .---------|
        |    |    .----|----.        complex l r <- wing l t v, closed t r v
        l    u    v == t    w

 4. They share v between l and t, and no arc of t covers v. Nor does any other arc c-d, with l < c: for d < t it would cross
    v-w, as l-t does, without l and t; for t < d it would cross l-t without v. So there is a gap from l to v.

        .---------.
        |    .----|----.             complex l r <- pivot l r v
        l == v    t    w

pivot a b v. Let a-t be the longest arc of a, which crosses an arc of v: v-w, with w beyond t, or v-x. If a has another arc a-s, with s
between v and t, it crosses that arc of v, too. So all arcs that cross it share a, and no arc between nodes of t..b does: arm a t v,
neither t b v. If a has none, there is a gap from v to t, as an arc from there would cross a-t without v or cover v; and as a-t is the
only arc of a that crosses arcs of v, all arcs that cross these share t: gap v t, closed t b v.

closed a b x. Remove b's arcs to a and x. If b has no other arc to the inside, let t be the last node touched there: between t
and b there is a gap, and the rest is closed a t x; together they are open a b x. If no node is touched, there is only a gap; b
then has its arc to x, since nothing would cross a-b. If b has another arc b-s, let x-u be the last arc of x to the inside. Only
arcs of a cover u, and b-s, which does not, is to the right of u. It is connected to the rest by an arc that crosses some a-y
that covers u: so does x-u, hence this arc is u-f with f beyond y; no other arc of x crosses a-y, since it would not share u; and
there is a gap from a to u, since only arcs of a cover u. So this is pivot a b u, and with the arc x-u it is hooked a b x.

The converse, that no rule makes an arc that is uncrossed or violates the definition, follows from the definitions of the items.
The tests enumerate both directions: all complexes of up to seven nodes are derived, and only complexes are derived.


Sums over all trees need a single derivation of each. These rules leave three things open, and nothing else: each other
item has one derivation, in which its longest arcs, its last nodes and so on determine the rule.

 -  If only one arc v-p crosses l-t, the arcs that cross it share v as well as p: case 3 or 4, but also 1 or 2. For sums, it is not
    1 or 2: these need several arcs of p.
 -  In a spanned item, arcs of x that neither arcs of l nor arcs of r cross, between those that arcs of l cross and those that
    arcs of r cross, may be in the item of l or in that of r. For sums, they are in that of r: the item of l is *bound*, that is, its
    last arc x-u is crossed by an arc of l, or there is an arc l-u beside it, with which it cannot be in the item of r.
 -  The gap between the two may be in either. For sums, the item of r is closed, so it is in that of l; or, if the last node of the
    item of l has an arc to l (it is *tied*), this is also the last node of the item of r, which can only be hooked.

So the rules that are not for sums are replaced by those in SUM_RULES, with these items:

    several a b x         open with at least two arcs of x
    several_closed a b x  closed with at least two arcs of x
    tied a b x            closed with an arc a-b
    tied_several a b x    the same with at least two arcs of x
    bound a b x           closed, and bound to a: tied or hooked
    bound_open a b x      open, and bound to a
    bound_several a b x   the same with at least two arcs of x

The tests count the derivations of all complexes of up to seven nodes, and of all trees of up to six words.
"""

from collections import namedtuple
from itertools import product

# result, antecedents: items, (kind, node, ...). arcs: (first node, second node). longest: for each arc, whether it can be the
# longest arc of l in a complex l r, the only one that node 0 may have if a single root is required. order: of the nodes in the
# sentence, or reversed; if empty, that of the items determines it. has_two: a node that certainly has a second crossed arc; the
# rule is skipped if it is node 0 and a single root is required. for_sums: whether SUM_RULES has the rule, too.
Rule = namedtuple("Rule", "result antecedents arcs longest order has_two for_sums")


def rule(text, arcs="", order="", has_two=None, for_sums=True):
    """Parse a rule. In `arcs`, a=t is a longest arc of a, x-b any other. They are summed in this order."""
    result, antecedents = text.split(" <- ")
    items = [tuple(item.split()) for item in antecedents.split(", ")]
    longest = tuple("=" in arc for arc in arcs.split())
    arcs = tuple(tuple(arc.replace("=", "-").split("-")) for arc in arcs.split())
    return Rule(tuple(result.split()), tuple(items), arcs, longest, tuple(order.split()), has_two, for_sums)


def rule_text(rule):
    """The rule as text, as in RULES."""
    text = "%s <- %s" % (" ".join(rule.result), ", ".join(" ".join(item) for item in rule.antecedents))
    return text + "".join(
        "; %s%s%s" % (h, "=" if longest else "-", m) for (h, m), longest in zip(rule.arcs, rule.longest, strict=True)
    )


ITEMS = {  # the orders that the nodes of an item may have in the sentence, or reversed
    "gap": ["ab"],
    "complex": ["lr"],
    "open": ["xab", "abx"],
    "closed": ["xab", "abx"],
    "hooked": ["xab", "abx"],
    "neither": ["xab"],
    "neither_open": ["xab"],
    "pivot": ["avb"],
    "half_pivot": ["avb"],
    "arm": ["avt"],
    "both": ["lrx"],
    "spanned": ["lrx"],
    "wing": ["lab"],
    "several": ["xab", "abx"],
    "several_closed": ["xab", "abx"],
    "tied": ["abx"],
    "tied_several": ["abx"],
    "bound": ["abx"],
    "bound_open": ["abx"],
    "bound_several": ["abx"],
}

RULES = [
    rule("closed a b x <- gap a b", "x-b"),
    rule("closed a b x <- open a b x", "x-b"),
    rule("closed a b x <- open a b x", "a-b"),
    rule("closed a b x <- open a b x", "x-b a-b"),
    rule("closed a b x <- hooked a b x"),
    rule("open a b x <- closed a t x, gap t b", order="a t b"),
    rule("open a b x <- hooked a b x"),
    rule("hooked a b x <- pivot a b v", "x-v", "a v b", has_two="a"),  # a-t in the pivot; another, made elsewhere, crosses x-v
    rule("neither_open a b x <- neither a t x, gap t b", order="x a t b"),
    rule("neither a b x <- neither_open a b x", "x-b"),
    rule("neither a b x <- gap a b", "x-b"),
    # pivot: a's longest arc that crosses an arc of v ends at t
    rule("arm a t v <- open v t a", "a=t"),
    rule("arm a t v <- open v t a", "a=t v-t"),
    rule("half_pivot a b v <- arm a t v, neither t b v", order="a v t b"),
    rule("half_pivot a b v <- gap v t, closed t b v", "a=t", "a v t b"),
    rule("pivot a b v <- half_pivot a b v, gap a v"),
    # spanned: some arcs of x crossed by arcs of l, some by arcs of r
    rule("both l r x <- closed l t x, open r t x", order="l t r x", for_sums=False),
    rule("both l r x <- open l t x, closed r t x", order="l t r x", for_sums=False),
    rule("spanned l r x <- both l r x", "l=r"),
    rule("spanned l r x <- open l r x", "l=r", for_sums=False),
    rule("spanned l r x <- open r l x", "l=r", for_sums=False),
    rule("wing l b a <- open a l b, gap a b", "l=a", for_sums=False),
    rule("wing l b a <- open a l b, gap a b", "l=b"),
    rule("wing l b a <- open a l b, gap a b", "l-a l=b"),
    # complex: l's longest arc
    rule("complex l r <- spanned l t r, gap t r", order="l t r"),  # ends at t and is crossed by arcs of r
    rule("complex l r <- pivot l r v", order="l v r"),  # is crossed by arcs of v
    rule("complex l r <- wing l b a, closed b r a", order="l a b r"),
]

SUM_RULES = [rule for rule in RULES if rule.for_sums] + [
    rule("several_closed a b x <- open a b x", "x-b"),
    rule("several_closed a b x <- open a b x", "x-b a-b"),
    rule("several_closed a b x <- several a b x", "a-b"),
    rule("several a b x <- several_closed a t x, gap t b", order="a t b"),
    rule("tied a b x <- open a b x", "a-b"),
    rule("tied a b x <- open a b x", "x-b a-b"),
    rule("bound a b x <- tied a b x"),
    rule("bound a b x <- hooked a b x"),
    rule("bound_open a b x <- bound a t x, gap t b", order="a t b"),
    rule("bound_open a b x <- hooked a b x"),
    rule("tied_several a b x <- several a b x", "a-b"),
    rule("tied_several a b x <- open a b x", "x-b a-b"),
    rule("bound_several a b x <- tied_several a t x, gap t b", order="a t b"),
    rule("both l r x <- bound_open l t x, closed r t x", order="l t r x"),
    rule("both l r x <- tied l t x, hooked r t x", order="l t r x"),
    rule("spanned l r x <- bound_several l r x", "l=r"),
    rule("spanned l r x <- several r l x", "l=r"),
    rule("wing l b a <- several a l b, gap a b", "l=a"),
]


# ---------------------------------------------------------------------------------------------------------------- states

# A state gives, for each node of an item, the index of the node that is the root of its component, or -1 if the node itself is
# such a root and has no head yet. In open a b x,
#     (-1, -1, -1)    no two of a, b and x are connected
#     (-1, -1, 0)     x is below a: its dependent, or a dependent of a dependent, and so on
#     (-1, -1, 1)     x is below b
#     (-1, 2, -1)     b is below x
#     (-1, 0, 0)      b and x are below a
# and so on. Of two nodes, neither is above the other, or the first is, or the second is:
APART, FIRST_ABOVE, SECOND_ABOVE = (-1, -1), (-1, 0), (1, -1)
PAIR_STATES = {"APART": APART, "FIRST_ABOVE": FIRST_ABOVE, "SECOND_ABOVE": SECOND_ABOVE}
STATES = {
    2: list(PAIR_STATES.values()),
    3: [s for s in product((-1, 0, 1, 2), repeat=3) if all(r == -1 or (r != i and s[r] == -1) for i, r in enumerate(s))],
}


def state_of(nodes, arcs):
    """The state of an item of these nodes, where all others have their heads, or None if the arcs are not such a forest.

    arcs: (head, dependent), by name; a component of several nodes counts as arcs from its root to the others.
    """
    head = {}
    for h, m in arcs:
        if m in head:
            return None
        head[m] = h
    roots = {}
    for node in {*nodes, *head, *head.values()}:
        root, steps = node, 0
        while root in head:
            root, steps = head[root], steps + 1
            if steps > len(head):
                return None
        if root not in nodes:
            return None
        roots[node] = root
    return tuple(-1 if roots[node] == node else nodes.index(roots[node]) for node in nodes)


def state_arcs(nodes, state):
    return [(nodes[root], node) for node, root in zip(nodes, state, strict=True) if root >= 0]


def instances(rule):
    """All (states of the antecedents, directions of the arcs, state of the result).

    Direction 1 is from the second node to the first.
    """
    nodes = rule.result[1:]
    for states in product(*(STATES[len(item) - 1] for item in rule.antecedents)):
        inside = [arc for item, state in zip(rule.antecedents, states, strict=True) for arc in state_arcs(item[1:], state)]
        for directions in product((0, 1), repeat=len(rule.arcs)):
            arcs = [arc[::-1] if d else arc for arc, d in zip(rule.arcs, directions, strict=True)]
            missing = {node for item in rule.antecedents for node in item[1:]} - set(nodes)
            state = state_of(nodes, inside + arcs)
            if state is not None and missing <= {m for _, m in inside + arcs}:
                yield states, directions, state


def tables(chosen_rules):
    """(states, cases): the states of each item that occur, and for every rule its instances in terms of state numbers.

    A state occurs if it can be derived and can be used in a complex. cases[i]: rows (number of the state of the first antecedent,
    of the second (0 if there is none), of the result, directions of the first and second arc (0 if none)).
    """
    everything = [(rule, list(instances(rule))) for rule in chosen_rules]

    def with_states(rule, states):
        return {(item[0], state) for item, state in zip(rule.antecedents, states, strict=True)}

    derived = {("gap", state) for state in STATES[2]}
    useful = {("complex", state) for state in STATES[2]}
    while True:
        size = len(derived), len(useful)
        for rule, cases in everything:
            for states, _, result in cases:
                antecedents = with_states(rule, states)
                if antecedents <= derived:
                    derived.add((rule.result[0], result))
                    if (rule.result[0], result) in useful:
                        useful |= antecedents
        if size == (len(derived), len(useful)):
            break
    states = {
        item: [s for s in STATES[3 if len(orders[0]) == 3 else 2] if (item, s) in derived & useful]
        for item, orders in ITEMS.items()
        if item in {item for item, _ in derived}
    }
    table = []
    for rule, cases in everything:
        rows = []
        for chosen, directions, result in cases:
            if (rule.result[0], result) in useful and with_states(rule, chosen) <= derived & useful:
                numbers = [states[item[0]].index(state) for item, state in zip(rule.antecedents, chosen, strict=True)] + [0]
                arcs = (*directions, 0, 0)
                rows.append((numbers[0], numbers[1], states[rule.result[0]].index(result), arcs[0], arcs[1]))
        table.append(rows)
    return states, table
