// A watched answer to a path query on a navigation mesh.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/map/map_changes.h"
#include "server/core/query/route.h"
#include "server/core/search/query.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/watch/kept_answer.h"

namespace waystar::core {

// A mesh takes no edits, so an answer holds as long as the mesh is there. Any change may end it.
//
// Thread safety: immutable.
class MeshAnswer final : public KeptAnswer {
 public:
  explicit MeshAnswer(const absl::StatusOr<Route>& route) : error_(route.status()) {
    if (route.ok()) {
      outcome_ = route->path.outcome;
      cost_ = route->path.cost;
      corners_ = route->positions;
    }
  }

  bool MayEndBy(const MapChanges& /*changes*/, const MapSnapshot& /*snapshot*/) const override {
    return true;
  }

  // Returns whether the two tell the same.
  bool IsSameAs(const MeshAnswer& other) const {
    return error_ == other.error_ && outcome_ == other.outcome_ && cost_ == other.cost_ &&
           corners_ == other.corners_;
  }

 private:
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  double cost_ = 0.0;
  std::vector<Position> corners_;
};

}  // namespace waystar::core
