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

bool IsNodeIdChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':' || c == '-';
}

}  // namespace

absl::Status CheckNodeId(absl::string_view id) {
  if (!id.empty() && id.size() <= kMaxNodeIdBytes &&
      absl::ascii_isalnum(static_cast<unsigned char>(id.front())) &&
      std::all_of(id.begin(), id.end(), IsNodeIdChar)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      ErrorReason::kBadNodeId, "",
      absl::StrCat("the id of a node has 1 to ", kMaxNodeIdBytes,
                   " of A-Z, a-z, 0-9, '_', '.', ':' and '-', and begins with a letter or digit; this is \"",
                   absl::CHexEscape(id.substr(0, kMaxNodeIdBytes)), "\""));
}

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
