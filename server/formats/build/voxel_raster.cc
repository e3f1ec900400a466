#include "server/formats/build/voxel_raster.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace waystar::level {

VoxelRaster::Range VoxelRaster::Cover(double low, double high) const {
  const int first = static_cast<int>(low);
  int last = static_cast<int>(high);
  // An interval that ends at the start of a column does not reach into it.
  last -= last > first && last == high ? 1 : 0;
  return {first, std::min(last, side_ - 1)};
}

VoxelRaster::Range VoxelRaster::Begin(absl::Span<const VoxelPoint> polygon) {
  assert(polygon.size() >= 3 && polygon.size() <= kMaxClippedCorners);
  edge_count_ = 0;
  double low = polygon.front().y;
  double high = low;
  const VoxelPoint* from = &polygon.back();
  for (const VoxelPoint& to : polygon) {
    Edge edge = from->y <= to.y ? Edge{.low = *from, .high = to} : Edge{.low = to, .high = *from};
    if (const double rise = edge.high.y - edge.low.y; rise > 0.0) {
      edge.x_rise = (edge.high.x - edge.low.x) / rise;
      edge.z_rise = (edge.high.z - edge.low.z) / rise;
    }
    edges_[edge_count_++] = edge;
    low = std::min(low, to.y);
    high = std::max(high, to.y);
    from = &to;
  }
  return Cover(low, high);
}

VoxelRaster::Range VoxelRaster::FillRow(int y, bool is_last) {
  segment_count_ = 0;
  for (std::size_t i = 0; i < edge_count_; ++i) {
    const Edge& edge = edges_[i];
    if (edge.high.y >= y && edge.low.y <= y + 1) {
      AddSegment(edge.low.y >= y ? RowPoint{edge.low.x, edge.low.z} : At(edge, y), At(edge, y + 1));
    }
  }
  double low = std::numeric_limits<double>::max();
  double high = 0.0;
  for (std::size_t i = 0; i < segment_count_; ++i) {
    low = std::min(low, segments_[i].from.x);
    high = std::max(high, segments_[i].to.x);
  }
  const Range columns = Cover(std::max(low, 0.0), high);
  if (columns.first > columns.last) {
    return {};
  }
  AddSection(y);
  if (!is_last) {
    AddSection(y + 1);
  }
  std::fill(low_.begin() + columns.first, low_.begin() + columns.last + 1,
            std::numeric_limits<double>::max());
  std::fill(high_.begin() + columns.first, high_.begin() + columns.last + 1,
            std::numeric_limits<double>::lowest());
  for (std::size_t i = 0; i < segment_count_; ++i) {
    Walk(segments_[i], columns);
  }
  return columns;
}

void VoxelRaster::AddSegment(const RowPoint& a, const RowPoint& b) {
  segments_[segment_count_++] = a.x <= b.x ? Segment{a, b} : Segment{b, a};
}

void VoxelRaster::AddSection(int y) {
  RowPoint first;
  RowPoint last;
  bool is_cut = false;
  for (std::size_t i = 0; i < edge_count_; ++i) {
    if (edges_[i].low.y >= y || edges_[i].high.y < y) {
      continue;
    }
    const RowPoint point = At(edges_[i], y);
    if (!is_cut) {
      first = point;
      last = point;
      is_cut = true;
      continue;
    }
    const auto is_before = [](const RowPoint& a, const RowPoint& b) {
      return a.x != b.x ? a.x < b.x : a.z < b.z;
    };
    first = is_before(point, first) ? point : first;
    last = is_before(last, point) ? point : last;
  }
  if (is_cut) {
    segments_[segment_count_++] = {first, last};
  }
}

void VoxelRaster::Walk(const Segment& segment, const Range& columns) {
  const Range touched = Cover(std::max(segment.from.x, 0.0), segment.to.x);
  const int begin = std::min(touched.first, columns.last);
  const int end = std::min(touched.last, columns.last);
  if (begin >= end) {
    Include(begin, segment.from.z, segment.to.z);
    return;
  }
  const double rise = (segment.to.z - segment.from.z) / (segment.to.x - segment.from.x);
  double z = segment.from.z;
  for (int x = begin; x < end; ++x) {
    const double next = segment.from.z + rise * (x + 1 - segment.from.x);
    Include(x, z, next);
    z = next;
  }
  Include(end, z, segment.to.z);
}

void VoxelRaster::Include(int column, double z, double other_z) {
  low_[column] = std::min(low_[column], std::min(z, other_z));
  high_[column] = std::max(high_[column], std::max(z, other_z));
}

namespace {

// Keeps the points at which `inside`, an affine function, is at least 0.
template <typename Inside>
void Cut(ClippedTriangle& polygon, Inside inside) {
  ClippedTriangle kept;
  const absl::Span<const core::WorldPoint> corners = polygon.corners();
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const core::WorldPoint& from = corners[i];
    const core::WorldPoint& to = corners[i + 1 < corners.size() ? i + 1 : 0];
    const double at_from = inside(from);
    const double at_to = inside(to);
    if (at_from >= 0.0) {
      kept.Add(from);
    }
    if ((at_from > 0.0 && at_to < 0.0) || (at_from < 0.0 && at_to > 0.0)) {
      const double share = at_from / (at_from - at_to);
      kept.Add({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share,
                from.z + (to.z - from.z) * share});
    }
  }
  polygon = kept;
}

}  // namespace

ClippedTriangle ClipTriangle(const LevelGeometry& geometry, std::uint32_t triangle, const PlanBox& box) {
  ClippedTriangle polygon;
  bool is_inside = true;
  for (const std::uint32_t vertex : geometry.triangles[triangle]) {
    const core::WorldPoint& point = geometry.vertices[vertex];
    is_inside = is_inside && point.x >= box.low_x && point.x <= box.high_x && point.y >= box.low_y &&
                point.y <= box.high_y;
    polygon.Add(point);
  }
  if (is_inside) {
    return polygon;
  }
  Cut(polygon, [&](const core::WorldPoint& point) { return point.x - box.low_x; });
  Cut(polygon, [&](const core::WorldPoint& point) { return box.high_x - point.x; });
  Cut(polygon, [&](const core::WorldPoint& point) { return point.y - box.low_y; });
  Cut(polygon, [&](const core::WorldPoint& point) { return box.high_y - point.y; });
  return polygon;
}

}  // namespace waystar::level
