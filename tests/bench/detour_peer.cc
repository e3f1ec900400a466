#include "tests/bench/detour_peer.h"

#include <DetourCommon.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/bench.h"

namespace waystar::bench {
namespace {

constexpr int kMaxPolygons = 4096;
// A search clears a table in proportion to its nodes, so a small mesh has no more than the demo gives it, and
// a large one as many as there can be.
constexpr int kLeastNodes = 2048;
constexpr int kMostNodes = 65535;
constexpr std::size_t kNodesPerPolygon = 4;

struct DetourPoint {
  explicit DetourPoint(const core::WorldPoint& point)
      : values{static_cast<float>(point.x), static_cast<float>(point.z), static_cast<float>(point.y)} {}
  float values[3];
};

template <typename Visitor>
void VisitTiles(const dtNavMesh& mesh, Visitor visit) {
  for (int i = 0; i < mesh.getMaxTiles(); ++i) {
    if (const dtMeshTile* const tile = mesh.getTile(i); tile->header != nullptr) {
      visit(*tile);
    }
  }
}

}  // namespace

DetourPeer::DetourPeer(absl::string_view mset)
    : mesh_(LoadDetourFile(mset)),
      query_(dtAllocNavMeshQuery()),
      corridor_(kMaxPolygons),
      corners_(3 * kMaxPolygons) {
  if (mesh_ == nullptr) {
    Die("Detour does not take the mesh");
  }
  filter_.setIncludeFlags(0xFFFF);
  const int nodes =
      static_cast<int>(std::clamp<std::size_t>(kNodesPerPolygon * polygon_count(), kLeastNodes, kMostNodes));
  if (dtStatusFailed(query_->init(mesh_.get(), nodes))) {
    Die("Detour has no memory for its nodes");
  }
}

DetourPlace DetourPeer::FindNearest(const core::WorldPoint& position) const {
  constexpr float kExtents[3] = {kRadius, kHeight, kRadius};
  const DetourPoint center(position);
  DetourPlace place;
  query_->findNearestPoly(center.values, kExtents, &filter_, &place.polygon, place.point);
  return place;
}

bool DetourPeer::FindPath(const DetourPlace& start, const DetourPlace& goal) {
  int count = 0;
  const dtStatus status = query_->findPath(start.polygon, goal.polygon, start.point, goal.point, &filter_,
                                           corridor_.data(), &count, kMaxPolygons);
  exhausted_count_ += dtStatusDetail(status, DT_OUT_OF_NODES | DT_BUFFER_TOO_SMALL) ? 1 : 0;
  corner_count_ = 0;
  if (count == 0 || corridor_[static_cast<std::size_t>(count) - 1] != goal.polygon) {
    return false;
  }
  int corners = 0;
  query_->findStraightPath(start.point, goal.point, corridor_.data(), count, corners_.data(), nullptr,
                           nullptr, &corners, kMaxPolygons);
  corner_count_ = static_cast<std::size_t>(corners);
  return true;
}

std::vector<core::WorldPoint> DetourPeer::PathCorners() const {
  std::vector<core::WorldPoint> corners;
  corners.reserve(corner_count_);
  for (std::size_t i = 0; i < 3 * corner_count_; i += 3) {
    corners.push_back({corners_[i], corners_[i + 2], corners_[i + 1]});
  }
  return corners;
}

double DetourPeer::PathLength() const {
  double length = 0.0;
  for (std::size_t i = 3; i < 3 * corner_count_; i += 3) {
    length += std::hypot(static_cast<double>(corners_[i]) - corners_[i - 3],
                         static_cast<double>(corners_[i + 2]) - corners_[i - 1]);
  }
  return length;
}

double DetourPeer::CastRay(const DetourPlace& start, const core::WorldPoint& goal) const {
  dtRaycastHit hit{};
  query_->raycast(start.polygon, start.point, DetourPoint(goal).values, &filter_, 0, &hit);
  return std::min(static_cast<double>(hit.t), 1.0);
}

core::WorldPoint DetourPeer::Move(const DetourPlace& start, const core::WorldPoint& target) const {
  constexpr int kMaxVisited = 64;
  dtPolyRef visited[kMaxVisited];
  int visited_count = 0;
  DetourPlace end;
  query_->moveAlongSurface(start.polygon, start.point, DetourPoint(target).values, &filter_, end.point,
                           visited, &visited_count, kMaxVisited);
  return end.position();
}

double DetourPeer::DistanceToWall(const DetourPlace& start, double radius) const {
  float distance = 0.0F;
  float wall[3];
  float normal[3];
  query_->findDistanceToWall(start.polygon, start.point, static_cast<float>(radius), &filter_, &distance,
                             wall, normal);
  return distance;
}

std::size_t DetourPeer::tile_count() const {
  std::size_t count = 0;
  VisitTiles(*mesh_, [&](const dtMeshTile&) { ++count; });
  return count;
}

std::size_t DetourPeer::polygon_count() const {
  std::size_t count = 0;
  VisitTiles(*mesh_,
             [&](const dtMeshTile& tile) { count += static_cast<std::size_t>(tile.header->polyCount); });
  return count;
}

std::size_t DetourPeer::memory_bytes() const {
  std::size_t bytes = sizeof(dtNavMesh);
  VisitTiles(*mesh_, [&](const dtMeshTile& tile) {
    bytes += static_cast<std::size_t>(tile.dataSize) + sizeof(dtMeshTile) + sizeof(dtMeshTile*);
  });
  return bytes;
}

}  // namespace waystar::bench
