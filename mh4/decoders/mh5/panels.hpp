// The order in which the MH5 decoder finds the items, which items.hpp explains.
#pragma once
#include <type_traits>

#include "items.hpp"

namespace mh5 {

// f of a number from 1 to TILE, as a constant; nothing for 0.
template <int COUNT = TILE, class F> static inline void with_constant(int count, F f) {
    if constexpr (COUNT > 0) {
        if (count == COUNT)
            f(std::integral_constant<int, COUNT>());
        else
            with_constant<COUNT - 1>(count, f);
    }
}

// What depends on whether arcs are scored is left to a derived class, Rows:
//     SHIFTED                            the last kind of rows of a Plane to which the shift of y is added
//     tabulate_pairs()                   lay out the scores, after Items::tabulate()
//     begin_block()                      ... those of arcs from the block
//     combine<COUNT>(x, y, R)            [i,j] + [j,x,y,R] for the COUNT nodes i of the block and all j between the block and
//                                        the panel, which is kept where [i,x,y,R] will be
//     begin_rows(plane, from, y, R)      prepare for [i,x,y,R] with x >= from
//     fill_rows<COUNT>(plane, x, y, R)   [i,x,y,R] for COUNT nodes from x, which are all in the block or all after it
//     complete_left(plane, y)            [i,...,y] are complete
//     store(plane, R)                    [i,...,R] are complete
template <class Rows>
struct Panels : Items {
    bool fill() override {
        tabulate();
        rows()->tabulate_pairs();
        for (last = n; last >= 0; last = first - 1) {
            first = std::max(0, last - BLOCK + 1);
            for (int i = first; i <= last; i++)
                begin_plane(planes[i - first], i);
            rows()->begin_block();
            for (int R = panel(first + 1); R < panels; R++)
                fill_panel(R);
        }
        return item2(0, n + 1) > -INFINITY;
    }

   private:
    Rows *rows() { return static_cast<Rows *>(this); }

    void fill_panel(int R) {
        const int start = low(R);
        for (int i = first; i <= last; i++)
            if (high(R) > i)
                begin(planes[i - first], R);
        for (int j = last + 1; j < start; j++)
            for (int q = 0; q <= last - first; q++)
                lefts[j * BLOCK + q] = planes[q].u2[j];
        // Rows that need nothing that starts in the block, except [j,x,y,R], or ends in the panel: for all i at once, as they
        // share what they read
        for (int y = last + 2; y < start; y++) {
            for (int i = last; i >= first; i--)
                rows()->begin_rows(planes[i - first], last + 1, y, R);
            for (int x = last + 1; x < y; x += TILE) {
                combine_tile(x, std::min(x + TILE, y), y, R);
                for (int i = last; i >= first; i--)
                    fill_tile(planes[i - first], x, std::min(x + TILE, y), y, R);
            }
        }
        for (int y = std::max(start, last + 2); y < high(R); y++)
            combine_tile(last + 1, y, y, R);
        // The others, one i after the other
        for (int i = last; i >= first; i--)
            if (high(R) > i)
                fill_plane(planes[i - first], R);
    }

    void begin(Plane &plane, int R) {
        put(span(plane.i, R), all(-INFINITY));
        for (int x = plane.i + 1; x < std::min(n + 1, high(R)); x++) {
            put(current(plane, X3, x), last < x && x < low(R) ? plane.u2[x] + at(span(x, R)) : all(-INFINITY));
            for (int kind = X3 + 1; kind < KINDS; kind++)
                put(current(plane, kind, x), all(-INFINITY));
        }
    }

    void fill_plane(Plane &plane, int R) {
        const int i = plane.i;
        for (int y = i + 1; y <= high(R); y++) {
            watch.pass(4 * n);
            if (y >= low(R)) {
                complete(plane, y, R, Rows::SHIFTED);
                if (y <= n)
                    rows()->complete_left(plane, y);
                if (y == high(R))
                    break;
            }
            if (y >= low(R) || y <= last)
                raise(current(plane, X3, y), plane.u2[y] + at(span(y, R)));
            if (i < last || y >= low(R))
                rows()->begin_rows(plane, i + 1, y, R);
            if (i < last)
                fill_tile(plane, i + 1, std::min(y, last + 1), y, R);
            if (y >= low(R))
                for (int x = last + 1; x < y; x += TILE)
                    fill_tile(plane, x, std::min(x + TILE, y), y, R);
        }
        for (int y = i + 1; y < high(R); y++)
            put(t3 + pair(R, i, y), at(current(plane, X3, y)));
        rows()->store(plane, R);
    }

    void combine_tile(int x, int end, int y, int R) {
        for (; x < end; x++) {
            watch.pass(BLOCK * (n + LANES));
            with_constant(last - first + 1, [&](auto count) { rows()->template combine<count>(x, y, R); });
        }
    }

    void fill_tile(const Plane &plane, int x, int end, int y, int R) {
        watch.pass(TILE * 4 * (n + LANES));
        with_constant(end - x, [&](auto count) { rows()->template fill_rows<count>(plane, x, y, R); });
    }
};

}  // namespace mh5
