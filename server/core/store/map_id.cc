#include "server/core/store/map_id.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

bool IsLowerOrDigit(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_islower(byte) || absl::ascii_isdigit(byte);
}

bool IsMapIdChar(char c) { return IsLowerOrDigit(c) || c == '_' || c == '.' || c == '-'; }

}  // namespace

absl::Status CheckMapId(absl::string_view id) {
  if (!id.empty() && id.size() <= kMaxMapIdBytes && IsLowerOrDigit(id.front()) &&
      std::all_of(id.begin(), id.end(), IsMapIdChar)) {
    return absl::OkStatus();
  }
  const absl::string_view shown = id.substr(0, kMaxMapIdBytes);
  return MakeError(
      ErrorReason::kBadMapId, "map",
      absl::StrCat("a map's id has 1 to ", kMaxMapIdBytes,
                   " of a-z, 0-9, '_', '.' and '-', and begins with a letter or digit; this is \"",
                   absl::CHexEscape(shown), shown.size() < id.size() ? "…" : "", "\""));
}

}  // namespace waystar::core
