#include "tests/core/mesh/search/detour_judge.h"

#include <cmath>
#include <cstddef>

#include "gtest/gtest.h"

namespace waystar {
namespace {

constexpr int kMaxNodes = 65535;
constexpr int kMaxPolygons = 4096;

}  // namespace

DetourJudge::DetourJudge(absl::string_view mset, float height)
    : height_(height), mesh_(LoadDetourFile(mset)), query_(dtAllocNavMeshQuery()) {
  EXPECT_NE(mesh_, nullptr);
  EXPECT_TRUE(dtStatusSucceed(query_->init(mesh_.get(), kMaxNodes)));
}

unsigned int DetourJudge::PolygonAt(const core::WorldPoint& point, float* on_polygon) {
  const float center[] = {static_cast<float>(point.x), static_cast<float>(point.z),
                          static_cast<float>(point.y)};
  const float extents[] = {0.01F, height_, 0.01F};
  dtQueryFilter filter;
  filter.setIncludeFlags(0xFFFF);
  dtPolyRef polygon = 0;
  query_->findNearestPoly(center, extents, &filter, &polygon, on_polygon);
  // The boxes of polygons count for the extents.
  return polygon != 0 && std::hypot(on_polygon[0] - center[0], on_polygon[2] - center[2]) < extents[0]
             ? polygon
             : 0;
}

bool DetourJudge::Knows(const core::WorldPoint& point) {
  float on_polygon[3];
  return PolygonAt(point, on_polygon) != 0;
}

std::optional<double> DetourJudge::HeightAt(const core::WorldPoint& point) {
  float on_polygon[3];
  return PolygonAt(point, on_polygon) == 0 ? std::nullopt : std::optional<double>(on_polygon[1]);
}

std::optional<double> DetourJudge::DistanceToWall(const core::WorldPoint& point, double radius) {
  float center[3];
  const dtPolyRef polygon = PolygonAt(point, center);
  if (polygon == 0) {
    return std::nullopt;
  }
  dtQueryFilter filter;
  filter.setIncludeFlags(0xFFFF);
  float distance = 0.0F;
  float position[3];
  float normal[3];
  query_->findDistanceToWall(polygon, center, static_cast<float>(radius), &filter, &distance, position,
                             normal);
  return distance < static_cast<float>(radius) ? std::optional<double>(distance) : std::nullopt;
}

std::optional<core::WorldPoint> DetourJudge::Move(const core::WorldPoint& start,
                                                  const core::WorldPoint& target) {
  float from[3];
  const dtPolyRef polygon = PolygonAt(start, from);
  if (polygon == 0) {
    return std::nullopt;
  }
  dtQueryFilter filter;
  filter.setIncludeFlags(0xFFFF);
  const float to[] = {static_cast<float>(target.x), static_cast<float>(target.z),
                      static_cast<float>(target.y)};
  constexpr int kMaxVisited = 256;
  dtPolyRef visited[kMaxVisited];
  int visited_count = 0;
  float end[3];
  query_->moveAlongSurface(polygon, from, to, &filter, end, visited, &visited_count, kMaxVisited);
  return core::WorldPoint{end[0], end[2], end[1]};
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

}  // namespace waystar
