// The innermost loops of the MH4 decoder, which take nearly all of its time: see mh4/decoders/shared/lanes.h.
#pragma once
#include "lanes.h"

// For given i and k, all j between them and all l in the rows of k, which have `count` lanes: Combine to [i,j,k,l], and Link
// this to [i,j,l] and [i,k,l].
//     tj[j], tk: the rows of [i,j,l] and [i,k,l].           t2k: the row of [k,l].
//     tjk, links_k, links_j: a row for each j from first_j.   left, right: the items that [k,l] and [j,k,l] combine with, by j.
//     ra2, rap, row_ra2, row_rap: arcs from i to k and j, by j and by l, unless they are in the links.
template <bool by_head>
static inline void link3(float *const *tj, float *tk, const float *t2k, const float *tjk, const float *links_k,
                         const float *links_j, const float *left, const float *right, const float *ra2, const float *rap,
                         const float *row_ra2, const float *row_rap, int first_j, int k, int start, int count) {
    for (int x = 0; x < count; x += LANES) {
        Lanes best_k = at(tk + x), kl = at(t2k + x), ra2_l = Lanes(), rap_l = Lanes();
        if (by_head) {
            ra2_l = at(row_ra2 + x);
            rap_l = at(row_rap + x);
        }
        long cell = x;
        for (int j = first_j; j < k; j++, cell += count) {
            float *best_j = tj[j] + start + x;
            Lanes t4 = maximum(left[j] + kl, right[j] + at(tjk + cell));
            Lanes without_k = at(links_k + cell), without_j = at(links_j + cell);
            if (by_head) {
                without_k = maximum(without_k, ra2[j] + ra2_l);
                without_j = maximum(without_j, rap[j] + rap_l);
            }
            *(Lanes *)best_j = maximum(at(best_j), t4 + without_k);
            best_k = maximum(best_k, t4 + without_j);
        }
        *(Lanes *)(tk + x) = best_k;
    }
}
