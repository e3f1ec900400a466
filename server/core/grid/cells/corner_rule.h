// Rules for diagonal steps.
#pragma once

#include <cstdint>

namespace waystar::core {

// Decides a diagonal step by the two cells adjacent to both of its ends.
enum class CornerRule : std::uint8_t {
  // Both must be walkable.
  kNoCornerCutting,
  // At least one must be walkable.
  kOneSideFree,
  // Neither needs to be walkable.
  kAlways,
};

inline constexpr int kCornerRuleCount = 3;

// Returns true if the rule allows a diagonal step, given whether the two cells beside it are walkable.
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
