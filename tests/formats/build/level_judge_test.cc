// Meshes that are built of the levels of RecastDemo, judged by those that Recast and Detour make alone.

#include <DetourAlloc.h>
#include <DetourNavMesh.h>
#include <DetourNavMeshBuilder.h>
#include <Recast.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/formats/build/build_mesh.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/parts/import_options.h"
#include "tests/core/mesh/search/detour_judge.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::level {
namespace {

using core::MeshPlace;
using core::NavMesh;

// The settings of RecastDemo.
constexpr float kEdgeError = 1.3F;
constexpr int kEdgeCells = 40;
constexpr int kMergedRegionCells = 400;
constexpr int kCorners = 6;
constexpr float kDetailCells = 6.0F;
// Margin around a tile, so that erosion and the edges of regions see the ground beside it.
constexpr int kRoomCells = 3;

template <auto Free>
struct Freed {
  void operator()(auto* value) const { Free(value); }
};
template <typename T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;

// Builds Detour's own mesh of a level, as RecastDemo does. Each tile rasterises all triangles that come near
// it, whole and in coordinates of the level, and Detour joins the tiles. Voxels lie where those of BuildMesh
// do; the ground is half a voxel higher than there. Fails the test if Recast or Detour fails.
class PlainBuilder {
 public:
  PlainBuilder(const LevelGeometry& geometry, const BuildSettings& settings)
      : settings_(settings),
        cell_(static_cast<float>(settings.cell_size)),
        cell_height_(static_cast<float>(settings.cell_height)),
        tile_(cell_ * static_cast<float>(settings.tile_cells)),
        border_(settings.radius_cells + kRoomCells) {
    low_.fill(std::numeric_limits<float>::max());
    high_.fill(std::numeric_limits<float>::lowest());
    for (const core::WorldPoint& vertex : geometry.vertices) {
      // Recast counts x, height, y.
      const std::array<float, 3> point = {static_cast<float>(vertex.x), static_cast<float>(vertex.z),
                                          static_cast<float>(vertex.y)};
      vertices_.insert(vertices_.end(), point.begin(), point.end());
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low_[axis] = std::min(low_[axis], point[axis]);
        high_[axis] = std::max(high_[axis], point[axis]);
      }
    }
    low_[1] -= cell_height_ / 2.0F;
    high_[1] += cell_height_;
    for (const auto& [a, b, c] : geometry.triangles) {
      // The plan is mirrored.
      for (const std::uint32_t corner : {a, c, b}) {
        triangles_.push_back(static_cast<int>(corner));
      }
    }
    const auto slope =
        static_cast<float>(std::acos(std::sqrt(settings.least_squared_cosine)) * 180.0 / std::numbers::pi);
    areas_.assign(geometry.triangles.size(), RC_NULL_AREA);
    rcContext context(false);
    rcMarkWalkableTriangles(&context, slope, vertices_.data(), static_cast<int>(geometry.vertices.size()),
                            triangles_.data(), static_cast<int>(areas_.size()), areas_.data());
  }

  std::string Build() {
    std::string tiles;
    std::int32_t count = 0;
    const int columns = static_cast<int>((high_[0] - low_[0]) / tile_) + 1;
    const int rows = static_cast<int>((high_[2] - low_[2]) / tile_) + 1;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const std::string tile = BuildTile(column, row);
        if (!tile.empty()) {
          ++count;
          Append(tiles, std::uint32_t{1});
          Append(tiles, static_cast<std::int32_t>(tile.size()));
          tiles += tile;
        }
      }
    }
    dtNavMeshParams params{};
    std::copy(low_.begin(), low_.end(), params.orig);
    params.tileWidth = tile_;
    params.tileHeight = tile_;
    params.maxTiles = 1 << 12;
    params.maxPolys = 1 << 10;
    std::string bytes;
    Append(bytes, std::int32_t{'M' << 24 | 'S' << 16 | 'E' << 8 | 'T'});
    Append(bytes, std::int32_t{1});
    Append(bytes, count);
    Append(bytes, params);
    return bytes + tiles;
  }

 private:
  template <typename T>
  static void Append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  std::string BuildTile(int column, int row) {
    rcContext context(false);
    const float border = static_cast<float>(border_) * cell_;
    const float low[] = {low_[0] + static_cast<float>(column) * tile_ - border, low_[1],
                         low_[2] + static_cast<float>(row) * tile_ - border};
    const float high[] = {low[0] + tile_ + 2.0F * border, high_[1], low[2] + tile_ + 2.0F * border};
    const int side = settings_.tile_cells + 2 * border_;
    const Owned<rcHeightfield, rcFreeHeightField> solid(rcAllocHeightfield());
    const Owned<rcCompactHeightfield, rcFreeCompactHeightfield> open(rcAllocCompactHeightfield());
    const Owned<rcContourSet, rcFreeContourSet> contours(rcAllocContourSet());
    const Owned<rcPolyMesh, rcFreePolyMesh> mesh(rcAllocPolyMesh());
    const int height = settings_.height_cells;
    const int climb = settings_.climb_cells;
    bool is_made = rcCreateHeightfield(&context, *solid, side, side, low, high, cell_, cell_height_) &&
                   rcRasterizeTriangles(&context, vertices_.data(), static_cast<int>(vertices_.size() / 3),
                                        triangles_.data(), areas_.data(), static_cast<int>(areas_.size()),
                                        *solid, climb);
    rcFilterLowHangingWalkableObstacles(&context, climb, *solid);
    rcFilterLedgeSpans(&context, height, climb, *solid);
    rcFilterWalkableLowHeightSpans(&context, height, *solid);
    is_made =
        is_made && rcBuildCompactHeightfield(&context, height, climb, *solid, *open) &&
        rcErodeWalkableArea(&context, settings_.radius_cells, *open) &&
        rcBuildRegionsMonotone(&context, *open, border_, settings_.min_region_cells, kMergedRegionCells) &&
        rcBuildContours(&context, *open, kEdgeError, kEdgeCells, *contours);
    if (is_made && contours->nconts == 0) {
      return "";
    }
    const Owned<rcPolyMeshDetail, rcFreePolyMeshDetail> detail(rcAllocPolyMeshDetail());
    is_made = is_made && rcBuildPolyMesh(&context, *contours, kCorners, *mesh) &&
              rcBuildPolyMeshDetail(&context, *mesh, *open, kDetailCells * cell_, cell_height_, *detail);
    EXPECT_TRUE(is_made) << "Recast does not make tile " << column << " " << row;
    return is_made && mesh->npolys > 0 ? Write(*mesh, *detail, column, row) : "";
  }

  std::string Write(rcPolyMesh& mesh, const rcPolyMeshDetail& detail, int column, int row) const {
    std::fill(mesh.flags, mesh.flags + mesh.npolys, std::uint16_t{1});
    dtNavMeshCreateParams params{};
    params.verts = mesh.verts;
    params.vertCount = mesh.nverts;
    params.polys = mesh.polys;
    params.polyFlags = mesh.flags;
    params.polyAreas = mesh.areas;
    params.polyCount = mesh.npolys;
    params.nvp = mesh.nvp;
    params.detailMeshes = detail.meshes;
    params.detailVerts = detail.verts;
    params.detailVertsCount = detail.nverts;
    params.detailTris = detail.tris;
    params.detailTriCount = detail.ntris;
    params.tileX = column;
    params.tileY = row;
    std::copy(mesh.bmin, mesh.bmin + 3, params.bmin);
    std::copy(mesh.bmax, mesh.bmax + 3, params.bmax);
    params.walkableHeight = static_cast<float>(settings_.agent_height);
    params.walkableRadius = cell_ * static_cast<float>(settings_.radius_cells);
    params.walkableClimb = static_cast<float>(settings_.agent_climb);
    params.cs = cell_;
    params.ch = cell_height_;
    params.buildBvTree = true;
    unsigned char* bytes = nullptr;
    int size = 0;
    const bool is_written = dtCreateNavMeshData(&params, &bytes, &size);
    EXPECT_TRUE(is_written) << "Detour does not make tile " << column << " " << row;
    std::string tile;
    if (is_written) {
      tile.assign(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
    dtFree(bytes);
    return tile;
  }

  const BuildSettings& settings_;
  const float cell_;
  const float cell_height_;
  // The side of a tile.
  const float tile_;
  const int border_;
  std::array<float, 3> low_{};
  std::array<float, 3> high_{};
  std::vector<float> vertices_;
  std::vector<int> triangles_;
  std::vector<unsigned char> areas_;
};

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
  absl::StatusOr<LevelGeometry> geometry = ParseLevel(core::MapFormat::kObj, bytes);
  ASSERT_THAT(geometry, IsOk());
  MoveToOrigin(*geometry);
  const BuildSettings settings = *MakeSettings({});
  const absl::StatusOr<NavMesh> mesh = BuildMesh(*geometry, settings, 1);
  ASSERT_THAT(mesh, IsOk());
  DetourJudge judge(PlainBuilder(*geometry, settings).Build(), 1.0F);

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
