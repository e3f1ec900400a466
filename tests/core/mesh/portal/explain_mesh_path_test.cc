// Explanations of paths on meshes, against Dijkstra's algorithm over the corners of walls and areas that see
// each other, with the areas that each is in.

#include "server/core/mesh/portal/explain_mesh_path.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/portal/lazy_legs.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/mesh/search/mesh_path.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kUnreached = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-5;

using Loop = std::vector<WorldPoint>;

Loop LoopOf(const Rectangle& rectangle) {
  const double x = rectangle.x;
  const double y = rectangle.y;
  return {{x, y, 0},
          {x + rectangle.width, y, 0},
          {x + rectangle.width, y + rectangle.height, 0},
          {x, y + rectangle.height, 0}};
}

// The part of a line inside of a convex loop that is made smaller by a hair, as shares of the line.
std::pair<double, double> InsideOf(const Loop& loop, const WorldPoint& from, const WorldPoint& to) {
  double begin = 0.0;
  double end = 1.0;
  for (std::size_t k = 0; k < loop.size(); ++k) {
    const WorldPoint& a = loop[k];
    const WorldPoint& b = loop[(k + 1) % loop.size()];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const auto depth = [&](const WorldPoint& p) {
      return ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)) / length - 1e-7;
    };
    const double at_from = depth(from);
    const double at_to = depth(to);
    if (at_from <= 0.0 && at_to <= 0.0) {
      return {1.0, 0.0};
    }
    if (at_from <= 0.0) {
      begin = std::max(begin, at_from / (at_from - at_to));
    } else if (at_to <= 0.0) {
      end = std::min(end, at_from / (at_from - at_to));
    }
  }
  return {begin, end};
}

bool Crosses(const Loop& loop, const WorldPoint& from, const WorldPoint& to, double least = 1e-7) {
  const auto [begin, end] = InsideOf(loop, from, to);
  return begin < end && (end - begin) * std::hypot(to.x - from.x, to.y - from.y) > least;
}

// Returns true if a line crosses no wall, nor leads between walls that touch: one side of it, a hair away,
// crosses none except near its ends.
bool IsClear(const std::vector<Loop>& walls, const WorldPoint& from, const WorldPoint& to) {
  if (std::ranges::any_of(walls, [&](const Loop& wall) { return Crosses(wall, from, to); })) {
    return false;
  }
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  return std::ranges::any_of(std::array{1e-5, -1e-5}, [&](double hair) {
    const double x = hair * (from.y - to.y) / length;
    const double y = hair * (to.x - from.x) / length;
    return std::ranges::none_of(walls, [&](const Loop& wall) {
      return Crosses(wall, {from.x + x, from.y + y, 0}, {to.x + x, to.y + y, 0}, 1e-3);
    });
  });
}

// A drawn floor with convex areas that have prices.
struct Scene {
  std::vector<std::string> rows;
  std::vector<Loop> areas;
  std::vector<double> prices;
  // Portals in one direction, and what it costs to pass each.
  std::vector<std::pair<WorldPoint, WorldPoint>> jumps = {};
  std::vector<double> jump_costs = {};

  std::vector<Loop> Walls() const {
    const int width = static_cast<int>(rows[0].size());
    const int height = static_cast<int>(rows.size());
    std::vector<Loop> walls = {LoopOf({-1, -1, 1, height + 2}), LoopOf({width, -1, 1, height + 2}),
                               LoopOf({-1, -1, width + 2, 1}), LoopOf({-1, height, width + 2, 1})};
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        if (rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] == '#') {
          walls.push_back(LoopOf({x, y, 1, 1}));
        }
      }
    }
    return walls;
  }
};

// Returns the cost and the prices of the cheapest path together, or infinity.
double CheapestOf(const Scene& scene, const WorldPoint& start, const WorldPoint& goal) {
  const std::vector<Loop> walls = scene.Walls();
  std::vector<WorldPoint> nodes = {start, goal};
  for (const auto& [from, to] : scene.jumps) {
    nodes.push_back(from);
    nodes.push_back(to);
  }
  for (const std::vector<Loop>* const loops : {&walls, &scene.areas}) {
    for (const Loop& loop : *loops) {
      nodes.insert(nodes.end(), loop.begin(), loop.end());
    }
  }
  std::erase_if(nodes, [&](const WorldPoint& node) {
    return node.x < 0 || node.y < 0 || node.x > static_cast<double>(scene.rows[0].size()) ||
           node.y > static_cast<double>(scene.rows.size());
  });
  // The areas that a path is in, as bits.
  using State = std::pair<std::size_t, unsigned>;
  std::map<State, double> costs;
  std::set<std::pair<double, State>> open;
  const auto reach = [&](State state, double cost) {
    const auto [known, is_new] = costs.try_emplace(state, cost);
    if (is_new || cost < known->second - 1e-12) {
      known->second = cost;
      open.insert({cost, state});
    }
  };
  // Begins a leg.
  const auto begin_at = [&](std::size_t node, double cost) {
    unsigned inside = 0;
    for (std::size_t i = 0; i < scene.areas.size(); ++i) {
      const auto [begin, end] = InsideOf(scene.areas[i], nodes[node], nodes[node]);
      if (begin < end) {
        inside |= 1U << i;
        cost += scene.prices[i];
      }
    }
    reach({nodes[node] == goal ? 1 : node, inside}, cost);
  };
  begin_at(0, 0.0);
  while (!open.empty()) {
    const auto [cost, state] = *open.begin();
    open.erase(open.begin());
    const auto [at, inside] = state;
    if (at == 1) {
      return cost;
    }
    if (cost > costs[state]) {
      continue;
    }
    for (std::size_t jump = 0; jump < scene.jumps.size(); ++jump) {
      if (nodes[at] == scene.jumps[jump].first) {
        begin_at(2 * jump + 3, cost + scene.jump_costs[jump]);
      }
    }
    for (std::size_t to = 1; to < nodes.size(); ++to) {
      if (nodes[to] == nodes[at] || !IsClear(walls, nodes[at], nodes[to])) {
        continue;
      }
      double toll = 0.0;
      unsigned there = 0;
      for (std::size_t i = 0; i < scene.areas.size(); ++i) {
        if (!Crosses(scene.areas[i], nodes[at], nodes[to])) {
          continue;
        }
        const auto [begin, end] = InsideOf(scene.areas[i], nodes[at], nodes[to]);
        const double length = std::hypot(nodes[to].x - nodes[at].x, nodes[to].y - nodes[at].y);
        const bool was_inside = begin * length < 1e-6 && (inside >> i & 1U) != 0;
        toll += was_inside ? 0.0 : scene.prices[i];
        there |= (1.0 - end) * length < 1e-6 ? 1U << i : 0U;
      }
      reach({to, there}, cost + toll + std::hypot(nodes[to].x - nodes[at].x, nodes[to].y - nodes[at].y));
    }
  }
  return kUnreached;
}

// Rows in which walls do not meet at corners alone.
std::vector<std::string> AnyRows(Random& random) {
  std::vector<std::string> rows = RandomRooms(random.Between(4, 8), random.Between(4, 8), 0.2, random);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t y = 0; y + 1 < rows.size(); ++y) {
      for (std::size_t x = 0; x + 1 < rows[0].size(); ++x) {
        const bool meets = rows[y][x] == rows[y + 1][x + 1] && rows[y][x + 1] == rows[y + 1][x] &&
                           rows[y][x] != rows[y][x + 1];
        if (meets) {
          rows[y][x] = rows[y + 1][x + 1] = rows[y][x + 1] = rows[y + 1][x] = '.';
          has_changed = true;
        }
      }
    }
  }
  return rows;
}

class ExplainMeshPathTest : public ::testing::Test {
 protected:
  absl::StatusOr<MeshExplanation> Explain(const NavMesh& mesh, const WorldPoint& start,
                                          const WorldPoint& goal, const BlockerPrices& prices = {}) {
    return ExplainMeshPath({.mesh = mesh, .memory = memory_}, {.start = start, .goals = {goal}}, prices, {},
                           scratch_);
  }

  static NavMesh With(const NavMesh& mesh, const std::vector<Obstacle>& obstacles) {
    return Edited(mesh, EditsOf(obstacles));
  }
  static std::vector<Edit> EditsOf(const std::vector<Obstacle>& obstacles) {
    std::vector<Edit> edits;
    for (const Obstacle& obstacle : obstacles) {
      edits.emplace_back(PutObstacle{.obstacle = obstacle});
    }
    return edits;
  }
  static NavMesh Edited(const NavMesh& mesh, const std::vector<Edit>& edits) {
    if (edits.empty()) {
      return mesh;
    }
    MeshBatchEditor editor(mesh);
    EXPECT_THAT(editor.Apply(edits, absl::UnixEpoch()), IsOk());
    return std::move(editor).Finish();
  }

  static std::vector<std::string> Told(const MeshExplanation& explanation) {
    std::vector<std::string> told;
    for (const Blocker& blocker : explanation.blockers) {
      told.push_back(absl::StrCat(blocker.id, " at ", blocker.point.x, ", ", blocker.point.y));
    }
    return told;
  }

  MemoryAccount memory_{std::size_t{1} << 30};
  MeshScratch scratch_{std::size_t{1} << 28};
};

TEST_F(ExplainMeshPathTest, FindsTheCheapestBlockers) {
  int blocked = 0;
  int crossed = 0;
  ForSeeds(400, [&](Random& random) {
    Scene scene{.rows = AnyRows(random)};
    const int width = static_cast<int>(scene.rows[0].size());
    const int height = static_cast<int>(scene.rows.size());
    // In some scenes areas may touch each other and walls: then only the oracle passes between them.
    const bool may_touch = random.Chance(0.3);
    const double grid = may_touch ? 1.0 : 1.0 / 64.0;
    const auto any = [&](int most) { return grid * random.Between(0, static_cast<int>(most / grid)); };
    std::vector<Obstacle> obstacles;
    BlockerPrices prices;
    for (int i = random.Between(1, 4); i > 0; --i) {
      // Moves the sides of each area off the grid by amounts of their own.
      const double hair = may_touch ? 0.0 : i / 8192.0;
      const double x = any(width) + hair;
      const double y = any(height) + hair;
      const double right = x + grid + any(3) + 4.0 * hair;
      const double top = y + grid + any(3) + 4.0 * hair;
      const double lean = random.Chance(0.5) ? 0.0 : 0.5;
      Loop loop = {{x, y, 0}, {right, y, 0}, {right + lean, top, 0}, {x + lean, top, 0}};
      const std::string id = absl::StrCat("o", scene.areas.size());
      Polygon polygon;
      for (const WorldPoint& corner : loop) {
        polygon.vertices.push_back({corner.x, corner.y});
      }
      obstacles.push_back({.id = id, .shape = {.polygons = {std::move(polygon)}}});
      prices.listed.push_back({id, random.Chance(0.2) ? BlockerPrices::kMax : 0.25 * random.Between(0, 40)});
      scene.areas.push_back(std::move(loop));
      scene.prices.push_back(prices.listed.back().price);
    }
    const NavMesh base = MeshOf(DrawRooms(scene.rows, &random));
    std::vector<Edit> edits = EditsOf(obstacles);
    const NavMesh cut = Edited(base, edits);
    // Returns a place that is not so little within an obstacle that it counts as beside it.
    const auto any_place = [&] {
      while (true) {
        const MeshPlace place = RandomPlace(base, random);
        const auto legal = cut.FindNearest({place.point, kMeshTolerance, kMeshTolerance});
        if (!legal || legal->point == place.point) {
          return place;
        }
      }
    };
    for (int i = random.Chance(0.5) ? random.Between(1, 4) : 0; i > 0; --i) {
      const WorldPoint from = any_place().point;
      const WorldPoint to = any_place().point;
      // The map refuses portals with the same ends.
      if (DistanceInPlan(from, to) > 0.1 && std::ranges::count(scene.jumps, std::pair(from, to)) == 0) {
        MeshPortal portal{.id = absl::StrCat("p", scene.jumps.size()),
                          .from = from,
                          .to = to,
                          .cost = 0.25 * random.Between(0, 40),
                          .closed = random.Chance(0.3)};
        scene.jumps.emplace_back(from, to);
        scene.jump_costs.push_back(portal.cost + (portal.closed ? prices.price : 0.0));
        edits.emplace_back(PutMeshPortal{.portal = std::move(portal)});
      }
    }
    const NavMesh mesh = Edited(base, edits);
    for (int i = 0; i < 6; ++i) {
      const MeshPlace start = any_place();
      const MeshPlace goal = any_place();
      const auto found = Explain(mesh, start.point, goal.point, prices);
      ASSERT_THAT(found, IsOk());
      const double cheapest = CheapestOf(scene, start.point, goal.point);
      ASSERT_EQ(found->is_found, cheapest < kUnreached);
      if (!found->is_found) {
        continue;
      }
      ASSERT_GE(found->cost + found->price, cheapest - kSlack) << Between(start, goal.point);
      if (!may_touch) {
        ASSERT_LE(found->cost + found->price, cheapest + kSlack) << Between(start, goal.point);
      }
      blocked += found->blockers.empty() ? 0 : 1;
      crossed += found->crossings.empty() ? 0 : 1;
      std::set<std::string> named;
      for (const Blocker& blocker : found->blockers) {
        if (blocker.kind == Blocker::Kind::kObstacle) {
          named.insert(blocker.id);
        }
      }
      if (!found->crossings.empty()) {
        continue;
      }
      std::vector<Edit> removals;
      for (const std::string& id : named) {
        removals.emplace_back(RemoveObstacle{id});
      }
      const double length = found->cost;
      const auto path =
          FindMeshPath(Edited(mesh, removals), {.start = start.point, .goals = {goal.point}}, {}, scratch_);
      // An end may be on the border of another obstacle.
      if (path.ok()) {
        EXPECT_LE(path->cost, length + kSlack);
      }
    }
  });
  EXPECT_GT(blocked, 0);
  EXPECT_GT(crossed, 0);
}

class NoOtherMaps final : public MeshWorld {
 public:
  const NavMesh* Find(absl::string_view /*id*/) override { return nullptr; }
};

TEST_F(ExplainMeshPathTest, AgreesWithPathsThroughPortalsOnSeveralFloors) {
  int blocked = 0;
  int crossed = 0;
  ForSeeds(300, [&](Random& random) {
    const NavMesh base = MeshOf(BentFloors(random, random.Between(1, 3)));
    std::vector<Edit> edits;
    for (int i = random.Between(0, 5); i > 0; --i) {
      Obstacle obstacle{.id = absl::StrCat("o", i),
                        .shape = {.rectangles = {{random.Between(0, 6), random.Between(0, 6),
                                                  random.Between(1, 3), random.Between(1, 3)}}}};
      if (random.Chance(0.5)) {
        const double floor = 3.0 * random.Between(0, 2);
        obstacle.heights = HeightRange{floor - 1.0, floor + 2.0};
      }
      edits.emplace_back(PutObstacle{.obstacle = std::move(obstacle)});
    }
    std::map<std::string, MeshPortal> portals;
    for (int i = random.Between(0, 8); i > 0; --i) {
      MeshPortal portal{.id = absl::StrCat("p", i),
                        .from = RandomPlace(base, random).point,
                        .to = RandomPlace(base, random).point,
                        .both_ways = random.Chance(0.5),
                        .closed = random.Chance(0.3),
                        .width = random.Chance(0.3) ? 0.25 * random.Between(1, 8) : 0.0};
      const double line = DistanceInPlan(portal.from, portal.to);
      portal.cost = random.Chance(0.3) ? 0.125 * random.Between(0, 16) : line + random.Between(0, 3);
      if (random.Chance(0.4)) {
        portal.tags = {"ladder"};
      }
      // The map refuses portals with the same ends, also the other way round.
      const bool is_alike = std::ranges::any_of(portals, [&](const auto& entry) {
        const MeshPortal& other = entry.second;
        return (other.from == portal.from && other.to == portal.to) ||
               (other.from == portal.to && other.to == portal.from);
      });
      if (line > 0.1 && !is_alike) {
        portals[portal.id] = portal;
        edits.emplace_back(PutMeshPortal{.portal = std::move(portal)});
      }
    }
    const NavMesh mesh = Edited(base, edits);
    std::vector<std::string> tags;
    if (random.Chance(0.2)) {
      tags.emplace_back("ladder");
    }
    NoOtherMaps world;
    for (int i = 0; i < 4; ++i) {
      // An end does not move to another floor, where no obstacle is around it.
      const MeshQuery query{.start = RandomPlace(base, random).point,
                            .goals = {RandomPlace(base, random).point},
                            .snap = {.height = 0.5}};
      const auto cost_on = [&](const NavMesh& on) {
        MeshPortalNet net(on, world, tags);
        const auto path = FindMeshPathThroughPortals(net, {.path = query, .goal_map = ""}, {}, scratch_);
        return path.ok() && path->path.outcome == Outcome::kFound ? path->path.cost : kUnreached;
      };
      const BlockerPrices prices{.price = random.Chance(0.5) ? 1000.0 : 0.5 * random.Between(0, 10),
                                 .only_obstacles = random.Chance(0.2)};
      const auto found = ExplainMeshPath({.mesh = mesh, .required_tags = tags, .memory = memory_}, query,
                                         prices, {}, scratch_);
      ASSERT_THAT(found, IsOk());
      const double cost = found->is_found ? found->cost : kUnreached;
      ASSERT_LE(cost + found->price, cost_on(mesh) + kSlack);
      std::vector<Edit> removals;
      std::set<std::string> named;
      for (const Blocker& blocker : found->blockers) {
        if (!named.insert(blocker.id).second) {
          continue;
        }
        if (blocker.kind == Blocker::Kind::kObstacle) {
          removals.emplace_back(RemoveObstacle{blocker.id});
        } else {
          portals.at(blocker.id).closed = false;
          removals.emplace_back(PutMeshPortal{.portal = portals.at(blocker.id), .replace = true});
          portals.at(blocker.id).closed = true;
        }
      }
      ASSERT_LE(cost_on(Edited(mesh, removals)), cost + kSlack);
      blocked += removals.empty() ? 0 : 1;
      crossed += found->crossings.empty() ? 0 : 1;
    }
  });
  EXPECT_GT(blocked, 0);
  EXPECT_GT(crossed, 0);
}

TEST_F(ExplainMeshPathTest, NamesWhatIsPassedAndWhere) {
  const NavMesh yard = With(MeshOf(DrawRooms({".........", "........."})),
                            {{.id = "wall", .shape = {.rectangles = {{4, -1, 1, 4}}}},
                             {.id = "crate", .shape = {.rectangles = {{6, 0, 1, 1}}}}});
  const auto found = Explain(yard, {1, 0.5, 0}, {8, 0.5, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_TRUE(found->is_found);
  EXPECT_THAT(Told(*found), ElementsAre("wall at 4, 0.8"));
  EXPECT_EQ(found->price, 1000.0);
  const auto cheap = Explain(yard, {1, 0.5, 0}, {8, 0.5, 0}, {.listed = {{"crate", 0.0}}});
  ASSERT_THAT(cheap, IsOk());
  EXPECT_EQ(cheap->cost, 7.0);
  EXPECT_THAT(Told(*cheap), ElementsAre("wall at 4, 0.5", "crate at 6, 0.5"));
}

TEST_F(ExplainMeshPathTest, NamesClosedPortals) {
  const NavMesh rooms = MeshOf(DrawRooms({"...#...", "...#..."}));
  const auto with_bridge = [&](bool is_closed) {
    return Edited(
        rooms,
        {PutMeshPortal{
            .portal = {
                .id = "bridge", .from = {2, 0.5, 0}, .to = {5, 0.5, 0}, .cost = 3.5, .closed = is_closed}}});
  };
  const NavMesh open = with_bridge(false);
  const auto found = Explain(open, {1, 0.5, 0}, {6, 0.5, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->cost, 5.5);
  EXPECT_THAT(found->blockers, IsEmpty());
  EXPECT_THAT(found->corners, ElementsAre(WorldPoint{1, 0.5, 0}, WorldPoint{2, 0.5, 0}, WorldPoint{5, 0.5, 0},
                                          WorldPoint{6, 0.5, 0}));
  ASSERT_THAT(found->crossings, SizeIs(1));
  EXPECT_EQ(found->crossings[0].portal->id, "bridge");
  EXPECT_EQ(found->crossings[0].index, 2U);

  const NavMesh closed = with_bridge(true);
  const auto blocked = Explain(closed, {1, 0.5, 0}, {6, 0.5, 0});
  ASSERT_THAT(blocked, IsOk());
  EXPECT_THAT(Told(*blocked), ElementsAre("bridge at 5, 0.5"));
  EXPECT_EQ(blocked->price, 1000.0);
  EXPECT_FALSE(Explain(closed, {1, 0.5, 0}, {6, 0.5, 0}, {.only_obstacles = true})->is_found);
  // It has no way back.
  EXPECT_FALSE(Explain(open, {6, 0.5, 0}, {1, 0.5, 0})->is_found);
}

TEST_F(ExplainMeshPathTest, PortalsAwayFromThePathTakeNoSearches) {
  Random random(1);
  const NavMesh field = MeshOf(DrawRooms(std::vector<std::string>(64, std::string(64, '.'))));
  std::vector<Edit> edits = {
      PutMeshPortal{.portal = {.id = "shortcut", .from = {1, 63, 0}, .to = {1, 40, 0}}}};
  // Their costs are rounded, so that some are less than the straight line.
  for (int i = 0; i < 200; ++i) {
    MeshPortal portal{.id = absl::StrCat("p", i),
                      .from = RandomPlace(field, random).point,
                      .to = RandomPlace(field, random).point};
    portal.cost = static_cast<float>(DistanceInPlan(portal.from, portal.to));
    edits.emplace_back(PutMeshPortal{.portal = std::move(portal)});
  }
  const auto found = Explain(Edited(field, edits), {5.5, 0.5, 0}, {60, 63, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_LT(found->statistics.expanded, 1000U);
}

TEST_F(ExplainMeshPathTest, LegsAreFoundWithinPartsAlone) {
  // Rooms in a row, 10 units apart, with doors both ways in between.
  constexpr std::uint32_t kRooms = 50;
  std::vector<Jump> jumps;
  for (std::uint32_t room = 0; room + 1 < kRooms; ++room) {
    const LegEnd left{{10.0 * room + 9.0, 5.0, 0.0}, {room}};
    const LegEnd right{{10.0 * room + 11.0, 5.0, 0.0}, {room + 1}};
    jumps.push_back({left, right, 2.0});
    jumps.push_back({right, left, 2.0});
  }
  std::uint32_t legs = 0;
  const auto cost_of_leg = [&](const WorldPoint& from, const WorldPoint& to) -> absl::StatusOr<double> {
    ++legs;
    return DistanceInPlan(from, to);
  };
  const LegEnd start{{1.0, 1.0, 0.0}, {0}};
  const auto way = FindCheapestLegs(start, {{10.0 * kRooms - 1.0, 9.0, 0.0}, {kRooms - 1}}, jumps,
                                    cost_of_leg, CallerStop());
  ASSERT_THAT(way, IsOk());
  ASSERT_TRUE(way->has_value());
  EXPECT_THAT(**way, SizeIs(kRooms - 1));
  EXPECT_LE(legs, 3 * kRooms);
  const CallerStop late(std::chrono::steady_clock::now(), nullptr);
  EXPECT_THAT(FindCheapestLegs(start, start, jumps, cost_of_leg, late),
              IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
}

TEST_F(ExplainMeshPathTest, ToleratesPlacesJustWithinObstacles) {
  const NavMesh yard = Edited(
      MeshOf(DrawRooms({".........", "........."})),
      {PutObstacle{.obstacle = {.id = "crate", .shape = {.rectangles = {{4, 0, 1, 1}}}}},
       PutMeshPortal{.portal = {.id = "ferry", .from = {4.0005, 0.25, 0}, .to = {8, 0.25, 0}, .cost = 0.5}}});
  const WorldPoint within = {4.0005, 0.25, 0};
  for (const auto& [start, goal, cost] : {std::tuple(WorldPoint{1, 0.25, 0}, within, 3.0),
                                          {within, WorldPoint{1, 0.25, 0}, 3.0},
                                          {WorldPoint{1, 0.25, 0}, WorldPoint{8.5, 0.25, 0}, 4.0}}) {
    const auto found = Explain(yard, start, goal);
    ASSERT_THAT(found, IsOk());
    EXPECT_THAT(Told(*found), IsEmpty());
    EXPECT_NEAR(found->cost, cost, kMeshTolerance);
  }
}

TEST_F(ExplainMeshPathTest, NoPathLeadsBetweenBlockersThatTouch) {
  const NavMesh yard = MeshOf(DrawRooms({"....", "....", "....", "...."}));
  // They touch in a side, and in a corner.
  for (const int y : {1, 2}) {
    const NavMesh mesh = With(yard, {{.id = "west", .shape = {.rectangles = {{-1, 1, 3, 1}}}},
                                     {.id = "east", .shape = {.rectangles = {{2, y, 3, 1}}}}});
    const auto found = Explain(mesh, {3, 0.5, 0}, {1, 3.5, 0});
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ(found->price, 1000.0);
    EXPECT_NEAR(found->cost, std::hypot(2.0, 3.0), kSlack);
  }
}

TEST_F(ExplainMeshPathTest, LiesWithinWhatCoversAll) {
  const NavMesh mesh = With(MeshOf(DrawRooms({"....", "....", "...."})),
                            {{.id = "fog", .shape = {.rectangles = {{-9, -9, 30, 30}}}}});
  const auto found = Explain(mesh, {0.5, 0.5, 0}, {3.5, 2.5, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(Told(*found), ElementsAre("fog at 0.5, 0.5"));
  EXPECT_NEAR(found->cost, std::hypot(3.0, 2.0), kSlack);
}

TEST_F(ExplainMeshPathTest, AlignedCornersDoNotMultiplyPaths) {
  std::vector<Obstacle> crates;
  for (int i = 0; i < 30; ++i) {
    crates.push_back({.id = absl::StrCat("crate", i), .shape = {.rectangles = {{2 * i + 1, 3, 1, 2}}}});
  }
  crates.push_back({.id = "wall", .shape = {.rectangles = {{62, 0, 1, 9}}}});
  const NavMesh mesh = With(MeshOf(DrawRooms(std::vector<std::string>(8, std::string(66, '.')))), crates);
  const auto found = Explain(mesh, {0.5, 5, 0}, {65, 5, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->price, 1000.0);
  EXPECT_EQ(found->cost, 64.5);
  EXPECT_LT(found->statistics.expanded, 10'000U);
}

TEST_F(ExplainMeshPathTest, AFenceOfManyTakesFewSearches) {
  std::vector<Obstacle> fence;
  for (int i = 0; i < 40; ++i) {
    for (const Rectangle& crate : {Rectangle{10 + i, 10, 1, 1}, Rectangle{10 + i, 50, 1, 1},
                                   Rectangle{10, 10 + i, 1, 1}, Rectangle{50, 10 + i, 1, 1}}) {
      fence.push_back({.id = absl::StrCat("crate", fence.size()), .shape = {.rectangles = {crate}}});
    }
  }
  const NavMesh field = MeshOf(DrawRooms(std::vector<std::string>(64, std::string(64, '.'))));
  const auto found = Explain(With(field, fence), {2, 30.3, 0}, {30, 30, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->price, 1000.0);
  EXPECT_THAT(found->blockers, SizeIs(1));
  EXPECT_NEAR(found->cost, std::hypot(28.0, 0.3), kSlack);
  // Some ten searches, not one for each crate.
  EXPECT_LT(found->statistics.expanded, 100'000U);
}

TEST_F(ExplainMeshPathTest, OtherWallsStay) {
  const NavMesh mesh = MeshOf(DrawRooms({"..#.."}));
  const auto found = Explain(mesh, {1, 0.5, 0}, {4, 0.5, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_FALSE(found->is_found);
  EXPECT_THAT(Explain(mesh, {2.5, 0.5, 0}, {4, 0.5, 0}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "start"));
}

}  // namespace
}  // namespace waystar::core
