#include "server/runtime/connection_count.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace waystar::runtime {
namespace {

// Columns of /proc/self/net/tcp, of which the first is a number and a colon.
constexpr std::size_t kLocalAddress = 1;
constexpr std::size_t kState = 3;
constexpr absl::string_view kEstablished = "01";

}  // namespace

std::optional<std::int64_t> CountConnections(int port) {
  const std::string end_of_address = absl::StrCat(":", absl::Hex(port, absl::kZeroPad4));
  std::int64_t count = 0;
  bool is_known = false;
  for (const char* const path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      is_known = true;
      const std::vector<absl::string_view> columns = absl::StrSplit(line, ' ', absl::SkipWhitespace());
      if (columns.size() > kState && columns[kState] == kEstablished &&
          absl::EndsWithIgnoreCase(columns[kLocalAddress], end_of_address)) {
        ++count;
      }
    }
  }
  return is_known ? std::optional<std::int64_t>(count) : std::nullopt;
}

}  // namespace waystar::runtime
