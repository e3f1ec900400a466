// The work of edits, snaps, lists, pictures, samples and watches grows no faster than their input. The
// comment of a test names the mistake that it catches. Searches count expansions: see
// graph_search_cliff_test.cc.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/field/sample_cells.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/kept_answer.h"
#include "server/render/scene/map_scenes.h"
#include "tests/core/cliffs/graph_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"
#include "tests/testing/layouts.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

constexpr int kStripHeight = 32;

GridMap MakeBlank(int width, int height) { return GridMap::Create(width, height, {}).value(); }

// Obstacles in one cell of four, at random.
GridMap MakeNoise(int width, int height) {
  GridMap map = MakeBlank(width, height);
  Random random(3);
  LayNoise(random, 0.25, map);
  return map;
}

// Returns a map of strips three cells wide between walls, with a portal from each strip to the next.
GridMap MakeStrips(int strips) {
  const GridMap blank = MakeBlank(4 * strips, kStripHeight);
  GridMapEditor editor(blank);
  for (int y = 0; y < kStripHeight; ++y) {
    for (int strip = 0; strip < strips; ++strip) {
      editor.SetObstacles(y, 4 * strip + 3, 4 * strip + 4, true);
    }
  }
  std::vector<Portal> portals;
  for (int strip = 0; strip + 1 < strips; ++strip) {
    portals.push_back(
        Between(absl::StrCat("p", strip), {4 * strip, strip % kStripHeight}, {4 * strip + 4, 0}));
  }
  return With(std::move(editor).Finish(), portals);
}

// A cell of a strip.
Cell CellOfStrip(int strip, int number) { return {4 * strip + number % 3, number / 3 % kStripHeight}; }

// The map with a disc of radius 1 around each of the cells, which makes them dearer.
GridMap WithDearDiscs(const GridMap& map, const std::vector<Cell>& cells) {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Obstacle obstacle{.id = absl::StrCat("o", i),
                      .shape = {},
                      .effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 2.0}};
    obstacle.shape.discs = {
        {.center = {static_cast<double>(cells[i].x), static_cast<double>(cells[i].y)}, .radius = 1.0}};
    edits.emplace_back(PutObstacle{.obstacle = std::move(obstacle)});
  }
  return edits.empty() ? map : ApplyEdits(map, edits).value().map;
}

// Returns that many cells of a rectangle, evenly spread.
std::vector<Cell> Spread(const Rectangle& area, int count) {
  std::vector<Cell> cells;
  for (int i = 0; i < count; ++i) {
    const std::int64_t number = area.area() * i / count;
    cells.push_back(
        {area.x + static_cast<int>(number % area.width), area.y + static_cast<int>(number / area.width)});
  }
  return cells;
}

// The work of an edit. `edit` returns a status.
template <typename EditGraph>
std::uint64_t WorkOfEdit(const WaypointGraph& graph, EditGraph edit) {
  return CountWork([&] {
    GraphEditor editor(graph);
    const absl::Status status = edit(editor);
    EXPECT_TRUE(status.ok()) << status;
    const WaypointGraph after = std::move(editor).Finish();
    EXPECT_NE(after.digest(), graph.digest());
  });
}

std::uint64_t WorkOfSmallEdits(const WaypointGraph& graph) {
  return WorkOfEdit(
             graph,
             [](GraphEditor& editor) { return editor.PutObstacle(MakeDisc("new", 10.0, 15.0), false); }) +
         WorkOfEdit(graph,
                    [](GraphEditor& editor) {
                      const std::vector<WaypointNode> nodes = {{.id = "new", .position = {14.0, 14.0}}};
                      return editor.PutNodes(nodes, false);
                    }) +
         WorkOfEdit(
             graph,
             [](GraphEditor& editor) {
               const std::vector<WaypointEdge> edges = {{.name = {.from = NodeAt(0, 0), .to = NodeAt(1, 1)}}};
               return editor.PutEdges(edges, false);
             }) +
         WorkOfEdit(graph,
                    [](GraphEditor& editor) { return editor.SetNodesEnabled({NodeAt(1, 2)}, false); }) +
         WorkOfEdit(graph, [](GraphEditor& editor) { return editor.RemoveNodes({NodeAt(2, 2)}); });
}

// The whole graph copied or gone through for an edit.
TEST(GraphEditGrowthTest, NodesElsewhere) {
  ExpectFlat(25, [](int columns) { return WorkOfSmallEdits(MakeStreets(columns)); });
}

// All obstacles copied or gone through for an edit.
TEST(GraphEditGrowthTest, ObstaclesElsewhere) {
  const WaypointGraph streets = MakeStreets(80);
  ExpectFlat(10, [&](int columns) { return WorkOfSmallEdits(WithDiscs(streets, MiddlesOfBlocks(columns))); });
}

WaypointSpec Row(int nodes) {
  WaypointSpec spec;
  for (int i = 0; i < nodes; ++i) {
    spec.nodes.push_back({.id = absl::StrCat("n", i), .position = {10.0 * i, 0.0}});
  }
  return spec;
}

// Each node, edge or obstacle compared with all before it.
TEST(GraphEditGrowthTest, Creation) {
  ExpectLinear(1000, [](int count) {
    WaypointSpec spec = Row(count);
    for (int i = 0; i + 1 < count; ++i) {
      spec.edges.push_back({.name = {.from = spec.nodes[i].id, .to = spec.nodes[i + 1].id}});
      spec.obstacles.push_back(*MakeDisc(absl::StrCat("o", i), 10.0 * i, 5.0));
    }
    return CountWork([&] { EXPECT_TRUE(WaypointGraph::Create(spec).ok()); });
  });
}

// The graph gone through for each edit.
TEST(GraphEditGrowthTest, EditsOneByOne) {
  const WaypointGraph streets = MakeStreets(80);
  ExpectLinear(100, [&](int count) {
    return WorkOfEdit(streets, [&](GraphEditor& editor) {
      absl::Status status;
      for (int i = 0; i < count && status.ok(); ++i) {
        status =
            editor.PutObstacle(MakeDisc(absl::StrCat("o", i), 10.0 * (i % 80), 10.0 * (i / 80) + 5.0), false);
        if (status.ok()) {
          status = editor.SetEdgesEnabled(
              {{{.from = NodeAt(i % 79, i / 79), .to = NodeAt(i % 79 + 1, i / 79)}}}, false);
        }
      }
      return status;
    });
  });
}

constexpr double kEverywhere = 1e6;

std::uint64_t WorkOfSnap(const WaypointGraph& graph, const WorldPoint& position) {
  return CountWork([&] { EXPECT_NE(graph.NearestVisible(position, kEverywhere), kNoNodeNumber); });
}

// All obstacles looked at.
TEST(GraphSnapGrowthTest, ObstaclesElsewhere) {
  const WaypointGraph streets = MakeStreets(40);
  ExpectFlat(10, [&](int columns) {
    return WorkOfSnap(WithDiscs(streets, MiddlesOfBlocks(columns)), {13.0, 4.0});
  });
}

// The walls of a yard around a position that sees no node.
WaypointGraph WithYard(const WaypointGraph& graph) {
  Obstacle yard{.id = "yard"};
  yard.shape.lines = {{.start = {1, 1}, .end = {9, 1}, .width = 0.5},
                      {.start = {9, 1}, .end = {9, 9}, .width = 0.5},
                      {.start = {9, 9}, .end = {1, 9}, .width = 0.5},
                      {.start = {1, 9}, .end = {1, 1}, .width = 0.5}};
  GraphEditor editor(graph);
  EXPECT_TRUE(editor.PutObstacle(std::make_shared<const Obstacle>(std::move(yard)), false).ok());
  return std::move(editor).Finish();
}

// Nodes looked at more than once.
TEST(GraphSnapGrowthTest, NodesThatAreNotSeen) {
  ExpectLinear(40, [](int columns) {
    const WaypointGraph graph = WithYard(MakeStreets(columns));
    StopAfter looks;
    const std::uint64_t work = CountWork([&] {
      EXPECT_EQ(graph.NearestVisible({5.0, 5.0}, kEverywhere, &looks), kNoNodeNumber);
    });
    EXPECT_LE(looks.looks(), NodesOfStreets(columns) / 64);
    return work;
  });
}

constexpr std::size_t kPage = 20;
constexpr std::size_t kTries = 16 * kPage;

// Goes through a list page by page. `visit_after` calls a visitor for what comes after an id.
template <typename VisitAfter>
std::size_t ListAll(VisitAfter visit_after) {
  std::size_t listed = 0;
  std::string last;
  for (std::size_t on_page = kPage; on_page == kPage;) {
    on_page = 0;
    std::string next = last;
    visit_after(last, [&](const auto& entry) {
      if (on_page == kPage) {
        return false;
      }
      ++on_page;
      next = entry.id;
      return true;
    });
    listed += on_page;
    last = next;
  }
  return listed;
}

std::uint64_t WorkOfListing(const GridMap& map, const Rectangle& region, int expected) {
  return CountWork([&] {
    EXPECT_EQ(ListAll([&](const std::string& after, auto visit) {
                map.obstacles().VisitOverlapping(region, after, kTries, visit);
              }),
              expected);
  });
}

// All that lie in the region gathered for each page.
TEST(ListingGrowthTest, ObstaclesOfARegion) {
  const GridMap blank = MakeBlank(256, 256);
  ExpectLinear(500, [&](int count) {
    return WorkOfListing(WithDearDiscs(blank, Spread(blank.bounds(), count)), blank.bounds(), count);
  });
}

// All obstacles looked at, for the few that lie in the region.
TEST(ListingGrowthTest, ObstaclesOutsideTheRegion) {
  const GridMap blank = MakeBlank(512, 512);
  ExpectFlat(500, [&](int count) {
    std::vector<Cell> cells = Spread({100, 100, 400, 400}, count);
    const std::vector<Cell> inside = Spread({4, 4, 40, 40}, 10);
    cells.insert(cells.end(), inside.begin(), inside.end());
    return WorkOfListing(WithDearDiscs(blank, cells), {0, 0, 64, 64}, 10);
  });
}

std::uint64_t WorkOfListing(const WaypointGraph& graph, const Box& region, int expected,
                            std::size_t tries = kTries) {
  return CountWork([&] {
    EXPECT_EQ(ListAll([&](const std::string& after, auto visit) {
                graph.sight().VisitObstaclesNear(region, after, tries, visit);
              }),
              expected);
  });
}

TEST(ListingGrowthTest, PagesOfAGraphHaveAllWhateverTheTries) {
  const WaypointGraph graph = WithDiscs(MakeStreets(2), MiddlesOfBlocks(20));
  for (const std::size_t tries : {0U, 1U, 7U, 100U, 1000U}) {
    WorkOfListing(graph, {0, 0, 90, 90}, 81, tries);
    WorkOfListing(graph, {-9, -9, -8, -8}, 0, tries);
  }
}

// All that lie in the region gathered for each page; and all of a graph, for the few that lie in the region.
TEST(ListingGrowthTest, ObstaclesOfAGraph) {
  const Box all{-1e6, -1e6, 1e6, 1e6};
  ExpectLinear(20, [&](int columns) {
    const std::vector<Point> points = MiddlesOfBlocks(columns);
    return WorkOfListing(WithDiscs(MakeStreets(2), points), all, static_cast<int>(points.size()));
  });
  ExpectFlat(20, [&](int columns) {
    return WorkOfListing(WithDiscs(MakeStreets(2), MiddlesOfBlocks(columns)), {0, 0, 30, 30}, 9);
  });
}

std::uint64_t WorkOfPicture(const GridMap& map, const Rectangle& region) {
  return CountWork([&] { EXPECT_TRUE(MakeGridScene(map, region, {}, nullptr, {}).ok()); });
}

std::uint64_t WorkOfPicture(const WaypointGraph& graph, const std::optional<Box>& area = {}) {
  return CountWork([&] { EXPECT_TRUE(MakeGraphScene(graph, area, {}, nullptr, {}).ok()); });
}

// Each obstacle compared with each other, or looked at for each cell.
TEST(PictureGrowthTest, Obstacles) {
  const GridMap blank = MakeBlank(64, 64);
  const std::uint64_t of_blank = WorkOfPicture(blank, blank.bounds());
  ExpectLinear(250, [&](int count) {
    return WorkOfPicture(WithDearDiscs(blank, Spread(blank.bounds(), count)), blank.bounds()) - of_blank;
  });
}

// Cells outside the region.
TEST(PictureGrowthTest, TheMapAroundTheRegion) {
  ExpectFlat(128, [&](int side) { return WorkOfPicture(MakeNoise(side, side), {40, 40, 64, 64}); });
}

// Each obstacle looked at for each edge.
TEST(PictureGrowthTest, ObstaclesOfAGraph) {
  ExpectLinear(40, [&](int columns) {
    return WorkOfPicture(WithDiscs(MakeStreets(columns), MiddlesOfBlocks(columns)));
  });
}

std::vector<CellPair> PairsOfStrips(int strips, int count) {
  std::vector<CellPair> pairs;
  for (int i = 0; i < count; ++i) {
    pairs.push_back({.start = CellOfStrip(i % strips, i), .goal = CellOfStrip(7 * i % strips, 5 * i)});
  }
  return pairs;
}

std::uint64_t WorkOfPairs(const GridMap& map, World& world, const std::vector<CellPair>& pairs) {
  // Makes what the map keeps.
  EXPECT_TRUE(CheckReachability(map, world, {}, {}).ok());
  return CountWork([&] { EXPECT_TRUE(CheckReachability(map, world, {}, pairs).ok()); });
}

// The portals looked at for each pair: both grow.
TEST(ReachabilityGrowthTest, PairsAndPortals) {
  NoWorld world;
  ExpectLinear(200, [&](int count) {
    std::vector<CellPair> pairs = PairsOfStrips(count, 10 * count);
    for (CellPair& pair : pairs) {
      pair.start = {0, 0};
    }
    return WorkOfPairs(MakeStrips(count), world, pairs);
  });
}

// Each map leads to the next, by several portals, and the last to one that there is not.
class ChainOfMaps {
 public:
  explicit ChainOfMaps(int count) {
    constexpr int kDoors = 40;
    const GridMap blank = MakeBlank(16, 16);
    for (int i = 0; i < count; ++i) {
      std::vector<Portal> portals;
      for (int door = 0; door < kDoors; ++door) {
        portals.push_back(Between(absl::StrCat("p", door), {door % 16, door / 16}, {door / 16, 5}));
        portals.back().to_map = Name(i + 1);
      }
      maps_.maps.maps.emplace(Name(i), With(blank, portals));
    }
  }

  const GridMap& home() const { return maps_.maps.maps.at(Name(0)); }
  World& world() { return maps_; }
  // How often the world was asked for a map.
  int finds() const { return maps_.finds; }

 private:
  static std::string Name(int number) { return absl::StrCat("map", 100'000 + number); }

  struct CountingMaps final : World {
    const GridMap* Find(absl::string_view id) override {
      ++finds;
      return maps.Find(id);
    }

    Maps maps;
    int finds = 0;
  };

  CountingMaps maps_;
};

// Each map compared with each other, or looked for once for each portal.
TEST(ReachabilityGrowthTest, Maps) {
  const std::vector<CellPair> pairs = {{.start = {0, 0}, .goal = {9, 9}}};
  ExpectLinear(100, [&](int count) {
    ChainOfMaps chain(count);
    const std::uint64_t work = WorkOfPairs(chain.home(), chain.world(), pairs);
    // By both calls, with the one that there is not.
    EXPECT_LE(chain.finds(), 2 * count);
    return work;
  });
}

std::uint64_t WorkOfSample(const GridMap& map, const SampleQuery& query) {
  NoWorld world;
  // Makes what the map keeps.
  EXPECT_TRUE(SampleCells(map, world, {.count = 1, .reachable_from = query.reachable_from}, {}).ok());
  return CountWork([&] { EXPECT_TRUE(SampleCells(map, world, query, {}).ok()); });
}

// The rows gone through for each cell: both grow.
TEST(SampleGrowthTest, CountAndRegion) {
  ExpectLinear(256, [&](int height) { return WorkOfSample(MakeNoise(64, height), {.count = 4 * height}); });
}

// Rows outside the region.
TEST(SampleGrowthTest, TheMapAroundTheRegion) {
  ExpectFlat(128, [&](int side) {
    return WorkOfSample(MakeNoise(side, side), {.count = 100, .region = Rectangle{40, 40, 64, 64}});
  });
}

// A change of a waypoint graph takes a look at each watched path, and more only for those near by.

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
  const std::uint64_t work = CountWork([&] { index.FindAffected(changes, after, affected); });
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
