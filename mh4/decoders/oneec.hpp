// The inner loops of oneec.pyx: the rules of oneec_rules.py over blocks of the last node of an item.
//
// The values of an item a b x (O L Y N P, and J I W Z M likewise, whatever their nodes are called) are kept in tiles: for
// LANES neighbouring x, a tile has one block (a vector register) for each state. A rule takes, for each of its instances, the
// sum of blocks and of scores that do not depend on x, and raises the block of the result to it. The instances are unrolled
// by the compiler, so the results stay in registers while t or v takes its values; for these, tiles lie side by side.
//
// Blocks begin at multiples of LANES: they go beyond the x that an item has, to where nothing is looked up.

#pragma once

#include <cstddef>
#include <limits>
#include <utility>

#include "lanes_per_vector.h"
#include "oneec_rules.hpp"

namespace oneec {

typedef float Block __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

const float NEVER = -std::numeric_limits<float>::infinity();

#define INLINE inline __attribute__((always_inline))

static INLINE Block most(Block a, Block b) { return a > b ? a : b; }
static INLINE float most(float a, float b) { return a > b ? a : b; }
static INLINE Block row(const float* at) { return *reinterpret_cast<const Block*>(at); }
static INLINE Block& block(float* tiles, int i) { return reinterpret_cast<Block*>(tiles)[i]; }
static INLINE Block block(const float* tiles, int i) { return reinterpret_cast<const Block*>(tiles)[i]; }

template <int size> static INLINE void clear(Block* blocks) {
    for (int i = 0; i < size; i++) blocks[i] = Block{} + NEVER;
}

// Tiles of items of one kind that have a node in common, for each block of x, over another node
struct Tiles {
    float* origin;
    const ptrdiff_t* first;  // for each block: where the tile of node 0 is or would be, in tiles
};

template <int kind> static INLINE float* tile(const Tiles& tiles, int block, int node) {
    return tiles.origin + (tiles.first[block] + node) * (STATES[kind] * LANES);
}

template <int size> static INLINE void store(float* tiles, const Block* blocks) {
    for (int i = 0; i < size; i++) block(tiles, i) = blocks[i];
}

// each<rule>(f) calls f with every instance of the rule, as a type
template <int rule, int i> struct Instance {
    static constexpr Case k = Cases<rule>::list[i];
    enum { left = k.left, right = k.right, result = k.result, first = k.first, second = k.second };
};
template <int rule, class F, int... i> static INLINE void each(F f, std::integer_sequence<int, i...>) {
    int done[] = {(f(Instance<rule, i>()), 0)...};
    (void)done;
}
template <int rule, class F> static INLINE void each(F f) {
    each<rule>(f, std::make_integer_sequence<int, Cases<rule>::size>());
}
#define EACH(rule, ...) each<rule>([&](auto k) __attribute__((always_inline)) { __VA_ARGS__; })

// Crossed arcs: of node v with all x
struct Links {
    float *to, *from;  // [v, x]: x->v and v->x
    size_t width;
    template <int direction> INLINE Block with(int v, int block) const {  // direction 0: x->v
        return row((direction ? from : to) + v * width + block * LANES);
    }
};

// Everything about a region a b that does not depend on x.
struct Region {
    int begin, end;      // the nodes between a and b: begin to end - 1
    int a, b;
    Links inner, outer;  // crossed arcs; and as the outermost arcs of their head
    float arc[2], outer_arc[2], gap[3];  // a->b and b->a; gap a b by state
    const float* gaps[3];                // gap t b, over t
    const float* inside;                 // J a b v, for v the states
    int inside_end;                      // begin, to leave Y out, or end
};

template <int rule, int kind> static INLINE void times_gaps(Block* out, const Region& r, const Tiles& tiles, int i) {
    const float* left = tile<kind>(tiles, i, 0);
    for (int t = r.begin; t < r.end; t++) {
        const float* at = left + t * (STATES[kind] * LANES);
        EACH(rule, out[k.result] = most(out[k.result], block(at, k.left) + r.gaps[k.right][t]));
    }
}

// L and O of a b x for block i of x, from L of a t x
static INLINE void region(Block* l, Block* o, const Region& r, const Tiles& lefts, int i) {
    Block y[STATES[Y]];
    clear<STATES[Y]>(y);
    for (int v = r.begin; v < r.inside_end; v++) {
        const float* inside = r.inside + v * STATES[J];
        const Block links[2] = {r.inner.with<0>(v, i), r.inner.with<1>(v, i)};
        EACH(Y_J, y[k.result] = most(y[k.result], links[k.first] + inside[k.left]));
    }
    clear<STATES[O]>(o);
    EACH(O_Y, o[k.result] = most(o[k.result], y[k.left]));
    times_gaps<O_LG, L>(o, r, lefts, i);
    const Block links[2] = {r.inner.with<0>(r.b, i), r.inner.with<1>(r.b, i)};
    clear<STATES[L]>(l);
    EACH(L_Y, l[k.result] = most(l[k.result], y[k.left]));
    EACH(L_G_X, l[k.result] = most(l[k.result], links[k.first] + r.gap[k.left]));
    EACH(L_O_X, l[k.result] = most(l[k.result], o[k.left] + links[k.first]));
    EACH(L_O_A, l[k.result] = most(l[k.result], o[k.left] + r.arc[k.first]));
    EACH(L_O_AX, l[k.result] = most(l[k.result], o[k.left] + links[k.second] + r.arc[k.first]));
}

// N of a b x, from N of a t x, and W x b a, for x on the side of a
static INLINE void region_near(Block* n, Block* w, const Block* o, const Region& r, const Tiles& nears, int i) {
    Block p[STATES[P]];
    clear<STATES[P]>(p);
    times_gaps<P_NG, N>(p, r, nears, i);
    const Block links[2] = {r.inner.with<0>(r.b, i), r.inner.with<1>(r.b, i)};
    clear<STATES[N]>(n);
    EACH(N_G, n[k.result] = most(n[k.result], links[k.first] + r.gap[k.left]));
    EACH(N_P, n[k.result] = most(n[k.result], p[k.left] + links[k.first]));
    const Block outer[2] = {r.outer.with<0>(r.b, i), r.outer.with<1>(r.b, i)};
    clear<STATES[W]>(w);
    EACH(W_O_T, w[k.result] = most(w[k.result], o[k.left] + outer[k.first]));
    EACH(W_O_TV, w[k.result] = most(w[k.result], o[k.left] + outer[k.first] + r.outer_arc[k.second]));
}

// x < a < b. l, n, w: tiles of a over b; l_of_b, n_of_b: tiles of b over a
static void region_left(const Region& r, Tiles l, Tiles n, Tiles w, Tiles l_of_b, Tiles n_of_b, int blocks) {
    Block ls[STATES[L]], os[STATES[O]], ns[STATES[N]], ws[STATES[W]];
    for (int i = 0; i < blocks; i++) {
        region(ls, os, r, l, i);
        region_near(ns, ws, os, r, n, i);
        store<STATES[L]>(tile<L>(l, i, r.b), ls);
        store<STATES[N]>(tile<N>(n, i, r.b), ns);
        store<STATES[W]>(tile<W>(w, i, r.b), ws);
        store<STATES[L]>(tile<L>(l_of_b, i, r.a), ls);
        store<STATES[N]>(tile<N>(n_of_b, i, r.a), ns);
    }
}

// b < a < x, likewise
static void region_right(const Region& r, Tiles l, Tiles o, Tiles n, Tiles w, Tiles l_of_b, Tiles n_of_b, int first,
                         int blocks) {
    Block ls[STATES[L]], os[STATES[O]], ns[STATES[N]], ws[STATES[W]];
    for (int i = first; i < blocks; i++) {
        region(ls, os, r, l, i);
        region_near(ns, ws, os, r, n, i);
        store<STATES[L]>(tile<L>(l, i, r.b), ls);
        store<STATES[O]>(tile<O>(o, i, r.b), os);
        store<STATES[N]>(tile<N>(n, i, r.b), ns);
        store<STATES[W]>(tile<W>(w, i, r.b), ws);
        store<STATES[L]>(tile<L>(l_of_b, i, r.a), ls);
        store<STATES[N]>(tile<N>(n_of_b, i, r.a), ns);
    }
}

// a < b < x
static void region_far(const Region& r, Tiles l, Tiles o, int first, int blocks) {
    Block ls[STATES[L]], os[STATES[O]];
    for (int i = first; i < blocks; i++) {
        region(ls, os, r, l, i);
        store<STATES[L]>(tile<L>(l, i, r.b), ls);
        store<STATES[O]>(tile<O>(o, i, r.b), os);
    }
}

// Z l r x for x > r, from L and O of l t x and r t x
static void around(int l, int r, Tiles far_l, Tiles far_o, Tiles right_l, Tiles right_o, const float* outer_arc, Tiles z,
                   int first, int blocks) {
    for (int i = first; i < blocks; i++) {
        Block b[STATES[B]], zs[STATES[Z]];
        clear<STATES[B]>(b);
        const float *llt = tile<L>(far_l, i, 0), *olt = tile<O>(far_o, i, 0);
        const float *lrt = tile<L>(right_l, i, 0), *ort = tile<O>(right_o, i, 0);
        for (int t = l + 1; t < r; t++) {
            const int at_l = t * STATES[L], at_o = t * STATES[O];
            EACH(B_LO, b[k.result] = most(b[k.result], block(llt, at_l + k.left) + block(ort, at_o + k.right)));
            EACH(B_OL, b[k.result] = most(b[k.result], block(olt, at_o + k.left) + block(lrt, at_l + k.right)));
        }
        const float *olr = tile<O>(far_o, i, r), *orl = tile<O>(right_o, i, l);
        clear<STATES[Z]>(zs);
        EACH(Z_B, zs[k.result] = most(zs[k.result], b[k.left] + outer_arc[k.first]));
        EACH(Z_O_RIGHT, zs[k.result] = most(zs[k.result], block(olr, k.left) + outer_arc[k.first]));
        EACH(Z_O_LEFT, zs[k.result] = most(zs[k.result], block(orl, k.left) + outer_arc[k.first]));
        store<STATES[Z]>(tile<Z>(z, i, r), zs);
    }
}

// What I a b v needs for t between v and b: N t b v and the best of G v t, L t b v, for each direction of a-t
struct Before {
    float n[STATES[N]];
    float gl[2][STATES[I]];
};

// n, l: tiles of b over t
static void fill_before(Before* before, int begin, int end, Tiles n, Tiles l, int v, const float* const* gaps) {
    const float *n_tile = tile<N>(n, v / LANES, 0) + v % LANES, *l_tile = tile<L>(l, v / LANES, 0) + v % LANES;
    for (int t = begin; t < end; t++) {
        const float *nt = n_tile + t * (STATES[N] * LANES), *lt = l_tile + t * (STATES[L] * LANES);
        Before best;
        for (int i = 0; i < STATES[I]; i++) best.gl[0][i] = best.gl[1][i] = NEVER;
        EACH(I_GL, best.gl[k.first][k.result] = most(best.gl[k.first][k.result], gaps[k.left][t] + lt[k.right * LANES]));
        for (int i = 0; i < STATES[N]; i++) best.n[i] = nt[i * LANES];
        before[t] = best;
    }
}

// Whether some instance of the rule has this result and direction of its first arc
template <int rule> constexpr bool has(int result, int first, int i = 0) {
    return i < Cases<rule>::size && ((Cases<rule>::list[i].result == result && Cases<rule>::list[i].first == first) ||
                                     has<rule>(result, first, i + 1));
}

template <int s> static INLINE void raise_before(Block* out, const Block* links, const Before& before) {
    if (has<I_GL>(s, 0)) out[s] = most(out[s], links[0] + before.gl[0][s]);
    if (has<I_GL>(s, 1)) out[s] = most(out[s], links[1] + before.gl[1][s]);
    if (s > 0) raise_before<(s > 0 ? s - 1 : 0)>(out, links, before);
}

// I a b v for a beyond v. w: tiles of v over t; out: where the tiles are to be, at node
static void longest(int begin, int end, const Before* before, Tiles w, const Links& outer, Tiles out, int node, int first,
                    int blocks) {
    for (int i = first; i < blocks; i++) {
        Block raised[STATES[I]];
        clear<STATES[I]>(raised);
        const float* w_tile = tile<W>(w, i, 0);
        for (int t = begin; t < end; t++) {
            const Block links[2] = {outer.with<0>(t, i), outer.with<1>(t, i)};
            EACH(I_WN, raised[k.result] = most(raised[k.result],
                                               block(w_tile, t * STATES[W] + k.left) + before[t].n[k.right]));
            raise_before<STATES[I] - 1>(raised, links, before[t]);
        }
        store<STATES[I]>(tile<I>(out, i, node), raised);
    }
}

// J a b v for all v, from tiles of I a b v over v
static void fill_inside(float* inside, int begin, int end, Tiles longest, int a, const float* const* gaps) {
    const float* tiles = tile<I>(longest, a / LANES, 0) + a % LANES;
    for (int v = begin; v < end; v++) {
        const float* at = tiles + v * (STATES[I] * LANES);
        float best[STATES[J]];
        for (int i = 0; i < STATES[J]; i++) best[i] = NEVER;
        EACH(J_IG, best[k.result] = most(best[k.result], at[k.left * LANES] + gaps[k.right][v]));
        for (int i = 0; i < STATES[J]; i++) inside[v * STATES[J] + i] = best[i];
    }
}

// M l b a for all b up to n: o, tiles of a; gaps a b over b; out: tiles over b, in blocks of a
static void middle(int l, int a, int n, Tiles o, const float* const* gaps, const float* outer_arc, const Links& outer,
                   bool two_roots, Tiles out, int first, int blocks) {
    for (int i = first; i < blocks; i++) {
        int b = i * LANES;
        Block m[STATES[M]];
        float values[STATES[M] * LANES];
        clear<STATES[M]>(m);
        const float* al = tile<O>(o, i, l);
        const Block ab[3] = {row(gaps[0] + b), row(gaps[1] + b), row(gaps[2] + b)};
        const Block links[2] = {outer.with<1>(l, i), outer.with<0>(l, i)};  // l->b, b->l
        EACH(M_A, m[k.result] = most(m[k.result], block(al, k.left) + ab[k.right] + outer_arc[k.first]));
        EACH(M_B, m[k.result] = most(m[k.result], block(al, k.left) + ab[k.right] + links[k.first]));
        if (!two_roots)
            EACH(M_AB, m[k.result] = most(m[k.result],
                                          block(al, k.left) + ab[k.right] + outer_arc[k.first] + links[k.second]));
        store<STATES[M]>(values, m);
        for (int j = b > a ? 0 : a + 1 - b; j < LANES && b + j <= n; j++) {
            float* at = tile<M>(out, a / LANES, b + j) + a % LANES;
            for (int s = 0; s < STATES[M]; s++) at[s * LANES] = values[s * LANES + j];
        }
    }
}

// X l r in its three states: z, tiles of l over t; inside: J l r v; m: tiles of l over b in blocks of a, with values for
// l < a < b alone; left_l: tiles of r over b
static void complexes(float* best, int l, int r, Tiles z, const float* const* gaps, const float* inside, Tiles m,
                      Tiles left_l) {
    float x[STATES[X]] = {NEVER, NEVER, NEVER};
    const float* z_tile = tile<Z>(z, r / LANES, 0) + r % LANES;
    for (int t = l + 1; t < r; t++) {
        const float *zt = z_tile + t * (STATES[Z] * LANES), *jt = inside + t * STATES[J];
        EACH(X_ZG, x[k.result] = most(x[k.result], zt[k.left * LANES] + gaps[k.right][t]));
        EACH(X_J, x[k.result] = most(x[k.result], jt[k.left]));
    }
    Block xs[STATES[X]];
    clear<STATES[X]>(xs);
    for (int i = (l + 1) / LANES; i * LANES < r - 1; i++) {
        const float *mb = tile<M>(m, i, 0), *lb = tile<L>(left_l, i, 0);
        for (int b = l + 2 > i * LANES ? l + 2 : i * LANES + 1; b < r; b++)
            EACH(X_ML, xs[k.result] = most(xs[k.result],
                                           block(mb, b * STATES[M] + k.left) + block(lb, b * STATES[L] + k.right)));
    }
    for (int s = 0; s < STATES[X]; s++) {
        best[s] = x[s];
        for (int i = 0; i < LANES; i++) best[s] = most(best[s], xs[s][i]);
    }
}

// The projective part: out[g] = the maximum over i of rows[i, g] + coefs[i], and least; over blocks of g.
template <int size>
static INLINE void times_blocks(float* out, float least, const float* rows, size_t step, const float* coefs, int count) {
    Block best[size];
    for (int i = 0; i < size; i++) best[i] = Block{} + least;
    for (int j = 0; j < count; j++)
        for (int i = 0; i < size; i++) best[i] = most(best[i], row(rows + j * step + i * LANES) + coefs[j]);
    store<size>(out, best);
}

static void times(float* out, float least, const float* rows, size_t step, const float* coefs, int count, int first,
                  int blocks) {
    int i = first;
    for (; i + 4 <= blocks; i += 4) times_blocks<4>(out + i * LANES, least, rows + i * LANES, step, coefs, count);
    for (; i < blocks; i++) times_blocks<1>(out + i * LANES, least, rows + i * LANES, step, coefs, count);
}

// The same with two rows
template <int size>
static INLINE void joined_blocks(float* out, const float* left, const float* right, size_t step, int count) {
    Block best[size];
    for (int i = 0; i < size; i++) best[i] = block(out, i);
    for (int j = 0; j < count; j++)
        for (int i = 0; i < size; i++)
            best[i] = most(best[i], row(left + j * step + i * LANES) + row(right + j * step + i * LANES));
    store<size>(out, best);
}

static void joined(float* out, const float* left, const float* right, size_t step, int count, int first, int blocks) {
    int i = first;
    for (; i + 4 <= blocks; i += 4)
        joined_blocks<4>(out + i * LANES, left + i * LANES, right + i * LANES, step, count);
    for (; i < blocks; i++) joined_blocks<1>(out + i * LANES, left + i * LANES, right + i * LANES, step, count);
}

}  // namespace oneec
