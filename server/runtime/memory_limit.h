// Memory available to this process.
#pragma once

#include <cstddef>
#include <filesystem>

namespace waystar::runtime {

// Returns the machine's memory in bytes, or the smallest limit of this process's control groups and their
// ancestors, version 1 or 2. Containers and systemd set these. `root` is the parent of proc and sys;
// invisible groups have no limit.
std::size_t MemoryLimit(const std::filesystem::path& root = "/");

}  // namespace waystar::runtime
