#include "server/formats/build/build_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/build/tile_mesh.h"
#include "server/formats/build/voxel_raster.h"
#include "server/geometry/world_point.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::level {
namespace {

using core::NavMesh;
using core::WorldPoint;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(BuildSettingsTest, HasTheDefaultsOfTheContract) {
  const auto settings = MakeSettings({});
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->cell_size, 0.3);
  EXPECT_DOUBLE_EQ(settings->cell_height, 0.2);
  EXPECT_EQ(settings->radius_cells, 2);
  EXPECT_EQ(settings->height_cells, 10);
  EXPECT_EQ(settings->climb_cells, 4);
  EXPECT_EQ(settings->tile_cells, 64);
  EXPECT_EQ(settings->min_region_cells, 64);
}

TEST(BuildSettingsTest, MakesCellsHalfOfTheRadius) {
  EXPECT_EQ(MakeSettings({.agent_radius = 0.4})->cell_size, 0.2);
  EXPECT_EQ(MakeSettings({.agent_radius = 0.4})->radius_cells, 2);
  EXPECT_EQ(MakeSettings({.agent_radius = 0.0})->cell_size, 0.3);
  EXPECT_EQ(MakeSettings({.agent_radius = 0.0})->radius_cells, 0);
}

TEST(BuildSettingsTest, RoundsToWholeVoxelsOnTheSafeSide) {
  const auto settings = MakeSettings({.agent_radius = 0.61,
                                      .agent_height = 1.01,
                                      .agent_climb = 0.59,
                                      .cell_size = 0.3,
                                      .cell_height = 0.2});
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->radius_cells, 3);
  EXPECT_EQ(settings->height_cells, 6);
  EXPECT_EQ(settings->climb_cells, 2);
  EXPECT_EQ(MakeSettings({.agent_climb = 0.3, .cell_height = 0.1})->climb_cells, 3)
      << "though 0.3 / 0.1 is less than 3";
}

TEST(BuildSettingsTest, RefusesWhatIsOutOfRange) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, BuildOptions>> bad = {
      {"agent_radius", {.agent_radius = -0.1}}, {"agent_radius", {.agent_radius = 1001.0}},
      {"agent_radius", {.agent_radius = kNan}}, {"agent_radius", {.agent_radius = 40.0, .cell_size = 0.3}},
      {"agent_height", {.agent_height = 0.0}},  {"agent_height", {.agent_height = 60.0, .cell_height = 0.2}},
      {"agent_climb", {.agent_climb = -1.0}},   {"agent_climb", {.agent_climb = 1e30}},
      {"max_slope", {.max_slope = 90.0}},       {"max_slope", {.max_slope = -1.0}},
      {"cell_size", {.cell_size = 0.0}},        {"cell_size", {.cell_size = kNan}},
      {"cell_height", {.cell_height = -1.0}},   {"tile_cells", {.tile_cells = 15}},
      {"tile_cells", {.tile_cells = 257}},      {"min_region_area", {.min_region_area = -1.0}},
  };
  for (const auto& [field, options] : bad) {
    EXPECT_THAT(MakeSettings(options),
                IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, field));
  }
}

// A level drawn in code, piece by piece. Lengths are in units of the game.
class DrawnLevel {
 public:
  // A triangle whose front is the side from which its corners run counterclockwise.
  void AddTriangle(const WorldPoint& a, const WorldPoint& b, const WorldPoint& c) {
    const auto first = static_cast<std::uint32_t>(geometry_.vertices.size());
    geometry_.vertices.insert(geometry_.vertices.end(), {a, b, c});
    geometry_.triangles.push_back({first, first + 1, first + 2});
  }
  // A flat or bent face of four corners.
  void AddFace(const WorldPoint& a, const WorldPoint& b, const WorldPoint& c, const WorldPoint& d) {
    AddTriangle(a, b, c);
    AddTriangle(a, c, d);
  }
  // A rectangle of the plan that looks up. Its height is z_left at the low x and z_right at the high one.
  void AddFloor(double low_x, double low_y, double high_x, double high_y, double z_left, double z_right) {
    AddFace({low_x, low_y, z_left}, {high_x, low_y, z_right}, {high_x, high_y, z_right},
            {low_x, high_y, z_left});
  }
  void AddFloor(double low_x, double low_y, double high_x, double high_y, double z) {
    AddFloor(low_x, low_y, high_x, high_y, z, z);
  }
  // A box whose faces look outwards.
  void AddBox(const WorldPoint& low, const WorldPoint& high) {
    const WorldPoint corners[8] = {{low.x, low.y, low.z},    {high.x, low.y, low.z}, {high.x, high.y, low.z},
                                   {low.x, high.y, low.z},   {low.x, low.y, high.z}, {high.x, low.y, high.z},
                                   {high.x, high.y, high.z}, {low.x, high.y, high.z}};
    AddFace(corners[4], corners[5], corners[6], corners[7]);
    AddFace(corners[3], corners[2], corners[1], corners[0]);
    for (int i = 0; i < 4; ++i) {
      const int next = (i + 1) % 4;
      AddFace(corners[i], corners[next], corners[next + 4], corners[i + 4]);
    }
  }

  // Makes the triangles so far that have no kind yet ground of a material.
  void SetKind(const std::string& name) {
    geometry_.kind_of_triangle.resize(geometry_.triangles.size(),
                                      static_cast<std::uint32_t>(geometry_.kinds.size()));
    geometry_.kinds.push_back({.terrain = {.name = name}});
  }

  const LevelGeometry& geometry() const { return geometry_; }

 private:
  LevelGeometry geometry_;
};

BuildSettings SettingsOf(const BuildOptions& options = {}) { return *MakeSettings(options); }

NavMesh Build(const DrawnLevel& level, const BuildOptions& options = {}) {
  absl::StatusOr<NavMesh> mesh = BuildMesh(level.geometry(), SettingsOf(options), 1);
  if (!mesh.ok()) {
    ADD_FAILURE() << mesh.status();
    std::abort();
  }
  return *std::move(mesh);
}

// Returns the length of the shortest path, or nothing if there is none or an end is not on the mesh.
std::optional<double> LengthBetween(const NavMesh& mesh, const WorldPoint& start, const WorldPoint& goal) {
  const core::MeshSnap snap = {.radius = 0.0, .height = 0.5};
  const auto from = core::FindMeshPlace(mesh, start, snap);
  const auto to = core::FindMeshPlace(mesh, goal, snap);
  if (!from || !to) {
    return std::nullopt;
  }
  core::MeshScratch scratch(std::size_t{1} << 24);
  const core::MeshSearchReport report = core::SearchMesh(mesh, {.start = *from, .goal = *to}, {}, scratch);
  return report.end == core::SearchEnd::kGoalReached ? std::optional(report.length) : std::nullopt;
}

// Whether the mesh has ground at the point or a little above or below it.
bool Has(const NavMesh& mesh, const WorldPoint& point) {
  const auto place = core::FindMeshPlace(mesh, point, {});
  return place && std::abs(place->point.z - point.z) <= 0.5;
}

double AreaOf(const NavMesh& mesh) {
  double area = 0.0;
  for (core::PolygonNumber i = 0; i < mesh.polygon_count(); ++i) {
    const auto loop = mesh.VerticesOf(i);
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const WorldPoint& a = mesh.VertexAt(loop[k]);
      const WorldPoint& b = mesh.VertexAt(loop[(k + 1) % loop.size()]);
      area += (a.x * b.y - a.y * b.x) / 2.0;
    }
  }
  return area;
}

TEST(BuildMeshTest, KeepsTheRadiusFromTheEndsOfTheFloor) {
  DrawnLevel level;
  level.AddFloor(0, 0, 12, 6, 1);
  const NavMesh mesh = Build(level);
  EXPECT_EQ(mesh.part_count(), 1);
  // 0.6 from each side, and a voxel for the ledge.
  EXPECT_NEAR(mesh.bounds().low.x, 0.6, 0.31);
  EXPECT_NEAR(mesh.bounds().low.y, 0.6, 0.31);
  EXPECT_NEAR(mesh.bounds().high.x, 11.4, 0.31);
  EXPECT_NEAR(mesh.bounds().high.y, 5.4, 0.31);
  EXPECT_EQ(mesh.bounds().low.z, 1.0);
  EXPECT_EQ(mesh.bounds().high.z, 1.0);
  EXPECT_NEAR(AreaOf(mesh), 10.2 * 4.2, 0.1);
}

TEST(BuildMeshTest, GoesRoundABox) {
  DrawnLevel level;
  level.AddFloor(0, 0, 20, 20, 0);
  level.AddBox({8, 8, -0.5}, {12, 12, 3});
  const NavMesh mesh = Build(level);
  const std::optional<double> length = LengthBetween(mesh, {4, 10, 0}, {16, 10, 0});
  ASSERT_TRUE(length);
  EXPECT_NEAR(*length, 2.0 * std::hypot(3.4, 2.6) + 5.2, 0.5);
  EXPECT_FALSE(LengthBetween(mesh, {10, 10, 0}, {4, 10, 0}));
  EXPECT_FALSE(LengthBetween(mesh, {10, 10, 3.2}, {4, 10, 0})) << "on the box, but there is no way up";
}

TEST(BuildMeshTest, ClimbsStairsWhoseStepsAreLowEnough) {
  for (const double climb : {0.5, 0.2}) {
    DrawnLevel level;
    level.AddFloor(0, 0, 10, 6, 0);
    for (int i = 0; i < 8; ++i) {
      level.AddBox({10 + 0.8 * i, 0, -1}, {10.8 + 0.8 * i, 6, 0.4 * (i + 1)});
    }
    level.AddFloor(16.4, 0, 26, 6, 3.2);
    const NavMesh mesh = Build(level, {.agent_climb = climb, .cell_size = 0.2, .cell_height = 0.1});
    EXPECT_EQ(LengthBetween(mesh, {3, 3, 0}, {22, 3, 3.2}).has_value(), climb == 0.5);
  }
}

TEST(BuildMeshTest, WalksSlopesUpToTheSteepest) {
  for (const double rise : {9.9, 10.0, 10.2}) {
    DrawnLevel level;
    level.AddFloor(0, 0, 10, 6, 0);
    level.AddFloor(10, 0, 20, 6, 0, rise);
    level.AddFloor(20, 0, 30, 6, rise);
    const NavMesh mesh = Build(level);
    EXPECT_EQ(LengthBetween(mesh, {3, 3, 0}, {27, 3, rise}).has_value(), rise <= 10.0) << rise;
  }
}

TEST(BuildMeshTest, HasBridgesAboveFloors) {
  DrawnLevel level;
  level.AddFloor(0, 0, 40, 20, 0);
  level.AddFloor(2, 8, 12, 12, 0, 4);
  level.AddFloor(12, 8, 28, 12, 4);
  level.AddFloor(28, 8, 38, 12, 4, 0);
  const NavMesh mesh = Build(level);
  ASSERT_TRUE(LengthBetween(mesh, {20, 2, 0}, {20, 18, 0}));
  EXPECT_NEAR(*LengthBetween(mesh, {20, 2, 0}, {20, 18, 0}), 16.0, 0.1) << "below the bridge";
  ASSERT_TRUE(LengthBetween(mesh, {20, 10, 4}, {20, 10, 0}));
  EXPECT_GT(*LengthBetween(mesh, {20, 10, 4}, {20, 10, 0}), 30.0) << "down one of the ramps and back";
}

TEST(BuildMeshTest, StandsOnHillsAndOnBridgesOverThem) {
  const auto hill = [](double x, double y) { return 2.0 * std::sin(x / 4.0) * std::cos(y / 5.0); };
  const auto at = [&](int x, int y) { return WorldPoint{1.0 * x, 1.0 * y, hill(x, y)}; };
  constexpr int kSide = 60;
  constexpr double kBridge = 6.0;
  DrawnLevel level;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      level.AddFace(at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1));
    }
  }
  level.AddFloor(10, 20, 50, 30, kBridge);
  const NavMesh mesh = Build(level);
  Random random(1);
  int on_bridge = 0;
  for (int i = 0; i < 2000; ++i) {
    const WorldPoint sought = {random.Between(10, 590) / 10.0, random.Between(10, 590) / 10.0, kBridge};
    const auto place = core::FindMeshPlace(mesh, sought, {.radius = 0.0, .height = 10.0});
    if (place && place->point.z > 4.0) {
      ++on_bridge;
      ASSERT_NEAR(place->point.z, kBridge, 0.01) << sought.x << " " << sought.y;
    } else if (place) {
      // Voxels are 0.2 high. Faces are up to 0.1 below the curve.
      ASSERT_NEAR(place->point.z, hill(sought.x, sought.y), 0.25) << sought.x << " " << sought.y;
    }
  }
  EXPECT_NEAR(on_bridge, 2000.0 * 39 * 9 / (58 * 58), 60.0);
}

TEST(BuildMeshTest, LeavesOutRoomsThatAreTooLow) {
  for (const double height : {1.5, 2.5}) {
    DrawnLevel level;
    level.AddFloor(0, 0, 30, 10, 0);
    level.AddBox({10, -1, height}, {20, 11, height + 1});
    const NavMesh mesh = Build(level);
    EXPECT_EQ(LengthBetween(mesh, {4, 5, 0}, {26, 5, 0}).has_value(), height > 2.0);
  }
}

// The name of the ground at the point.
std::string GroundAt(const NavMesh& mesh, const WorldPoint& point) {
  const auto place = core::FindMeshPlace(mesh, point, {});
  return place ? mesh.terrains()[mesh.AreaOf(place->polygon)].name : "";
}

TEST(BuildMeshTest, MaterialsAreTerrains) {
  DrawnLevel level;
  level.AddFloor(0, 0, 20, 30, 0);
  level.SetKind("grass");
  level.AddFloor(20, 0, 40, 30, 0);
  level.SetKind("mud");
  // It lies a little above both, and comes before them where voxels are the same.
  level.AddFloor(5, 12, 35, 18, 0.02);
  level.SetKind("road");
  level.AddBox({10, 24, -1}, {30, 24.8, 1.9});
  level.SetKind("brick");
  const NavMesh mesh = Build(level);
  EXPECT_EQ(mesh.part_count(), 1);
  EXPECT_THAT(mesh.terrains(), ::testing::SizeIs(4)) << "the wall is too thin to stand on";
  for (const auto& [x, y, name] : {std::tuple(10.0, 5.0, "grass"),
                                   {30.0, 5.0, "mud"},
                                   {10.0, 15.0, "road"},
                                   {30.0, 15.0, "road"},
                                   {3.0, 15.0, "grass"},
                                   {37.0, 15.0, "mud"}}) {
    EXPECT_EQ(GroundAt(mesh, {x, y, 0}), name) << x << " " << y;
  }
  const std::optional<double> length = LengthBetween(mesh, {3, 3, 0}, {37, 20, 0});
  ASSERT_TRUE(length);
  EXPECT_NEAR(*length, std::hypot(34, 17), 0.1) << "polygons of all kinds are joined";
  // Ground of one material alone is as ground of none.
  DrawnLevel plain;
  plain.AddFloor(0, 0, 20, 20, 0);
  const std::uint64_t digest = Build(plain).digest();
  plain.SetKind("grass");
  EXPECT_EQ(Build(plain).digest(), digest);
  plain.AddFace({0, 0, 0}, {20, 0, 0}, {20, 0, 9}, {0, 0, 9});
  plain.SetKind("brick");
  EXPECT_EQ(Build(plain).terrains().size(), 1) << "a wall is no ground";
}

TEST(BuildMeshTest, SteepGroundOfAMaterialIsNotWalked) {
  DrawnLevel level;
  level.AddFloor(0, 0, 10, 6, 0);
  level.SetKind("grass");
  level.AddFloor(10, 0, 20, 6, 0, 10.2);
  level.SetKind("scree");
  level.AddFloor(20, 0, 30, 6, 10.2);
  level.SetKind("snow");
  const NavMesh mesh = Build(level);
  EXPECT_FALSE(LengthBetween(mesh, {3, 3, 0}, {27, 3, 10.2}));
  EXPECT_EQ(GroundAt(mesh, {27, 3, 10.2}), "snow");
  EXPECT_EQ(mesh.terrains().size(), 3);
}

// Boxes at random on a bumpy floor of several tiles, and a gallery above.
DrawnLevel RandomLevel(std::uint64_t seed) {
  Random random(seed);
  DrawnLevel level;
  constexpr int kSide = 12;
  constexpr double kStep = 4.0;
  double heights[kSide + 1][kSide + 1];
  for (auto& row : heights) {
    for (double& height : row) {
      height = random.Between(0, 20) / 10.0;
    }
  }
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      if (!random.Chance(0.05)) {
        level.AddFace({x * kStep, y * kStep, heights[y][x]}, {(x + 1) * kStep, y * kStep, heights[y][x + 1]},
                      {(x + 1) * kStep, (y + 1) * kStep, heights[y + 1][x + 1]},
                      {x * kStep, (y + 1) * kStep, heights[y + 1][x]});
      }
    }
  }
  for (int i = 0; i < 25; ++i) {
    const double x = random.Between(0, 470) / 10.0;
    const double y = random.Between(0, 470) / 10.0;
    level.AddBox({x, y, -1.0}, {x + random.Between(5, 60) / 10.0, y + random.Between(5, 60) / 10.0,
                                random.Between(5, 50) / 10.0});
  }
  level.AddFloor(5, 20, 43, 26, 5.5);
  return level;
}

TEST(BuildMeshTest, KindsDoNotPartTheGround) {
  for (std::uint64_t seed = 1; seed <= Rounds(10); ++seed) {
    const LevelGeometry plain = RandomLevel(seed).geometry();
    LevelGeometry geometry = plain;
    for (std::size_t i = 0; i < geometry.triangles.size(); ++i) {
      geometry.kind_of_triangle.push_back(i / 6 % 4);
    }
    geometry.kinds.insert(geometry.kinds.end(), {{{.name = "a"}}, {{.name = "b"}}, {{.name = "c"}}});
    const absl::StatusOr<NavMesh> of_one = BuildMesh(plain, SettingsOf(), 1);
    const absl::StatusOr<NavMesh> of_many = BuildMesh(geometry, SettingsOf(), 1);
    ASSERT_THAT(of_one, IsOk());
    ASSERT_THAT(of_many, IsOk());
    EXPECT_EQ(of_many->terrains().size(), 4);
    EXPECT_EQ(of_many->part_count(), of_one->part_count()) << seed;
    EXPECT_NEAR(AreaOf(*of_many), AreaOf(*of_one), 0.02 * AreaOf(*of_one)) << seed;
  }
}

// How far the point is from the box, seen from above.
double DistanceTo(const WorldPoint& low, const WorldPoint& high, double x, double y) {
  return std::hypot(std::max({low.x - x, 0.0, x - high.x}), std::max({low.y - y, 0.0, y - high.y}));
}

TEST(BuildMeshTest, KeepsTheRadiusFromWalls) {
  for (std::uint64_t seed = 1; seed <= Rounds(10); ++seed) {
    Random random(seed);
    DrawnLevel level;
    level.AddFloor(0, 0, 50, 50, 0);
    // They are too low to stand in.
    std::vector<std::pair<WorldPoint, WorldPoint>> boxes;
    for (int i = 0; i < 30; ++i) {
      const WorldPoint low = {random.Between(0, 450) / 10.0, random.Between(0, 450) / 10.0, -1.0};
      boxes.emplace_back(
          low, WorldPoint{low.x + random.Between(2, 50) / 10.0, low.y + random.Between(2, 50) / 10.0, 1.8});
      level.AddBox(boxes.back().first, boxes.back().second);
    }
    constexpr double kRadius = 1.2;
    constexpr double kCell = 0.2;
    // By so much contours are simplified.
    constexpr double kRoom = 1.4 * kCell;
    const NavMesh mesh = Build(level, {.agent_radius = kRadius, .cell_size = kCell});
    for (core::PolygonNumber i = 0; i < mesh.polygon_count(); ++i) {
      const auto loop = mesh.VerticesOf(i);
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const WorldPoint& a = mesh.VertexAt(loop[k]);
        const WorldPoint& b = mesh.VertexAt(loop[(k + 1) % loop.size()]);
        if (mesh.NeighboursOf(i)[k] != core::kNoPolygon || a.z > 1.0) {
          continue;
        }
        for (double share = 0.0; share < 1.0; share += 0.1) {
          for (const auto& [low, high] : boxes) {
            ASSERT_GE(DistanceTo(low, high, a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)),
                      kRadius - kRoom)
                << "seed " << seed << " at " << a.x << " " << a.y;
          }
        }
      }
    }
  }
}

TEST(BuildMeshTest, MakesTheSameMeshWithAnyNumberOfThreads) {
  for (std::uint64_t seed = 1; seed <= Rounds(8); ++seed) {
    const DrawnLevel level = RandomLevel(seed);
    for (const int tile_cells : {16, 48, 200}) {
      const BuildSettings settings = SettingsOf({.tile_cells = tile_cells});
      const absl::StatusOr<NavMesh> one = BuildMesh(level.geometry(), settings, 1);
      ASSERT_THAT(one, IsOk());
      for (const int threads : {2, 5}) {
        const absl::StatusOr<NavMesh> several = BuildMesh(level.geometry(), settings, threads);
        ASSERT_THAT(several, IsOk());
        EXPECT_EQ(several->digest(), one->digest()) << "seed " << seed << ", " << threads << " threads";
      }
    }
  }
}

TEST(BuildMeshTest, FindsTheSameWaysWhateverTheTiles) {
  int reached = 0;
  int asked = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(8); ++seed) {
    const DrawnLevel level = RandomLevel(seed);
    const NavMesh whole = Build(level, {.tile_cells = 200});
    const NavMesh tiled = Build(level, {.tile_cells = 32});
    EXPECT_NEAR(AreaOf(tiled), AreaOf(whole), 0.06 * AreaOf(whole)) << "seed " << seed;
    Random random(seed);
    for (int i = 0; i < 200; ++i) {
      const auto point = [&] {
        return WorldPoint{random.Between(0, 480) / 10.0, random.Between(0, 480) / 10.0,
                          random.Chance(0.8) ? 1.0 : 5.5};
      };
      const auto start = core::FindMeshPlace(whole, point(), {});
      const auto goal = core::FindMeshPlace(whole, point(), {});
      if (!start || !goal || !Has(tiled, start->point) || !Has(tiled, goal->point)) {
        continue;
      }
      const std::optional<double> in_whole = LengthBetween(whole, start->point, goal->point);
      const std::optional<double> in_tiles = LengthBetween(tiled, start->point, goal->point);
      ++asked;
      reached += in_whole ? 1 : 0;
      EXPECT_EQ(in_whole.has_value(), in_tiles.has_value())
          << "seed " << seed << " from " << start->point.x << " " << start->point.y << " " << start->point.z
          << " to " << goal->point.x << " " << goal->point.y << " " << goal->point.z;
      if (in_whole && in_tiles) {
        EXPECT_NEAR(*in_whole, *in_tiles, 0.08 * *in_whole + 1.0) << "seed " << seed;
      }
    }
  }
  ::testing::Test::RecordProperty("asked", asked);
  EXPECT_GT(asked, static_cast<int>(Rounds(300)));
  EXPECT_GT(reached, static_cast<int>(Rounds(100)));
}

TEST(BuildMeshTest, StopsWhereverItIsAsked) {
  const DrawnLevel level = RandomLevel(1);
  const BuildSettings settings = SettingsOf();
  const StopAfter never;
  ASSERT_THAT(BuildMesh(level.geometry(), settings, 2, {.grid = {.stop = &never}}), IsOk());
  for (int looks = 0; looks < never.looks(); looks += 7) {
    const StopAfter stop(looks);
    EXPECT_THAT(BuildMesh(level.geometry(), settings, 2, {.grid = {.stop = &stop}}),
                IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
  }
}

std::string MessageOf(const LevelGeometry& geometry, const BuildOptions& options = {}) {
  const absl::StatusOr<NavMesh> mesh = BuildMesh(geometry, SettingsOf(options), 2);
  EXPECT_THAT(mesh, IsError(kInvalid, ErrorReason::kBadSize, ""));
  return std::string(mesh.status().message());
}

TEST(BuildMeshTest, RefusesLevelsWithoutGround) {
  EXPECT_THAT(MessageOf({}), HasSubstr("no triangles"));
  DrawnLevel sides;
  sides.AddFace({0, 0, 0}, {0, 9, 0}, {9, 9, 0}, {9, 0, 0});
  EXPECT_THAT(MessageOf(sides.geometry()), HasSubstr("no face of the level looks up"));
  DrawnLevel narrow;
  narrow.AddFloor(0, 0, 20, 1, 0);
  EXPECT_THAT(MessageOf(narrow.geometry()), HasSubstr("no place in the level"));
}

TEST(BuildForAgentsTest, RefusesBadLinesAndNamesThem) {
  const auto error_of = [](const std::string& agents) {
    const std::string level = "v 0 0 0\nv 0 0 9\nv 9 0 9\nv 9 0 0\nf 1 2 3 4\n";
    return std::string(BuildForAgents(core::MapFormat::kObj, level, agents, {}).status().message());
  };
  EXPECT_EQ(error_of("\n# A comment.\r\n\tagent  a 0 1 \r\nagent b 0.5 1"), "");
  for (const std::string line : {"agent a 0.5", "agent a 0.5 2 3", "agent a wide 2", "agents a 0.5 2"}) {
    EXPECT_EQ(error_of("#\n" + line), "agents, line 2: expected \"agent NAME RADIUS HEIGHT\"") << line;
  }
  EXPECT_THAT(error_of("agent a -1 2"), HasSubstr("line 1: agent_radius: this must be 0 to"));
  EXPECT_THAT(error_of("agent a 1 nan"), HasSubstr("line 1: agent_height: this must be"));
  EXPECT_THAT(error_of("agent a 1 2\nagent b 1 3"), HasSubstr("line 2: the radius must be above"));
  std::string many;
  for (int i = 1; i <= 9; ++i) {
    absl::StrAppend(&many, "agent a ", i, " 2\n");
  }
  EXPECT_THAT(error_of(many), HasSubstr("line 9: a mesh has at most 8 surfaces"));
  EXPECT_THAT(error_of("# None yet.\n"), HasSubstr("lists none"));
  EXPECT_THAT(error_of("agent a 0.5 2\nagent giant 20 2"), HasSubstr("for agents of radius 20: "));
}

TEST(BuildMeshTest, RefusesLevelsBeyondItsLimits) {
  DrawnLevel wide;
  wide.AddFloor(-1e6, -1e6, 1e6, 1e6, 0);
  EXPECT_THAT(MessageOf(wide.geometry()), HasSubstr("tiles"));
  DrawnLevel high;
  high.AddFloor(0, 0, 10, 10, 0);
  high.AddFloor(0, 0, 10, 10, 1e5);
  EXPECT_THAT(MessageOf(high.geometry()), HasSubstr("voxels high"));
  DrawnLevel floors;
  for (int i = 0; i < 63; ++i) {
    floors.AddFloor(0, 0, 10, 10, 3.0 * i);
  }
  EXPECT_THAT(MessageOf(floors.geometry()), HasSubstr("floors above each other"));
  DrawnLevel dense;
  for (int i = 0; i < 40; ++i) {
    dense.AddFloor(0, 0, 60, 60, 3.0 * i);
  }
  EXPECT_THAT(MessageOf(dense.geometry()), HasSubstr("spans of voxels"));
  DrawnLevel many;
  for (int i = 0; i < 300; ++i) {
    many.AddFloor(0, 0, 9000, 9000, 0);
  }
  EXPECT_THAT(MessageOf(many.geometry()), HasSubstr("tiles together"));
}

TEST(BuildMeshTest, RefusesManyTrianglesOnEachOther) {
  LevelGeometry level = {.vertices = {{0, 0, 0}, {2'000, 0, 0}, {0, 2'000, 0}}, .triangles = {}};
  level.triangles.assign(60, {0, 1, 2});
  EXPECT_THAT(TileGrid::Create(level, SettingsOf(), nullptr), IsOk());
  level.triangles.assign(1'000, {0, 1, 2});
  const absl::Status refused = TileGrid::Create(level, SettingsOf(), nullptr).status();
  EXPECT_THAT(refused, IsError(kInvalid, ErrorReason::kBadSize, ""));
  EXPECT_THAT(refused.message(), HasSubstr("above each other"));
}

TEST(BuildMeshTest, TakesManyFloorsAtOnce) {
  DrawnLevel floors;
  for (int i = 0; i < 20; ++i) {
    floors.AddFloor(0, 0, 15, 15, 4.0 * i);
  }
  const NavMesh mesh = Build(floors);
  EXPECT_EQ(mesh.part_count(), 20);
}

// Triangles of all sizes in all places, many of them without an area.
TEST(BuildMeshTest, TakesAnyTriangles) {
  for (std::uint64_t seed = 1; seed <= Rounds(20); ++seed) {
    Random random(seed);
    LevelGeometry geometry;
    const double scale = std::pow(10.0, random.Between(-3, 1));
    const int vertices = random.Between(3, 60);
    for (int i = 0; i < vertices; ++i) {
      const auto coordinate = [&] {
        return random.Chance(0.1) ? 0.0 : random.Between(-300, 300) * scale / random.Between(1, 10);
      };
      geometry.vertices.push_back({coordinate(), coordinate(), coordinate() / 10.0});
    }
    const auto any = [&] { return static_cast<std::uint32_t>(random.Between(0, vertices - 1)); };
    const int triangles = random.Between(1, 200);
    for (int i = 0; i < triangles; ++i) {
      geometry.triangles.push_back({any(), any(), any()});
    }
    const BuildSettings settings = SettingsOf({.agent_radius = random.Between(0, 10) / 10.0,
                                               .cell_size = std::max(scale, 0.2),
                                               .cell_height = std::max(scale / 5.0, 0.1),
                                               .tile_cells = random.Between(16, 64),
                                               .min_region_area = 0.0});
    const absl::StatusOr<NavMesh> one = BuildMesh(geometry, settings, 1);
    const absl::StatusOr<NavMesh> two = BuildMesh(geometry, settings, 2);
    ASSERT_EQ(one.ok(), two.ok());
    if (one.ok()) {
      EXPECT_EQ(one->digest(), two->digest());
    } else {
      EXPECT_THAT(one, IsError(kInvalid, ErrorReason::kBadSize, ""));
      EXPECT_EQ(one.status(), two.status());
    }
  }
}

// Far from the origin as well as near it: the mesh is the same but for where it is.
TEST(BuildMeshTest, DoesNotDependOnThePlace) {
  DrawnLevel near;
  DrawnLevel far;
  const double away = 1 << 19;
  near.AddFloor(0, 0, 30, 30, 0);
  near.AddBox({10, 10, -1}, {20, 14, 3});
  far.AddFloor(away, -away, away + 30, -away + 30, 0);
  far.AddBox({away + 10, -away + 10, -1}, {away + 20, -away + 14, 3});
  const NavMesh here = Build(near);
  const NavMesh there = Build(far);
  ASSERT_EQ(here.vertex_count(), there.vertex_count());
  ASSERT_EQ(here.polygon_count(), there.polygon_count());
  for (std::uint32_t i = 0; i < here.vertex_count(); ++i) {
    EXPECT_NEAR(here.VertexAt(i).x + away, there.VertexAt(i).x, 1e-5);
    EXPECT_NEAR(here.VertexAt(i).y - away, there.VertexAt(i).y, 1e-5);
  }
}

constexpr int kSide = 8;

using Column = std::pair<int, int>;
using Heights = std::pair<double, double>;

std::map<Column, Heights> Rasterise(const std::vector<VoxelPoint>& polygon) {
  VoxelRaster raster(kSide);
  std::map<Column, Heights> columns;
  raster.VisitColumns(polygon, [&](int x, int y, double low, double high) {
    EXPECT_TRUE(columns.emplace(Column(x, y), Heights(low, high)).second)
        << "visited twice: " << x << " " << y;
  });
  return columns;
}

TEST(VoxelRasterTest, LeavesOutColumnsThatAPolygonOnlyMeets) {
  EXPECT_THAT(Rasterise({{1, 1, 2}, {3, 1, 2}, {3, 2, 2}, {1, 2, 2}}),
              ElementsAre(Pair(Column(1, 1), Heights(2, 2)), Pair(Column(2, 1), Heights(2, 2))));
  EXPECT_THAT(Rasterise({{8, 0, 1}, {8, 5, 1}, {8, 5, 3}}), IsEmpty());
}

TEST(VoxelRasterTest, PutsWallsBetweenColumnsIntoThoseBehind) {
  EXPECT_THAT(Rasterise({{3, 1, 0}, {3, 2.5, 0}, {3, 2.5, 6}, {3, 1, 6}}),
              ElementsAre(Pair(Column(3, 1), Heights(0, 6)), Pair(Column(3, 2), Heights(0, 6))));
  EXPECT_THAT(Rasterise({{1.5, 4, 0}, {2.5, 4, 0}, {2.5, 4, 6}, {1.5, 4, 6}}),
              ElementsAre(Pair(Column(1, 4), Heights(0, 6)), Pair(Column(2, 4), Heights(0, 6))));
}

TEST(VoxelRasterTest, FollowsSlopes) {
  EXPECT_THAT(Rasterise({{0, 0, 0}, {3, 0, 3}, {3, 1, 3}, {0, 1, 0}}),
              ElementsAre(Pair(Column(0, 0), Heights(0, 1)), Pair(Column(1, 0), Heights(1, 2)),
                          Pair(Column(2, 0), Heights(2, 3))));
}

// Triangles of all sizes, upright and without an area too, against what is left of them when they are cut off
// at the sides of each column.
TEST(VoxelRasterTest, FindsWhatIsLeftOfTrianglesInEachColumn) {
  std::size_t touched = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(4000); ++seed) {
    Random random(seed);
    const int steps = random.Chance(0.5) ? 2 : 1000;
    const auto coordinate = [&] { return 1.0 * random.Between(0, kSide * steps) / steps; };
    LevelGeometry geometry;
    std::vector<VoxelPoint> polygon;
    const bool is_upright = random.Chance(0.2);
    for (int i = 0; i < 3; ++i) {
      VoxelPoint point = {coordinate(), coordinate(), coordinate()};
      if (is_upright && i == 2) {
        point.x = polygon[0].x;
        point.y = polygon[0].y;
      }
      polygon.push_back(point);
      geometry.vertices.push_back({point.x, point.y, point.z});
    }
    geometry.triangles.push_back({0, 1, 2});
    const std::map<Column, Heights> columns = Rasterise(polygon);
    touched += columns.size();
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const PlanBox box = {.low_x = 1.0 * x, .low_y = 1.0 * y, .high_x = x + 1.0, .high_y = y + 1.0};
        const ClippedTriangle left = ClipTriangle(geometry, 0, box);
        constexpr double kRounding = 1e-9;
        double low = std::numeric_limits<double>::max();
        double high = std::numeric_limits<double>::lowest();
        std::array<double, 2> from = {kSide, kSide};
        std::array<double, 2> to = {0.0, 0.0};
        for (const core::WorldPoint& corner : left.corners()) {
          low = std::min(low, corner.z);
          high = std::max(high, corner.z);
          from = {std::min(from[0], corner.x), std::min(from[1], corner.y)};
          to = {std::max(to[0], corner.x), std::max(to[1], corner.y)};
        }
        const auto found = columns.find({x, y});
        if (found != columns.end()) {
          ASSERT_FALSE(left.corners().empty()) << "seed " << seed << " at " << x << " " << y;
          EXPECT_NEAR(found->second.first, low, kRounding) << "seed " << seed << " at " << x << " " << y;
          EXPECT_NEAR(found->second.second, high, kRounding) << "seed " << seed << " at " << x << " " << y;
        } else {
          // It meets the column in a side or a corner of it, if at all.
          EXPECT_FALSE(to[0] - from[0] > kRounding && to[1] - from[1] > kRounding)
              << "seed " << seed << " at " << x << " " << y;
        }
      }
    }
  }
  EXPECT_GT(touched, Rounds(4000) * 5);
}

}  // namespace
}  // namespace waystar::level
