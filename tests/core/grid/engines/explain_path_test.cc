// Explanations of paths on grids, against Dijkstra's algorithm over cells with explicit sets of blockers.

#include "server/core/grid/engines/explain_path.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/overlay.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/shapes/shape_raster.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::IsEmpty;

constexpr double kSlack = 1e-6;
// Member of the sets of positions that nothing opens.
constexpr char kWallName[] = "wall";

std::string TextOf(const Blocker& blocker) {
  switch (blocker.kind) {
    case Blocker::Kind::kArea:
      return "(area)";
    case Blocker::Kind::kNameless:
      return "(nameless)";
    default:
      return blocker.id;
  }
}

GridMap Edited(const GridMap& map, const std::vector<Edit>& edits) {
  return edits.empty() ? map : ApplyEdits(map, edits)->map;
}

// A map with all that the agent of a question sees.
struct Scene {
  GridMap before;
  GridMap map;
  Overlay overlay;
  Agent agent;
  BlockerPrices prices;
  std::vector<std::string> required_tags;

  BlockedMap blocked() const {
    return {.map = map,
            .before_overlay = before,
            .area = overlay.blocked.empty() ? nullptr : &overlay.blocked,
            .required_tags = required_tags};
  }
};

Scene SceneOf(const MapAndAgent& kind, Generator& generator) {
  GridMap map = kind.Make(generator, 24);
  std::vector<Edit> edits;
  for (int i = generator.Between(0, 6); i > 0; --i) {
    edits.emplace_back(PutObstacle{.obstacle = generator.ObstacleOf(map, absl::StrCat("o", i))});
  }
  map = Edited(map, edits);
  for (int i = generator.Between(0, 3); i > 0; --i) {
    const PutPortal put{.portal = {.id = absl::StrCat("p", i),
                                   .from = generator.CellOf(map),
                                   .to = generator.CellOf(map),
                                   .cost = CostFromDouble(generator.Between(0, 5)),
                                   .both_ways = generator.Chance(0.5),
                                   .tags = {generator.Chance(0.8) ? "any" : "few"},
                                   .closed = generator.Chance(0.5)}};
    // One that leads nowhere, or where another one does, is refused.
    if (const auto edited = ApplyEdits(map, {put}); edited.ok()) {
      map = edited->map;
    }
  }
  Overlay overlay;
  if (generator.Chance(0.3)) {
    const Cell cell = generator.CellOf(map);
    overlay.blocked.rectangles = {{cell.x, cell.y, generator.Between(1, 9), generator.Between(1, 9)}};
    overlay.ignored_obstacles = {"o1"};
  }
  GridMap overlaid = *WithOverlay(map, overlay);
  BlockerPrices prices{.price = 0.5 * generator.Between(0, 30),
                       .listed = {{"o", 6.5}, {"o2", 0.25}, {"o3", 40.0}},
                       .only_obstacles = generator.Chance(0.3)};
  if (generator.Chance(0.3)) {
    prices = {};
  }
  return {std::move(map), std::move(overlaid), std::move(overlay), kind.agent, std::move(prices), {"any"}};
}

class SlowExplainer {
 public:
  explicit SlowExplainer(const Scene& scene) : scene_(scene) {
    scene.map.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
      if (obstacle.effect.kind == ObstacleEffect::Kind::kBlock) {
        Cover(obstacle.shape, obstacle.id);
      }
      return true;
    });
    Cover(scene.overlay.blocked, "(area)");
    for (int y = 0; y < scene.map.height(); ++y) {
      for (int x = 0; x < scene.map.width(); ++x) {
        const Terrain& terrain = scene.map.settings().terrains[scene.map.TerrainAt({x, y})];
        if (scene.before.HasNamelessObstacle({x, y})) {
          covers_[{x, y}].insert(scene.prices.only_obstacles ? kWallName : "(nameless)");
        }
        if (terrain.impassable) {
          covers_[{x, y}].insert(scene.prices.only_obstacles ? kWallName : std::string(1, terrain.symbol));
        }
      }
    }
  }

  std::set<std::string> BlockersAt(Cell position) const {
    std::set<std::string> all;
    for (int y = position.y; y < position.y + scene_.agent.footprint; ++y) {
      for (int x = position.x; x < position.x + scene_.agent.footprint; ++x) {
        if (!scene_.map.Contains({x, y})) {
          return {kWallName};
        }
        if (const auto found = covers_.find({x, y}); found != covers_.end()) {
          all.insert(found->second.begin(), found->second.end());
        }
      }
    }
    return all;
  }

  double PriceOf(const std::string& name) const {
    return name.front() == 'o' ? scene_.prices.OfObstacle(name) : scene_.prices.price;
  }

  // Returns the blockers that a step enters; nullopt if it is not legal.
  std::optional<std::set<std::string>> Entered(Cell from, Cell to) const {
    const std::set<std::string> a = BlockersAt(from);
    const std::set<std::string> b = BlockersAt(to);
    const int dx = to.x - from.x;
    const int dy = to.y - from.y;
    const Connectivity connectivity = scene_.map.settings().connectivity;
    if (b.contains(kWallName) || (dx != 0 && dy != 0 && connectivity == Connectivity::kFour) ||
        (connectivity == Connectivity::kSix && dx == dy)) {
      return std::nullopt;
    }
    if (dx != 0 && dy != 0 && connectivity == Connectivity::kEight) {
      const auto is_open = [&](Cell side) {
        return std::ranges::all_of(BlockersAt(side), [&](const std::string& name) {
          return name != kWallName && (a.contains(name) || b.contains(name));
        });
      };
      if (!MayPassCorner(scene_.agent.corner_rule, is_open({to.x, from.y}), is_open({from.x, to.y}))) {
        return std::nullopt;
      }
    }
    return Difference(b, a);
  }

  // Returns cost and prices together.
  std::optional<double> TotalOf(Cell start, Cell goal) const {
    std::map<std::pair<int, int>, double> totals;
    std::set<std::pair<double, std::pair<int, int>>> open;
    const std::set<std::string> at_start = BlockersAt(start);
    if (at_start.contains(kWallName)) {
      return std::nullopt;
    }
    const double first = SumOf(at_start);
    totals[{start.x, start.y}] = first;
    open.insert({first, {start.x, start.y}});
    while (!open.empty()) {
      const double total = open.begin()->first;
      const std::pair<int, int> at = open.begin()->second;
      open.erase(open.begin());
      const Cell cell = {at.first, at.second};
      if (cell == goal) {
        return total;
      }
      if (total > totals[at]) {
        continue;
      }
      const auto reach = [&](Cell next, double reached) {
        const auto [known, is_new] = totals.try_emplace({next.x, next.y}, reached);
        if (is_new || reached < known->second - kSlack / 1000) {
          known->second = reached;
          open.insert({reached, {next.x, next.y}});
        }
      };
      for (const Cell step : kSteps) {
        const Cell next = {cell.x + step.x, cell.y + step.y};
        if (const std::optional<std::set<std::string>> entered = Entered(cell, next)) {
          reach(next, total + StepCost(scene_.map, cell, next, scene_.agent.footprint) + SumOf(*entered));
        }
      }
      scene_.map.portals().VisitAfter("", [&](const Portal& portal) {
        for (const auto& [from, to] : {std::pair(portal.from, portal.to), {portal.to, portal.from}}) {
          const std::set<std::string> there = BlockersAt(to);
          if (from == cell && (from == portal.from || portal.both_ways) && !there.contains(kWallName) &&
              portal.tags == scene_.required_tags && !(portal.closed && scene_.prices.only_obstacles)) {
            reach(to, total + CostToDouble(portal.cost) + SumOf(Difference(there, BlockersAt(from))) +
                          (portal.closed ? scene_.prices.price : 0.0));
          }
        }
        return true;
      });
    }
    return std::nullopt;
  }

 private:
  static std::set<std::string> Difference(const std::set<std::string>& a, const std::set<std::string>& b) {
    std::set<std::string> difference;
    std::ranges::set_difference(a, b, std::inserter(difference, difference.end()));
    return difference;
  }

  struct Before {
    bool operator()(Cell a, Cell b) const { return std::pair(a.y, a.x) < std::pair(b.y, b.x); }
  };

  void Cover(const Shape& shape, const std::string& name) {
    SpanSet cells = SpansOf(shape, scene_.map.lattice(), scene_.map.bounds());
    for (const RowSpan& span : cells.Sorted()) {
      for (int x = span.x_begin; x < span.x_end; ++x) {
        covers_[{x, span.y}].insert(name);
      }
    }
  }

  double SumOf(const std::set<std::string>& names) const {
    double sum = 0.0;
    for (const std::string& name : names) {
      sum += PriceOf(name);
    }
    return sum;
  }

  const Scene& scene_;
  std::map<Cell, std::set<std::string>, Before> covers_;
};

// Returns the map of the scene without what is named.
GridMap WithoutNamed(const Scene& scene, const std::vector<Blocker>& blockers) {
  Overlay overlay = scene.overlay;
  std::vector<Edit> edits;
  TerrainRules rules(scene.map.settings());
  for (const Blocker& blocker : blockers) {
    if (blocker.kind == Blocker::Kind::kObstacle) {
      overlay.ignored_obstacles.push_back(blocker.id);
    } else if (blocker.kind == Blocker::Kind::kArea) {
      overlay.blocked = {};
    } else if (blocker.kind == Blocker::Kind::kNameless) {
      edits.emplace_back(UnblockCells{{.rectangles = {scene.map.bounds()}}});
    } else if (blocker.kind == Blocker::Kind::kPortal) {
      edits.emplace_back(SwitchPortal{.id = blocker.id});
    } else {
      rules.terrains[TerrainOf(blocker.id.front(), scene.map.settings())].impassable = false;
    }
  }
  GridMap map = Edited(scene.before, edits);
  if (!rules.IsAsIn(map.settings())) {
    map = GridMap(*ViewUnder(map, rules));
  }
  return *WithOverlay(map, overlay);
}

class ExplainPathTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
  Scratch scratch_{std::size_t{1} << 26};
};

TEST_P(ExplainPathTest, FindsTheCheapestBlockers) {
  int blocked = 0;
  int crossed = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(60) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const Scene scene = SceneOf(GetParam(), generator);
    const SlowExplainer slow(scene);
    const PathQuery query{.start = generator.CellOf(scene.map),
                          .goal = generator.CellOf(scene.map),
                          .corner_rule = scene.agent.corner_rule,
                          .footprint = scene.agent.footprint};
    const auto found = ExplainPath(scene.blocked(), query, scene.prices, {}, scratch_);
    ASSERT_EQ(found.status(), absl::OkStatus());
    const std::optional<double> total = slow.TotalOf(query.start, query.goal);
    ASSERT_EQ(found->is_found, total.has_value());
    if (!total) {
      EXPECT_THAT(found->cells, IsEmpty());
      continue;
    }
    EXPECT_NEAR(found->cost + found->price, *total, kSlack);
    ASSERT_EQ(found->cells.front(), query.start);
    ASSERT_EQ(found->cells.back(), query.goal);
    double price = 0.0;
    for (const Blocker& blocker : found->blockers) {
      ASSERT_LT(blocker.index, found->cells.size());
      EXPECT_TRUE(blocker.kind == Blocker::Kind::kPortal ||
                  slow.BlockersAt(found->cells[blocker.index]).contains(TextOf(blocker)));
      EXPECT_EQ(blocker.price, slow.PriceOf(TextOf(blocker)));
      price += blocker.price;
    }
    EXPECT_NEAR(found->price, price, kSlack);
    blocked += found->blockers.empty() ? 0 : 1;
    crossed += found->crossings.empty() ? 0 : 1;

    const bool needs_terrain = std::ranges::any_of(
        found->blockers, [](const Blocker& blocker) { return blocker.kind == Blocker::Kind::kTerrain; });
    const std::vector<Blocker> blockers = found->blockers;
    const double expected = found->cost;
    const GridMap opened = WithoutNamed(scene, blockers);
    NoWorld world;
    const auto through = FindPathThroughPortals(
        opened, world, {.path = query, .required_tags = scene.required_tags}, {}, scratch_);
    ASSERT_EQ(through.status(), absl::OkStatus());
    const PathResult* const path = &through->path;
    EXPECT_EQ(path->outcome, Outcome::kFound);
    // Obstacles that change costs do not change those of impassable terrain.
    if (!needs_terrain || (scene.map.cell_costs() == nullptr && opened.cell_costs() == nullptr)) {
      EXPECT_LE(path->cost, expected + kSlack);
    }
    if (blockers.empty()) {
      EXPECT_NEAR(path->cost, expected, kSlack);
    }
  }
  EXPECT_GT(blocked, 0);
  // Large agents fit at both ends of few portals.
  EXPECT_TRUE(crossed > 0 || GetParam().agent.footprint > 1 || Rounds(60) < 60);
}

INSTANTIATE_TEST_SUITE_P(Agents, ExplainPathTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

class DrawnExplanationTest : public ::testing::Test {
 protected:
  // Returns the outcome, and the blockers with the index of their first cell.
  std::string Explain(const GridMap& map, const PathQuery& query, const BlockerPrices& prices = {}) {
    const auto found = ExplainPath({.map = map, .before_overlay = map}, query, prices, {}, scratch_);
    EXPECT_EQ(found.status(), absl::OkStatus());
    if (!found->is_found) {
      return "unreachable";
    }
    std::string text = absl::StrCat(found->cost, " + ", found->price);
    for (const Blocker& blocker : found->blockers) {
      absl::StrAppend(&text, ", ", TextOf(blocker), " at ", blocker.index);
    }
    return text;
  }

  static GridMap With(const GridMap& map, const std::vector<Obstacle>& obstacles) {
    std::vector<Edit> edits;
    for (const Obstacle& obstacle : obstacles) {
      edits.emplace_back(PutObstacle{.obstacle = obstacle});
    }
    return Edited(map, edits);
  }

  Scratch scratch_{std::size_t{1} << 22};
};

TEST_F(DrawnExplanationTest, ThickWallsArePaidOnceAndPricesChooseTheGate) {
  const GridMap yard = With(DrawMap({".......", ".......", "......."}, FourConnected()),
                            {{.id = "wall", .shape = {.rectangles = {{2, 0, 3, 2}}}},
                             {.id = "gate:west", .shape = {.cells = {{2, 2}}}},
                             {.id = "gate:east", .shape = {.cells = {{4, 2}}}}});
  const PathQuery query{.start = {0, 0}, .goal = {6, 0}};
  EXPECT_EQ(Explain(yard, query), "6 + 1000, wall at 2");
  EXPECT_EQ(Explain(yard, query, {.listed = {{"gate:", 10.0}}}), "10 + 20, gate:west at 4, gate:east at 6");
  EXPECT_EQ(Explain(yard, query, {.listed = {{"gate:", 10.0}, {"gate:e", 2000.0}}}), "6 + 1000, wall at 2");
  EXPECT_EQ(Explain(yard, {.start = {3, 0}, .goal = {3, 1}}), "1 + 1000, wall at 0") << "both ends blocked";
}

TEST_F(DrawnExplanationTest, ClosedPortalsAreBlockers) {
  const GridMap map =
      Edited(DrawMap({"...#...#..", "...#...#.."}),
             {PutPortal{.portal = {.id = "door", .from = {2, 0}, .to = {4, 0}, .closed = true}},
              PutPortal{.portal = {.id = "gate", .from = {8, 1}, .to = {6, 1}, .both_ways = true}}});
  const PathQuery query{.start = {0, 0}, .goal = {9, 1}};
  EXPECT_EQ(Explain(map, query), "5.41421 + 1000, door at 3");
  EXPECT_EQ(Explain(map, query, {.only_obstacles = true}), "unreachable");
}

TEST_F(DrawnExplanationTest, EdgesOfTheMapAndOtherWallsStay) {
  const GridMap map = DrawMap({"..#..", "..#..", "..#.."});
  EXPECT_EQ(Explain(map, {.start = {0, 0}, .goal = {4, 0}}), "4 + 1000, (nameless) at 2");
  EXPECT_EQ(Explain(map, {.start = {0, 0}, .goal = {4, 0}}, {.only_obstacles = true}), "unreachable");
  EXPECT_EQ(Explain(map, {.start = {0, 0}, .goal = {4, 0}, .footprint = 2}), "unreachable");
  EXPECT_EQ(Explain(map, {.start = {0, 0}, .goal = {3, 1}, .footprint = 2}),
            "3.41421 + 1000, (nameless) at 1");
}

TEST_F(DrawnExplanationTest, SearchesEndWithTheBudgetAndTheMemory) {
  const GridMap map =
      With(*GridMap::Create(600, 600, {}), {{.id = "wall", .shape = {.rectangles = {{300, 0, 1, 600}}}}});
  const BlockedMap blocked{.map = map, .before_overlay = map};
  const PathQuery query{.start = {0, 300}, .goal = {599, 300}};
  std::atomic<bool> flag = true;
  EXPECT_TRUE(absl::IsCancelled(ExplainPath(blocked, query, {}, {.cancelled = &flag}, scratch_).status()));
  EXPECT_TRUE(absl::IsAborted(ExplainPath(blocked, query, {}, {.evicted = &flag}, scratch_).status()));
  EXPECT_THAT(ExplainPath(blocked, query, {}, {.max_expansions = 9}, scratch_),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, ""));
  Scratch small(std::size_t{1} << 16);
  EXPECT_THAT(ExplainPath(blocked, query, {}, {}, small),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, ""));
  std::vector<Obstacle> crowd;
  for (int i = 0; i <= 10'000; ++i) {
    crowd.push_back({.id = absl::StrCat("o", i), .shape = {.cells = {{1, 0}}}});
  }
  const GridMap crowded = With(DrawMap({"..."}), crowd);
  EXPECT_THAT(ExplainPath({.map = crowded, .before_overlay = crowded}, {.start = {0, 0}, .goal = {2, 0}}, {},
                          {}, scratch_),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "path"));
  EXPECT_THAT(ExplainPath(blocked, {.start = {0, 0}, .goal = {600, 0}}, {}, {}, scratch_),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "goal"));
  EXPECT_THAT(ExplainPath(blocked, query, {.listed = {{"w", -1.0}}}, {}, scratch_),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "prices[0].price"));
}

}  // namespace
}  // namespace waystar::core
