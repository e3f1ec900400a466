// The agent that moves along a field.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "server/core/grid/corner_rule.h"

namespace waystar::core {

// What a field has to know of the agents that follow it. The fields are those of PathQuery.
struct Agent {
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // The side of the agent in cells, from 1 to kMaxFootprint.
  int footprint = 1;
  // As in PortalQuery. They must outlive the query.
  absl::Span<const std::string> required_tags = {};
};

}  // namespace waystar::core
