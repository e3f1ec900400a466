// The size of the memory.
#pragma once

#include <cstddef>

namespace waystar::runtime {

// Returns the bytes of the machine's memory, or what the container of this process may use, if that is less.
std::size_t MemoryBytesOfMachine();

}  // namespace waystar::runtime
