// Numbers of the process's threads, by which each gets its own part of what all of them write to.
#pragma once

#include <cstddef>

namespace waystar {

// Returns the calling thread's number, which never changes: 0, 1, 2 ... in the order of their first calls.
std::size_t ThreadNumber();

// Returns a number of parts: as many as there are processors, rounded up to a power of two, but at most
// `max`, which is a power of two.
std::size_t StripesForProcessors(std::size_t max);

}  // namespace waystar
