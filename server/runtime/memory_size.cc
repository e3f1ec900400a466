#include "server/runtime/memory_size.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace waystar::runtime {

std::size_t MemoryBytesOfMachine() {
  std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // Of control groups of the second and the first version. "max" is no number, and read as no limit.
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::size_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) {
      bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

}  // namespace waystar::runtime
