// Agent that follows a field.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "server/core/grid/cells/corner_rule.h"

namespace waystar::core {

// Properties of the agents that a field is computed for. Members are those of PathQuery.
struct Agent {
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // Side of the agent in cells, from 1 to kMaxFootprint.
  int footprint = 1;
  // As in PortalQuery. Must outlive the query.
  absl::Span<const std::string> required_tags = {};
};

}  // namespace waystar::core
