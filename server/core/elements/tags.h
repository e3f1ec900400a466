// Names, and the tags that edges and portals carry and profiles require.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar::core {

inline constexpr std::size_t kMaxNameBytes = 63;

// Returns OK for a name of 1 to kMaxNameBytes bytes that matches [A-Za-z0-9][A-Za-z0-9_.:-]*. Otherwise
// returns INVALID_ARGUMENT with that reason and field. `whose` names the thing in the message ("a portal's
// id").
absl::Status CheckName(absl::string_view name, absl::string_view whose, ErrorReason reason,
                       absl::string_view field = "");

inline constexpr std::size_t kMaxTags = 16;
inline constexpr std::size_t kMaxTagBytes = 63;

// Returns OK for at most kMaxTags unique tags of 1 to kMaxTagBytes printable ASCII characters without spaces.
// Otherwise returns INVALID_ARGUMENT with that reason and the field "[i]", or no field if there are too many.
absl::Status CheckTags(const std::vector<std::string>& tags, ErrorReason reason);

}  // namespace waystar::core
