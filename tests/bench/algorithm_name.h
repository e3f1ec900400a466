// Algorithms as flags name them.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "server/core/search/query.h"

namespace waystar::bench {

// For what is printed when AlgorithmNamed gives nothing.
inline constexpr absl::string_view kAlgorithmNames = "auto, astar, dijkstra, jump_point or hierarchy";

inline std::optional<core::Algorithm> AlgorithmNamed(absl::string_view name) {
  if (name == "auto") {
    return core::Algorithm::kAuto;
  }
  if (name == "astar") {
    return core::Algorithm::kAStar;
  }
  if (name == "dijkstra") {
    return core::Algorithm::kDijkstra;
  }
  if (name == "jump_point") {
    return core::Algorithm::kJumpPoint;
  }
  if (name == "hierarchy") {
    return core::Algorithm::kSubgoalHierarchy;
  }
  return std::nullopt;
}

}  // namespace waystar::bench
