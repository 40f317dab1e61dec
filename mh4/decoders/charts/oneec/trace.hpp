// Reading the heads of the best tree off the filled chart of 1EC.
#pragma once
#include "signals.hpp"  // first, as it includes Python.h

#include <algorithm>

#include "complexes.hpp"
#include "interface.hpp"

namespace VARIANT::oneec {

// Which scores a tree uses (arcs, crossed arcs, grandparents and siblings), and whether it is 1-Endpoint-Crossing.
class TreeParts {
    const int* heads;
    int n;
    std::vector<char> crossed;  // of each word: whether its arc is
    signals::Watch watch;

    // Whether the arcs that cross the one to m, if there are any, share a node.
    bool find_crossing(int m) {
        const int low = std::min(heads[m], m), high = std::max(heads[m], m);
        int end = -1, other = -1;  // the nodes shared by all arcs crossing this one
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

    // Whether a crossed h->k hides the head g of h from m. It cannot be that h < g < m or h > g > m: since g is above h and m, an arc on
    // the path from the root to g would cross h->m.
    bool hidden(int g, int h, int m) const {
        if (h > 0 && crossed[h]) return true;
        for (int k = 1; k <= n; k++) {
            if (heads[k] != h || !crossed[k]) continue;
            bool hides;
            if ((h < m && m < g && g <= n) || (h > m && m > g))  // g is on the side of m: k is between them
                hides = (m < k && k < g) || (m > k && k > g);
            else if (h == 0)  // g = n+1, none: k is beyond m
                hides = m < k;
            else  // g is on the other side: k is beyond m or beyond g
                hides = (h < m && m < k) || (h > m && m > k) || (h < g && g < k) || (h > g && g > k);
            if (hides) return true;
        }
        return false;
    }

  public:
    PartRows rows[PARTS];

    // False if the tree is not 1-Endpoint-Crossing. Throws signals::Raised or std::bad_alloc.
    bool find(const int* of, int words) {
        heads = of;
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

// Unfolds the goal, recomputing the argmaxes along its path; items of complexes are unfolded by the table of rules.
class Chart final : Complexes, public BestTree {
  public:
    double find(int words, const double* const* scores, const double* cost, bool single_root, int* heads_of_words) override {
        if (words == 0) return single_root ? NEVER : 0;
        prepare(words, scores, cost, single_root);
        fill();
        const float score = at_c(0, n)[none];
        if (score > NEVER) trace(heads_of_words);
        return score;
    }
    const PartRows* parts(const int* tree, int words) override { return tree_parts.find(tree, words) ? tree_parts.rows : nullptr; }
    size_t bytes_needed() const override { return Complexes::bytes_needed(); }
    void release() override { Complexes::release(); }

  private:
    void trace(int* heads_of_words) {
        heads = heads_of_words;
        traced_l = traced_x = -1;
        agenda.clear();
        push(HALF, 0, 0, n, none);
        while (!agenda.empty()) {
            const Item item = agenda.back();
            agenda.pop_back();
            switch (item.kind) {
                case ARC: trace_arc(item.a, item.b, item.x); break;
                case HALF: trace_half(item.a, item.b, item.x); break;
                case PAIR: trace_pair(item.a, item.b, item.x); break;
                case GAP: trace_gap(item); break;
                default: trace_rules(item);
            }
        }
    }

    enum { ARC = KINDS, HALF, PAIR };  // on the agenda, E a b, C a b and S a b of the projective part, for g = x

    struct Item {
        int kind, state, a, b, x;
    };

    // The best of several ways, and its nodes; the first of those that are equally good.
    struct Best {
        float value = NEVER;
        int node = -1, other = -1;
        void offer(float score, int at, int also = -1) {
            if (score > value) *this = Best{score, at, also};
        }
        void require() const {
            if (value == NEVER) lost();
        }
    };

    struct Found {  // the best instance of a rule for an item
        float value;
        int rule;
        Case instance;
        int nodes[4];
    };

    TreeParts tree_parts;
    int* heads;
    std::vector<Item> agenda;
    int traced_l, traced_x;  // see recall

    void push(int kind, int state, int a, int b, int x) { agenda.push_back(Item{kind, state, a, b, x}); }

    // ------------------------------------------------------------------------------------------- projective part

    void trace_gap(const Item& item) {
        if (item.state == APART)
            push(PAIR, 0, minimum(item.a, item.b), maximum(item.a, item.b), hidden);
        else if (item.state == FIRST_ABOVE)
            push(HALF, 0, item.a, item.b, hidden);
        else
            push(HALF, 0, item.b, item.a, hidden);
    }

    void trace_half(int h, int end, int g) {
        if (h == end) return;
        const int step = end > h ? 1 : -1;
        Best best;
        for (int m = h + step; m != end + step; m += step) best.offer(at_e(h, m)[g] + at_c(m, end)[h], m);
        if (crossed_half[h * width + end] > best.value) {
            trace_crossed_half(h, end);
        } else {
            best.require();
            push(ARC, 0, h, best.node, g);
            push(HALF, 0, best.node, end, h);
        }
    }

    void trace_crossed_half(int h, int end) {
        const int step = end > h ? 1 : -1;
        Best best;
        for (int u = h + step; u != end + step; u += step)
            best.offer(complex_above[h * width + u] + at_c(u, end)[hidden], u);
        best.require();
        push_complex(h, best.node, FIRST_ABOVE);
        push(HALF, 0, best.node, end, hidden);
    }

    void push_complex(int a, int b, int state) {
        push(COMPLEX, a < b ? state : SWAPPED[state], minimum(a, b), maximum(a, b), 0);
    }

    void trace_arc(int h, int m, int g) {
        const int step = m > h ? 1 : -1;
        const float* siblings = sibling + m * (side + 1);
        heads[m] = h;
        Best best;  // the inner sibling; or w, if its arc is crossed
        best.offer(siblings[side] + at_c(m, h + step)[h], -1);
        if (may_have_two(h)) {
            for (int s = h + step; s != m + step; s += step) {
                best.offer(crossed_pair[h * width + s] + at_c(m, s)[h], -1, s);
                if (s != m) best.offer(at_e(h, s)[g] + (at_s(s, m)[h] + siblings[s]), s);
            }
        }
        best.require();
        if (best.node >= 0) {
            push(ARC, 0, h, best.node, g);
            push(PAIR, 0, minimum(best.node, m), maximum(best.node, m), h);
        } else if (best.other < 0) {
            push(HALF, 0, m, h + step, h);
        } else {
            push(HALF, 0, m, best.other, h);
            trace_crossed_pair(h, best.other);
        }
    }

    void trace_crossed_pair(int h, int w) {
        const int step = w > h ? 1 : -1;
        Best best;
        best.offer(crossed_half[h * width + w - step], -1);
        for (int s = h; s != w; s += step)
            best.offer(complex_apart[s * width + w] + (s != h ? crossed_half[h * width + s] : 0), s);
        best.require();
        if (best.node < 0) {
            trace_crossed_half(h, w - step);
        } else {
            push_complex(best.node, w, APART);
            if (best.node != h) trace_crossed_half(h, best.node);
        }
    }

    void trace_pair(int a, int b, int g) {
        Best best;
        for (int w = a + 1; w <= b; w++) best.offer(pairs_score(a, w, g).value + at_c(b, w)[g], w);
        best.require();
        push(HALF, 0, b, best.node, g);
        if (!may_have_two(a)) return;
        const int v = pairs_score(a, best.node, g).node;
        if (v < 0) {
            push(HALF, 0, a, best.node - 1, g);
        } else {
            push(HALF, 0, a, v, g);
            push(COMPLEX, APART, v, best.node, 0);
        }
    }

    // pairs a w, see Projective, and v if there is a complex v w
    Best pairs_score(int a, int w, int g) const {
        Best best;
        if (!may_have_two(a) && w > 1) return best;
        best.offer(at_c(a, w - 1)[g], -1);
        for (int v = a; v < w && may_have_two(a); v++) best.offer(at_c(a, v)[g] + complex_apart[v * width + w], v);
        return best;
    }

    // ------------------------------------------------------------------------------------------------- complexes

    // Pushes the antecedents of the best instance of a rule. Layers have been overwritten as l counted down: before an item in
    // one is unfolded, recall restores it and all that it is made of. In every rule, an item that needs recall comes first, and
    // the agenda finishes it before the other antecedents, so that there is one recall for each complex.
    void trace_rules(const Item& item) {
        if (item.kind == COMPLEX)
            recall(item.a, item.b);
        else if (item.kind == SPANNED || item.kind == BOTH ||
                 ((item.kind == CLOSED || item.kind == OPEN) && item.a < item.b && item.b < item.x))
            recall(item.a, item.x);
        const Found found = best(item);
        if (found.rule < 0) lost();
        const Shape& shape = SHAPES[found.rule];
        const int* nodes = found.nodes;
        for (int i = shape.antecedents - 1; i >= 0; i--) {
            const int* own = shape.antecedent[i];
            push(shape.kinds[i], i ? found.instance.right : found.instance.left, nodes[own[0]], nodes[own[1]], nodes[own[2]]);
        }
        for (int i = 0; i < shape.arcs; i++) {
            const int direction = i ? found.instance.second : found.instance.first;
            heads[nodes[shape.arc[i][1 - direction]]] = nodes[shape.arc[i][direction]];
        }
    }

    // Restore, in the layer of l, the items of this l; of those with an exterior node, only the ones for this x.
    void recall(int l, int x) {
        if (traced_l == l && traced_x == x) return;
        traced_l = l;
        traced_x = x;
        for (int r = l + 1; r < x; r++) {
            watch.pass(40 * n);
            fill_pivots_left(l, r);
            fill_far(l, r, block_of(x), block_of(x) + 1);
            if (r + 1 < x) fill_wings(l, r, r + 1, x);
        }
    }

    // The best instance of the rules for an item, in the order of the table
    Found best(const Item& item) {
        const int own = item.kind == COMPLEX ? 2 : 3;  // nodes of the item; a rule has at most four
        int nodes[4] = {item.a, item.b, item.x, 0};
        int low = minimum(item.a, item.b), high = maximum(item.a, item.b);
        if (own == 3) {
            low = minimum(low, item.x);
            high = maximum(high, item.x);
        }
        Found found = {NEVER, -1, {}, {}};
        for (int rule = 0; rule < RULES; rule++) {
            const Shape& shape = SHAPES[rule];
            if (shape.result != item.kind || (shape.has_two >= 0 && !may_have_two(nodes[shape.has_two]))) continue;
            const int further = shape.nodes - own;  // nodes in between
            for (int i = low + 1; i < (further > 0 ? high : low + 2); i++) {
                if (further > 0) nodes[own] = i;
                for (int j = low + 1; j < (further > 1 ? high : low + 2); j++) {
                    if (further > 1) nodes[3] = j;
                    if (!in_order(shape, nodes)) continue;
                    watch.pass(50);
                    for (int k = 0; k < shape.size; k++) {
                        if (shape.cases[k].result != item.state) continue;
                        const float value = score(shape, nodes, shape.cases[k]);
                        if (value > found.value) {
                            found = Found{value, rule, shape.cases[k], {}};
                            std::copy_n(nodes, 4, found.nodes);
                        }
                    }
                }
            }
        }
        return found;
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
        for (int i = 0; i < shape.antecedents; i++) {
            const int* own = shape.antecedent[i];
            sum += value(shape.kinds[i], i ? instance.right : instance.left, nodes[own[0]], nodes[own[1]], nodes[own[2]]);
        }
        for (int i = 0; i < shape.arcs; i++)
            sum += links(shape.longest[i])
                       .between(nodes[shape.arc[i][0]], nodes[shape.arc[i][1]])[i ? instance.second : instance.first];
        return sum;
    }

    // The value of an item, from where it is stored; for those in a layer, recall must have restored this l and x. The others are
    // computed by the rules: hooked, neither_open, pivot and both; open a b x with x < a < b; half_pivot a b v with b < v < a;
    // arm a t v with a < v < t.
    float value(int kind, int state, int a, int b, int x) {
        switch (kind) {
            case GAP: return gap_rows[state][a * width + b];
            case COMPLEX: return complex_score(a, b, state);
            case SPANNED: return layer(a).spanned.value(state, b, x);
            case WING: return layer(a).wing.value(state, b, x);
            case CLOSED:
                if (b < a) return closed_right(a).value(state, b, x);
                return x < a ? closed_left(b).value(state, a, x) : layer(a).closed_far.value(state, b, x);
            case OPEN:
                if (b < a) return open_right(a).value(state, b, x);
                if (x > b) return layer(a).open_far.value(state, b, x);
                break;
            case NEITHER: return b < a ? neither_right(a).value(state, b, x) : near_left(x, a, b)[state];
            case HALF_PIVOT:
                if (a < b) return half_pivot_left(a, b, x)[state];
                break;
            case ARM:
                if (a > b) return arm_right(x).value(state, b, a);
        }
        return best(Item{kind, state, a, b, x}).value;
    }
};

}  // namespace VARIANT::oneec
