#include "server/core/grid/map/movement_profile.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/overlay.h"
#include "server/core/elements/profile_table.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/grid/map/profile_views.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/plainness.h"
#include "tests/testing/profiles.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

GridSettings TwoTerrains() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  return settings;
}

void ExpectBad(const MovementProfile& profile, ErrorReason reason, const std::string& field) {
  EXPECT_THAT(absl::StatusOr<int>(CheckProfile(profile, TwoTerrains())), IsError(kInvalid, reason, field));
}

TEST(MovementProfileTest, NamesWhatIsWrong) {
  ExpectBad({.footprint = 0}, ErrorReason::kBadValue, "footprint");
  ExpectBad({.footprint = 33}, ErrorReason::kBadValue, "footprint");
  ExpectBad({.terrain_costs = {{'.', 1.0}, {'?', 1.0}}}, ErrorReason::kUnknownTerrain,
            "terrain_costs[1].terrain");
  for (const double cost : {0.0, -1.0, 1001.0, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    ExpectBad({.terrain_costs = {{'~', cost}}}, ErrorReason::kBadValue, "terrain_costs[0].cost");
  }
  ExpectBad({.terrain_costs = {{'~', 1.0}, {'~', 2.0}}}, ErrorReason::kBadProfile,
            "terrain_costs[1].terrain");
  ExpectBad({.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'~'}}, ErrorReason::kBadProfile,
            "forbidden_terrains[0]");
  ExpectBad({.forbidden_terrains = {'#'}}, ErrorReason::kUnknownTerrain, "forbidden_terrains[0]");
  ExpectBad({.forbidden_terrains = {'.'}}, ErrorReason::kBadProfile, "forbidden_terrains");
  ExpectBad({.required_tags = std::vector<std::string>(17, "a")}, ErrorReason::kBadProfile, "required_tags");
  ExpectBad({.required_tags = {"a", ""}}, ErrorReason::kBadProfile, "required_tags[1]");
  ExpectBad({.required_tags = {std::string(64, 'a')}}, ErrorReason::kBadProfile, "required_tags[0]");
  ExpectBad({.required_tags = {"a b"}}, ErrorReason::kBadProfile, "required_tags[0]");
  ExpectBad({.required_tags = {"a", "b", "a"}}, ErrorReason::kBadProfile, "required_tags[2]");
  EXPECT_TRUE(CheckProfile({.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'.'}}, TwoTerrains()).ok());
}

TEST(MovementProfileTest, EditsPutAndRemoveProfiles) {
  const GridMap map = DrawMap({".~."}, TwoTerrains());
  const NamedProfile boat{"boat", {.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'.'}}};
  const NamedProfile tank{"Tank:1", {.footprint = 2}};
  const auto put = ApplyEdits(map, {PutProfile{tank}, PutProfile{boat}});
  ASSERT_THAT(put, IsOk());
  EXPECT_EQ(put->summary.changed_cells, 0);
  EXPECT_THAT(put->map.profiles(), ::testing::ElementsAre(tank, boat));
  EXPECT_TRUE(map.profiles().empty());
  NamedProfile faster = boat;
  faster.profile.terrain_costs.front().cost = 0.5;
  const auto replaced = ApplyEdits(put->map, {PutProfile{faster}, RemoveProfile{"Tank:1"}});
  ASSERT_THAT(replaced, IsOk());
  EXPECT_THAT(replaced->map.profiles(), ::testing::ElementsAre(faster));
  EXPECT_EQ(FindProfile(replaced->map.profiles(), "Tank:1"), nullptr);
}

TEST(MovementProfileTest, BadEditsAreNamedAndChangeNothing) {
  const GridMap map = DrawMap({".~."}, TwoTerrains());
  EXPECT_THAT(ApplyEdits(map, {BlockCells{{.cells = {{0, 0}}}}, RemoveProfile{"tank"}}),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kProfileNotFound, "edits[1].remove_profile"));
  EXPECT_THAT(ApplyEdits(map, {PutProfile{{"a b", {}}}}),
              IsError(kInvalid, ErrorReason::kBadProfile, "edits[0].put_profile.name"));
  EXPECT_THAT(ApplyEdits(map, {PutProfile{{"tank", {.footprint = 99}}}}),
              IsError(kInvalid, ErrorReason::kBadValue, "edits[0].put_profile.profile.footprint"));
  std::vector<Edit> many;
  for (std::size_t i = 0; i <= kMaxProfiles; ++i) {
    many.push_back(PutProfile{{absl::StrCat("p", i), {}}});
  }
  EXPECT_THAT(ApplyEdits(map, many),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyProfiles,
                      absl::StrCat("edits[", kMaxProfiles, "].put_profile.name")));
}

GridSettings Landscape() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  settings.terrains.push_back({.symbol = 's', .name = "swamp", .cost = 4.0});
  return settings;
}

TerrainRules RulesOf(const GridMap& map, const MovementProfile& profile) {
  EXPECT_TRUE(CheckProfile(profile, map.settings()).ok());
  return TerrainRules(profile, map.settings());
}

// Returns a difference between two maps in what searches read, or an empty string.
std::string Difference(const GridMap& a, const GridMap& b) {
  if (a.settings() != b.settings() || a.HasUniformCost() != b.HasUniformCost() ||
      a.min_straight() != b.min_straight() || a.min_diagonal() != b.min_diagonal() ||
      a.walkable_cells() != b.walkable_cells() || a.obstacle_cells() != b.obstacle_cells()) {
    return "numbers";
  }
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      const Cell cell{x, y};
      const std::string at = absl::StrCat(" at (", x, ", ", y, ")");
      if (a.IsWalkable(cell) != b.IsWalkable(cell) ||
          a.walk().IsWalkable(cell) != b.walk().IsWalkable(cell)) {
        return "walkability" + at;
      }
      if (TestBit(a.walk().Column(x), y) != TestBit(b.walk().Column(x), y)) {
        return "columns" + at;
      }
      if (a.HasObstacle(cell) != b.HasObstacle(cell) || a.TerrainAt(cell) != b.TerrainAt(cell)) {
        return "cells" + at;
      }
      if (a.StraightCost(cell) != b.StraightCost(cell) || a.DiagonalCost(cell) != b.DiagonalCost(cell)) {
        return "costs" + at;
      }
      for (const int side : {2, 3}) {
        if (a.walk(side)->IsWalkable(cell) != b.walk(side)->IsWalkable(cell)) {
          return "large agents" + at;
        }
      }
      if (a.settings().connectivity == Connectivity::kEight &&
          PlainnessAt(a.plain_cells(), a, cell) != PlainnessAt(b.plain_cells(), b, cell)) {
        return "plain cells" + at;
      }
    }
  }
  return "";
}

TEST(ProfileViewsTest, SameViewIsMadeOnceAndSharesWhatItCan) {
  const GridMap map = DrawMap({"..s", "~.."}, Landscape());
  const TerrainRules dearer = RulesOf(map, {.terrain_costs = {{'s', 9.0}}});
  const auto view = ViewUnder(map, dearer);
  EXPECT_EQ(ViewUnder(map, dearer), view);
  EXPECT_EQ(&view->walk(), &map.walk());
  EXPECT_EQ(view->walk(2), map.walk(2));
  const auto swimmer = ViewUnder(map, RulesOf(map, {.terrain_costs = {{'~', 1.0}}}));
  EXPECT_NE(&swimmer->walk(), &map.walk());
  EXPECT_EQ(swimmer->TerrainRow(0), map.TerrainRow(0));
}

TEST(ProfileViewsTest, KeepsThoseAskedForLast) {
  const GridMap map = DrawMap({"..s"}, Landscape());
  const auto rules = [&](int i) { return RulesOf(map, {.terrain_costs = {{'s', 1.0 + i}}}); };
  const auto first = ViewUnder(map, rules(0));
  const auto second = ViewUnder(map, rules(1));
  for (int i = 2; i <= static_cast<int>(ProfileViews::kMaxKept); ++i) {
    ViewUnder(map, rules(0));
    ViewUnder(map, rules(i));
  }
  EXPECT_EQ(ViewUnder(map, rules(0)), first);
  EXPECT_NE(ViewUnder(map, rules(1)), second);
}

TEST(ProfileViewsTest, MoreThanEightProfilesInTurnsAreMadeOnce) {
  for (const int side : {16, 128}) {
    const GridMap map = DrawMap(
        std::vector<std::string>(static_cast<std::size_t>(side), std::string(side, 's')), Landscape());
    std::vector<std::shared_ptr<const GridMap>> views;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 16; ++i) {
        // Half of them enter other terrains.
        const TerrainRules rules = RulesOf(
            map, i % 2 == 0
                     ? MovementProfile{.terrain_costs = {{'s', 2.0 + i}}}
                     : MovementProfile{.terrain_costs = {{'~', 2.0 + i}}, .forbidden_terrains = {'s'}});
        views.push_back(ViewUnder(map, rules));
        EXPECT_EQ(views.back(), views[static_cast<std::size_t>(i)]) << "profile " << i << " round " << round;
      }
    }
  }
}

// Views that take more than the map may spend on them are let go of, but for eight.
TEST(ProfileViewsTest, NoMoreAreKeptThanMemoryAllows) {
  const GridMap map = DrawMap({"..s"}, Landscape());
  const ProfileViews views;
  const auto get = [&](int i) {
    return views.Get(
        RulesOf(map, {.terrain_costs = {{'s', 2.0 + i}}}),
        [&](const GridMap*) { return std::make_shared<const GridMap>(map); }, 100,
        [](const GridMap*) { return std::size_t{11}; });
  };
  std::vector<std::shared_ptr<const GridMap>> first;
  for (int i = 0; i < 9; ++i) {
    first.push_back(get(i));
  }
  EXPECT_EQ(views.Held().size(), 9U);
  first.push_back(get(9));
  EXPECT_EQ(views.Held().size(), 9U) << "of 99 bytes";
  EXPECT_EQ(get(9), first[9]);
  EXPECT_EQ(get(1), first[1]);
  EXPECT_NE(get(0), first[0]) << "which was not asked for for longest";
}

TEST(ProfileViewsTest, MemoryCountsViewsAndLetsGoOfThoseNobodyAsksFor) {
  Generator generator(3);
  GridMap map = generator.Map({.max_side = 200, .weighted = true});
  const std::size_t without = map.memory_bytes();
  ViewUnder(map, RulesOf(map, {.terrain_costs = {{'^', 1.0}}}));
  const std::size_t with = map.memory_bytes();
  EXPECT_GT(with, without);
  map = ApplyEdits(map, {BlockCells{{.cells = {{0, 0}}}}})->map;
  // The view before is kept for the sake of the next.
  EXPECT_GT(map.memory_bytes(), without);
  for (int i = 0; i <= ProfileViews::kMaxIdleEdits; ++i) {
    map = ApplyEdits(map, {UnblockCells{{.cells = {{0, 0}}}}})->map;
  }
  EXPECT_LT(map.memory_bytes(), with);
}

class GeneratedViews : public ::testing::TestWithParam<int> {};

// Whatever edits came, and whenever the view was asked for in between.
TEST_P(GeneratedViews, RepairedViewIsThatOfTheMapBuiltAnew) {
  Generator generator(static_cast<std::uint64_t>(GetParam()));
  for (int i = 0; i < 6; ++i) {
    GridMap map = generator.Map(
        {.max_side = 140, .max_cells = 3000, .weighted = true, .connectivity = AnyConnectivity(generator)});
    std::vector<TerrainRules> all;
    for (int j = 0; j < 3; ++j) {
      all.push_back(RulesOf(map, AnyProfile(generator, map.settings())));
    }
    for (int round = 0; round < 12; ++round) {
      for (const TerrainRules& rules : all) {
        if (rules.IsAsIn(map.settings()) || generator.Chance(0.5)) {
          continue;
        }
        const auto view = ViewUnder(map, rules);
        const GridMap rebuilt = Rebuilt(map, rules);
        ASSERT_EQ(Difference(*view, rebuilt), "") << "map " << i << " round " << round;
        const Overlay overlay{.blocked = {.discs = {{{map.width() / 2.0, map.height() / 2.0}, 4.5}}},
                              .ignored_obstacles = {"o1", "o2"}};
        ASSERT_EQ(Difference(*WithOverlay(*view, overlay), *WithOverlay(rebuilt, overlay)), "");
      }
      for (int edits = generator.Between(1, 3); edits > 0; --edits) {
        map = ApplyEdits(map, generator.AnyEdits(map, generator.Between(1, 3)))->map;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedViews, ::testing::Range(1, 13));

}  // namespace
}  // namespace waystar::core
