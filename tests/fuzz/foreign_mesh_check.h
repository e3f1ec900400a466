// What holds for every mesh that a reader makes of bytes.
#pragma once

#include <algorithm>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/fuzz/require.h"

namespace waystar::fuzz {

inline void RequireReason(const absl::Status& status) {
  Require(!ErrorReasonOf(status).empty() && !status.message().empty() && ErrorFieldOf(status).empty(),
          status.ToString());
}

inline void RequireMesh(const core::NavMesh& mesh) {
  for (core::PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    for (const core::PolygonNumber neighbour : mesh.NeighboursOf(polygon)) {
      if (neighbour != core::kNoPolygon) {
        const auto back = mesh.NeighboursOf(neighbour);
        Require(std::count(back.begin(), back.end(), polygon) > 0, "neighbours adjoin from both sides");
        Require(mesh.PartOf(neighbour) == mesh.PartOf(polygon), "neighbours are connected");
      }
    }
  }
}

}  // namespace waystar::fuzz
