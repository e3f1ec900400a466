#include "client/cli/output.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace waystar::cli {

absl::Status WriteOutput(const std::string& name, absl::string_view bytes) {
  std::ofstream file(name, std::ios::binary);
  file << bytes << std::flush;
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", name, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace waystar::cli
