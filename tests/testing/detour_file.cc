#include "tests/testing/detour_file.h"

#include <DetourAlloc.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace waystar {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kLinkBytes32 = 12;
constexpr std::size_t kLinkBytes64 = 16;

template <typename T>
T ReadAt(absl::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// Returns a tile whose links have the size that this Detour expects. Their content does not matter.
std::string WithOwnLinks(absl::string_view tile) {
  const auto header = ReadAt<dtMeshHeader>(tile, 0);
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const std::size_t before =
      kHeaderBytes + count(header.vertCount) * 12 + count(header.polyCount) * sizeof(dtPoly);
  const std::size_t after = count(header.detailMeshCount) * 12 + count(header.detailVertCount) * 12 +
                            count(header.detailTriCount) * 4 + count(header.bvNodeCount) * 16 +
                            count(header.offMeshConCount) * 36;
  const std::size_t links = count(header.maxLinkCount);
  if (before + links * kLinkBytes64 + after != tile.size()) {
    return std::string(tile);
  }
  std::string own(tile.substr(0, before));
  own.append(links * kLinkBytes32, '\0');
  own.append(std::string(tile.substr(before + links * kLinkBytes64)));
  return own;
}

}  // namespace

OwnedDetourMesh LoadDetourFile(absl::string_view mset) {
  OwnedDetourMesh mesh(dtAllocNavMesh());
  const int tiles = ReadAt<int>(mset, 8);
  auto params = ReadAt<dtNavMeshParams>(mset, 12);
  // A file for references of 64 bits has room for more than 32 have.
  params.maxTiles = 1 << 12;
  params.maxPolys = 1 << 10;
  if (dtStatusFailed(mesh->init(&params))) {
    return nullptr;
  }
  std::size_t at = 12 + sizeof(dtNavMeshParams);
  const bool is_wide = ReadAt<int>(mset, at + 16) == DT_NAVMESH_MAGIC;
  for (int i = 0; i < tiles; ++i) {
    const auto size = static_cast<std::size_t>(ReadAt<int>(mset, at + (is_wide ? 8 : 4)));
    at += is_wide ? 16 : 8;
    const std::string tile = WithOwnLinks(mset.substr(at, size));
    auto* const copy = static_cast<unsigned char*>(dtAlloc(tile.size(), DT_ALLOC_PERM));
    std::memcpy(copy, tile.data(), tile.size());
    if (dtStatusFailed(mesh->addTile(copy, static_cast<int>(tile.size()), DT_TILE_FREE_DATA, 0, nullptr))) {
      dtFree(copy);
      return nullptr;
    }
    at += size;
  }
  return mesh;
}

}  // namespace waystar
