// Random ids.
#pragma once

#include <cstdint>

namespace waystar {

// Returns 64 bits of the operating system's randomness mixed with the time, never 0. Ids are unique across
// processes and machines with very high probability.
std::uint64_t RandomId();

}  // namespace waystar
