#include "server/formats/build/tile_ground.h"

#include <Recast.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/core/mesh/map/triangulation.h"

namespace waystar::level {
namespace {

using core::Triangulation;
using core::WorldPoint;

constexpr std::size_t kMaxEdgePoints = 96;
constexpr std::size_t kMaxGroundPoints = 192;
static_assert(kMaxGroundPoints <= core::kMaxDetailPoints);

bool IsBefore(const WorldPoint& a, const WorldPoint& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }

// Rounds to a fraction of a voxel that Triangulation is exact with.
double Rounded(double voxels) {
  constexpr double kSteps = 256.0;
  return std::floor(voxels * kSteps + 0.5) / kSteps;
}

// Appends points of a line from `first` to before `last` such that the others are at most `error` above or
// below it (Douglas, Peucker 1973).
void AppendSimplified(absl::Span<const WorldPoint> line, std::size_t first, std::size_t last, double error,
                      std::vector<WorldPoint>& out) {
  double most = error;
  std::size_t middle = first;
  for (std::size_t i = first + 1; i < last; ++i) {
    const double share = static_cast<double>(i - first) / static_cast<double>(last - first);
    const double off = std::abs(line[first].z + share * (line[last].z - line[first].z) - line[i].z);
    if (off > most) {
      most = off;
      middle = i;
    }
  }
  if (middle == first) {
    out.push_back(line[first]);
    return;
  }
  AppendSimplified(line, first, middle, error, out);
  AppendSimplified(line, middle, last, error, out);
}

}  // namespace

TileGround::TileGround(rcCompactHeightfield& field)
    : field_(field), surfaces_(static_cast<std::size_t>(field.spanCount)) {}

void TileGround::AddSurface(int x, int y, int top, double low, double high, unsigned char area) {
  const rcCompactCell& cell = field_.cells[x + y * field_.width];
  const unsigned int first = cell.index;
  for (unsigned int span = first; span < first + cell.count; ++span) {
    if (field_.spans[span].y == top) {
      if (field_.areas[span] != RC_NULL_AREA && static_cast<float>(high) > surfaces_[span].high) {
        field_.areas[span] = area;
      }
      surfaces_[span].low = std::min(surfaces_[span].low, static_cast<float>(low));
      surfaces_[span].high = std::max(surfaces_[span].high, static_cast<float>(high));
    }
  }
}

double TileGround::HeightOf(unsigned int span) const {
  const Range& surface = surfaces_[span];
  return surface.low <= surface.high ? (double{surface.low} + surface.high) / 2.0
                                     : field_.spans[span].y - 1.0;
}

std::optional<double> TileGround::NearestIn(int x, int y, double near, int region) const {
  const rcCompactCell& cell = field_.cells[x + y * field_.width];
  std::optional<double> of_region;
  std::optional<double> of_any;
  const auto choose = [near](std::optional<double>& nearest, double height) {
    if (!nearest || std::abs(height - near) < std::abs(*nearest - near)) {
      nearest = height;
    }
  };
  const unsigned int first = cell.index;
  for (unsigned int span = first; span < first + cell.count; ++span) {
    const double height = HeightOf(span);
    if (region != RC_MULTIPLE_REGS && field_.spans[span].reg == region) {
      choose(of_region, height);
    } else if (std::abs(height - near) <= field_.walkableClimb) {
      choose(of_any, height);
    }
  }
  return of_region ? of_region : of_any;
}

std::optional<double> TileGround::HeightAt(double x, double y, double near) const {
  const double low_x = std::floor(x - 0.5);
  const double low_y = std::floor(y - 0.5);
  double sum = 0.0;
  double weights = 0.0;
  for (const int right : {0, 1}) {
    for (const int up : {0, 1}) {
      const double weight =
          (1.0 - std::abs(x - 0.5 - low_x - right)) * (1.0 - std::abs(y - 0.5 - low_y - up));
      if (weight <= 0.0) {
        continue;
      }
      if (const auto height = NearestIn(static_cast<int>(low_x) + right, static_cast<int>(low_y) + up, near,
                                        RC_MULTIPLE_REGS)) {
        sum += weight * *height;
        weights += weight;
      }
    }
  }
  return weights > 0.0 ? std::optional(sum / weights) : std::nullopt;
}

std::optional<WorldPoint> TileGround::FarthestFrom(const WorldPoint& a, const WorldPoint& b,
                                                   const WorldPoint& c, int region) const {
  const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  if (area <= 0.0) {
    return std::nullopt;
  }
  const double x_rise = ((b.z - a.z) * (c.y - a.y) - (c.z - a.z) * (b.y - a.y)) / area;
  const double y_rise = ((c.z - a.z) * (b.x - a.x) - (b.z - a.z) * (c.x - a.x)) / area;
  std::optional<WorldPoint> farthest;
  double most = kGroundError;
  const int last_row = static_cast<int>(std::floor(std::max({a.y, b.y, c.y}) - 0.5));
  for (int row = static_cast<int>(std::ceil(std::min({a.y, b.y, c.y}) - 0.5)); row <= last_row; ++row) {
    const double y = row + 0.5;
    double left = std::numeric_limits<double>::max();
    double right = std::numeric_limits<double>::lowest();
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
      if (std::min(from.y, to.y) <= y && y <= std::max(from.y, to.y) && from.y != to.y) {
        const double x = from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y);
        left = std::min(left, x);
        right = std::max(right, x);
      }
    }
    for (int column = static_cast<int>(std::ceil(left - 0.5)); column + 0.5 <= right; ++column) {
      const double x = column + 0.5;
      const double height = a.z + x_rise * (x - a.x) + y_rise * (y - a.y);
      const std::optional<double> ground = NearestIn(column, row, height, region);
      if (ground && std::abs(*ground - height) > most) {
        most = std::abs(*ground - height);
        farthest = {x, y, *ground};
      }
    }
  }
  return farthest;
}

bool TileGround::IsFanExact(absl::Span<const WorldPoint> polygon, int region) const {
  for (std::size_t k = 2; k < polygon.size(); ++k) {
    if (FarthestFrom(polygon[0], polygon[k - 1], polygon[k], region)) {
      return false;
    }
  }
  return true;
}

void TileGround::AddEdge(const WorldPoint& from, const WorldPoint& to, double error,
                         std::vector<WorldPoint>& loop) const {
  // The ground is followed from the same end for the polygons on both sides.
  const bool is_reversed = IsBefore(to, from);
  const WorldPoint& first = is_reversed ? to : from;
  const WorldPoint& last = is_reversed ? from : to;
  const auto steps = static_cast<int>(std::ceil(std::hypot(last.x - first.x, last.y - first.y)));
  std::vector<WorldPoint> line = {first};
  for (int i = 1; i < steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    const double x = Rounded(first.x + share * (last.x - first.x));
    const double y = Rounded(first.y + share * (last.y - first.y));
    const double near = line.back().z;
    line.push_back({x, y, HeightAt(x, y, near).value_or(near)});
  }
  line.push_back(last);
  std::vector<WorldPoint> points;
  AppendSimplified(line, 0, line.size() - 1, error, points);
  if (is_reversed) {
    points.push_back(last);
    loop.insert(loop.end(), points.rbegin(), points.rend() - 1);
  } else {
    loop.insert(loop.end(), points.begin(), points.end());
  }
}

void TileGround::Refine(absl::Span<const WorldPoint> polygon, int region, core::MeshDetail& detail) const {
  std::vector<WorldPoint> points;
  for (double error = kGroundError; points.empty() || points.size() > kMaxEdgePoints; error *= 2.0) {
    points.clear();
    for (std::size_t k = 0; k < polygon.size(); ++k) {
      AddEdge(polygon[k], polygon[(k + 1) % polygon.size()], error, points);
    }
  }
  if (points.size() == polygon.size() && IsFanExact(polygon, region)) {
    detail.Add({});
    return;
  }
  Triangulation triangulation(points);
  std::vector<core::DetailTriangle> triangles;
  for (bool is_finer = true; is_finer;) {
    if (!triangulation.CountOutlines()) {
      detail.Add({});
      return;
    }
    triangles.clear();
    std::vector<WorldPoint> farthest;
    for (const Triangulation::Triangle& triangle : triangulation.triangles()) {
      if (!triangle.is_inside) {
        continue;
      }
      core::DetailTriangle& added = triangles.emplace_back();
      for (std::size_t k = 0; k < added.size(); ++k) {
        added[k] = static_cast<std::uint8_t>(triangle.corners[k] - Triangulation::kFirstOfBorder);
      }
      if (const auto point = FarthestFrom(points[added[0]], points[added[1]], points[added[2]], region)) {
        farthest.push_back(*point);
      }
    }
    is_finer = false;
    for (const WorldPoint& point : farthest) {
      if (points.size() == kMaxGroundPoints) {
        break;
      }
      const int number = triangulation.AddPoint(point) - Triangulation::kFirstOfBorder;
      if (number == static_cast<int>(points.size())) {
        points.push_back(point);
        is_finer = true;
      }
    }
  }
  std::vector<core::DetailPoint> ground;
  ground.reserve(points.size());
  for (const WorldPoint& point : points) {
    ground.push_back({static_cast<float>(point.x), static_cast<float>(point.y), static_cast<float>(point.z)});
  }
  detail.Add(ground, triangles);
}

}  // namespace waystar::level
