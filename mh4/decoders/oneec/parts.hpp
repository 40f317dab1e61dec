// Which scores a tree uses (arcs, crossed arcs, grandparents and siblings), and whether it is 1-Endpoint-Crossing.
#pragma once

#include "signals.hpp"  // first, as it includes Python.h

#include <algorithm>

#include "best_tree.hpp"

namespace oneec {

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

}  // namespace oneec
