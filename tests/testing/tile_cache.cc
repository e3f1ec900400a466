#include "tests/testing/tile_cache.h"

#include <DetourAlloc.h>
#include <DetourNavMeshBuilder.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace waystar {
namespace {

// Detour begins the data of a tile at a multiple of 4 bytes.
constexpr std::size_t kLayerHeaderBytes = (sizeof(dtTileCacheLayerHeader) + 3) / 4 * 4;

template <typename T>
T ValueAt(absl::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

template <typename T>
void AppendValue(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::array<float, 3> InDetour(const core::WorldPoint& point) {
  return {static_cast<float>(point.x), static_cast<float>(point.z), static_cast<float>(point.y)};
}

// Returns the content of a block of FastLZ, level 1: runs of literal bytes, and copies of earlier ones.
std::string Decompress(absl::string_view block) {
  std::string bytes;
  std::size_t at = 0;
  const auto next = [&] { return static_cast<std::size_t>(static_cast<unsigned char>(block[at++])); };
  // The upper bits of the first byte are the level.
  constexpr std::size_t kLowBits = 31;
  for (std::size_t control = next() & kLowBits;; control = next()) {
    if (std::size_t length = control >> 5; length == 0) {
      bytes.append(block.data() + at, control + 1);
      at += control + 1;
    } else {
      constexpr std::size_t kLongCopy = 7;
      length += length == kLongCopy ? next() + 2 : 2;
      const std::size_t distance = ((control & kLowBits) << 8) + next() + 1;
      // The copy may overlap itself.
      for (std::size_t i = 0; i < length; ++i) {
        bytes.push_back(bytes[bytes.size() - distance]);
      }
    }
    if (at >= block.size()) {
      return bytes;
    }
  }
}

}  // namespace

void* TileCache::Arena::alloc(std::size_t size) {
  const std::size_t units = (size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  if (units > block_.size() - used_) {
    return nullptr;
  }
  used_ += units;
  return block_.data() + used_ - units;
}

dtStatus TileCache::Copier::compress(const unsigned char* from, int size, unsigned char* to, int room,
                                     int* written) {
  *written = std::min(size, room);
  std::memcpy(to, from, static_cast<std::size_t>(*written));
  return size <= room ? DT_SUCCESS : DT_FAILURE;
}

dtStatus TileCache::Copier::decompress(const unsigned char* from, int size, unsigned char* to, int room,
                                       int* written) {
  return compress(from, size, to, room, written);
}

void TileCache::Marker::process(dtNavMeshCreateParams* params, unsigned char* areas, std::uint16_t* flags) {
  std::fill(areas, areas + params->polyCount, std::uint8_t{0});
  std::fill(flags, flags + params->polyCount, std::uint16_t{1});
}

std::unique_ptr<TileCache> TileCache::Load(absl::string_view tset, int max_obstacles) {
  constexpr std::size_t kCount = 8;
  constexpr std::size_t kMeshParams = 12;
  constexpr std::size_t kCacheParams = kMeshParams + sizeof(dtNavMeshParams);
  auto params = ValueAt<dtTileCacheParams>(tset, kCacheParams);
  params.maxObstacles = max_obstacles;
  auto loaded = std::make_unique<TileCache>();
  if (!loaded->Init(ValueAt<dtNavMeshParams>(tset, kMeshParams), params)) {
    return nullptr;
  }
  std::size_t at = kCacheParams + sizeof(dtTileCacheParams);
  for (int i = 0; i < ValueAt<int>(tset, kCount); ++i) {
    const auto size = static_cast<std::size_t>(ValueAt<int>(tset, at + 4));
    const absl::string_view tile = tset.substr(at + 8, size);
    at += 8 + size;
    if (!loaded->AddTile(ValueAt<dtTileCacheLayerHeader>(tile, 0),
                         Decompress(tile.substr(kLayerHeaderBytes)))) {
      return nullptr;
    }
  }
  return loaded;
}

TileCache::TileCache() : cache_(dtAllocTileCache()), mesh_(dtAllocNavMesh()) {}

bool TileCache::Init(const dtNavMeshParams& mesh, const dtTileCacheParams& cache) {
  return dtStatusSucceed(mesh_->init(&mesh)) &&
         dtStatusSucceed(cache_->init(&cache, &arena_, &copier_, &marker_));
}

bool TileCache::AddTile(const dtTileCacheLayerHeader& header, const std::string& voxels) {
  const std::size_t size = kLayerHeaderBytes + voxels.size();
  auto* const bytes = static_cast<unsigned char*>(dtAlloc(size, DT_ALLOC_PERM));
  std::memset(bytes, 0, kLayerHeaderBytes);
  std::memcpy(bytes, &header, sizeof(header));
  std::memcpy(bytes + kLayerHeaderBytes, voxels.data(), voxels.size());
  dtCompressedTileRef tile = 0;
  if (dtStatusFailed(cache_->addTile(bytes, static_cast<int>(size), DT_COMPRESSEDTILE_FREE_DATA, &tile))) {
    dtFree(bytes);
    return false;
  }
  return dtStatusSucceed(cache_->buildNavMeshTile(tile, mesh_.get()));
}

dtObstacleRef TileCache::PutCylinder(const core::WorldPoint& foot, double radius, double height) {
  dtObstacleRef put = 0;
  const dtStatus status = cache_->addObstacle(InDetour(foot).data(), static_cast<float>(radius),
                                              static_cast<float>(height), &put);
  return dtStatusSucceed(status) && Update() ? put : 0;
}

dtObstacleRef TileCache::PutBox(const core::WorldPoint& low, const core::WorldPoint& high) {
  dtObstacleRef put = 0;
  const dtStatus status = cache_->addBoxObstacle(InDetour(low).data(), InDetour(high).data(), &put);
  return dtStatusSucceed(status) && Update() ? put : 0;
}

bool TileCache::Remove(dtObstacleRef obstacle) {
  return dtStatusSucceed(cache_->removeObstacle(obstacle)) && Update();
}

bool TileCache::Update() {
  bool is_done = false;
  while (!is_done) {
    if (dtStatusFailed(cache_->update(0.0F, mesh_.get(), &is_done))) {
      return false;
    }
  }
  return true;
}

std::string TileCache::SaveMesh() const {
  std::string tiles;
  std::int32_t count = 0;
  const dtNavMesh& mesh = *mesh_;
  for (int i = 0; i < mesh.getMaxTiles(); ++i) {
    if (const dtMeshTile* const tile = mesh.getTile(i); tile->header != nullptr) {
      ++count;
      AppendValue(tiles, mesh.getTileRef(tile));
      AppendValue(tiles, static_cast<std::int32_t>(tile->dataSize));
      tiles.append(reinterpret_cast<const char*>(tile->data), static_cast<std::size_t>(tile->dataSize));
    }
  }
  std::string bytes;
  AppendValue(bytes, std::int32_t{'M' << 24 | 'S' << 16 | 'E' << 8 | 'T'});
  AppendValue(bytes, std::int32_t{1});
  AppendValue(bytes, count);
  AppendValue(bytes, *mesh.getParams());
  return bytes + tiles;
}

}  // namespace waystar
