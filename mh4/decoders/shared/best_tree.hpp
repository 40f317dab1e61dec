// The search for the best tree where trees are scored, not transitions, known to callers that are compiled without it.
#pragma once
#include <stddef.h>

#include <utility>
#include <vector>

#include "tensors.hpp"

typedef std::vector<std::pair<int, int>> PartRows;  // index rows of a tensor

// A search with its memory, which is used again for the next sentence. Methods throw as Memory::allocate does, or signals::Raised.
class BestTree {
  public:
    virtual ~BestTree() {}
    // Find the heads of the best tree over n words; returns its score, -inf if there is none. scores: by tensor; cost: of arcs, or NULL.
    virtual double find(int n, const double *const *scores, const double *cost, bool single_root, int *heads) = 0;
    // What a tree uses of each tensor, or NULL if the tree is not in the class.
    virtual const PartRows *parts(const int *heads, int n) = 0;
    virtual size_t bytes_needed() const = 0;
    // Free memory that is too large to keep.
    virtual void release() = 0;
};
