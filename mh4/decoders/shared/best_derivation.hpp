// The search for the best derivation of a transition system, known to callers that are compiled without it.
#pragma once
#include <stddef.h>

#include <vector>

#include "transition_scores.hpp"

namespace transitions {

// A search with its memory, which is used again for the next sentence. Methods throw as Memory::allocate does, or signals::Raised.
class BestDerivation {
  public:
    Scores scores;               // set these three, then prepare and find
    bool single = false;         // whether node 0 is to have one dependent
    const int *heads = nullptr;  // of the only tree to derive, or NULL
    std::vector<int> codes;      // of the transitions found, in order of execution

    virtual ~BestDerivation() {}
    // Lay out the chart of a new sentence.
    virtual void prepare() {}
    // The memory that it takes up, at least.
    virtual size_t bytes_needed() const = 0;
    // True if there is a derivation; then the best one is in `codes`.
    virtual bool find() = 0;
    // Free memory that is too large to keep.
    virtual void release() = 0;
};

}  // namespace transitions
