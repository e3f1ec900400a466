#include "server/runtime/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace waystar::runtime {
namespace {

// Returns the smallest of `least` and the limits in `file` of the group and its ancestors up to `groups`.
std::size_t LeastLimit(const std::filesystem::path& groups, std::filesystem::path group,
                       const std::string& file, std::size_t least) {
  for (;; group = group.parent_path()) {
    // "max" does not parse, and means no limit.
    std::size_t limit = 0;
    if (std::ifstream(groups / group / file) >> limit && limit > 0) {
      least = std::min(least, limit);
    }
    if (group.empty()) {
      return least;
    }
  }
}

}  // namespace

std::size_t MemoryLimit(const std::filesystem::path& root) {
  std::size_t least =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  // One line per hierarchy: NUMBER:CONTROLLERS:/GROUP. Version 2 is number 0 and has no controllers.
  std::ifstream hierarchies(root / "proc/self/cgroup");
  for (std::string line; std::getline(hierarchies, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) {
      continue;
    }
    const std::filesystem::path group = std::filesystem::path(parts[2]).relative_path();
    if (parts[1].empty()) {
      least = LeastLimit(groups, group, "memory.max", least);
    } else if (absl::StrContains(parts[1], "memory")) {
      least = LeastLimit(groups / "memory", group, "memory.limit_in_bytes", least);
    }
  }
  return least;
}

}  // namespace waystar::runtime
