// Answer to a subscribed path query on a navigation mesh.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/route.h"
#include "server/core/search/query.h"
#include "server/core/watch/kept_answer.h"

namespace waystar::core {

// Any change of a mesh may end any answer, since only its portals can change.
class MeshChange {
 public:
  struct Reach {};

  MeshChange(const MapChanges& /*changes*/, const NavMesh& /*mesh*/) {}

  bool MayEnd(const Reach& /*reach*/) const { return true; }
};

// Thread safety: immutable.
class MeshAnswer final : public KeptAnswer {
 public:
  using Change = MeshChange;

  explicit MeshAnswer(const absl::StatusOr<Route>& route) : error_(route.status()) {
    if (route.ok()) {
      outcome_ = route->path.outcome;
      cost_ = route->path.cost;
      corners_ = route->positions;
      for (const MeshCrossing& crossing : route->mesh_crossings) {
        portals_.push_back(crossing.portal->id);
      }
    }
  }

  MeshChange::Reach reach() const { return {}; }

  bool MayEndBy(const MeshChange& /*change*/) const { return true; }
  bool MayEndBy(const MapChanges& /*changes*/, const MapSnapshot& /*snapshot*/) const override {
    return true;
  }

  // Returns true if both answers look the same to the subscriber.
  bool IsSameAs(const MeshAnswer& other) const {
    return error_ == other.error_ && outcome_ == other.outcome_ && cost_ == other.cost_ &&
           corners_ == other.corners_ && portals_ == other.portals_;
  }

 private:
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  double cost_ = 0.0;
  std::vector<WorldPoint> corners_;
  std::vector<std::string> portals_;
};

}  // namespace waystar::core
