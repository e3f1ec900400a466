// Numbers the threads of the process, so that each can have a part of its own of what all of them write to.
#pragma once

#include <cstddef>

namespace waystar {

// Of the calling thread, always the same: 0, 1, 2 ... in the order in which threads first asked.
std::size_t ThreadNumber();

// A power of two: as many parts as there are processors, rounded up, but at most `max`, a power of two too.
std::size_t StripesForProcessors(std::size_t max);

}  // namespace waystar
