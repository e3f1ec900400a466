#pragma once

#include <chrono>
#include <optional>

namespace waystar::load {

// Finds the process of this machine that listens on a TCP port, as far as this user may look. Reads /proc.
// Returns nothing if it is not found.
std::optional<int> FindListener(int port);

// Returns the processor time that a process of this machine has taken so far.
std::optional<std::chrono::nanoseconds> CpuTimeOf(int pid);

}  // namespace waystar::load
