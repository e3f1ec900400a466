#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace waystar::load {

// Finds the process of this machine that listens on a TCP port of an address, as far as this user may look. A
// host that is not an IPv4 address stands for all addresses. Reads /proc. Returns nothing if it is not found.
std::optional<int> FindListener(const std::string& host, int port);

// Returns the processor time that a process of this machine has taken so far.
std::optional<std::chrono::nanoseconds> CpuTimeOf(int pid);

}  // namespace waystar::load
