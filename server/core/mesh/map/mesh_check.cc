#include "server/core/mesh/map/mesh_check.h"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

std::string PolygonField(std::size_t polygon) { return absl::StrCat("polygons[", polygon, "]"); }
std::string CornerField(std::size_t polygon, absl::string_view list, std::size_t corner) {
  return absl::StrCat(PolygonField(polygon), ".", list, "[", corner, "]");
}

absl::Status CheckSize(absl::string_view field, std::size_t size, std::size_t least, std::size_t most) {
  if (size < least || size > most) {
    return MakeError(
        ErrorReason::kBadSize, field,
        absl::StrCat(field, " of a mesh must be ", least, " to ", most, " in number, got ", size));
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const MeshSpec& spec) {
  WAYSTAR_RETURN_IF_ERROR(CheckSize("vertices", spec.vertices.size(), 3, kMaxMeshVertices));
  WAYSTAR_RETURN_IF_ERROR(CheckSize("polygons", spec.polygons.size(), 1, kMaxMeshPolygons));
  WAYSTAR_RETURN_IF_ERROR(CheckSize("corners", spec.corners.size(), 3, kMaxMeshCorners));
  std::size_t corners = 0;
  for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
    const std::size_t count = spec.polygons[i].corner_count;
    if (count < 3 || count > kMaxPolygonCorners) {
      return MakeError(
          ErrorReason::kBadPolygon, PolygonField(i),
          absl::StrCat("a polygon has from 3 to ", kMaxPolygonCorners, " corners, and this one ", count));
    }
    corners += count;
  }
  if (corners != spec.corners.size()) {
    return MakeError(
        ErrorReason::kBadSize, "corners",
        absl::StrCat("the polygons have ", corners, " corners, and the list ", spec.corners.size()));
  }
  if (!spec.neighbours.empty() && spec.neighbours.size() != corners) {
    return MakeError(
        ErrorReason::kBadSize, "neighbours",
        absl::StrCat("there are ", spec.neighbours.size(), " neighbours for ", corners, " corners"));
  }
  return absl::OkStatus();
}

absl::Status CheckPolygon(const MeshSpec& spec, std::size_t polygon, std::size_t first_corner) {
  std::array<FixedPoint, kMaxPolygonCorners> loop;
  const std::size_t count = spec.polygons[polygon].corner_count;
  double reach = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t vertex = spec.corners[first_corner + k];
    if (vertex >= spec.vertices.size()) {
      return MakeError(
          ErrorReason::kBadValue, CornerField(polygon, "vertices", k),
          absl::StrCat("there is no vertex ", vertex, ": there are ", spec.vertices.size(), ", from 0"));
    }
    loop[k] = ToFixed(spec.vertices[vertex]);
    reach = std::max({reach, std::abs(spec.vertices[vertex].x), std::abs(spec.vertices[vertex].y)});
  }
  if (spec.polygons[polygon].area >= kMaxMeshAreas) {
    return MakeError(ErrorReason::kBadValue, absl::StrCat(PolygonField(polygon), ".area"),
                     absl::StrCat("areas are from 0 to ", kMaxMeshAreas - 1));
  }
  switch (FindLoopFault(absl::MakeConstSpan(loop.data(), count), LoopSlack(reach))) {
    case LoopFault::kNone:
      return absl::OkStatus();
    case LoopFault::kNotCounterclockwise:
      return MakeError(ErrorReason::kBadPolygon, PolygonField(polygon),
                       "seen from above the polygon runs clockwise or has no area");
    case LoopFault::kNotConvex:
      break;
  }
  return MakeError(ErrorReason::kBadPolygon, PolygonField(polygon), "the polygon is not convex");
}

absl::Status CheckDetail(const MeshSpec& spec, const StopCheck* stop) {
  const std::size_t count = spec.detail.polygon_count();
  if (count != 0 && count != spec.polygons.size()) {
    return MakeError(ErrorReason::kBadSize, "detail",
                     absl::StrCat("there is finer ground for ", count, " of ", spec.polygons.size(),
                                  " polygons, and not for all or none"));
  }
  for (std::size_t i = 0; i < count; ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    for (const DetailPoint& point : spec.detail.Of(i).points) {
      WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("detail[", i, "]"),
                                 CheckPosition(WorldPoint{point.x, point.y, point.z}));
    }
  }
  return absl::OkStatus();
}

// Returns the positions in the loop of the corners of its convex hull, counterclockwise, without those in the
// middle of a side: Andrew, "Another Efficient Algorithm for Convex Hulls in Two Dimensions" (1979).
absl::Span<const std::size_t> FindHull(absl::Span<const FixedPoint> loop,
                                       std::array<std::size_t, 2 * kMaxPolygonCorners>& hull) {
  std::array<std::size_t, kMaxPolygonCorners> order;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    order[i] = i;
  }
  const auto key = [&](std::size_t i) { return std::tuple(loop[i].x, loop[i].y, i); };
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(loop.size()),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::size_t size = 0;
  std::size_t base = 1;
  const auto add = [&](std::size_t i) {
    while (size > base && SideOf(loop[hull[size - 2]], loop[hull[size - 1]], loop[i]) <= 0) {
      --size;
    }
    hull[size++] = i;
  };
  for (std::size_t i = 0; i < loop.size(); ++i) {
    add(order[i]);
  }
  base = size;
  for (std::size_t i = loop.size() - 1; i-- > 0;) {
    add(order[i]);
  }
  return absl::MakeConstSpan(hull.data(), size - 1);
}

}  // namespace

absl::Status CheckMeshParts(const MeshSpec& spec, const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(CheckSizes(spec));
  for (std::size_t i = 0; i < spec.vertices.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("vertices[", i, "]"), CheckPosition(spec.vertices[i]));
  }
  std::size_t first_corner = 0;
  for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    WAYSTAR_RETURN_IF_ERROR(CheckPolygon(spec, i, first_corner));
    first_corner += spec.polygons[i].corner_count;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckDetail(spec, stop));
  return CheckMeshTerrains(spec.terrains);
}

absl::StatusOr<std::vector<PolygonNumber>> MatchMeshEdges(const MeshSpec& spec, const StopCheck* stop) {
  std::vector<std::uint32_t> first_corners;
  first_corners.reserve(spec.polygons.size());
  std::uint32_t first = 0;
  for (const MeshPolygon& polygon : spec.polygons) {
    first_corners.push_back(first);
    first += polygon.corner_count;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<HalfEdge> edges,
                           SortedEdges(
                               spec.polygons, spec.corners.size(),
                               [&](std::size_t corner) { return spec.corners[corner]; }, stop));

  const auto field_of = [&](const HalfEdge& edge, absl::string_view list) {
    return CornerField(edge.polygon, list, edge.corner - first_corners[edge.polygon]);
  };
  const auto is_open = [&](const HalfEdge& edge) {
    return spec.neighbours.empty() || spec.neighbours[edge.corner] != kNoPolygon;
  };
  std::vector<PolygonNumber> across(edges.size(), kNoPolygon);
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const HalfEdge& edge = edges[i - 1];
    const HalfEdge& next = edges[i];
    if (!edge.IsAlong(next)) {
      continue;
    }
    if (edge.is_back == next.is_back) {
      return MakeError(ErrorReason::kBadPolygon, field_of(next, "vertices"),
                       absl::StrCat("the edge that begins here lies on the same side of polygon ",
                                    edge.polygon, ": an edge has at most two polygons, one on each side"));
    }
    if (is_open(edge) != is_open(next)) {
      return MakeError(ErrorReason::kBadPolygon, field_of(is_open(edge) ? edge : next, "neighbours"),
                       "the edge is a wall for the polygon on its other side");
    }
    if (is_open(edge)) {
      across[edge.corner] = next.polygon;
      across[next.corner] = edge.polygon;
    }
  }
  for (std::size_t i = 0; !spec.neighbours.empty() && i < edges.size(); ++i) {
    const PolygonNumber neighbour = spec.neighbours[edges[i].corner];
    if (neighbour != across[edges[i].corner]) {
      return MakeError(ErrorReason::kBadPolygon, field_of(edges[i], "neighbours"),
                       absl::StrCat("polygon ", neighbour, " does not adjoin this edge"));
    }
  }
  return across;
}

LoopFault FindLoopFault(absl::Span<const FixedPoint> loop, double slack) {
  if (TwiceArea(loop.size(), [&](std::size_t k) { return loop[k]; }) <= 0) {
    return LoopFault::kNotCounterclockwise;
  }
  if (loop.size() == 3) {
    return LoopFault::kNone;
  }
  std::array<std::size_t, 2 * kMaxPolygonCorners> places;
  const absl::Span<const std::size_t> hull = FindHull(loop, places);
  std::size_t passed = 0;
  for (std::size_t h = 0; h < hull.size(); ++h) {
    const std::size_t begin = hull[h];
    const std::size_t end = hull[(h + 1) % hull.size()];
    const std::size_t steps = (end + loop.size() - begin) % loop.size();
    passed += steps;
    const FixedPoint& a = loop[begin];
    const FixedPoint& b = loop[end];
    const auto dx = static_cast<double>(b.x - a.x);
    const auto dy = static_cast<double>(b.y - a.y);
    const double length = std::sqrt(dx * dx + dy * dy);
    for (std::size_t step = 0; step < steps; ++step) {
      const FixedPoint& from = loop[(begin + step) % loop.size()];
      const FixedPoint& to = loop[(begin + step + 1) % loop.size()];
      const Int128 along = Int128{to.x - from.x} * (b.x - a.x) + Int128{to.y - from.y} * (b.y - a.y);
      if (along <= 0 || static_cast<double>(SideOf(a, b, to)) > slack * length) {
        return LoopFault::kNotConvex;
      }
    }
  }
  return passed == loop.size() ? LoopFault::kNone : LoopFault::kNotConvex;
}

void DropUnusedVertices(MeshSpec& spec) {
  constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> numbers(spec.vertices.size(), kUnused);
  for (const std::uint32_t vertex : spec.corners) {
    numbers[vertex] = 0;
  }
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != kUnused) {
      spec.vertices[count] = spec.vertices[i];
      numbers[i] = count++;
    }
  }
  spec.vertices.resize(count);
  spec.vertices.shrink_to_fit();
  for (std::uint32_t& vertex : spec.corners) {
    vertex = numbers[vertex];
  }
}

namespace {

class FanSplitter {
 public:
  FanSplitter(MeshSpec& spec, const std::vector<PolygonNumber>& neighbours, const StopCheck* stop)
      : spec_(spec),
        neighbours_(neighbours),
        stop_(stop),
        is_done_(spec.corners.size(), false),
        has_fan_(spec.vertices.size(), false) {
    std::uint32_t first = 0;
    for (const MeshPolygon& polygon : spec.polygons) {
      first_corners_.push_back(first);
      first += polygon.corner_count;
    }
  }

  absl::Status Run() {
    // First the fans that start at a wall, then the closed ones.
    WAYSTAR_RETURN_IF_ERROR(Visit(/*at_walls=*/true));
    WAYSTAR_RETURN_IF_ERROR(Visit(/*at_walls=*/false));
    return spec_.vertices.size() <= kMaxMeshVertices
               ? absl::OkStatus()
               : MakeError(
                     ErrorReason::kBadSize, "vertices",
                     absl::StrCat("where polygons meet in a vertex alone, each has one of its own: there "
                                  "are more than ",
                                  kMaxMeshVertices, " then"));
  }

 private:
  // A corner of a polygon, by its position there.
  struct Corner {
    PolygonNumber polygon = 0;
    std::uint32_t place = 0;
  };

  std::size_t IndexOf(const Corner& corner) const { return first_corners_[corner.polygon] + corner.place; }
  std::uint32_t CountOf(PolygonNumber polygon) const { return spec_.polygons[polygon].corner_count; }
  Corner Before(const Corner& corner) const {
    const std::uint32_t count = CountOf(corner.polygon);
    return {corner.polygon, corner.place == 0 ? count - 1 : corner.place - 1};
  }

  absl::Status Visit(bool at_walls) {
    for (PolygonNumber polygon = 0; polygon < spec_.polygons.size(); ++polygon) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, polygon));
      for (std::uint32_t place = 0; place < CountOf(polygon); ++place) {
        const Corner corner{polygon, place};
        const bool begins_here = !at_walls || neighbours_[IndexOf(corner)] == kNoPolygon;
        if (begins_here && !is_done_[IndexOf(corner)]) {
          SplitFanFrom(corner);
        }
      }
    }
    return absl::OkStatus();
  }

  // Visits the fan of the corner counterclockwise. Gives it a new vertex if another fan uses the vertex.
  void SplitFanFrom(const Corner& corner) {
    const std::uint32_t vertex = spec_.corners[IndexOf(corner)];
    std::uint32_t own = vertex;
    if (has_fan_[vertex]) {
      own = static_cast<std::uint32_t>(spec_.vertices.size());
      spec_.vertices.push_back(spec_.vertices[vertex]);
    }
    has_fan_[vertex] = true;
    for (std::optional<Corner> at = corner; at && !is_done_[IndexOf(*at)];) {
      is_done_[IndexOf(*at)] = true;
      spec_.corners[IndexOf(*at)] = own;
      const PolygonNumber next = neighbours_[IndexOf(Before(*at))];
      at = next == kNoPolygon ? std::nullopt : CornerAcross(next, vertex, at->polygon);
    }
  }

  // Returns the corner of the polygon at the vertex from which its edge to the other polygon leads away, or
  // nullopt once the fan has returned to its start.
  std::optional<Corner> CornerAcross(PolygonNumber polygon, std::uint32_t vertex, PolygonNumber other) const {
    for (std::uint32_t place = 0; place < CountOf(polygon); ++place) {
      const std::size_t index = first_corners_[polygon] + place;
      if (spec_.corners[index] == vertex && neighbours_[index] == other) {
        return Corner{polygon, place};
      }
    }
    return std::nullopt;
  }

  MeshSpec& spec_;
  const std::vector<PolygonNumber>& neighbours_;
  const StopCheck* const stop_;
  std::vector<std::uint32_t> first_corners_;
  // For each corner, true if its fan has been visited; for each original vertex, true if a fan uses it.
  std::vector<bool> is_done_;
  std::vector<bool> has_fan_;
};

}  // namespace

absl::Status SplitFans(MeshSpec& spec, const std::vector<PolygonNumber>& neighbours, const StopCheck* stop) {
  return FanSplitter(spec, neighbours, stop).Run();
}

namespace {

// Maximum number of nearby walls checked per wall.
constexpr int kMostNear = 64;
// Limits on computed distances: the mean per wall, and the total.
constexpr std::size_t kDistancesPerWall = 256;
constexpr std::size_t kMostDistances = std::size_t{1} << 26;
// Maximum cosine of the angle between two walls: up to 25 degrees from opposite.
constexpr double kMostCosine = -0.9;

// Returns true if the walls run in approximately opposite directions.
bool AreOpposed(const EdgeEnds& a, const EdgeEnds& b) {
  const double ax = a.to.x - a.from.x;
  const double ay = a.to.y - a.from.y;
  const double bx = b.to.x - b.from.x;
  const double by = b.to.y - b.from.y;
  return ax * bx + ay * by < kMostCosine * std::sqrt((ax * ax + ay * ay) * (bx * bx + by * by));
}

bool Adjoin(const NavMesh& mesh, PolygonNumber a, PolygonNumber b) {
  const auto neighbours = mesh.NeighboursOf(a);
  return a == b || std::find(neighbours.begin(), neighbours.end(), b) != neighbours.end();
}

// Returns true if the wall has such a gap; see CountMeshGaps. Adds the number of computed distances to
// `distances`.
bool HasGap(const NavMesh& mesh, std::uint32_t wall, const MeshGap& gap, std::size_t& distances) {
  const EdgeEnds ends = mesh.EndsOf(mesh.WallAt(wall));
  const WorldPoint middle{(ends.from.x + ends.to.x) / 2, (ends.from.y + ends.to.y) / 2, 0.0};
  const double height = (ends.from.z + ends.to.z) / 2;
  const auto nearest_of = [&](std::uint32_t other) {
    const EdgeEnds other_ends = mesh.EndsOf(mesh.WallAt(other));
    return NearestOnPlanSegment(other_ends.from, other_ends.to, middle);
  };
  int looked_at = 0;
  bool is_found = false;
  mesh.wall_tree().VisitInOrder(
      middle, gap.high * gap.high,
      [&](std::uint32_t other) {
        ++distances;
        return nearest_of(other).squared_distance;
      },
      [&](std::uint32_t other, double squared_distance) {
        const EdgeEnds other_ends = mesh.EndsOf(mesh.WallAt(other));
        const double share = nearest_of(other).share;
        const double other_height = other_ends.from.z + share * (other_ends.to.z - other_ends.from.z);
        is_found = squared_distance > gap.low * gap.low && std::abs(other_height - height) <= gap.height &&
                   AreOpposed(ends, other_ends) &&
                   !Adjoin(mesh, mesh.WallAt(wall).polygon, mesh.WallAt(other).polygon);
        return !is_found && ++looked_at < kMostNear;
      });
  return is_found;
}

}  // namespace

absl::StatusOr<std::int64_t> CountMeshGaps(const NavMesh& mesh, const MeshGap& gap, const StopCheck* stop) {
  std::int64_t count = 0;
  std::size_t distances = 0;
  const std::size_t most = std::min(kDistancesPerWall * mesh.wall_count(), kMostDistances);
  for (std::uint32_t wall = 0; wall < mesh.wall_count() && distances < most; ++wall) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    count += HasGap(mesh, wall, gap, distances) ? 1 : 0;
  }
  return count;
}

}  // namespace waystar::core
