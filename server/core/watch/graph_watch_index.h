// Index of the subscribed answers of a waypoint graph; finds those that a change affects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/core/elements/map_changes.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/kept_answer.h"

namespace waystar::core {

// Cost of a change: one check of each answer's reach per box of the change, and more for answers near it.
//
// Thread safety: none.
class GraphWatchIndex {
 public:
  using Id = AnswerIndex::Id;

  // REQUIRES: the id is not present.
  void Add(Id id, std::shared_ptr<const GraphAnswer> answer);
  // Does nothing if the id is not present.
  void Remove(Id id);
  std::size_t size() const { return answers_.size(); }

  // Appends the ids of the answers that may no longer hold (MayEndBy). `graph` is the graph after the
  // changes.
  void FindAffected(const MapChanges& changes, const WaypointGraph& graph, std::vector<Id>& ids) const;

 private:
  struct Slot {
    Id id = 0;
    std::shared_ptr<const GraphAnswer> answer;
  };

  std::vector<Slot> answers_;
  // Reaches of answers_, stored contiguously for speed.
  std::vector<GraphAnswer::Reach> reaches_;
  absl::flat_hash_map<Id, std::size_t> places_by_id_;
};

}  // namespace waystar::core
