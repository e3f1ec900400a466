// Who goes where.
#pragma once

#include "server/core/grid/corner_rule.h"

namespace waystar::core {

// What a field has to know of those who follow it; as in PathQuery.
struct Agent {
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // From 1 to kMaxFootprint.
  int footprint = 1;
};

}  // namespace waystar::core
