#include "server/service/gateway/allowed_origins.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace waystar::rpc {
namespace {

// Browsers send scheme and host in lower case, and omit the scheme's default port.
bool IsOrigin(absl::string_view text) {
  absl::string_view host = text;
  if (!absl::ConsumePrefix(&host, "https://") && !absl::ConsumePrefix(&host, "http://")) {
    return false;
  }
  return !host.empty() && host.find_first_of("/?#@*") == absl::string_view::npos &&
         std::none_of(host.begin(), host.end(),
                      [](char c) { return !absl::ascii_isgraph(c) || absl::ascii_isupper(c); });
}

}  // namespace

absl::StatusOr<AllowedOrigins> AllowedOrigins::Parse(absl::string_view text) {
  AllowedOrigins allowed;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    if (part == "*") {
      allowed.allows_all_ = true;
    } else if (IsOrigin(part)) {
      allowed.origins_.emplace_back(part);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "' is no origin: write such as https://game.example, in lower case"));
    }
  }
  return allowed;
}

bool AllowedOrigins::Allows(absl::string_view origin) const {
  return allows_all_ || std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

}  // namespace waystar::rpc
