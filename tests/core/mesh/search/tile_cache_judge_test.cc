// Which places are connected among obstacles, judged by Detour's tile cache.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/core/mesh/search/detour_judge.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/tile_cache.h"

namespace waystar::core {
namespace {

constexpr float kVoxel = 0.25F;
constexpr int kTileVoxels = 48;
constexpr int kRoomVoxels = 19;
constexpr int kWallVoxels = 2;
constexpr int kDoorVoxels = 6;
constexpr int kRoomsASide = 5;
// Detour removes whole voxels: all with a point in a box, and all whose middle is at most half a voxel beside
// a cylinder. Its hole contains the obstacle and ends within the diagonal of a voxel around it.
constexpr double kMargin = 1.5 * kVoxel;

// Rooms with a wall before each, in x and in y. Most walls between rooms have a door.
struct Rooms {
  explicit Rooms(Random& random) {
    for (auto& walls : door) {
      for (auto& row : walls) {
        for (int& first : row) {
          first = random.Chance(0.3) ? kRoomVoxels : random.Between(kWallVoxels, kRoomVoxels - kDoorVoxels);
        }
      }
    }
  }

  // Returns whether no wall that is crossed in that direction covers a voxel.
  bool IsPassage(bool is_turned, int across, int along) const {
    const int room = along / kRoomVoxels;
    const int at = along % kRoomVoxels - door[is_turned ? 1 : 0][across / kRoomVoxels][room];
    return across % kRoomVoxels >= kWallVoxels || (across >= kRoomVoxels && at >= 0 && at < kDoorVoxels);
  }
  bool IsOpen(int x, int y) const {
    constexpr int kEnd = kRoomsASide * kRoomVoxels;
    return x >= 0 && y >= 0 && x < kEnd && y < kEnd && IsPassage(false, x, y) && IsPassage(true, y, x);
  }

  // First voxel of the door of each wall, by direction, place across and along it; kRoomVoxels: none.
  int door[2][kRoomsASide][kRoomsASide];
};

// Adds four tiles. Outlines are not simplified, so that the ground is that of the voxels.
bool AddRooms(const Rooms& rooms, TileCache& cache) {
  constexpr float kTile = kTileVoxels * kVoxel;
  dtTileCacheParams params{.cs = kVoxel, .ch = kVoxel, .width = kTileVoxels, .height = kTileVoxels};
  params.walkableClimb = 2 * kVoxel;
  params.maxTiles = 4;
  params.maxObstacles = 64;
  bool is_added =
      cache.Init({.tileWidth = kTile, .tileHeight = kTile, .maxTiles = 4, .maxPolys = 1024}, params);
  for (int tile = 0; tile < 4; ++tile) {
    dtTileCacheLayerHeader header{DT_TILECACHE_MAGIC, DT_TILECACHE_VERSION, tile % 2, tile / 2};
    header.bmin[0] = static_cast<float>(header.tx) * kTile;
    header.bmin[2] = static_cast<float>(header.ty) * kTile;
    header.bmax[0] = header.bmin[0] + kTile;
    header.bmax[1] = kVoxel;
    header.bmax[2] = header.bmin[2] + kTile;
    header.width = header.height = kTileVoxels;
    header.maxx = header.maxy = kTileVoxels - 1;
    constexpr int kCount = kTileVoxels * kTileVoxels;
    std::string voxels(std::size_t{3} * kCount, '\0');
    for (int i = 0; i < kCount; ++i) {
      const int x = header.tx * kTileVoxels + i % kTileVoxels;
      const int y = header.ty * kTileVoxels + i / kTileVoxels;
      constexpr int kSteps[4][2] = {{-1, 0}, {0, 1}, {1, 0}, {0, -1}};
      for (int side = 0; side < 4 && rooms.IsOpen(x, y); ++side) {
        const int to_x = x + kSteps[side][0];
        const int to_y = y + kSteps[side][1];
        const bool is_within = to_x / kTileVoxels == header.tx && to_y / kTileVoxels == header.ty;
        // The upper half of the byte is for sides that lead to another tile.
        voxels[2 * kCount + i] |= static_cast<char>(rooms.IsOpen(to_x, to_y) << side << (is_within ? 0 : 4));
        voxels[kCount + i] = DT_TILECACHE_WALKABLE_AREA;
      }
    }
    is_added = is_added && cache.AddTile(header, voxels);
  }
  return is_added;
}

// An obstacle of the tile cache, and the holes of a larger and of a smaller one.
struct Crate {
  dtObstacleRef number = 0;
  HoleList larger;
  HoleList smaller;
};

// Puts an obstacle, mostly near a door.
Crate PutCrate(const Rooms& rooms, TileCache& cache, Random& random) {
  const auto any = [&](double low, double high) { return low + (high - low) * random.Between(0, 999) / 999; };
  double at[2] = {any(0.0, 2 * kTileVoxels), any(0.0, 2 * kTileVoxels)};
  if (random.Chance(0.8)) {
    const int turned = random.Between(0, 1);
    const int across = random.Between(1, kRoomsASide - 1);
    const int room = random.Between(0, kRoomsASide - 1);
    at[turned] = across * kRoomVoxels + any(0.0, kWallVoxels);
    at[1 - turned] = room * kRoomVoxels + rooms.door[turned][across][room] + any(1.0, kDoorVoxels - 1.0);
  }
  const Point middle{at[0] * kVoxel, at[1] * kVoxel};
  const bool is_disc = random.Chance(0.5);
  const double half_x = any(0.8, 1.8);
  const double half_y = any(0.8, 1.8);
  const auto holes = [&](double margin) {
    const Point low{middle.x - half_x - margin, middle.y - half_y - margin};
    const Point high{middle.x + half_x + margin, middle.y + half_y + margin};
    return *(is_disc ? HolesOf({.discs = {{middle, half_x + margin}}}, {})
                     : HolesOf({.polygons = {{{low, {high.x, low.y}, high, {low.x, high.y}}}}}, {}));
  };
  const auto put = is_disc ? cache.PutCylinder({middle.x, middle.y, -1.0}, half_x, 2.0)
                           : cache.PutBox({middle.x - half_x, middle.y - half_y, -1.0},
                                          {middle.x + half_x, middle.y + half_y, 1.0});
  return {put, holes(kMargin), holes(-kMargin)};
}

// Returns the connected part at a point, or -1.
int PartAt(const NavMesh& mesh, const WorldPoint& point) {
  const auto place = mesh.FindNearest({.position = point, .radius = 0.0, .height = 1.0});
  return place ? static_cast<int>(mesh.PartOf(place->polygon)) : -1;
}

TEST(TileCacheJudgeTest, ConnectsTheSamePlacesAmongObstacles) {
  int connected = 0;
  int cut_off = 0;
  ForSeeds(20, [&](Random& random) {
    const Rooms rooms(random);
    TileCache cache;
    ASSERT_TRUE(AddRooms(rooms, cache));
    const absl::StatusOr<DetourMesh> read = ParseDetourMesh(cache.SaveMesh());
    ASSERT_THAT(read, IsOk());
    NavMesh narrow = read->mesh;
    NavMesh wide = read->mesh;
    std::vector<Crate> crates;
    for (int step = 0; step < 60; ++step) {
      Crate removed;
      Crate added;
      if (!crates.empty() && random.Chance(0.25)) {
        std::swap(crates[random.Between(0, static_cast<int>(crates.size()) - 1)], crates.back());
        removed = std::move(crates.back());
        crates.pop_back();
        ASSERT_TRUE(cache.Remove(removed.number));
      } else {
        added = PutCrate(rooms, cache, random);
        ASSERT_NE(added.number, 0U);
        crates.push_back(added);
      }
      narrow = *ChangeHoles(narrow, {removed.larger, added.larger});
      wide = *ChangeHoles(wide, {removed.smaller, added.smaller});
      DetourJudge judge(cache.SaveMesh());
      for (int i = 0; i < 50; ++i) {
        // No place is on the side of a voxel.
        const auto any = [&] { return (random.Between(0, 16 * kTileVoxels - 1) + 0.5) / 8 * kVoxel; };
        const WorldPoint start{any(), any(), 0.0};
        const WorldPoint goal{any(), any(), 0.0};
        if (PartAt(narrow, start) < 0 || PartAt(narrow, goal) < 0) {
          continue;
        }
        const bool is_judged = judge.LengthOf(start, goal).has_value();
        const bool is_narrow = PartAt(narrow, start) == PartAt(narrow, goal);
        const bool is_wide = PartAt(wide, start) == PartAt(wide, goal);
        ASSERT_TRUE((is_judged || !is_narrow) && (is_wide || !is_judged))
            << "step " << step << ": " << start.x << " " << start.y << " to " << goal.x << " " << goal.y
            << (is_judged ? ", connected" : ", apart") << " for Detour";
        connected += is_narrow ? 1 : 0;
        cut_off += !is_wide && PartAt(read->mesh, start) == PartAt(read->mesh, goal) ? 1 : 0;
      }
    }
  });
  EXPECT_GE(connected, static_cast<int>(Rounds(5000)));
  EXPECT_GE(cut_off, static_cast<int>(Rounds(1500))) << "the obstacles decide too little";
}

}  // namespace
}  // namespace waystar::core
