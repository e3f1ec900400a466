// Map ids.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

inline constexpr std::size_t kMaxMapIdBytes = 63;

// Returns OK for 1 to 63 bytes that match [a-z0-9][a-z0-9_.-]*; else INVALID_ARGUMENT / BAD_MAP_ID with field
// "map".
absl::Status CheckMapId(absl::string_view id);

}  // namespace waystar::core
