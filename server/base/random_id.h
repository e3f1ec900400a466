// Random numbers that serve as names.
#pragma once

#include <cstdint>

namespace waystar {

// Returns 64 bits of the operating system's randomness, mixed with the time, but never 0. Two calls, in one
// process or two, on one machine or two, almost surely return different numbers.
std::uint64_t RandomId();

}  // namespace waystar
