// Counts what is taken from the heap.
#pragma once

#include <cstdint>

namespace waystar::testing {

// How often the calling thread has called an operator new. A program that this is linked into has its own
// operators, which take their memory from malloc: a sanitizer still sees every block.
std::int64_t AllocationCount();

// Returns the bytes that operators new of all threads hold, with what malloc rounds them up by.
std::int64_t LiveBytes();

}  // namespace waystar::testing
