#include "client/load/server_cpu.h"

#include <arpa/inet.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace waystar::load {
namespace {

constexpr char kListening[] = "0A";

// Returns the address as the tables of /proc/net have it, or "" if it is not an IPv4 address.
std::string InTable(const std::string& host) {
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ? absl::StrFormat("%08X", address.s_addr) : "";
}

// Adds the inodes of the sockets that listen on the port, at the address or at all, by a table of /proc/net.
void AddListeningInodes(const char* table, const std::string& address, int port,
                        std::set<std::string>& links) {
  const std::string port_in_table = absl::StrFormat("%04X", port);
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> columns = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (columns.size() <= 9 || columns[3] != kListening) {
      continue;
    }
    const std::pair<std::string, std::string> local = absl::StrSplit(columns[1], absl::MaxSplits(':', 1));
    const bool is_for_all = local.first.find_first_not_of('0') == std::string::npos;
    // An IPv4 address is at the end of one that is mapped into IPv6.
    if (local.second == port_in_table && (is_for_all || absl::EndsWith(local.first, address))) {
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

std::optional<int> FindListener(const std::string& host, int port) {
  std::set<std::string> links;
  AddListeningInodes("/proc/net/tcp", InTable(host), port, links);
  AddListeningInodes("/proc/net/tcp6", InTable(host), port, links);
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
