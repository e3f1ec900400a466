// Whether a program's memory stays as it is.
#pragma once

#include <cstddef>
#include <vector>

namespace waystar::stress {

// Of this process, in bytes.
std::size_t ResidentBytes();

// Takes samples of the process's memory over a run.
class MemoryWatch {
 public:
  void Sample() { samples_.push_back(ResidentBytes()); }

  std::size_t latest() const { return samples_.back(); }

  // Whether the most of the last third is little more than the most of the third before: what comes earlier
  // is warming up.
  bool IsFlat() const;

 private:
  std::vector<std::size_t> samples_;
};

}  // namespace waystar::stress
