#pragma once

#include <chrono>
#include <optional>

namespace waystar::load {

// The process of this machine that listens on a TCP port, as far as this user may look; none if it is not
// found. Reads /proc.
std::optional<int> FindListener(int port);

// The processor time that a process of this machine has taken so far.
std::optional<std::chrono::nanoseconds> CpuTimeOf(int pid);

}  // namespace waystar::load
