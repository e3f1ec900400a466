// Who goes where.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "server/core/grid/corner_rule.h"

namespace waystar::core {

// What a field has to know of those who follow it; as in PathQuery.
struct Agent {
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // From 1 to kMaxFootprint.
  int footprint = 1;
  // As in PortalQuery. Must outlive what is asked with it.
  absl::Span<const std::string> required_tags = {};
};

}  // namespace waystar::core
