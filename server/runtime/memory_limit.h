// The memory that this process may use.
#pragma once

#include <cstddef>
#include <filesystem>

namespace waystar::runtime {

// Returns the bytes of the machine's memory, or of the least limit among the control groups that this process
// is in: its own and all above it, of the second version or the first. Containers and systemd set these.
// `root` is where proc and sys are found; groups that cannot be seen from here have no limit.
std::size_t MemoryLimit(const std::filesystem::path& root = "/");

}  // namespace waystar::runtime
