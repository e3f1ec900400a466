// Subscribed answers of a map of any kind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/route.h"
#include "server/core/search/query.h"

namespace waystar::core {

// The answer that a subscriber was sent, and the test whether a change invalidates it. Immutable.
class KeptAnswer {
 public:
  virtual ~KeptAnswer() = default;

  // Returns true if the answer may no longer hold after a change. Never false if it does not hold. `snapshot`
  // is the map after the change, of the kind that the answer is for.
  virtual bool MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const = 0;

 protected:
  KeptAnswer() = default;
  KeptAnswer(const KeptAnswer&) = default;
  KeptAnswer& operator=(const KeptAnswer&) = default;
};

using KeptAnswerPtr = std::shared_ptr<const KeptAnswer>;

// Index of the answers of one map; finds those that a change affects. A change costs a short test for each
// answer, and more for those near it.
//
// Thread safety: none.
class AnswerIndex {
 public:
  // Caller-assigned id of a subscription.
  using Id = std::uint64_t;

  virtual ~AnswerIndex() = default;

  // REQUIRES: the id is not present; the answer is of the kind that AnswerRenewal makes for the map.
  virtual void Add(Id id, const KeptAnswerPtr& answer) = 0;
  // Does nothing if the id is not present.
  virtual void Remove(Id id) = 0;
  // Appends the ids of the answers that may no longer hold. `snapshot` is the map after the changes.
  virtual void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, std::vector<Id>& ids) = 0;
};

// Creates an empty index for maps of the kind of `snapshot`.
std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot);

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
