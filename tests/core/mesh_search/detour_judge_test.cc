// Answers on the meshes of RecastDemo, judged by Detour.

#include "tests/core/mesh_search/detour_judge.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/core/import/detour_mesh.h"
#include "server/core/mesh_search/interval_search.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DataFolder;
using ::waystar::testing::DetourJudge;
using ::waystar::testing::Random;

// Detour computes in single precision.
constexpr double kDetourRounding = 1e-4;

std::string BytesOfFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A point well inside of a random polygon.
MeshPlace RandomPlace(const NavMesh& mesh, Random& random) {
  const auto polygon =
      static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1));
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

class DetourJudgeTest : public ::testing::TestWithParam<std::string> {};

TEST_P(DetourJudgeTest, FindsNoOtherWaysAndNoShorterPaths) {
  const std::optional<std::filesystem::path> folder = DataFolder();
  if (!folder || !std::filesystem::exists(*folder / "meshes" / "detour")) {
    GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/detour";
  }
  const std::string bytes = BytesOfFile(*folder / "meshes" / "detour" / GetParam());
  const absl::StatusOr<DetourMesh> read = ParseDetourMesh(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  const NavMesh& mesh = read->mesh;
  DetourJudge judge(bytes);
  MeshScratch scratch(std::size_t{1} << 26);
  Random random(1);
  int asked = 0;
  int reached = 0;
  int longer = 0;
  for (int i = 0; i < 10'000; ++i) {
    const MeshPlace start = RandomPlace(mesh, random);
    const MeshPlace goal = RandomPlace(mesh, random);
    if (!judge.Knows(start.point) || !judge.Knows(goal.point)) {
      continue;
    }
    ++asked;
    const std::optional<double> judged = judge.LengthOf(start.point, goal.point);
    const MeshSearchReport found = SearchMesh(mesh, {.start = start, .goal = goal}, {}, scratch);
    ASSERT_EQ(found.end == SearchEnd::kGoalReached, judged.has_value())
        << "from " << start.point.x << " " << start.point.y << " " << start.point.z << " to " << goal.point.x
        << " " << goal.point.y << " " << goal.point.z << ", polygons " << start.polygon << " and "
        << goal.polygon;
    if (judged) {
      ++reached;
      ASSERT_LE(found.length, *judged + kDetourRounding);
      longer += *judged > found.length * 1.0005 ? 1 : 0;
    }
  }
  RecordProperty("asked", asked);
  RecordProperty("reached", reached);
  RecordProperty("longer", longer);
  EXPECT_GT(asked, 9'000);
  EXPECT_GT(reached, 1'000);
}

INSTANTIATE_TEST_SUITE_P(Files, DetourJudgeTest,
                         ::testing::Values("all_tiles_navmesh.bin", "dungeon_all_tiles_navmesh.bin",
                                           "dungeon_all_tiles_navmesh_32bit.bin"),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace waystar::core
