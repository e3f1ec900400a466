// Map ids, and the hash of tables by id.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

inline constexpr std::size_t kMaxMapIdBytes = 63;

// Returns OK for 1 to 63 bytes that match [a-z0-9][a-z0-9_.-]*; else INVALID_ARGUMENT / BAD_MAP_ID with field
// "map".
absl::Status CheckMapId(absl::string_view id);

// Transparent hash for tables with std::string keys, for lookups by absl::string_view.
struct IdHash {
  using is_transparent = void;
  std::size_t operator()(absl::string_view id) const {
    return std::hash<std::string_view>()({id.data(), id.size()});
  }
};

}  // namespace waystar::core
