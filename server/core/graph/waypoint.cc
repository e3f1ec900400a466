#include "server/core/graph/waypoint.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/shape/shape.h"

namespace waystar::core {
namespace {

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':' || c == '-';
}

absl::Status CheckName(absl::string_view name, ErrorReason reason, absl::string_view what) {
  if (!name.empty() && name.size() <= kMaxNameBytes &&
      absl::ascii_isalnum(static_cast<unsigned char>(name.front())) &&
      std::all_of(name.begin(), name.end(), IsNameChar)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      reason, "",
      absl::StrCat(what, " has 1 to ", kMaxNameBytes,
                   " of A-Z, a-z, 0-9, '_', '.', ':' and '-', and begins with a letter or digit; this is \"",
                   absl::CHexEscape(name.substr(0, kMaxNameBytes)), "\""));
}

}  // namespace

absl::Status CheckNodeId(absl::string_view id) {
  return CheckName(id, ErrorReason::kBadNodeId, "the id of a node");
}

absl::Status CheckTag(absl::string_view tag) { return CheckName(tag, ErrorReason::kBadTag, "a tag"); }

absl::Status CheckPosition(const WorldPoint& position) {
  for (const auto& [value, field] : {std::pair(position.x, ".x"), {position.y, ".y"}, {position.z, ".z"}}) {
    // Not a number compares with nothing.
    if (!(std::abs(value) <= kMaxReach)) {
      return InvalidArgument(ErrorReason::kBadValue, field,
                             absl::StrCat("is a number from -2^20 to 2^20, not ", value));
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
