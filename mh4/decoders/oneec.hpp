// The inner loops of oneec.pyx: the rules of oneec_rules.py over blocks of the last node of an item.
//
// An item a b x (O L Y N P, and J I W Z M likewise, whatever their nodes are called) is a value for each x and state. These
// values are kept in tiles: for LANES neighbouring x a tile has one block (a vector register) for each state. A rule takes,
// for each of its instances, the sum of blocks and of scores that do not depend on x, and raises the block of the result to
// it. The instances are unrolled by the compiler, so the results stay in registers while t or v takes its values.

#include <cstddef>
#include <limits>
#include <utility>

#include "oneec_rules.hpp"

namespace oneec {

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef float Block __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

// What tiles hold: those of regions a < b with x < a, and b < a < x, as they are kept; and those with a < b < x.
enum { LEFT_L = 0, LEFT_N = STATES[L], LEFT_I = LEFT_N + STATES[N], LEFT_TILE = LEFT_I + STATES[I] };
enum { RIGHT_L = 0, RIGHT_N = STATES[L], RIGHT_O = RIGHT_N + STATES[N], RIGHT_W = RIGHT_O + STATES[O],
       RIGHT_TILE = RIGHT_W + STATES[W] };
enum { FAR_L = 0, FAR_O = STATES[L], FAR_TILE = FAR_O + STATES[O] };

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
    const float *to, *from;  // [v, x]: x->v and v->x
    size_t width;
    template <int direction> INLINE Block with(int v, int x) const {  // direction 0: x->v
        return row((direction ? from : to) + v * width + x);
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
    const float* left;                   // tiles of a t, over t; to be added: t * step
    size_t step;
};

template <int rule, int at, int size> static INLINE void times_gaps(Block* out, const Region& r, size_t tile) {
    for (int t = r.begin; t < r.end; t++) {
        const float* left = r.left + t * r.step + tile;
        EACH(rule, out[k.result] = most(out[k.result], block(left, at + k.left) + r.gaps[k.right][t]));
    }
}

// L, O of a b x in registers for one block of x
template <int at_l, int size> static INLINE void near_or_far(Block* l, Block* o, const Region& r, int x, size_t tile) {
    Block y[STATES[Y]];
    clear<STATES[Y]>(y);
    for (int v = r.begin; v < r.inside_end; v++) {
        const float* inside = r.inside + v * STATES[J];
        const Block links[2] = {r.inner.with<0>(v, x), r.inner.with<1>(v, x)};
        EACH(Y_J, y[k.result] = most(y[k.result], links[k.first] + inside[k.left]));
    }
    clear<STATES[O]>(o);
    EACH(O_Y, o[k.result] = most(o[k.result], y[k.left]));
    times_gaps<O_LG, at_l, size>(o, r, tile);
    const Block links[2] = {r.inner.with<0>(r.b, x), r.inner.with<1>(r.b, x)};
    clear<STATES[L]>(l);
    EACH(L_Y, l[k.result] = most(l[k.result], y[k.left]));
    EACH(L_G_X, l[k.result] = most(l[k.result], links[k.first] + r.gap[k.left]));
    EACH(L_O_X, l[k.result] = most(l[k.result], o[k.left] + links[k.first]));
    EACH(L_O_A, l[k.result] = most(l[k.result], o[k.left] + r.arc[k.first]));
    EACH(L_O_AX, l[k.result] = most(l[k.result], o[k.left] + links[k.second] + r.arc[k.first]));
}

// N and W of a b x for one block of x on the side of a
template <int at_n, int size>
static INLINE void near(Block* n, Block* w, const Block* o, const Region& r, int x, size_t tile) {
    Block p[STATES[P]];
    clear<STATES[P]>(p);
    times_gaps<P_NG, at_n, size>(p, r, tile);
    const Block links[2] = {r.inner.with<0>(r.b, x), r.inner.with<1>(r.b, x)};
    clear<STATES[N]>(n);
    EACH(N_G, n[k.result] = most(n[k.result], links[k.first] + r.gap[k.left]));
    EACH(N_P, n[k.result] = most(n[k.result], p[k.left] + links[k.first]));
    const Block outer[2] = {r.outer.with<0>(r.b, x), r.outer.with<1>(r.b, x)};
    clear<STATES[W]>(w);
    EACH(W_O_T, w[k.result] = most(w[k.result], o[k.left] + outer[k.first]));
    EACH(W_O_TV, w[k.result] = most(w[k.result], o[k.left] + outer[k.first] + r.outer_arc[k.second]));
}

// a < b and x < a: L and N of a b x, and W x b a into tiles of its own
static void region_left(const Region& r, float* out, float* w_out, int blocks) {
    Block l[STATES[L]], o[STATES[O]], n[STATES[N]], w[STATES[W]];
    for (int i = 0; i < blocks; i++) {
        size_t tile = size_t(i) * LEFT_TILE * LANES;
        near_or_far<LEFT_L, LEFT_TILE>(l, o, r, i * LANES, tile);
        store<STATES[L]>(out + tile + LEFT_L * LANES, l);
        near<LEFT_N, LEFT_TILE>(n, w, o, r, i * LANES, tile);
        store<STATES[N]>(out + tile + LEFT_N * LANES, n);
        store<STATES[W]>(w_out + size_t(i) * STATES[W] * LANES, w);
    }
}

// b < a < x: all of them
static void region_right(const Region& r, float* out, int first, int blocks) {
    Block l[STATES[L]], o[STATES[O]], n[STATES[N]], w[STATES[W]];
    for (int i = first; i < blocks; i++) {
        size_t tile = size_t(i) * RIGHT_TILE * LANES;
        near_or_far<RIGHT_L, RIGHT_TILE>(l, o, r, i * LANES, tile);
        store<STATES[L]>(out + tile + RIGHT_L * LANES, l);
        store<STATES[O]>(out + tile + RIGHT_O * LANES, o);
        near<RIGHT_N, RIGHT_TILE>(n, w, o, r, i * LANES, tile);
        store<STATES[N]>(out + tile + RIGHT_N * LANES, n);
        store<STATES[W]>(out + tile + RIGHT_W * LANES, w);
    }
}

// a < b < x: L and O
static void region_far(const Region& r, float* out, int first, int blocks) {
    Block l[STATES[L]], o[STATES[O]];
    for (int i = first; i < blocks; i++) {
        size_t tile = size_t(i) * FAR_TILE * LANES;
        near_or_far<FAR_L, FAR_TILE>(l, o, r, i * LANES, tile);
        store<STATES[L]>(out + tile + FAR_L * LANES, l);
        store<STATES[O]>(out + tile + FAR_O * LANES, o);
    }
}

// l < r < x: Z l r x. far: tiles of l t, right: tiles of r t, over t.
static void both(int l, int r, const float* far, size_t far_step, const float* right, size_t right_step,
                 const float* outer_arc, float* out, int first, int blocks) {
    for (int i = first; i < blocks; i++) {
        Block b[STATES[B]], z[STATES[Z]];
        clear<STATES[B]>(b);
        const float* on_left = far + size_t(i) * FAR_TILE * LANES;
        const float* on_right = right + size_t(i) * RIGHT_TILE * LANES;
        for (int t = l + 1; t < r; t++) {
            const float *lt = on_left + t * far_step, *rt = on_right + t * right_step;
            EACH(B_LO, b[k.result] = most(b[k.result], block(lt, FAR_L + k.left) + block(rt, RIGHT_O + k.right)));
            EACH(B_OL, b[k.result] = most(b[k.result], block(lt, FAR_O + k.left) + block(rt, RIGHT_L + k.right)));
        }
        const float *lr = on_left + r * far_step, *rl = on_right + l * right_step;
        clear<STATES[Z]>(z);
        EACH(Z_B, z[k.result] = most(z[k.result], b[k.left] + outer_arc[k.first]));
        EACH(Z_O_RIGHT, z[k.result] = most(z[k.result], block(lr, FAR_O + k.left) + outer_arc[k.first]));
        EACH(Z_O_LEFT, z[k.result] = most(z[k.result], block(rl, RIGHT_O + k.left) + outer_arc[k.first]));
        store<STATES[Z]>(out + size_t(i) * STATES[Z] * LANES, z);
    }
}

// Whether some instance of the rule has this result and direction of its first arc
template <int rule> constexpr bool has(int result, int first, int i = 0) {
    return i < Cases<rule>::size && ((Cases<rule>::list[i].result == result && Cases<rule>::list[i].first == first) ||
                                     has<rule>(result, first, i + 1));
}

// I x b v for x beyond v. For t between v and b: w, tiles of W x t v; before[t], N t b v and the best G v t, L t b v
struct Before {
    float n[STATES[N]];
    float gl[2][STATES[I]];
};

static INLINE void fill_before(Before& out, const float* n_tile, const float* l_tile, const float* const* gaps, int t) {
    for (int i = 0; i < STATES[N]; i++) out.n[i] = n_tile[i * LANES];
    for (int i = 0; i < STATES[I]; i++) out.gl[0][i] = out.gl[1][i] = NEVER;
    EACH(I_GL, out.gl[k.first][k.result] = most(out.gl[k.first][k.result], gaps[k.left][t] + l_tile[k.right * LANES]));
}

template <int s> struct Longest {
    static INLINE void raise(Block* out, const Block* links, const Before& before) {
        Longest<s - 1>::raise(out, links, before);
        if (has<I_GL>(s - 1, 0)) out[s - 1] = most(out[s - 1], links[0] + before.gl[0][s - 1]);
        if (has<I_GL>(s - 1, 1)) out[s - 1] = most(out[s - 1], links[1] + before.gl[1][s - 1]);
    }
};
template <> struct Longest<0> {
    static INLINE void raise(Block*, const Block*, const Before&) {}
};

static void longest(int begin, int end, const Before* before, const float* w, size_t w_step, size_t w_tile,
                    const Links& outer, float* out, size_t out_tile, int first, int blocks) {
    for (int i = first; i < blocks; i++) {
        Block raised[STATES[I]];
        clear<STATES[I]>(raised);
        for (int t = begin; t < end; t++) {
            const float* wt = w + t * w_step + i * w_tile;
            const Block links[2] = {outer.with<0>(t, i * LANES), outer.with<1>(t, i * LANES)};
            EACH(I_WN, raised[k.result] = most(raised[k.result], block(wt, k.left) + before[t].n[k.right]));
            Longest<STATES[I]>::raise(raised, links, before[t]);
        }
        store<STATES[I]>(out + i * out_tile, raised);
    }
}

// J a b v from I a b v, and the best complex of it
static INLINE void fill_inside(float* out, const float* tile, const float* const* gaps, int v) {
    for (int i = 0; i < STATES[J]; i++) out[i] = NEVER;
    EACH(J_IG, out[k.result] = most(out[k.result], tile[k.left * LANES] + gaps[k.right][v]));
}

// M l b a for all b; out: M with the states of l b a at out[b * step + state * LANES]
static void middle(int a, int n, const float* o, const float* const* gaps, const float* arc, bool two_roots, int l,
                   const Links& outer, float* out, size_t step, int first, int blocks) {
    for (int i = first; i < blocks; i++) {
        int b = i * LANES;
        Block m[STATES[M]];
        float each_b[STATES[M] * LANES];
        clear<STATES[M]>(m);
        const float* tile = o + size_t(i) * RIGHT_TILE * LANES;
        Block ab[3] = {row(gaps[0] + b), row(gaps[1] + b), row(gaps[2] + b)};
        const Block links[2] = {outer.with<1>(l, b), outer.with<0>(l, b)};  // l->b, b->l
        EACH(M_A, m[k.result] = most(m[k.result], block(tile, RIGHT_O + k.left) + ab[k.right] + arc[k.first]));
        EACH(M_B, m[k.result] = most(m[k.result], block(tile, RIGHT_O + k.left) + ab[k.right] + links[k.first]));
        if (!two_roots)
            EACH(M_AB, m[k.result] = most(m[k.result], block(tile, RIGHT_O + k.left) + ab[k.right] + links[k.second] +
                                                           arc[k.first]));
        store<STATES[M]>(each_b, m);
        for (int j = b > a ? 0 : a + 1 - b; j < LANES && b + j <= n; j++)
            for (int s = 0; s < STATES[M]; s++) out[(b + j) * step + s * LANES] = each_b[s * LANES + j];
    }
}

// X l r <- M l b a, L b r a for one b: raises the three states of best
static INLINE void raise_complex(float* best_blocks, const float* m, const float* left, int first, int blocks) {
    Block* best = reinterpret_cast<Block*>(best_blocks);
    for (int i = first; i < blocks; i++) {
        const float *mb = m + size_t(i) * STATES[M] * LANES, *lb = left + size_t(i) * LEFT_TILE * LANES;
        EACH(X_ML, best[k.result] = most(best[k.result], block(mb, k.left) + block(lb, LEFT_L + k.right)));
    }
}

// X l r <- Z l t r, G t r and X l r <- J l r v; z: Z l t r over t
static INLINE void raise_complex(float* best, int begin, int end, const float* z, size_t z_step, const float* const* gaps,
                                 const float* inside) {
    for (int t = begin; t < end; t++) {
        const float *zt = z + t * z_step, *jt = inside + t * STATES[J];
        EACH(X_ZG, best[k.result] = most(best[k.result], zt[k.left * LANES] + gaps[k.right][t]));
        EACH(X_J, best[k.result] = most(best[k.result], jt[k.left]));
    }
}

static INLINE float highest(const float* block) {
    float best = block[0];
    for (int i = 1; i < LANES; i++) best = most(best, block[i]);
    return best;
}

// The projective part: out[g] = the maximum over i of rows[i, g] + coefs[i], and least; over blocks of g.
static void times(float* out, float least, const float* rows, size_t step, const float* coefs, int count, int first,
                  int blocks) {
    for (int i = first; i < blocks; i++) {
        Block best = Block{} + least;
        for (int j = 0; j < count; j++) best = most(best, row(rows + j * step + i * LANES) + coefs[j]);
        block(out, i) = best;
    }
}

// The same with two rows
static void joined(float* out, const float* left, size_t left_step, const float* right, size_t right_step, int count,
                   int first, int blocks) {
    for (int i = first; i < blocks; i++) {
        Block best = block(out, i);
        for (int j = 0; j < count; j++)
            best = most(best, row(left + j * left_step + i * LANES) + row(right + j * right_step + i * LANES));
        block(out, i) = best;
    }
}

}  // namespace oneec
