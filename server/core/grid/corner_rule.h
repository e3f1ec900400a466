// When a diagonal step is allowed.
#pragma once

#include <cstdint>

namespace waystar::core {

// By the two cells adjacent to both ends of the step.
enum class CornerRule : std::uint8_t {
  // Both must be walkable.
  kNoCornerCutting,
  // At least one must be walkable.
  kOneSideFree,
  // Neither need be.
  kAlways,
};

inline constexpr int kCornerRuleCount = 3;

}  // namespace waystar::core
