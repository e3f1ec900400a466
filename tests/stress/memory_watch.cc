#include "tests/stress/memory_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>

namespace waystar::stress {

std::size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

bool MemoryWatch::IsFlat() const {
  constexpr std::size_t kSlack = std::size_t{16} << 20;
  const auto third = static_cast<std::ptrdiff_t>(samples_.size() / 3);
  if (third == 0) {
    return true;
  }
  const auto last = samples_.end() - third;
  const std::size_t before = *std::max_element(last - third, last);
  return *std::max_element(last, samples_.end()) <= before + before / 20 + kSlack;
}

}  // namespace waystar::stress
