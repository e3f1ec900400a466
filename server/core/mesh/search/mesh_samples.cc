#include "server/core/mesh/search/mesh_samples.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/search/checks.h"
#include "server/core/search/random_draws.h"

namespace waystar::core {
namespace {

// Maximum number of draws per point. Rounding moves about one point in a million out of its polygon.
constexpr int kDrawsOfPoint = 8;

// Returns a number in [0, 1).
double DrawShare(SplitMix& random) {
  constexpr std::uint64_t kSteps = std::uint64_t{1} << 53;
  return static_cast<double>(random.Below(kSteps)) / static_cast<double>(kSteps);
}

// The part of a convex polygon that lies in a region, seen from above, as triangles around its first corner.
// Reused for all polygons.
class ClippedPolygon {
 public:
  explicit ClippedPolygon(const std::optional<Box>& region) : region_(region) {}

  void Assign(const NavMesh& mesh, PolygonNumber polygon) {
    corners_.clear();
    Box around;
    for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
      const WorldPoint& at = mesh.VertexAt(vertex);
      corners_.push_back({at.x, at.y});
      around = around.And({at.x, at.y, at.x, at.y});
    }
    if (!region_) {
      return;
    }
    if (!region_->Overlaps(around)) {
      corners_.clear();
      return;
    }
    if (around.x_low < region_->x_low) {
      Clip([&](const Point& p) { return p.x - region_->x_low; });
    }
    if (around.x_high > region_->x_high) {
      Clip([&](const Point& p) { return region_->x_high - p.x; });
    }
    if (around.y_low < region_->y_low) {
      Clip([&](const Point& p) { return p.y - region_->y_low; });
    }
    if (around.y_high > region_->y_high) {
      Clip([&](const Point& p) { return region_->y_high - p.y; });
    }
  }

  double Area() const {
    double area = 0.0;
    for (std::size_t k = 2; k < corners_.size(); ++k) {
      area += AreaOfTriangle(k);
    }
    return area;
  }

  // Draws a point from the triangle in which `area` falls if areas are counted through the triangles.
  // REQUIRES: there is area.
  Point Draw(double area, SplitMix& random) const {
    std::size_t triangle = 2;
    while (triangle + 1 < corners_.size() && area >= AreaOfTriangle(triangle)) {
      area -= AreaOfTriangle(triangle);
      ++triangle;
    }
    const Point& a = corners_[0];
    const Point& b = corners_[triangle - 1];
    const Point& c = corners_[triangle];
    // The part of a triangle within a share of the distance from a corner has the square of that share as its
    // area.
    const double away = std::sqrt(DrawShare(random));
    const double across = DrawShare(random);
    return {a.x + away * (b.x - a.x + across * (c.x - b.x)), a.y + away * (b.y - a.y + across * (c.y - b.y))};
  }

 private:
  // Returns the area of the triangle that ends at a corner. Triangles of a dented polygon may be inverted.
  double AreaOfTriangle(std::size_t corner) const {
    const Point& a = corners_[0];
    const Point& b = corners_[corner - 1];
    const Point& c = corners_[corner];
    return std::max(0.0, ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / 2.0);
  }

  // Keeps the part where `inside` is not negative (Sutherland, Hodgman, "Reentrant Polygon Clipping", 1974).
  template <typename Inside>
  void Clip(Inside inside) {
    clipped_.clear();
    for (std::size_t k = 0; k < corners_.size(); ++k) {
      const Point& a = corners_[k];
      const Point& b = corners_[k + 1 < corners_.size() ? k + 1 : 0];
      const double of_a = inside(a);
      const double of_b = inside(b);
      if (of_a >= 0.0) {
        clipped_.push_back(a);
      }
      if ((of_a > 0.0 && of_b < 0.0) || (of_a < 0.0 && of_b > 0.0)) {
        const double share = of_a / (of_a - of_b);
        clipped_.push_back({a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)});
      }
    }
    corners_.swap(clipped_);
  }

  const std::optional<Box>& region_;
  std::vector<Point> corners_;
  std::vector<Point> clipped_;
};

class MeshSampler {
 public:
  MeshSampler(const NavMesh& mesh, const MeshSampleQuery& query, const StopCheck* stop)
      : mesh_(mesh), query_(query), stop_(stop), clipped_(query.region), random_(query.seed) {}

  absl::StatusOr<SampledMeshPoints> Sample() {
    WAYSTAR_RETURN_IF_ERROR(Measure());
    SampledMeshPoints sampled{.candidates = static_cast<std::int64_t>(polygons_.size())};
    if (polygons_.empty()) {
      return sampled;
    }
    sampled.area = through_.back();
    sampled.places.reserve(static_cast<std::size_t>(query_.count));
    for (std::size_t i = 0; i < static_cast<std::size_t>(query_.count); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      sampled.places.push_back(DrawPlace());
    }
    return sampled;
  }

 private:
  absl::Status Measure() {
    if (query_.region &&
        !(query_.region->x_low < query_.region->x_high && query_.region->y_low < query_.region->y_high)) {
      return CheckStop(stop_);
    }
    double area = 0.0;
    for (const PolygonNumber polygon : mesh_.Polygons()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, polygon));
      if (!query_.parts.empty() && !std::ranges::binary_search(query_.parts, mesh_.PartOf(polygon))) {
        continue;
      }
      clipped_.Assign(mesh_, polygon);
      const double before = area;
      area += clipped_.Area();
      if (area > before) {
        polygons_.push_back(polygon);
        through_.push_back(area);
      }
    }
    return absl::OkStatus();
  }

  MeshPlace DrawPlace() {
    const double number = DrawShare(random_) * through_.back();
    const auto stretch = std::min<std::ptrdiff_t>(
        std::upper_bound(through_.begin(), through_.end(), number) - through_.begin(),
        static_cast<std::ptrdiff_t>(through_.size()) - 1);
    const auto index = static_cast<std::size_t>(stretch);
    const PolygonNumber polygon = polygons_[index];
    clipped_.Assign(mesh_, polygon);
    MeshPlace place{polygon, {}};
    for (int draw = 0; draw < kDrawsOfPoint; ++draw) {
      const double rest = draw == 0 ? number - (index == 0 ? 0.0 : through_[index - 1])
                                    : DrawShare(random_) * clipped_.Area();
      const Point point = clipped_.Draw(rest, random_);
      place.point = mesh_.NearestPoint(polygon, point.x, point.y);
      if (IsWanted(place)) {
        break;
      }
    }
    return place;
  }

  bool IsWanted(const MeshPlace& place) const {
    const WorldPoint& at = place.point;
    return mesh_.Contains(place.polygon, ToFixed(at)) &&
           (!query_.region || query_.region->Overlaps({at.x, at.y, at.x, at.y}));
  }

  const NavMesh& mesh_;
  const MeshSampleQuery& query_;
  const StopCheck* const stop_;
  ClippedPolygon clipped_;
  SplitMix random_;
  // Candidates, and the total area up to and including each.
  std::vector<PolygonNumber> polygons_;
  std::vector<double> through_;
};

}  // namespace

absl::StatusOr<SampledMeshPoints> SampleMeshPoints(const NavMesh& mesh, const MeshSampleQuery& query,
                                                   const StopCheck* stop) {
  if (query.count < 1) {
    return MakeError(ErrorReason::kBadValue, "count",
                     absl::StrCat("count must be at least 1, got ", query.count));
  }
  WAYSTAR_RETURN_IF_ERROR(CheckCount("count", static_cast<std::size_t>(query.count), kMaxSampledPoints));
  return MeshSampler(mesh, query, stop).Sample();
}

}  // namespace waystar::core
