// A change of a waypoint graph takes a look at each watched path, and more only for those near by.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/kept_answer.h"
#include "tests/core/cliffs/graph_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectFlat;
using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

constexpr int kColumns = 80;

class GraphWatchGrowthTest : public ::testing::Test {
 protected:
  std::shared_ptr<const GraphAnswer> Watch(const WaypointGraph& graph, const GraphQuery& query) {
    return std::make_shared<const GraphAnswer>(graph, query, FindGraphPath(graph, query, {}, scratch_));
  }
  // So many watches of short paths, in the first half of the columns.
  void WatchMany(const MapSnapshot& before, int count, AnswerIndex& index) {
    for (int i = 0; i < count; ++i) {
      const int column = i % (kColumns / 2);
      const int row = i % (kGraphRows - 1);
      index.Add(static_cast<AnswerIndex::Id>(i),
                Watch(before.graph(), {.start = NodeAt(column, row), .goals = {NodeAt(column, row + 1)}}));
    }
  }

 private:
  GraphScratch scratch_{std::size_t{1} << 26};
};

// Puts so many obstacles in the last column, and returns what changed.
MapChanges PutFarDiscs(int count, MapSnapshot& snapshot) {
  GraphEditor editor(snapshot.graph());
  for (int i = 0; i < count; ++i) {
    const absl::Status status =
        editor.PutObstacle(MakeDisc(absl::StrCat("new", i), 10.0 * (kColumns - 1), 0.1 * (i % 1900)), false);
    EXPECT_TRUE(status.ok()) << status;
  }
  MapChanges changes;
  changes.graph = editor.changes().places;
  snapshot.map = std::move(editor).Finish();
  return changes;
}

// Returns the work of telling whom a change concerns, which is nobody.
std::uint64_t WorkOfTelling(AnswerIndex& index, const MapChanges& changes, const MapSnapshot& after) {
  std::vector<AnswerIndex::Id> affected;
  const std::uint64_t work = WorkOf([&] { index.FindAffected(changes, after, affected); });
  EXPECT_TRUE(affected.empty());
  return work;
}

// Watches compared with each other, or all nodes of their paths looked at.
TEST_F(GraphWatchGrowthTest, Watches) {
  const MapSnapshot before{.map = MakeStreets(kColumns)};
  MapSnapshot after = before;
  const MapChanges changes = PutFarDiscs(1, after);
  ExpectLinear(250, [&](int count) {
    const std::unique_ptr<AnswerIndex> index = MakeAnswerIndex(before);
    WatchMany(before, count, *index);
    return WorkOfTelling(*index, changes, after);
  });
}

// Each place that changed compared with each watch.
TEST_F(GraphWatchGrowthTest, Changes) {
  const MapSnapshot before{.map = MakeStreets(kColumns)};
  const std::unique_ptr<AnswerIndex> index = MakeAnswerIndex(before);
  WatchMany(before, 500, *index);
  ExpectFlat(50, [&](int count) {
    MapSnapshot after = before;
    const MapChanges changes = PutFarDiscs(count, after);
    return WorkOfTelling(*index, changes, after);
  });
}

// Parts of a path compared with each other.
TEST_F(GraphWatchGrowthTest, LongPaths) {
  ExpectLinear(100, [&](int columns) {
    MapSnapshot snapshot{.map = MakeStreets(columns)};
    const std::unique_ptr<AnswerIndex> index = MakeAnswerIndex(snapshot);
    index->Add(1, Watch(snapshot.graph(), {.start = NodeAt(0, 0), .goals = {NodeAt(columns - 1, 0)}}));
    // Beside the whole path, and near all of it.
    GraphEditor editor(snapshot.graph());
    for (int column = 0; column < columns; ++column) {
      EXPECT_TRUE(editor.PutObstacle(MakeDisc(absl::StrCat("new", column), 10.0 * column, 5.0), false).ok());
    }
    MapChanges changes;
    changes.graph = editor.changes().places;
    snapshot.map = std::move(editor).Finish();
    return WorkOfTelling(*index, changes, snapshot);
  });
}

}  // namespace
}  // namespace waystar::core
