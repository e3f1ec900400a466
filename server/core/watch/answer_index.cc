#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "server/core/watch/graph_answer.h"
#include "server/core/watch/graph_watch_index.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/path_watch_index.h"
#include "server/core/watch/watched_answer.h"

namespace waystar::core {
namespace {

class GridAnswers final : public AnswerIndex {
 public:
  explicit GridAnswers(const GridMap& map) : index_(map.width(), map.height()) {}

  void Add(Id id, const KeptAnswerPtr& answer, const MapSnapshot& snapshot) override {
    index_.Add(id, std::static_pointer_cast<const WatchedAnswer>(answer), snapshot.grid(), snapshot.revision);
  }
  void Remove(Id id) override { index_.Remove(id); }
  void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, std::vector<Id>& ids) override {
    index_.FindAffected(changes, snapshot.grid(), ids, snapshot.revision);
  }

 private:
  PathWatchIndex index_;
};

class GraphAnswers final : public AnswerIndex {
 public:
  void Add(Id id, const KeptAnswerPtr& answer, const MapSnapshot& /*snapshot*/) override {
    index_.Add(id, std::static_pointer_cast<const GraphAnswer>(answer));
  }
  void Remove(Id id) override { index_.Remove(id); }
  void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, std::vector<Id>& ids) override {
    index_.FindAffected(changes, snapshot.graph(), ids);
  }

 private:
  GraphWatchIndex index_;
};

class MeshAnswers final : public AnswerIndex {
 public:
  void Add(Id id, const KeptAnswerPtr& /*answer*/, const MapSnapshot& /*snapshot*/) override {
    ids_.insert(id);
  }
  void Remove(Id id) override { ids_.erase(id); }
  void FindAffected(const MapChanges& /*changes*/, const MapSnapshot& /*snapshot*/,
                    std::vector<Id>& ids) override {
    ids.insert(ids.end(), ids_.begin(), ids_.end());
  }

 private:
  std::set<Id> ids_;
};

std::unique_ptr<AnswerIndex> MakeIndexFor(const GridMap& map) { return std::make_unique<GridAnswers>(map); }
std::unique_ptr<AnswerIndex> MakeIndexFor(const WaypointGraph& /*graph*/) {
  return std::make_unique<GraphAnswers>();
}
std::unique_ptr<AnswerIndex> MakeIndexFor(const NavMesh& /*mesh*/) { return std::make_unique<MeshAnswers>(); }

}  // namespace

std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot) {
  return std::visit([](const auto& map) { return MakeIndexFor(map); }, snapshot.map);
}

}  // namespace waystar::core
