// Iteration over the runs of set bits in a word.
#pragma once

#include <bit>

#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {

// The bits begin, ..., end - 1.
struct BitRun {
  int begin = 0;
  int end = 0;
};

// Calls visit(run) for each run of set bits, lowest first.
template <typename Visitor>
void ForEachRun(Word bits, Visitor visit) {
  while (bits != 0) {
    const int begin = std::countr_zero(bits);
    visit(BitRun{begin, begin + std::countr_one(bits >> begin)});
    // The carry clears the lowest run and sets one bit that was clear.
    bits &= bits + (bits & -bits);
  }
}

}  // namespace waystar::core
