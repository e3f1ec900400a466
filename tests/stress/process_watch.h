// Whether a process keeps to the memory, threads and open files that it has come to need.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace waystar::stress {

struct ProcessFigures {
  // Resident.
  std::size_t bytes = 0;
  std::size_t threads = 0;
  std::size_t open_files = 0;
};

// All zero if there is no such process.
ProcessFigures FiguresOf(pid_t process);

// How much more than before is no growth: chance, what an allocator keeps, how many clients there just are.
struct Allowance {
  double share = 0.0;
  std::size_t amount = 0;
};
inline constexpr Allowance kBytesAllowance = {.share = 0.05, .amount = std::size_t{24} << 20};
inline constexpr Allowance kThreadsAllowance = {.share = 0.1, .amount = 6};
inline constexpr Allowance kOpenFilesAllowance = {.share = 0.1, .amount = 12};

// Takes samples of a process over a run. The first quarter of them is the warm-up; a figure has grown if its
// mean over the last quarter is more than that over the second, and its allowance.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t process) : process_(process) {}

  // Returns what it is now.
  const ProcessFigures& Sample();

  // The figures that have grown, in words; empty if none has. REQUIRES: at least 4 samples.
  std::string Growth(bool is_memory_judged) const;

 private:
  const pid_t process_;
  std::vector<ProcessFigures> samples_;
};

}  // namespace waystar::stress
