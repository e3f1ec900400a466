// Counts the work of the core in steps of its own code, which are the same at every run, unlike time.
#pragma once

#include <cstdint>

#include "gtest/gtest.h"

namespace waystar {

// Returns how many basic blocks the calling thread has run so far in sources that are compiled to count them
// (waystar_counted in CMakeLists.txt), with one for each 64 bytes that such sources have copied or set.
std::uint64_t WorkSoFar();

// Returns the work of a call.
template <typename Call>
std::uint64_t CountWork(Call call) {
  const std::uint64_t before = WorkSoFar();
  call();
  return WorkSoFar() - before;
}

// Expects that twice as much takes about twice as long, from `size` to four times that. `work` returns what a
// size takes. What grows by the square takes four times as long; sorting, and queues, some 2.3 times.
template <typename WorkOfSize>
void ExpectLinear(int size, WorkOfSize work) {
  constexpr double kMost = 2.6;
  auto before = static_cast<double>(work(size));
  EXPECT_GT(before, size) << "nothing is counted";
  for (int doubled = 0; doubled < 2; ++doubled) {
    size *= 2;
    const auto now = static_cast<double>(work(size));
    EXPECT_LE(now, kMost * before) << "for " << size << ", after " << before << " for half of it";
    before = now;
  }
}

// Expects that eight times as much around it hardly makes a difference.
template <typename WorkOfSize>
void ExpectFlat(int size, WorkOfSize work) {
  constexpr double kMost = 1.5;
  const auto before = static_cast<double>(work(size));
  EXPECT_GT(before, 0.0) << "nothing is counted";
  EXPECT_LE(static_cast<double>(work(8 * size)), kMost * before) << "after " << before;
}

}  // namespace waystar
