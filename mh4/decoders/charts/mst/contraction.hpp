// The maximum spanning arborescence: all trees, in O(n^2) (Chu & Liu 1965, Edmonds 1967; Tarjan 1977 for dense graphs).
//
// Every node gets its best incoming arc, and a cycle of these arcs is contracted to a new node. An arc that enters the
// new node enters one of its members; its score is its gain over the arc of this member, which it replaces. A
// contraction takes O(n) for each member, and a node becomes a member only once. A path grows from a word to its head,
// to the head of the head, and so on: the cycles are found on the way (Gabow, Galil, Spencer & Tarjan 1986).
//
// With a single root, an arc from 0 is chosen only if there is no other arc. This minimises the number of arcs from 0
// first, and maximises the score second: no cycle has an arc from 0, so contraction does not change whether an arc
// counts.
#pragma once
#include <math.h>

#include "interface.hpp"
#include "chart_memory.hpp"

namespace VARIANT::mst {

// The nodes 0 to n and, numbered after these, the contracted ones.
class Contraction final : public BestTree {
    enum { BLOCK = 128 };  // rows that are transposed together
    enum State { NEW, ON_PATH, DONE };

    int n, nodes;
    Memory<double> memory;
    double* entering;            // at node * (n + 1) + h: the best arc from h to a member of node; -inf if h is a member
    std::vector<int> top;        // of each node 0 to n: the node it is contracted to
    std::vector<int> container;  // of each node: the contracted node that it is a member of, or 0
    std::vector<int> head;       // of each node: the head h of the arc chosen
    std::vector<double> best;    // its score
    std::vector<State> states;
    std::vector<int> path;
    signals::Watch watch;

    double* row(int node) const { return entering + (size_t)node * (n + 1); }

    // Choose an arc for every node; false if no arc enters some node.
    bool choose_arcs(const double* arcs, const double* cost, bool single_root) {
        nodes = n + 1;
        // In blocks of rows: if all rows were begun at once, the system would have to clear all of their pages at once.
        for (int first = 1; first <= n; first += BLOCK)
            for (int h = 0; h <= n; h++) {
                watch.pass(4 * BLOCK);
                const size_t row_h = (size_t)h * (n + 1);
                for (int m = first; m < std::min(first + BLOCK, n + 1); m++)
                    row(m)[h] = cost ? arcs[row_h + m] + cost[row_h + m] : arcs[row_h + m];
            }
        for (int m = 0; m <= n; m++) {
            row(m)[m] = -INFINITY;
            top[m] = m;
            container[m] = 0;
            states[m] = NEW;
        }
        states[0] = DONE;
        path.clear();
        for (int word = 1; word <= n; word++) {
            int node = top[word];
            while (states[node] != DONE) {  // node is new, or a contracted node at the end of the path
                if (states[node] == NEW) {
                    states[node] = ON_PATH;
                    path.push_back(node);
                }
                watch.pass(2 * n);
                if (!choose_arc(node, single_root)) return false;
                const int h = top[head[node]];
                node = states[h] == ON_PATH ? contract(h) : h;
            }
            for (int on_path : path) states[on_path] = DONE;
            path.clear();
        }
        return true;
    }

    // Choose the best arc that enters a node; false if there is none.
    bool choose_arc(int node, bool single_root) {
        const double* arcs = row(node);
        double most = -INFINITY;
        int from = 0;
        for (int h = 1; h <= n; h++)
            if (arcs[h] > most) {
                most = arcs[h];
                from = h;
            }
        if (arcs[0] > most && !(single_root && from)) {
            most = arcs[0];
            from = 0;
        }
        best[node] = most;
        head[node] = from;
        return most > -INFINITY;
    }

    // Contract the end of the path, from node `last` on, which is a cycle, to a new node. Return the new node.
    int contract(int last) {
        const int node = nodes++;
        double* arcs = row(node);
        container[node] = 0;
        std::fill_n(arcs, n + 1, -INFINITY);
        for (int member = -1; member != last;) {
            member = path.back();
            path.pop_back();
            watch.pass(n);
            container[member] = node;
            enter(arcs, row(member), best[member], n + 1);
        }
        for (int h = 1; h <= n; h++)
            if (container[top[h]] == node) {
                top[h] = node;
                arcs[h] = -INFINITY;
            }
        states[node] = ON_PATH;
        path.push_back(node);
        return node;
    }

    static void enter(double* __restrict arcs, const double* member, double best, int count) {
        for (int h = 0; h < count; h++) arcs[h] = std::max(arcs[h], member[h] - best);
    }

    // Expand the contracted nodes: the arc that enters a contracted node replaces the arc of the member that it enters.
    void expand() {
        for (int node = nodes - 1; node > n; node--) {
            watch.pass(4 * node);
            double most = -INFINITY;
            int entered = -1;
            for (int member = 1; member < node; member++)
                if (container[member] == node && row(member)[head[node]] - best[member] > most) {
                    most = row(member)[head[node]] - best[member];
                    entered = member;
                }
            if (entered < 0) lost();
            head[entered] = head[node];
        }
    }

  public:
    double find(int words, const double* const* scores, const double* cost, bool single_root, int* heads) override {
        n = words;
        entering = memory.allocate((2 * (size_t)n + 1) * (n + 1));
        for (auto* nodes : {&container, &head}) nodes->resize(2 * n + 1);
        best.resize(2 * n + 1);
        states.resize(2 * n + 1);
        top.resize(n + 1);
        if (!choose_arcs(scores[ARCS], cost, single_root)) return -INFINITY;
        expand();
        double score = 0;
        int roots = 0;
        for (int word = 1; word <= n; word++) {
            const size_t arc = (size_t)head[word] * (n + 1) + word;
            heads[word] = head[word];
            score += scores[ARCS][arc] + (cost ? cost[arc] : 0);
            roots += head[word] == 0;
        }
        return roots == 1 || !single_root ? score : -INFINITY;
    }
    size_t bytes_needed() const override { return memory.bytes(); }
    void release() override { memory.release(); }
};

}  // namespace VARIANT::mst
