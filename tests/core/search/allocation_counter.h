// Counts what a thread takes from the heap.
#pragma once

#include <cstdint>

namespace waystar::testing {

// How often the calling thread has called an operator new. A program that this is linked into has its own
// operators, which take their memory from malloc: a sanitizer still sees every block.
std::int64_t AllocationCount();

}  // namespace waystar::testing
