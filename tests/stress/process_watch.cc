#include "tests/stress/process_watch.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace waystar::stress {
namespace {

std::size_t EntriesOf(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

double MeanOf(const std::vector<ProcessFigures>& samples, std::size_t begin, std::size_t end,
              std::size_t ProcessFigures::*figure) {
  double sum = 0.0;
  for (std::size_t i = begin; i < end; ++i) {
    sum += static_cast<double>(samples[i].*figure);
  }
  return sum / static_cast<double>(end - begin);
}

}  // namespace

ProcessFigures FiguresOf(pid_t process) {
  const std::string folder = absl::StrCat("/proc/", process);
  std::ifstream file(folder + "/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return {.bytes = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
          .threads = EntriesOf(folder + "/task"),
          .open_files = EntriesOf(folder + "/fd")};
}

const ProcessFigures& ProcessWatch::Sample() { return samples_.emplace_back(FiguresOf(process_)); }

std::string ProcessWatch::Growth(bool is_memory_judged) const {
  const std::size_t quarter = samples_.size() / 4;
  std::string growth;
  const auto judge = [&](const char* name, std::size_t ProcessFigures::*figure, const Allowance& allowance) {
    const double before = MeanOf(samples_, quarter, 2 * quarter, figure);
    const double last = MeanOf(samples_, samples_.size() - quarter, samples_.size(), figure);
    if (last > before * (1.0 + allowance.share) + static_cast<double>(allowance.amount)) {
      absl::StrAppend(&growth, name, " grew from ", before, " to ", last, "\n");
    }
  };
  if (is_memory_judged) {
    judge("memory", &ProcessFigures::bytes, kBytesAllowance);
  }
  judge("threads", &ProcessFigures::threads, kThreadsAllowance);
  judge("open files", &ProcessFigures::open_files, kOpenFilesAllowance);
  return growth;
}

}  // namespace waystar::stress
