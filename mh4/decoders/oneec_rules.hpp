// The table of oneec_rules.py for the compiler, which unrolls the loops over the instances of a rule.
// Made by: python -m mh4.decoders.oneec_rules >mh4/decoders/oneec_rules.hpp

#pragma once

namespace oneec {

enum Kind { G, X, O, L, Y, N, P, J, I, W, B, Z, M, KINDS };
constexpr int STATES[KINDS] = {3, 3, 7, 7, 7, 5, 3, 7, 7, 4, 5, 4, 7};

enum RuleName {
    L_G_X, L_O_X, L_O_A, L_O_AX, L_Y, O_LG, O_Y, Y_J, P_NG, N_P, N_G, W_O_T, W_O_TV, I_WN, I_GL, J_IG, B_LO, B_OL, Z_B,
    Z_O_RIGHT, Z_O_LEFT, M_A, M_B, M_AB, X_ZG, X_J, X_ML,
    RULES
};

struct Case {  // an instance of a rule: the numbers of its states and the directions of its arcs
    int left, right, result, first, second;
};

template <int rule> struct Cases;

template <> struct Cases<L_G_X> {  // L a b x <- G a b; x-b
    static constexpr int size = 5;
    static constexpr Case list[size] = {
        {0,0,3,0,0}, {0,0,0,1,0}, {1,0,2,1,0}, {2,0,6,0,0}, {2,0,5,1,0}
    };
};
constexpr Case Cases<L_G_X>::list[];

template <> struct Cases<L_O_X> {  // L a b x <- O a b x; x-b
    static constexpr int size = 8;
    static constexpr Case list[size] = {
        {0,0,3,0,0}, {0,0,0,1,0}, {1,0,2,0,0}, {3,0,2,1,0}, {5,0,6,0,0}, {5,0,5,1,0}, {6,0,6,0,0}, {6,0,5,1,0}
    };
};
constexpr Case Cases<L_O_X>::list[];

template <> struct Cases<L_O_A> {  // L a b x <- O a b x; a-b
    static constexpr int size = 8;
    static constexpr Case list[size] = {
        {0,0,1,0,0}, {0,0,4,1,0}, {1,0,2,0,0}, {1,0,5,1,0}, {2,0,2,0,0}, {2,0,5,1,0}, {4,0,6,1,0}, {6,0,6,0,0}
    };
};
constexpr Case Cases<L_O_A>::list[];

template <> struct Cases<L_O_AX> {  // L a b x <- O a b x; a-b; x-b
    static constexpr int size = 3;
    static constexpr Case list[size] = {
        {0,0,2,0,1}, {0,0,6,1,0}, {0,0,5,1,1}
    };
};
constexpr Case Cases<L_O_AX>::list[];

template <> struct Cases<L_Y> {  // L a b x <- Y a b x
    static constexpr int size = 7;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {1,0,1,0,0}, {2,0,2,0,0}, {3,0,3,0,0}, {4,0,4,0,0}, {5,0,5,0,0}, {6,0,6,0,0}
    };
};
constexpr Case Cases<L_Y>::list[];

template <> struct Cases<O_LG> {  // O a b x <- L a t x, G t b
    static constexpr int size = 8;
    static constexpr Case list[size] = {
        {0,2,2,0,0}, {1,0,0,0,0}, {1,1,3,0,0}, {2,0,1,0,0}, {3,0,0,0,0}, {3,1,4,0,0}, {4,2,5,0,0}, {6,0,6,0,0}
    };
};
constexpr Case Cases<O_LG>::list[];

template <> struct Cases<O_Y> {  // O a b x <- Y a b x
    static constexpr int size = 4;
    static constexpr Case list[size] = {
        {0,0,2,0,0}, {1,0,3,0,0}, {3,0,4,0,0}, {4,0,5,0,0}
    };
};
constexpr Case Cases<O_Y>::list[];

template <> struct Cases<Y_J> {  // Y a b x <- J a b v; x-v
    static constexpr int size = 7;
    static constexpr Case list[size] = {
        {0,0,0,1,0}, {1,0,1,0,0}, {2,0,2,1,0}, {3,0,3,0,0}, {4,0,4,0,0}, {5,0,5,1,0}, {6,0,6,0,0}
    };
};
constexpr Case Cases<Y_J>::list[];

template <> struct Cases<P_NG> {  // P a b x <- N a t x, G t b
    static constexpr int size = 3;
    static constexpr Case list[size] = {
        {1,0,1,0,0}, {2,0,0,0,0}, {4,0,2,0,0}
    };
};
constexpr Case Cases<P_NG>::list[];

template <> struct Cases<N_P> {  // N a b x <- P a b x; x-b
    static constexpr int size = 5;
    static constexpr Case list[size] = {
        {0,0,2,0,0}, {0,0,0,1,0}, {1,0,1,0,0}, {2,0,4,0,0}, {2,0,3,1,0}
    };
};
constexpr Case Cases<N_P>::list[];

template <> struct Cases<N_G> {  // N a b x <- G a b; x-b
    static constexpr int size = 5;
    static constexpr Case list[size] = {
        {0,0,2,0,0}, {0,0,0,1,0}, {1,0,1,1,0}, {2,0,4,0,0}, {2,0,3,1,0}
    };
};
constexpr Case Cases<N_G>::list[];

template <> struct Cases<W_O_T> {  // W a t v <- O v t a; a-t
    static constexpr int size = 6;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,0,2,1,0}, {1,0,3,0,0}, {3,0,3,1,0}, {5,0,1,0,0}, {6,0,1,0,0}
    };
};
constexpr Case Cases<W_O_T>::list[];

template <> struct Cases<W_O_TV> {  // W a t v <- O v t a; a-t; v-t
    static constexpr int size = 2;
    static constexpr Case list[size] = {
        {0,0,1,0,1}, {0,0,3,1,0}
    };
};
constexpr Case Cases<W_O_TV>::list[];

template <> struct Cases<I_WN> {  // I a b v <- W a t v, N t b v
    static constexpr int size = 8;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,1,2,0,0}, {0,2,3,0,0}, {1,2,2,0,0}, {2,3,5,0,0}, {2,4,6,0,0}, {3,0,5,0,0}, {3,2,6,0,0}
    };
};
constexpr Case Cases<I_WN>::list[];

template <> struct Cases<I_GL> {  // I a b v <- G v t, L t b v; a-t
    static constexpr int size = 13;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,1,1,0,0}, {0,2,2,0,0}, {0,3,3,0,0}, {0,4,4,1,0}, {0,5,5,1,0}, {0,6,6,1,0}, {1,0,5,1,0},
        {1,1,6,1,0}, {1,3,6,1,0}, {2,1,2,0,0}, {2,3,2,0,0}, {2,4,5,1,0}
    };
};
constexpr Case Cases<I_GL>::list[];

template <> struct Cases<J_IG> {  // J a b v <- I a b v, G a v
    static constexpr int size = 13;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,2,5,0,0}, {1,0,1,0,0}, {1,1,2,0,0}, {1,2,6,0,0}, {2,0,2,0,0}, {3,0,3,0,0}, {3,1,2,0,0},
        {3,2,6,0,0}, {4,0,4,0,0}, {4,1,5,0,0}, {5,0,5,0,0}, {6,0,6,0,0}
    };
};
constexpr Case Cases<J_IG>::list[];

template <> struct Cases<B_LO> {  // B l r x <- L l t x, O r t x
    static constexpr int size = 12;
    static constexpr Case list[size] = {
        {0,3,2,0,0}, {1,0,0,0,0}, {1,1,2,0,0}, {1,2,1,0,0}, {1,6,3,0,0}, {2,0,1,0,0}, {3,0,0,0,0}, {3,1,2,0,0},
        {3,5,3,0,0}, {3,6,3,0,0}, {4,4,4,0,0}, {6,0,4,0,0}
    };
};
constexpr Case Cases<B_LO>::list[];

template <> struct Cases<B_OL> {  // B l r x <- O l t x, L r t x
    static constexpr int size = 12;
    static constexpr Case list[size] = {
        {0,1,0,0,0}, {0,2,2,0,0}, {0,3,0,0,0}, {0,6,3,0,0}, {1,1,1,0,0}, {1,3,1,0,0}, {2,1,2,0,0}, {3,0,1,0,0},
        {4,4,3,0,0}, {5,3,4,0,0}, {6,1,4,0,0}, {6,3,4,0,0}
    };
};
constexpr Case Cases<B_OL>::list[];

template <> struct Cases<Z_B> {  // Z l r x <- B l r x; l-r
    static constexpr int size = 6;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,0,2,1,0}, {1,0,1,0,0}, {2,0,1,0,0}, {3,0,3,1,0}, {4,0,3,0,0}
    };
};
constexpr Case Cases<Z_B>::list[];

template <> struct Cases<Z_O_RIGHT> {  // Z l r x <- O l r x; l-r
    static constexpr int size = 6;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,0,2,1,0}, {1,0,1,0,0}, {2,0,1,0,0}, {4,0,3,1,0}, {6,0,3,0,0}
    };
};
constexpr Case Cases<Z_O_RIGHT>::list[];

template <> struct Cases<Z_O_LEFT> {  // Z l r x <- O r l x; l-r
    static constexpr int size = 6;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,0,2,1,0}, {1,0,1,0,0}, {2,0,1,0,0}, {4,0,3,0,0}, {6,0,3,1,0}
    };
};
constexpr Case Cases<Z_O_LEFT>::list[];

template <> struct Cases<M_A> {  // M l b a <- O a l b, G a b; l-a
    static constexpr int size = 11;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,0,5,1,0}, {0,1,2,0,0}, {0,1,6,1,0}, {0,2,4,1,0}, {1,0,2,0,0}, {1,0,6,1,0}, {2,0,2,0,0},
        {2,0,6,1,0}, {4,0,4,0,0}, {6,0,4,1,0}
    };
};
constexpr Case Cases<M_A>::list[];

template <> struct Cases<M_B> {  // M l b a <- O a l b, G a b; l-b
    static constexpr int size = 11;
    static constexpr Case list[size] = {
        {0,0,1,0,0}, {0,0,3,1,0}, {0,1,6,1,0}, {0,2,2,0,0}, {0,2,4,1,0}, {1,0,6,1,0}, {3,0,6,0,0}, {5,0,2,0,0},
        {5,0,4,1,0}, {6,0,2,0,0}, {6,0,4,1,0}
    };
};
constexpr Case Cases<M_B>::list[];

template <> struct Cases<M_AB> {  // M l b a <- O a l b, G a b; l-a; l-b
    static constexpr int size = 3;
    static constexpr Case list[size] = {
        {0,0,2,0,0}, {0,0,4,0,1}, {0,0,6,1,0}
    };
};
constexpr Case Cases<M_AB>::list[];

template <> struct Cases<X_ZG> {  // X l r <- Z l t r, G t r
    static constexpr int size = 5;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {0,1,1,0,0}, {1,0,1,0,0}, {2,2,2,0,0}, {3,0,2,0,0}
    };
};
constexpr Case Cases<X_ZG>::list[];

template <> struct Cases<X_J> {  // X l r <- J l r v
    static constexpr int size = 3;
    static constexpr Case list[size] = {
        {0,0,0,0,0}, {2,0,1,0,0}, {5,0,2,0,0}
    };
};
constexpr Case Cases<X_J>::list[];

template <> struct Cases<X_ML> {  // X l r <- M l b a, L b r a
    static constexpr int size = 10;
    static constexpr Case list[size] = {
        {0,4,0,0,0}, {0,6,1,0,0}, {1,0,0,0,0}, {1,2,1,0,0}, {2,1,1,0,0}, {2,3,1,0,0}, {3,5,2,0,0}, {4,4,2,0,0},
        {5,5,2,0,0}, {6,0,2,0,0}
    };
};
constexpr Case Cases<X_ML>::list[];

struct Shape {  // a rule: kinds of items and nodes; the nodes of the result are 0, 1 (, 2), then come the others
    int result, nodes, parts, arcs, ordered;
    int kinds[2], part[2][3], arc[2][2], order[4];
    int size;
    const Case* cases;
};

static const Shape shapes[RULES] = {
    {L, 3, 1, 1, 0, {G}, {{0, 1}}, {{2, 1}}, {}, 5, Cases<L_G_X>::list},  // L_G_X
    {L, 3, 1, 1, 0, {O}, {{0, 1, 2}}, {{2, 1}}, {}, 8, Cases<L_O_X>::list},  // L_O_X
    {L, 3, 1, 1, 0, {O}, {{0, 1, 2}}, {{0, 1}}, {}, 8, Cases<L_O_A>::list},  // L_O_A
    {L, 3, 1, 2, 0, {O}, {{0, 1, 2}}, {{0, 1}, {2, 1}}, {}, 3, Cases<L_O_AX>::list},  // L_O_AX
    {L, 3, 1, 0, 0, {Y}, {{0, 1, 2}}, {}, {}, 7, Cases<L_Y>::list},  // L_Y
    {O, 4, 2, 0, 3, {L, G}, {{0, 3, 2}, {3, 1}}, {}, {0, 3, 1}, 8, Cases<O_LG>::list},  // O_LG
    {O, 3, 1, 0, 0, {Y}, {{0, 1, 2}}, {}, {}, 4, Cases<O_Y>::list},  // O_Y
    {Y, 4, 1, 1, 3, {J}, {{0, 1, 3}}, {{2, 3}}, {0, 3, 1}, 7, Cases<Y_J>::list},  // Y_J
    {P, 4, 2, 0, 4, {N, G}, {{0, 3, 2}, {3, 1}}, {}, {2, 0, 3, 1}, 3, Cases<P_NG>::list},  // P_NG
    {N, 3, 1, 1, 0, {P}, {{0, 1, 2}}, {{2, 1}}, {}, 5, Cases<N_P>::list},  // N_P
    {N, 3, 1, 1, 0, {G}, {{0, 1}}, {{2, 1}}, {}, 5, Cases<N_G>::list},  // N_G
    {W, 3, 1, 1, 0, {O}, {{2, 1, 0}}, {{0, 1}}, {}, 6, Cases<W_O_T>::list},  // W_O_T
    {W, 3, 1, 2, 0, {O}, {{2, 1, 0}}, {{0, 1}, {2, 1}}, {}, 2, Cases<W_O_TV>::list},  // W_O_TV
    {I, 4, 2, 0, 4, {W, N}, {{0, 3, 2}, {3, 1, 2}}, {}, {0, 2, 3, 1}, 8, Cases<I_WN>::list},  // I_WN
    {I, 4, 2, 1, 4, {G, L}, {{2, 3}, {3, 1, 2}}, {{0, 3}}, {0, 2, 3, 1}, 13, Cases<I_GL>::list},  // I_GL
    {J, 3, 2, 0, 0, {I, G}, {{0, 1, 2}, {0, 2}}, {}, {}, 13, Cases<J_IG>::list},  // J_IG
    {B, 4, 2, 0, 4, {L, O}, {{0, 3, 2}, {1, 3, 2}}, {}, {0, 3, 1, 2}, 12, Cases<B_LO>::list},  // B_LO
    {B, 4, 2, 0, 4, {O, L}, {{0, 3, 2}, {1, 3, 2}}, {}, {0, 3, 1, 2}, 12, Cases<B_OL>::list},  // B_OL
    {Z, 3, 1, 1, 0, {B}, {{0, 1, 2}}, {{0, 1}}, {}, 6, Cases<Z_B>::list},  // Z_B
    {Z, 3, 1, 1, 0, {O}, {{0, 1, 2}}, {{0, 1}}, {}, 6, Cases<Z_O_RIGHT>::list},  // Z_O_RIGHT
    {Z, 3, 1, 1, 0, {O}, {{1, 0, 2}}, {{0, 1}}, {}, 6, Cases<Z_O_LEFT>::list},  // Z_O_LEFT
    {M, 3, 2, 1, 0, {O, G}, {{2, 0, 1}, {2, 1}}, {{0, 2}}, {}, 11, Cases<M_A>::list},  // M_A
    {M, 3, 2, 1, 0, {O, G}, {{2, 0, 1}, {2, 1}}, {{0, 1}}, {}, 11, Cases<M_B>::list},  // M_B
    {M, 3, 2, 2, 0, {O, G}, {{2, 0, 1}, {2, 1}}, {{0, 2}, {0, 1}}, {}, 3, Cases<M_AB>::list},  // M_AB
    {X, 3, 2, 0, 3, {Z, G}, {{0, 2, 1}, {2, 1}}, {}, {0, 2, 1}, 5, Cases<X_ZG>::list},  // X_ZG
    {X, 3, 1, 0, 3, {J}, {{0, 1, 2}}, {}, {0, 2, 1}, 3, Cases<X_J>::list},  // X_J
    {X, 4, 2, 0, 4, {M, L}, {{0, 2, 3}, {2, 1, 3}}, {}, {0, 3, 2, 1}, 10, Cases<X_ML>::list},  // X_ML
};

}  // namespace oneec
