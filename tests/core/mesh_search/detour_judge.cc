#include "tests/core/mesh_search/detour_judge.h"

#include <DetourAlloc.h>
#include <DetourNavMesh.h>
#include <DetourNavMeshQuery.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace waystar::testing {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kLinkBytes32 = 12;
constexpr std::size_t kLinkBytes64 = 16;
constexpr int kMaxNodes = 65535;
constexpr int kMaxPolygons = 4096;

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

void DetourJudge::FreeMesh::operator()(dtNavMesh* mesh) const { dtFreeNavMesh(mesh); }
void DetourJudge::FreeQuery::operator()(dtNavMeshQuery* query) const { dtFreeNavMeshQuery(query); }

DetourJudge::DetourJudge(absl::string_view mset) : mesh_(dtAllocNavMesh()), query_(dtAllocNavMeshQuery()) {
  const int tiles = ReadAt<int>(mset, 8);
  dtNavMeshParams params = ReadAt<dtNavMeshParams>(mset, 12);
  // A file for references of 64 bits has room for more than 32 have.
  params.maxTiles = 1 << 12;
  params.maxPolys = 1 << 10;
  EXPECT_TRUE(dtStatusSucceed(mesh_->init(&params)));
  std::size_t at = 12 + sizeof(dtNavMeshParams);
  const bool is_wide = ReadAt<int>(mset, at + 16) == DT_NAVMESH_MAGIC;
  for (int i = 0; i < tiles; ++i) {
    const auto size = static_cast<std::size_t>(ReadAt<int>(mset, at + (is_wide ? 8 : 4)));
    at += is_wide ? 16 : 8;
    const std::string tile = WithOwnLinks(mset.substr(at, size));
    auto* const copy = static_cast<unsigned char*>(dtAlloc(tile.size(), DT_ALLOC_PERM));
    std::memcpy(copy, tile.data(), tile.size());
    EXPECT_TRUE(
        dtStatusSucceed(mesh_->addTile(copy, static_cast<int>(tile.size()), DT_TILE_FREE_DATA, 0, nullptr)))
        << "tile " << i;
    at += size;
  }
  EXPECT_TRUE(dtStatusSucceed(query_->init(mesh_.get(), kMaxNodes)));
}

DetourJudge::~DetourJudge() = default;

unsigned int DetourJudge::PolygonAt(const core::WorldPoint& point, float* on_polygon) {
  const float center[] = {static_cast<float>(point.x), static_cast<float>(point.z),
                          static_cast<float>(point.y)};
  constexpr float kExtents[] = {0.01F, 0.05F, 0.01F};
  dtQueryFilter filter;
  filter.setIncludeFlags(0xFFFF);
  dtPolyRef polygon = 0;
  return dtStatusSucceed(query_->findNearestPoly(center, kExtents, &filter, &polygon, on_polygon)) ? polygon
                                                                                                   : 0;
}

bool DetourJudge::Knows(const core::WorldPoint& point) {
  float on_polygon[3];
  return PolygonAt(point, on_polygon) != 0;
}

std::optional<double> DetourJudge::LengthOf(const core::WorldPoint& start, const core::WorldPoint& goal) {
  float from[3];
  float to[3];
  const dtPolyRef first = PolygonAt(start, from);
  const dtPolyRef last = PolygonAt(goal, to);
  if (first == 0 || last == 0) {
    return std::nullopt;
  }
  dtQueryFilter filter;
  filter.setIncludeFlags(0xFFFF);
  std::vector<dtPolyRef> corridor(kMaxPolygons);
  int polygons = 0;
  query_->findPath(first, last, from, to, &filter, corridor.data(), &polygons, kMaxPolygons);
  if (polygons == 0 || corridor[static_cast<std::size_t>(polygons) - 1] != last) {
    return std::nullopt;
  }
  std::vector<float> corners(3 * kMaxPolygons);
  int count = 0;
  query_->findStraightPath(from, to, corridor.data(), polygons, corners.data(), nullptr, nullptr, &count,
                           kMaxPolygons);
  double length = 0.0;
  for (std::size_t i = 3; i < 3 * static_cast<std::size_t>(count); i += 3) {
    length += std::hypot(corners[i] - corners[i - 3], corners[i + 2] - corners[i - 1]);
  }
  return length;
}

}  // namespace waystar::testing
