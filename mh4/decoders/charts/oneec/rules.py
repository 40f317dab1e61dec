"""The rules of 1-Endpoint-Crossing trees, as data.

A *complex* is a maximal set of crossed arcs of a tree that are connected by crossing, with the nodes that they touch.
Between adjacent nodes of a complex lies a *gap*, which no arc enters. So a sentence is parsed from gaps and complexes
as if it were projective. These rules only have to derive complexes: their crossed arcs, with gaps between the nodes.
Regions with one exterior node are enough, because the tree is 1-Endpoint-Crossing (Pitler, Kannan & Marcus, TACL 2013).

The first two nodes of an item are the ends of its region. A third node lies outside the region (x) or inside it (v,
and the a of a wing). Every node strictly inside the region has its head. The *state* of an item tells which of the
item's nodes are connected within the item, and which have their heads there (see STATES). An arc between two nodes of
an item is part of the item only where this is stated. All arcs in the rules are crossed, for the reason given by the
item or the rule. The arcs of a node are all arcs that begin or end there. Each rule also applies mirrored: its `order`
is the order of the nodes from left to right or from right to left, and ITEMS lists the orders that an item allows.

The items are listed with their closest counterparts in Pitler, Kannan & Marcus (2013) and Pitler (TACL 2014). There,
an item [i,j,x] is the interval i..j with the exterior node x. Its letter names the ends whose arcs may cross the arcs
of x: L left, R right, LR both, N neither. Pitler's items mix crossed and uncrossed arcs. Here the two are separate:
complexes, and the items that complexes are made of, have the crossed arcs, and gaps have all other arcs. Only arcs in
gaps are scored with siblings and grandparents.

    Pitler  item

    Int     gap a b             between a and b, with or without an (uncrossed) arc between them
    Int     complex l r         a complex, with l its first and r its last node, without an arc l-r
    L, R    open a b x          the region a..b with arcs (at least one) between the exterior node x and nodes inside.
                                Each of these is crossed by arcs made elsewhere, which share a. So inside the item, only
                                arcs of a may cross them. L if a is the left end, R if it is the right end. b has no arc
                                to a or x
    L, R    closed a b x        the same, with or without the arcs a-b and x-b, where b has some crossed arc
    N       neither a b x       the region a..b with an arc x-b, and perhaps others between x and nodes inside. Only
                                arcs made elsewhere cross these
    N       neither_open a b x  the same without the arc x-b
    LR      both l r x          the region l..r with arcs between x and nodes inside. Each of these may be crossed
                                either by arcs of l or by arcs of r
    LR      spanned l r x       the same with an arc l-r, which crosses the arcs of x

Intermediate items, without a counterpart:

    pivot a b v         the region a..b with v inside. Some arc of a is crossed by an arc of v, which leads to an
                        exterior node or to the side of b. Only arcs of a cover v, and b has some crossed arc. Used
                        for open, closed, complex
    half_pivot a b v    the same without the gap between a and v. Used for pivot
    hinge t b v         a gap between v and t, and a closed t b v. Used for half_pivot
    arm a t v           the longest arc a-t of a that crosses an arc of v, and what lies between v and t: a half_pivot
                        up to t
    hooked a b x        a pivot a b v with an arc x-v
    wing l b a          the region l..b with a inside: arcs between b and nodes inside l..a, which only arcs of a may
                        cross; a gap from a to b; and an arc l-a, l-b or both. Some arc of a ends beyond b and crosses
                        an arc of l. Used for complex

Pictures of the items, each in one of its directions: .---. is an arc, == or === a gap. Dotted arcs are made elsewhere
and cross arcs of the item.

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

docs/explanation/oneec-rules.md proves that these rules derive every complex.

Sums over all trees must derive each tree once. So SUM_RULES has other rules in place of those with for_sums=False, with
these items:

    several a b x         open with at least two arcs of x
    several_closed a b x  closed with at least two arcs of x
    tied a b x            closed with an arc a-b
    tied_several a b x    the same with at least two arcs of x
    bound a b x           closed, and bound to a: tied or hooked
    bound_open a b x      open, and bound to a
    bound_several a b x   the same with at least two arcs of x
"""

from collections import namedtuple
from itertools import product

# A rule:
#   result, antecedents   items, (kind, node, ...)
#   arcs                  (first node, second node) of each arc that the rule makes
#   longest               for each arc, whether it can be the longest arc of l in a complex l r. With a single root,
#                         this is the only arc that node 0 may have
#   order                 of the nodes in the sentence, or reversed; if empty, the items determine it
#   has_two               a node that certainly has a second crossed arc. With a single root, the rule is skipped if
#                         this is node 0
#   for_sums              whether SUM_RULES has the rule, too
Rule = namedtuple("Rule", "result antecedents arcs longest order has_two for_sums")


def rule(text, arcs="", order="", has_two=None, for_sums=True):
    """Parse a rule. In `arcs`, a=t is a longest arc of a, and x-b any other arc. Scores are summed in this order."""
    result, antecedents = text.split(" <- ")
    items = [tuple(item.split()) for item in antecedents.split(", ")]
    longest = tuple("=" in arc for arc in arcs.split())
    arcs = tuple(tuple(arc.replace("=", "-").split("-")) for arc in arcs.split())
    return Rule(tuple(result.split()), tuple(items), arcs, longest, tuple(order.split()), has_two, for_sums)


def rule_text(rule):
    """Return the rule as text, as in RULES."""
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
    "hinge": ["vtb"],
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
    rule("hooked a b x <- pivot a b v", "x-v", "a v b", has_two="a"),  # a-t in the pivot, and an arc that crosses x-v
    rule("neither_open a b x <- neither a t x, gap t b", order="x a t b"),
    rule("neither a b x <- neither_open a b x", "x-b"),
    rule("neither a b x <- gap a b", "x-b"),
    # pivot: a's longest arc that crosses an arc of v ends at t
    rule("arm a t v <- open v t a", "a=t"),
    rule("arm a t v <- open v t a", "a=t v-t"),
    rule("half_pivot a b v <- arm a t v, neither t b v", order="a v t b"),
    rule("hinge t b v <- gap v t, closed t b v"),
    rule("half_pivot a b v <- hinge t b v", "a=t", "a v t b"),
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

# A state has a number for each node of an item: the index of the root of its component, or -1 if the node itself is the
# root of a component and has no head yet. In open a b x,
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
    """Return the state of an item of these nodes, or None if the arcs are no forest where all other nodes have heads.

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
    """Yield the instances of a rule: (states of the antecedents, directions of the arcs, state of the result).

    Direction 0 is from the first node of an arc to the second, 1 from the second to the first.
    """
    nodes = rule.result[1:]
    inner = {node for item in rule.antecedents for node in item[1:]} - set(nodes)  # these must have heads
    for states in product(*(STATES[len(item) - 1] for item in rule.antecedents)):
        inside = [arc for item, state in zip(rule.antecedents, states, strict=True) for arc in state_arcs(item[1:], state)]
        for directions in product((0, 1), repeat=len(rule.arcs)):
            arcs = [arc[::-1] if d else arc for arc, d in zip(rule.arcs, directions, strict=True)]
            state = state_of(nodes, inside + arcs)
            if state is not None and inner <= {m for _, m in inside + arcs}:
                yield states, directions, state


def with_states(items, states):
    """Return the set of (kind, state) of items in these states."""
    return {(item[0], state) for item, state in zip(items, states, strict=True)}


def occurring(every_instance):
    """Return the (kind, state) that can be derived and can be used in a complex.

    every_instance: (rule, its instances) for every rule.
    """
    steps = [
        (with_states(rule.antecedents, states), (rule.result[0], result))
        for rule, found in every_instance
        for states, _, result in found
    ]
    derived, more = set(), {("gap", state) for state in STATES[2]}
    while more:
        derived |= more
        more = {result for antecedents, result in steps if antecedents <= derived} - derived
    used, more = set(), {("complex", state) for state in STATES[2]}
    while more:
        used |= more
        more = {item for antecedents, result in steps if result in used and antecedents <= derived for item in antecedents} - used
    return derived & used


def padded(numbers):
    """Return two numbers: those given, and 0 for those missing."""
    return (*numbers, 0, 0)[:2]


def tables(chosen_rules):
    """Return (states, cases): the states of each kind of item that occur, and the instances of every rule.

    cases[i]: rows (number of the state of the first antecedent, of the second (0 if there is none), of the result,
    directions of the first and second arc (0 if none)).
    """
    every_instance = [(rule, list(instances(rule))) for rule in chosen_rules]
    occur = occurring(every_instance)
    states = {kind: [s for s in STATES[len(orders[0])] if (kind, s) in occur] for kind, orders in ITEMS.items()}
    states = {kind: found for kind, found in states.items() if found}
    table = []
    for rule, found in every_instance:
        rows = []
        for chosen, directions, result in found:
            if with_states((*rule.antecedents, rule.result), (*chosen, result)) <= occur:
                numbers = [states[item[0]].index(state) for item, state in zip(rule.antecedents, chosen, strict=True)]
                rows.append((*padded(numbers), states[rule.result[0]].index(result), *padded(directions)))
        table.append(rows)
    return states, table
