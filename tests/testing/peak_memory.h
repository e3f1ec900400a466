// The most memory that this process, tests and server together, has had at once.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace waystar::testing {

// Returns the most memory, in bytes, since the last call of this.
inline std::size_t TakePeakMemory() {
  std::ifstream status("/proc/self/status");
  std::size_t kib = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      status >> kib;
    }
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  return kib << 10;
}

}  // namespace waystar::testing
