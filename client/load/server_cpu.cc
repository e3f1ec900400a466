#include "client/load/server_cpu.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waystar::load {
namespace {

constexpr char kListening[] = "0A";

// The inodes of the sockets that listen on the port, by a table of /proc/net.
void AddListeningInodes(const char* table, int port, std::set<std::string>& links) {
  const std::string ending = absl::StrCat(":", absl::Hex(port, absl::kZeroPad4));
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> columns = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (columns.size() > 9 && columns[3] == kListening && columns[1].size() > ending.size() &&
        absl::AsciiStrToLower(columns[1].substr(columns[1].size() - ending.size())) == ending) {
      links.insert(absl::StrCat("socket:[", columns[9], "]"));
    }
  }
}

bool Holds(const std::filesystem::path& process, const std::set<std::string>& links) {
  std::error_code error;
  for (auto file = std::filesystem::directory_iterator(process / "fd", error);
       !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    std::error_code unreadable;
    if (links.count(std::filesystem::read_symlink(file->path(), unreadable).string()) > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<int> FindListener(int port) {
  std::set<std::string> links;
  AddListeningInodes("/proc/net/tcp", port, links);
  AddListeningInodes("/proc/net/tcp6", port, links);
  if (links.empty()) {
    return std::nullopt;
  }
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    int pid = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &pid) && Holds(entry->path(), links)) {
      return pid;
    }
  }
  return std::nullopt;
}

std::optional<std::chrono::nanoseconds> CpuTimeOf(int pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace waystar::load
