// The most memory that this process, tests and server together, has had at once.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

#include "absl/base/config.h"

namespace waystar {

// Returns the most memory, in bytes, since the last call of this. A sanitizer keeps what is freed: with one,
// returns 0.
inline std::size_t TakePeakMemory() {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  return 0;
#else
  std::ifstream status("/proc/self/status");
  std::size_t kib = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      status >> kib;
    }
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  return kib << 10;
#endif
}

}  // namespace waystar
