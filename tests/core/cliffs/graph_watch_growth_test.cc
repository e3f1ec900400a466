// A change of a waypoint graph takes a look at each watched path, and more only for those near by.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/graph_watch_index.h"
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
  void WatchMany(const WaypointGraph& graph, int count, GraphWatchIndex& index) {
    for (int i = 0; i < count; ++i) {
      const int column = i % (kColumns / 2);
      const int row = i % (kGraphRows - 1);
      index.Add(static_cast<GraphWatchIndex::Id>(i),
                Watch(graph, {.start = NodeAt(column, row), .goals = {NodeAt(column, row + 1)}}));
    }
  }

 private:
  GraphScratch scratch_{std::size_t{1} << 26};
};

// Puts so many obstacles in the last column, and returns what changed.
MapChanges PutFarDiscs(int count, WaypointGraph& graph) {
  GraphEditor editor(graph);
  for (int i = 0; i < count; ++i) {
    const absl::Status status =
        editor.PutObstacle(MakeDisc(absl::StrCat("new", i), 10.0 * (kColumns - 1), 0.1 * (i % 1900)), false);
    EXPECT_TRUE(status.ok()) << status;
  }
  MapChanges changes;
  changes.graph = editor.changes().places;
  graph = std::move(editor).Finish();
  return changes;
}

// Watches compared with each other, or all nodes of their paths looked at.
TEST_F(GraphWatchGrowthTest, Watches) {
  WaypointGraph graph = MakeStreets(kColumns);
  const WaypointGraph before = graph;
  const MapChanges changes = PutFarDiscs(1, graph);
  ExpectLinear(250, [&](int count) {
    GraphWatchIndex index;
    WatchMany(before, count, index);
    std::vector<GraphWatchIndex::Id> affected;
    const std::uint64_t work = WorkOf([&] { index.FindAffected(changes, graph, affected); });
    EXPECT_TRUE(affected.empty());
    return work;
  });
}

// Each place that changed compared with each watch.
TEST_F(GraphWatchGrowthTest, Changes) {
  const WaypointGraph before = MakeStreets(kColumns);
  GraphWatchIndex index;
  WatchMany(before, 500, index);
  ExpectFlat(50, [&](int count) {
    WaypointGraph graph = before;
    const MapChanges changes = PutFarDiscs(count, graph);
    std::vector<GraphWatchIndex::Id> affected;
    const std::uint64_t work = WorkOf([&] { index.FindAffected(changes, graph, affected); });
    EXPECT_TRUE(affected.empty());
    return work;
  });
}

// Parts of a path compared with each other.
TEST_F(GraphWatchGrowthTest, LongPaths) {
  ExpectLinear(100, [&](int columns) {
    WaypointGraph graph = MakeStreets(columns);
    GraphWatchIndex index;
    index.Add(1, Watch(graph, {.start = NodeAt(0, 0), .goals = {NodeAt(columns - 1, 0)}}));
    // Beside the whole path, and near all of it.
    GraphEditor editor(graph);
    for (int column = 0; column < columns; ++column) {
      EXPECT_TRUE(editor.PutObstacle(MakeDisc(absl::StrCat("new", column), 10.0 * column, 5.0), false).ok());
    }
    MapChanges changes;
    changes.graph = editor.changes().places;
    graph = std::move(editor).Finish();
    std::vector<GraphWatchIndex::Id> affected;
    const std::uint64_t work = WorkOf([&] { index.FindAffected(changes, graph, affected); });
    EXPECT_TRUE(affected.empty());
    return work;
  });
}

}  // namespace
}  // namespace waystar::core
