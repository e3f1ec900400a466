// Answer to a subscribed path query on a navigation mesh, and the test whether a change invalidates it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/query/route.h"
#include "server/core/search/query.h"
#include "server/core/watch/course.h"
#include "server/core/watch/kept_answer.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A change of a mesh, prepared for comparison with many answers.
class MeshChange {
 public:
  // Where a change may end an answer.
  struct Reach {
    // Box around the path.
    Box path;
    WorldPoint start;
    WorldPoint goal;
    // Only paths below this length are shorter; 0 if there can be none.
    double limit = 0.0;
    // True if changes elsewhere may end the answer too.
    bool is_unlimited = true;
  };

  // The changes must outlive this. `mesh` is the map after the change.
  MeshChange(const MapChanges& changes, const NavMesh& mesh)
      : places_(changes.mesh),
        // A path may be short through a portal.
        may_end_all_(changes.is_everything || changes.portals || mesh.portals().size() > 0) {}

  // Returns true if the change may end every answer.
  bool ends_all() const { return may_end_all_; }
  // Returns true if the change may end an answer with this reach.
  bool MayEnd(const Reach& reach) const {
    return ConcernsEnds(reach) || MayBeShorter(reach) || places_.blocked.Overlaps(reach.path);
  }

 private:
  friend class MeshAnswer;

  // Returns true if the change may end the answer whatever its path.
  bool ConcernsEnds(const Reach& reach) const;
  // Returns true if a path through opened ground may be shorter.
  bool MayBeShorter(const Reach& reach) const;

  const MeshPlaces& places_;
  const bool may_end_all_;
};

// An answer holds while its path can be walked and none is shorter. Without a path, or if the query snaps or
// has changes of its own or ground costs, any change may end it.
//
// Thread safety: immutable.
class MeshAnswer final : public KeptAnswer {
 public:
  using Change = MeshChange;

  // `is_plain` is true if the query has a single goal, no overlay, and does not snap.
  MeshAnswer(const absl::StatusOr<Route>& route, bool is_plain);

  const MeshChange::Reach& reach() const { return reach_; }

  ChangeEffect EffectOf(const MeshChange& change) const;
  ChangeEffect EffectOf(const MapChanges& changes, const MapSnapshot& snapshot) const override;
  std::size_t bytes() const override {
    return sizeof(*this) + kIndexBytes + corners_.size() * 2 * sizeof(WorldPoint);
  }
  Course CourseOn(const MapSnapshot& snapshot) const override;
  // Known for paths to the goal that a plain query found. RestFrom also is for other answers with a path.
  std::shared_ptr<const KeptAnswer> Rest(const Course::Place& place,
                                         const MapSnapshot& snapshot) const override;

  std::shared_ptr<MeshAnswer> RestFrom(const Course::Place& place) const;

  // Returns true if both answers look the same to the subscriber, wherever on the path it is: the first
  // corners are not compared.
  bool IsSameAs(const MeshAnswer& other) const;

 private:
  // Sets the fields that depend on the corners and the cost.
  void TakeReach();

  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  double cost_ = 0.0;
  std::vector<WorldPoint> corners_;
  // Number of corners before the path leaves the map.
  std::size_t corners_on_map_ = 0;
  std::vector<std::string> portals_;
  // The indices of the corners behind portals.
  std::vector<std::size_t> leaps_;
  MeshChange::Reach reach_;
};

}  // namespace waystar::core
