#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/grid_answer.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/mesh_answer.h"

namespace waystar::core {
namespace {

// Answers on maps of one kind. Answer::Change is a change and the map after it, prepared for comparison with
// many answers. Change::MayEnd is the quick test: it compares the bounds of what was blocked with those of
// the path, and the bounds of what was opened with the region where a cheaper path could pass.
// Answer::MayEndBy is the precise test.
template <typename Map, typename Answer>
class AnswersOn final : public AnswerIndex {
 public:
  void Add(Id id, const KeptAnswerPtr& answer) override {
    places_by_id_.emplace(id, answers_.size());
    answers_.push_back({.id = id, .answer = std::static_pointer_cast<const Answer>(answer)});
    reaches_.push_back(answers_.back().answer->reach());
  }

  void Remove(Id id) override {
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

  void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, std::vector<Id>& ids) override {
    if (answers_.empty()) {
      return;
    }
    const typename Answer::Change change(changes, std::get<Map>(snapshot.map));
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      if (change.MayEnd(reaches_[i]) && answers_[i].answer->MayEndBy(change)) {
        ids.push_back(answers_[i].id);
      }
    }
  }

 private:
  struct Listed {
    Id id = 0;
    std::shared_ptr<const Answer> answer;
  };

  std::vector<Listed> answers_;
  // Reaches of answers_, stored contiguously for speed.
  std::vector<typename Answer::Change::Reach> reaches_;
  absl::flat_hash_map<Id, std::size_t> places_by_id_;
};

}  // namespace

std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot) {
  if (snapshot.as_graph() != nullptr) {
    return std::make_unique<AnswersOn<WaypointGraph, GraphAnswer>>();
  }
  if (snapshot.as_mesh() != nullptr) {
    return std::make_unique<AnswersOn<NavMesh, MeshAnswer>>();
  }
  return std::make_unique<AnswersOn<GridMap, GridAnswer>>();
}

}  // namespace waystar::core
