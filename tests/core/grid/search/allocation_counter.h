// Counts what is taken from the heap, and lets the heap fail.
#pragma once

#include <cstdint>

namespace waystar {

// How often the calling thread has called an operator new. A program that this is linked into has its own
// operators, which take their memory from malloc: a sanitizer still sees every block.
std::int64_t AllocationCount();

// Returns the bytes that operators new of all threads hold, with what malloc rounds them up by.
std::int64_t LiveBytes();

// While it lives, one operator new of the calling thread fails, after so many that do not.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::int64_t after);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
};

}  // namespace waystar
