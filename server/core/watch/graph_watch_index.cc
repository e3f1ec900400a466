#include "server/core/watch/graph_watch_index.h"

#include <utility>

namespace waystar::core {

void GraphWatchIndex::Add(Id id, std::shared_ptr<const GraphAnswer> answer) {
  places_by_id_.emplace(id, answers_.size());
  reaches_.push_back(answer->reach());
  answers_.push_back({.id = id, .answer = std::move(answer)});
}

void GraphWatchIndex::Remove(Id id) {
  const auto it = places_by_id_.find(id);
  if (it == places_by_id_.end()) {
    return;
  }
  const std::size_t place = it->second;
  places_by_id_.erase(it);
  if (place + 1 != answers_.size()) {
    answers_[place] = std::move(answers_.back());
    reaches_[place] = reaches_.back();
    places_by_id_[answers_[place].id] = place;
  }
  answers_.pop_back();
  reaches_.pop_back();
}

void GraphWatchIndex::FindAffected(const MapChanges& changes, const WaypointGraph& graph,
                                   std::vector<Id>& ids) const {
  const GraphChange change(changes, graph);
  const GraphPlaces& places = change.places();
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    const GraphAnswer::Reach& reach = reaches_[i];
    const bool is_near = reach.around.is_empty() || places.changed.Overlaps(reach.around) ||
                         places.sight.Overlaps(reach.around);
    if (change.is_everything() || change.MayOpenCheaper(reach.from, reach.to, reach.limit) ||
        (is_near && answers_[i].answer->MayEndNear(change))) {
      ids.push_back(answers_[i].id);
    }
  }
}

}  // namespace waystar::core
