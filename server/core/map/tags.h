// Words on maps: names, and the tags that links carry and that profiles require of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar::core {

inline constexpr std::size_t kMaxNameBytes = 63;

// Returns OK for a name of 1 to kMaxNameBytes bytes that match [A-Za-z0-9][A-Za-z0-9_.:-]*. Else returns
// INVALID_ARGUMENT with that reason and field; the message says whose name it is ("a portal's id").
absl::Status CheckName(absl::string_view name, absl::string_view whose, ErrorReason reason,
                       absl::string_view field = "");

inline constexpr std::size_t kMaxTags = 16;
inline constexpr std::size_t kMaxTagBytes = 63;

// Returns OK for at most kMaxTags unique tags of 1 to kMaxTagBytes printable ASCII characters without spaces.
// Else returns INVALID_ARGUMENT with that reason and the field "[i]", or none if there are too many.
absl::Status CheckTags(const std::vector<std::string>& tags, ErrorReason reason);

}  // namespace waystar::core
