// The rule that says which diagonal steps are allowed.
#pragma once

#include <cstdint>

namespace waystar::core {

// The rule looks at the two cells that are adjacent to both ends of a diagonal step.
enum class CornerRule : std::uint8_t {
  // Both cells must be walkable.
  kNoCornerCutting,
  // At least one of them must be walkable.
  kOneSideFree,
  // Neither need be walkable.
  kAlways,
};

inline constexpr int kCornerRuleCount = 3;

}  // namespace waystar::core
