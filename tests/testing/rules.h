// All corner rules and adjacencies, for tests that go through them, and names for tests of each.
#pragma once

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/component_block.h"

namespace waystar {

inline constexpr core::CornerRule kRules[] = {core::CornerRule::kNoCornerCutting,
                                              core::CornerRule::kOneSideFree, core::CornerRule::kAlways};
inline constexpr core::Adjacency kAdjacencies[] = {core::Adjacency::kStraight, core::Adjacency::kAny,
                                                   core::Adjacency::kHexagonal};

inline const char* RuleName(core::CornerRule rule) {
  return rule == core::CornerRule::kNoCornerCutting ? "NoCornerCutting"
         : rule == core::CornerRule::kOneSideFree   ? "OneSideFree"
                                                    : "Always";
}

}  // namespace waystar
