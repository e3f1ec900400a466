// Tags: words that links carry and that profiles require of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/base/error.h"

namespace waystar::core {

inline constexpr std::size_t kMaxTags = 16;
inline constexpr std::size_t kMaxTagBytes = 63;

// Returns OK for at most kMaxTags unique tags of 1 to kMaxTagBytes printable ASCII characters without spaces.
// Else returns INVALID_ARGUMENT with that reason and the field "[i]", or none if there are too many.
absl::Status CheckTags(const std::vector<std::string>& tags, ErrorReason reason);

}  // namespace waystar::core
