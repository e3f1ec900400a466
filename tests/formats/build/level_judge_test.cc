// Meshes that are built of the levels of RecastDemo, judged by those that Recast and Detour make alone.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/formats/build/build_mesh.h"
#include "server/formats/build/build_settings.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/parts/import_options.h"
#include "tests/core/mesh/search/detour_judge.h"
#include "tests/formats/build/plain_build.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::level {
namespace {

using core::MeshPlace;
using core::NavMesh;
using ::waystar::testing::BuildPlainly;
using ::waystar::testing::DataFolder;
using ::waystar::testing::DetourJudge;
using ::waystar::testing::IsOk;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

// Detour computes in single precision.
constexpr double kDetourRounding = 1e-4;
// Detour cuts an edge between tiles at 255ths of its length, and so has some paths through corners beside
// it. Edges have a length up to this.
constexpr double kEdgeSteps = 255.0;
constexpr double kLongestEdgeCells = 40.0;

// A point well inside of a random polygon.
MeshPlace RandomPlace(const NavMesh& mesh, Random& random) {
  const auto polygon =
      static_cast<core::PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1));
  double x = 0.0;
  double y = 0.0;
  double sum = 0.0;
  for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
    const double weight = random.Between(1, 100);
    x += weight * mesh.VertexAt(vertex).x;
    y += weight * mesh.VertexAt(vertex).y;
    sum += weight;
  }
  return {polygon, mesh.NearestPoint(polygon, x / sum, y / sum)};
}

// Moves the lowest corner to the origin: Recast and Detour compute in single precision, and voxels of a level
// that lies thousands of units away are others.
void MoveToOrigin(LevelGeometry& geometry) {
  core::WorldPoint low = geometry.vertices.front();
  for (const core::WorldPoint& vertex : geometry.vertices) {
    low = {std::min(low.x, vertex.x), std::min(low.y, vertex.y), low.z};
  }
  for (core::WorldPoint& vertex : geometry.vertices) {
    vertex.x -= low.x;
    vertex.y -= low.y;
  }
}

class LevelJudgeTest : public ::testing::TestWithParam<std::string> {};

// Ends that Detour finds no ground at, because they are at the rim of a polygon, are left out.
TEST_P(LevelJudgeTest, ReachesTheSameOnNoLongerPaths) {
  const std::optional<std::filesystem::path> folder = DataFolder();
  if (!folder || !std::filesystem::exists(*folder / "meshes" / "geometry")) {
    GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/geometry";
  }
  std::ifstream file(*folder / "meshes" / "geometry" / GetParam(), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  absl::StatusOr<LevelGeometry> geometry = ParseLevel(core::MapFormat::kObj, bytes, core::MeshAxes::kYUp);
  ASSERT_THAT(geometry, IsOk());
  MoveToOrigin(*geometry);
  const BuildSettings settings = *MakeSettings({});
  const absl::StatusOr<NavMesh> mesh = BuildMesh(*geometry, settings, 1);
  ASSERT_THAT(mesh, IsOk());
  DetourJudge judge(BuildPlainly(*geometry, settings), 1.0F);

  core::MeshScratch scratch(std::size_t{1} << 26);
  Random random(1);
  const auto rounds = static_cast<int>(Rounds(10'000));
  int asked = 0;
  int reached = 0;
  int longer = 0;
  for (int i = 0; i < rounds; ++i) {
    const MeshPlace start = RandomPlace(*mesh, random);
    const MeshPlace goal = RandomPlace(*mesh, random);
    if (!judge.Knows(start.point) || !judge.Knows(goal.point)) {
      continue;
    }
    ++asked;
    const std::optional<double> judged = judge.LengthOf(start.point, goal.point);
    const core::MeshSearchReport report =
        core::SearchMesh(*mesh, {.start = start, .goal = goal}, {}, scratch);
    const std::string ends = absl::StrCat("from ", start.point.x, " ", start.point.y, " ", start.point.z,
                                          " to ", goal.point.x, " ", goal.point.y, " ", goal.point.z);
    ASSERT_EQ(report.end == core::SearchEnd::kGoalReached, judged.has_value()) << ends;
    if (judged) {
      ++reached;
      const double most = *judged + kDetourRounding * (1.0 + *judged);
      longer += report.length > most ? 1 : 0;
      ASSERT_LE(report.length, most + kLongestEdgeCells * settings.cell_size / kEdgeSteps) << ends;
    }
  }
  RecordProperty("longer", longer);
  EXPECT_GE(asked, rounds * 99 / 100) << "the meshes have other ground";
  EXPECT_GE(reached, rounds / 5);
  EXPECT_LE(longer, rounds / 1000);
}

INSTANTIATE_TEST_SUITE_P(Levels, LevelJudgeTest,
                         ::testing::Values("nav_test.obj", "dungeon.obj", "undulating.obj"));

}  // namespace
}  // namespace waystar::level
