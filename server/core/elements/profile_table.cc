#include "server/core/elements/profile_table.h"

#include "absl/strings/escaping.h"
#include "server/core/elements/tags.h"

namespace waystar::core {

absl::Status CheckProfileName(absl::string_view name) {
  return CheckName(name, "a profile's name", ErrorReason::kBadProfile, "name");
}

absl::Status NoSuchProfile(absl::string_view name, absl::string_view field) {
  return MakeError(
      ErrorReason::kProfileNotFound, field,
      absl::StrCat("the map has no profile \"", absl::CHexEscape(name.substr(0, kMaxNameBytes)), "\""));
}

}  // namespace waystar::core
