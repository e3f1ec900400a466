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

// Returns whether a corner rule allows a diagonal step, given whether the two cells beside it are free.
constexpr bool MayPassCorner(CornerRule rule, bool one_side, bool other_side) {
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return one_side && other_side;
    case CornerRule::kOneSideFree:
      return one_side || other_side;
    case CornerRule::kAlways:
      return true;
  }
  return false;
}

}  // namespace waystar::core
