// How much memory there is.
#pragma once

#include <cstddef>

namespace waystar::runtime {

// Of the machine, or what the container that this process runs in may use, if that is less. In bytes.
std::size_t MemoryBytesOfMachine();

}  // namespace waystar::runtime
