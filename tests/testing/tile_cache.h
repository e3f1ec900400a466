// Detour's own dynamic obstacles, which judge ours and are measured beside them.
#pragma once

#include <DetourNavMesh.h>
#include <DetourTileCache.h>
#include <DetourTileCacheBuilder.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/geometry/world_point.h"
#include "tests/testing/detour_file.h"

namespace waystar {

// A mesh whose tiles Detour rebuilds from voxels wherever an obstacle is put or removed. Obstacles are not
// widened by the agent's radius. The voxels are not compressed and the memory of a rebuild comes from one
// block, which is the fastest way to use a tile cache.
//
// Thread safety: none. A function that returns a bool returns false if Detour fails.
class TileCache {
 public:
  // Returns the tile cache of a TSET file that is taken to be whole, compressed as by RecastDemo, with room
  // for `max_obstacles`. Returns null if Detour refuses it.
  static std::unique_ptr<TileCache> Load(absl::string_view tset, int max_obstacles);

  TileCache();
  TileCache(const TileCache&) = delete;
  TileCache& operator=(const TileCache&) = delete;

  // Sets the sizes. Must come before all else, once.
  bool Init(const dtNavMeshParams& mesh, const dtTileCacheParams& cache);
  // Adds a tile: its heights, areas and connections, each a byte for each voxel, one array after another.
  bool AddTile(const dtTileCacheLayerHeader& header, const std::string& voxels);

  // Puts an obstacle and rebuilds all tiles that it touches. Returns its number, or 0 if Detour fails. Points
  // are in our coordinates, where z is the height.
  dtObstacleRef PutCylinder(const core::WorldPoint& foot, double radius, double height);
  dtObstacleRef PutBox(const core::WorldPoint& low, const core::WorldPoint& high);
  // Removes an obstacle and rebuilds all tiles that it touches.
  bool Remove(dtObstacleRef obstacle);

  // Returns an MSET file of the mesh as it is now.
  std::string SaveMesh() const;

 private:
  // Gives out the bytes of one block, one after another, until it is reset.
  class Arena : public dtTileCacheAlloc {
   public:
    void reset() override { used_ = 0; }
    void* alloc(std::size_t size) override;
    void free(void* /*bytes*/) override {}

   private:
    std::vector<std::max_align_t> block_ = std::vector<std::max_align_t>(std::size_t{1} << 16);
    std::size_t used_ = 0;
  };

  struct Copier : public dtTileCacheCompressor {
    int maxCompressedSize(int size) override { return size; }
    dtStatus compress(const unsigned char* from, int size, unsigned char* to, int room,
                      int* written) override;
    dtStatus decompress(const unsigned char* from, int size, unsigned char* to, int room,
                        int* written) override;
  };

  // Makes all polygons walkable.
  struct Marker : public dtTileCacheMeshProcess {
    void process(dtNavMeshCreateParams* params, unsigned char* areas, std::uint16_t* flags) override;
  };

  struct Free {
    void operator()(dtTileCache* cache) const { dtFreeTileCache(cache); }
  };

  // Rebuilds tiles until none is left to do.
  bool Update();

  Arena arena_;
  Copier copier_;
  Marker marker_;
  std::unique_ptr<dtTileCache, Free> cache_;
  OwnedDetourMesh mesh_;
};

}  // namespace waystar
