#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/grid_answer.h"
#include "server/core/watch/grid_tiles.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/mesh_answer.h"

namespace waystar::core {
namespace {

// Answers on maps of one kind. Answer::Change is a change and the map after it, prepared for comparison with
// many answers. Change::MayEnd is the quick test: it compares the bounds of what was blocked with those of
// the path, and the bounds of what was opened with the region where a cheaper path could pass.
// Answer::MayEndBy is the precise test.
template <typename Map, typename Answer, typename Tiles>
class AnswersOn final : public AnswerIndex {
 public:
  explicit AnswersOn(const Map& map) : tiles_(map) {}

  void Add(Id id, const KeptAnswerPtr& answer) override {
    places_by_id_.emplace(id, answers_.size());
    answers_.push_back({.id = id, .answer = std::static_pointer_cast<const Answer>(answer)});
    reaches_.push_back(answers_.back().answer->reach());
    tiles_.Add(answers_.size() - 1, *answers_.back().answer);
  }

  void Remove(Id id) override {
    const auto it = places_by_id_.find(id);
    if (it == places_by_id_.end()) {
      return;
    }
    const std::size_t place = it->second;
    places_by_id_.erase(it);
    tiles_.Remove(place, *answers_[place].answer);
    if (place + 1 != answers_.size()) {
      tiles_.Remove(answers_.size() - 1, *answers_.back().answer);
      tiles_.Add(place, *answers_.back().answer);
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
    const auto check = [&](std::size_t i) {
      if (change.MayEnd(reaches_[i]) && answers_[i].answer->MayEndBy(change)) {
        ids.push_back(answers_[i].id);
      }
    };
    const auto answer_at = [this](std::size_t i) -> const Answer& { return *answers_[i].answer; };
    if (const std::vector<Word>* const found = tiles_.Find(change, answers_.size(), answer_at)) {
      for (std::size_t word = 0; word < found->size(); ++word) {
        for (Word left = (*found)[word]; left != 0; left &= left - 1) {
          check(word * kWordBits + static_cast<std::size_t>(std::countr_zero(left)));
        }
      }
      return;
    }
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      check(i);
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
  Tiles tiles_;
};

// For kinds whose changes are compared with all answers.
struct NoTiles {
  explicit NoTiles(const auto& /*map*/) {}
  void Add(std::size_t /*place*/, const KeptAnswer& /*answer*/) {}
  void Remove(std::size_t /*place*/, const KeptAnswer& /*answer*/) {}
  const std::vector<Word>* Find(const auto& /*change*/, std::size_t /*count*/, const auto& /*answer_at*/) {
    return nullptr;
  }
};

}  // namespace

std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot) {
  if (const WaypointGraph* const graph = snapshot.as_graph()) {
    return std::make_unique<AnswersOn<WaypointGraph, GraphAnswer, NoTiles>>(*graph);
  }
  if (const NavMesh* const mesh = snapshot.as_mesh()) {
    return std::make_unique<AnswersOn<NavMesh, MeshAnswer, NoTiles>>(*mesh);
  }
  return std::make_unique<AnswersOn<GridMap, GridAnswer, GridTiles>>(snapshot.grid());
}

}  // namespace waystar::core
