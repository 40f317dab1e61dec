// Find the heads of the best tree in the filled chart of 1EC, and the parts of a tree.
#pragma once
#include "signals.hpp"  // first, as it includes Python.h

#include <algorithm>

#include "complexes.hpp"
#include "interface.hpp"
#include "tables.hpp"

namespace VARIANT::oneec {

// Which scores a tree uses (arcs, crossed arcs, grandparents and siblings), and whether it is 1-Endpoint-Crossing.
class TreeParts {
    const int* heads;
    int n;
    std::vector<char> crossed;  // of each word: whether the arc to it is crossed
    signals::Watch watch;

    // Whether all arcs that cross the arc to m share a node; true if there are none. Sets crossed[m].
    bool find_crossing(int m) {
        const int low = std::min(heads[m], m), high = std::max(heads[m], m);
        int end = -1, other = -1;  // the nodes shared by all arcs found that cross this one
        for (int k = 1; k <= n; k++) {
            const int h = heads[k];
            if ((low < k && k < high) == (low < h && h < high) || k == low || k == high || h == low || h == high) continue;
            if (!crossed[m]) {
                crossed[m] = true;
                end = k;
                other = h;
            }
            if (end != k && end != h) end = -1;
            if (other != k && other != h) other = -1;
            if (end == -1 && other == -1) return false;
        }
        return true;
    }

    // The dependent of h closest to m between h and m, or n + 1.
    int inner_sibling(int h, int m) const {
        int s = n + 1;
        for (int x = std::min(h, m) + 1; x < std::max(h, m); x++)
            if (heads[x] == h && (s > n || h < s)) s = x;
        return s;
    }

    // Whether g, the head of h, is hidden from m: g->h is crossed, or a crossed h->k lies between h->m and g->h in the
    // order of the arcs around h (to the left from the shortest to the longest, then to the right from the longest to
    // the shortest).
    bool hidden(int g, int h, int m) const {
        if (h > 0 && crossed[h]) return true;
        auto place = [&](int k) { return k < h ? h - k : h + n + 2 - k; };
        const int first = std::min(place(m), place(g)), last = std::max(place(m), place(g));
        for (int k = 1; k <= n; k++)
            if (heads[k] == h && crossed[k] && first < place(k) && place(k) < last) return true;
        return false;
    }

  public:
    PartRows rows[PARTS];

    // False if the tree is not 1-Endpoint-Crossing. Throws signals::Raised or std::bad_alloc.
    bool find(const int* tree, int words) {
        heads = tree;
        n = words;
        crossed.assign(n + 1, false);
        for (auto& each : rows) each.clear();
        for (int m = 1; m <= n; m++) {
            watch.pass(10 * n);
            if (!find_crossing(m)) return false;
        }
        for (int m = 1; m <= n; m++) {
            watch.pass(10 * n);
            const int h = heads[m], g = h ? heads[h] : n + 1;
            rows[crossed[m] ? CROSSED_ARC : ARC].push_back({h, m});
            if (crossed[m]) continue;
            const int s = inner_sibling(h, m);
            if (s > n || !crossed[s]) rows[SIBLING].push_back({s, m});
            if (!hidden(g, h, m)) rows[GRANDPARENT].push_back({g, m});
        }
        return true;
    }
};

enum { EDGE = KINDS, HALF, PAIR, PAIRS, CROSSED_HALF, CROSSED_PAIR, NOTHING };  // the kinds of items of the projective part

struct Item {
    int kind = NOTHING, state = 0, a = 0, b = 0, x = 0;
};

// The best way to an item, of those offered so far, and the items that it is made of. Ties go to the first.
struct Way {
    float value = NEVER;
    Item parts[2];
    void offer(float score, const Item& first, const Item& second = {}) {
        if (score > value) *this = Way{score, {first, second}};
    }
};

// The chart of the best tree. The trace unfolds the goal and recomputes the argmaxes along its path; it unfolds items
// of complexes by the table of rules.
class Chart final : Complexes<Tables>, public BestTree {
  public:
    double find(int words, const double* const* scores, const double* cost, bool single_root, int* heads_of_words) override {
        if (words == 0) return single_root ? NEVER : 0;
        prepare(words, scores, cost, single_root);
        fill();
        const float score = at_c(0, n)[none];
        if (score > NEVER) trace(heads_of_words);
        return score;
    }
    const PartRows* parts(const int* tree, int words) override {
        return tree_parts.find(tree, words) ? tree_parts.rows : nullptr;
    }
    size_t bytes_needed() const override { return Tables::bytes_needed(); }
    void release() override { Tables::release(); }

  private:
    // The items E h m, C h e and S a b for g; crossed_half h e; complex a b
    static Item E(int h, int m, int g) { return {EDGE, 0, h, m, g}; }
    static Item C(int h, int e, int g) { return {h == e ? NOTHING : HALF, 0, h, e, g}; }
    static Item S(int a, int b, int g) { return {PAIR, 0, minimum(a, b), maximum(a, b), g}; }
    static Item half_item(int h, int e) { return {h == e ? NOTHING : CROSSED_HALF, 0, h, e, 0}; }
    static Item complex(int a, int b, int state) {
        return {COMPLEX, a < b ? state : SWAPPED[state], minimum(a, b), maximum(a, b), 0};
    }

    struct Found {  // the best instance of a rule for an item
        float value;
        const Shape* rule;
        Case instance;
        int nodes[4];
    };

    TreeParts tree_parts;
    std::vector<Item> agenda;
    int traced_l, traced_x;  // see recall

    // Fill the chart. If l simply counted down, all gaps a b with a > l would be known when they are needed. Instead,
    // the l of a group (low to high) take turns at each r, so that the tables of r, which they all need, stay in the
    // cache. But when l is at r = a, where a is another node of the group, gaps a b are not known yet: they are -inf.
    // Only two kinds of items are made of such gaps: wing l b a, and complex l b <- spanned l a b, gap a b. catch_up
    // makes these again before they are needed. Throws signals::Raised.
    void fill() {
        for (int high = n - 1; high >= 0; high -= group) {
            const int low = maximum(high - group + 1, 0);
            for (int l = low; l <= high; l++)
                for (float* row : layer(l).complexes) std::fill_n(row, width, NEVER);
            for (int r = low + 1; r < side; r++)
                for (int l = minimum(high, r - 1); l >= low; l--) {
                    catch_up(l, r, minimum(high, r - 1));
                    Complexes::fill(l, r);
                }
        }
    }

    // Make again what complex l r needs from gaps of the other nodes a of the group, up to `last`: wing l r-1 a, with
    // gap a r-1, and complex l r <- spanned l a r, gap a r. There are none for a = l+1: spanned l a r has an arc to a
    // node between l and a, and so has the open a l b of a wing.
    void catch_up(int l, int r, int last) {
        for (int a = l + 2; a <= last; a++) {
            if (a < r - 1) fill_wings(l, a, r - 1, r);
            fill_complexes_of_spanned(l, a, r, r + 1);
        }
    }

    void trace(int* heads) {
        traced_l = traced_x = -1;
        agenda.assign(1, C(0, n, none));
        while (!agenda.empty()) {
            const Item item = agenda.back();
            agenda.pop_back();
            if (item.kind < KINDS && item.kind != GAP) {
                trace_rules(item, heads);
                continue;
            }
            if (item.kind == EDGE) heads[item.b] = item.a;
            const Way way = best_way(item);
            if (way.value == NEVER) lost();
            for (const Item& part : way.parts)
                if (part.kind != NOTHING) agenda.push_back(part);
        }
    }

    // ------------------------------------------------------------------------------------------- projective part

    Way best_way(const Item& item) const {
        switch (item.kind) {
            case EDGE: return way_to_arc(item.a, item.b, item.x);
            case HALF: return way_to_half(item.a, item.b, item.x);
            case PAIR: return way_to_pair(item.a, item.b, item.x);
            case PAIRS: return way_to_pairs(item.a, item.b, item.x);
            case CROSSED_HALF: return way_to_crossed_half(item.a, item.b);
            case CROSSED_PAIR: return way_to_crossed_pair(item.a, item.b);
        }
        const Item as_first = C(item.a, item.b, hidden), as_second = C(item.b, item.a, hidden);  // a gap
        return {0, {item.state == APART ? S(item.a, item.b, hidden) : item.state == FIRST_ABOVE ? as_first : as_second}};
    }

    Way way_to_arc(int h, int m, int g) const {
        const int step = m > h ? 1 : -1;
        const float* siblings = sibling + m * (side + 1);
        Way best;
        best.offer(siblings[side] + at_c(m, h + step)[h], C(m, h + step, h));
        for (int s = h + step; may_have_two(h) && s != m + step; s += step) {
            best.offer(pair(h, s) + at_c(m, s)[h], C(m, s, h), {CROSSED_PAIR, 0, h, s});
            if (s != m) best.offer(at_e(h, s)[g] + (at_s(s, m)[h] + siblings[s]), E(h, s, g), S(s, m, h));
        }
        return best;
    }

    Way way_to_half(int h, int end, int g) const {
        const int step = end > h ? 1 : -1;
        Way best;
        for (int m = h + step; m != end + step; m += step) best.offer(at_e(h, m)[g] + at_c(m, end)[h], E(h, m, g), C(m, end, h));
        best.offer(half(h, end), half_item(h, end));
        return best;
    }

    Way way_to_pair(int a, int b, int g) const {
        Way best;
        for (int w = a + 1; w <= b; w++) best.offer(way_to_pairs(a, w, g).value + at_c(b, w)[g], C(b, w, g), {PAIRS, 0, a, w, g});
        return best;
    }

    Way way_to_pairs(int a, int w, int g) const {  // see Projective
        Way best;
        if (!may_have_two(a) && w > 1) return best;
        best.offer(at_c(a, w - 1)[g], C(a, w - 1, g));
        for (int v = a; v < w && may_have_two(a); v++) best.offer(at_c(a, v)[g] + apart(v, w), C(a, v, g), complex(v, w, APART));
        return best;
    }

    Way way_to_crossed_half(int h, int end) const {
        const int step = end > h ? 1 : -1;
        Way best;
        for (int u = h + step; u != end + step; u += step)
            best.offer(above(h, u) + at_c(u, end)[hidden], complex(h, u, FIRST_ABOVE), C(u, end, hidden));
        return best;
    }

    Way way_to_crossed_pair(int h, int w) const {
        const int step = w > h ? 1 : -1;
        Way best;
        best.offer(half(h, w - step), half_item(h, w - step));
        for (int s = h; s != w; s += step)
            best.offer(apart(s, w) + (s != h ? half(h, s) : 0), complex(s, w, APART), half_item(h, s));
        return best;
    }

    // ------------------------------------------------------------------------------------------------- complexes

    // Push the antecedents of the best instance of a rule, and write its arcs to `heads`. Layers have been overwritten
    // as l counted down: before an item in a layer is unfolded, recall restores the item and all that it is made of.
    // In every rule, an item that needs recall comes first, and the agenda finishes it before the other antecedents.
    // So there is one recall for each complex.
    void trace_rules(const Item& item, int* heads) {
        if (item.kind == COMPLEX)
            recall(item.a, item.b);
        else if (item.kind == SPANNED || item.kind == BOTH ||
                 ((item.kind == CLOSED || item.kind == OPEN) && item.a < item.b && item.b < item.x))
            recall(item.a, item.x);
        const Found found = best(item);
        if (!found.rule) lost();
        const Shape& shape = *found.rule;
        for (int i = shape.antecedents - 1; i >= 0; i--) agenda.push_back(antecedent(shape, found.nodes, found.instance, i));
        for (int i = 0; i < shape.arcs; i++) {
            const int direction = found.instance.directions[i];
            heads[found.nodes[shape.arc[i][1 - direction]]] = found.nodes[shape.arc[i][direction]];
        }
    }

    static Item antecedent(const Shape& shape, const int* nodes, const Case& instance, int i) {
        const int* own = shape.antecedent[i];
        return {shape.kinds[i], instance.states[i], nodes[own[0]], nodes[own[1]], nodes[own[2]]};
    }

    // Restore the items in the layer of l; items with an exterior node only for this x.
    void recall(int l, int x) {
        if (traced_l == l && traced_x == x) return;
        traced_l = l;
        traced_x = x;
        for (int r = l + 1; r < x; r++) {
            watch.pass(40 * n);
            fill_pivots(left, l, r);
            fill_far(l, r, x, x + 1);
            if (r + 1 < x) fill_wings(l, r, r + 1, x);
        }
    }

    // The best instance of the rules for an item; ties go to the first in the order of the table.
    Found best(const Item& item) {
        const int count = item.kind == COMPLEX ? 2 : 3;  // nodes of the item; a rule has at most four
        int nodes[4] = {item.a, item.b, item.x, 0};
        const auto [low, high] = std::minmax_element(nodes, nodes + count);
        Found found = {NEVER, nullptr, {}, {}};
        for (const Shape& shape : SHAPES)
            if (shape.kind == item.kind && (shape.has_two < 0 || may_have_two(nodes[shape.has_two])))
                try_rule(shape, item.state, count, nodes, *low, *high, found);
        return found;
    }

    // Replace `found` by any better instance of a rule whose first `count` nodes are chosen. The others are between low
    // and high.
    void try_rule(const Shape& shape, int state, int count, int* nodes, int low, int high, Found& found) {
        if (count < shape.nodes) {
            for (int node = low + 1; node < high; node++) {
                nodes[count] = node;
                try_rule(shape, state, count + 1, nodes, low, high, found);
            }
            return;
        }
        if (!in_order(shape, nodes)) return;
        watch.pass(50);
        for (int k = 0; k < shape.size; k++) {
            if (shape.cases[k].result != state) continue;
            const float value = score(shape, nodes, shape.cases[k]);
            if (value > found.value) {
                found = Found{value, &shape, shape.cases[k], {}};
                std::copy_n(nodes, 4, found.nodes);
            }
        }
    }

    static bool in_order(const Shape& shape, const int* nodes) {
        const bool rising = shape.ordered == 0 || nodes[shape.order[0]] < nodes[shape.order[1]];
        for (int i = 0; i + 1 < shape.ordered; i++) {
            const int before = nodes[shape.order[i]], after = nodes[shape.order[i + 1]];
            if (before == after || (before < after) != rising) return false;
        }
        return true;
    }

    float score(const Shape& shape, const int* nodes, const Case& instance) {
        float sum = 0;
        for (int i = 0; i < shape.antecedents; i++) sum += value(antecedent(shape, nodes, instance, i));
        for (int i = 0; i < shape.arcs; i++)
            sum += links(shape.longest[i]).between(nodes[shape.arc[i][0]], nodes[shape.arc[i][1]])[instance.directions[i]];
        return sum;
    }

    // The value of an item. For an item in a layer, recall must have restored this l and x. The rules compute the items
    // that are not stored: hooked, neither_open, pivot and both; open a b x with x < a < b.
    float value(const Item& item) {
        const auto [kind, state, a, b, x] = item;
        switch (kind) {
            case GAP: return gap_rows[state][a * width + b];
            case COMPLEX: return state == APART ? apart(a, b) : state == FIRST_ABOVE ? above(a, b) : above(b, a);
            case SPANNED: return scalar<SPANNED>(layer(a), a, b, x)[state];
            case WING: return tile<WING>(ItemsOf<Layer>{layer(a), a}, x / LANES, b).at[state * LANES + x % LANES];
            case CLOSED:
                if (a < b && b < x) return scalar<CLOSED>(layer(a), a, b, x)[state];
                return scalar<CLOSED>(a < b ? left : right, a, b, x)[state];
            case NEITHER: return scalar<NEITHER>(a < b ? left : right, a, b, x)[state];
            case HALF_PIVOT: return scalar<HALF_PIVOT>(a < b ? left : right, a, b, x)[state];
            case ARM: return scalar<ARM>(a < b ? left : right, a, b, x)[state];
            case OPEN:
                if (b < a) return scalar<OPEN>(right, a, b, x)[state];
                if (x > b) return scalar<OPEN>(layer(a), a, b, x)[state];
        }
        return best(item).value;
    }
};

}  // namespace VARIANT::oneec
