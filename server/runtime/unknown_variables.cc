#include "server/runtime/unknown_variables.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace waystar::runtime {
namespace {

constexpr absl::string_view kPrefix = "WAYSTAR_";
// Variables of the command line tool, which containers set as well, and of the project's scripts.
constexpr std::array<absl::string_view, 10> kOthers = {
    "CA", "CERT", "DATA", "FLAGFILE", "KEY", "SERVER", "SERVER_NAME", "TLS", "TOKEN", "TOKEN_FILE"};

// `name` and the names below are without the prefix.
bool IsRead(absl::string_view name) {
  const std::string flag = absl::AsciiStrToLower(name);
  return std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end() ||
         (absl::AsciiStrToUpper(flag) == name && absl::FindCommandLineFlag(flag) != nullptr);
}

// Returns true for a variable by which an orchestrator describes a service. Kubernetes sets
// WAYSTAR_SERVICE_HOST and WAYSTAR_SERVICE_PORT; like Docker links, it also sets WAYSTAR_PORT and
// WAYSTAR_PORT_7450_TCP, which are URLs, and WAYSTAR_PORT_7450_TCP_ADDR.
bool IsOfAService(absl::string_view name, absl::string_view value) {
  return absl::StrContains(name, "SERVICE_HOST") || absl::StrContains(name, "SERVICE_PORT") ||
         (absl::StrContains(name, "PORT") && absl::StrContains(value, "://")) ||
         absl::StrContains(name, "_TCP_") || absl::StrContains(name, "_UDP_");
}

}  // namespace

std::vector<std::string> UnknownVariables() {
  std::vector<std::string> unknown;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(*variable, absl::MaxSplits('=', 1));
    absl::string_view name = parts.first;
    if (absl::ConsumePrefix(&name, kPrefix) && !IsRead(name) && !IsOfAService(name, parts.second)) {
      unknown.emplace_back(parts.first);
    }
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace waystar::runtime
