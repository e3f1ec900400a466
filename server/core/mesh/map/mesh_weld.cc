#include "server/core/mesh/map/mesh_weld.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/mesh/map/mesh_check.h"
#include "server/core/mesh/map/mesh_seams.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/shape_outlines.h"

namespace waystar::core {
namespace {

// Maximum displacement of vertices from an edge by rounding to 2^-20.
constexpr double kLeastTolerance = 2.0 / kFixedScale;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// Leaves room for a vertex in the middle of each edge.
constexpr std::size_t kMaxPieceCorners = kMaxPolygonCorners / 2;

// Limit of the number of stop checks (one per 256 steps) while welding a soup, plus its corners: about half a
// second. Enough for 16 polygons of kMaxWeldCorners corners.
constexpr std::size_t kMostLooks = std::size_t{1} << 19;

absl::Status TooLarge(absl::string_view what) { return MakeError(ErrorReason::kBadSize, "", what); }

// StopCheck that forwards another check and limits the work independently of the machine. Thread-safe if
// `stop` is.
class WorkLimit final : public StopCheck {
 public:
  // `stop` may be null; otherwise it must outlive this.
  WorkLimit(const StopCheck* stop, std::size_t looks)
      : stop_(stop), left_(static_cast<std::int64_t>(looks)) {}

  absl::Status Check() const override {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    return --left_ >= 0 ? absl::OkStatus()
                        : TooLarge("too many vertices lie on or near edges of other polygons");
  }

 private:
  const StopCheck* const stop_;
  mutable std::atomic<std::int64_t> left_;
};

// Finds the earlier vertex that a new one is merged into. A hash table of boxes twice as wide as the
// tolerance, so that the neighbourhood of a vertex covers at most eight boxes. Kept vertices are apart from
// each other, so that a box has few. Not thread-safe.
class VertexGrid {
 public:
  VertexGrid(const std::vector<WorldPoint>& vertices, const WeldTolerance& tolerance)
      : vertices_(vertices), tolerance_(tolerance), next_(vertices.size(), kNone) {}

  // Returns the nearest kept vertex within the tolerance; if there is none, keeps this vertex and returns it.
  std::uint32_t FindOrKeep(std::uint32_t vertex) {
    const WorldPoint& point = vertices_[vertex];
    const double plan = tolerance_.plan;
    const double height = tolerance_.height;
    const Box low = BoxOf({point.x - plan, point.y - plan, point.z - height});
    const Box high = BoxOf({point.x + plan, point.y + plan, point.z + height});
    std::uint32_t nearest = kNone;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t x = low[0]; x <= high[0]; ++x) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t z = low[2]; z <= high[2]; ++z) {
          const auto found = first_.find(Box{x, y, z});
          for (std::uint32_t i = found == first_.end() ? kNone : found->second; i != kNone; i = next_[i]) {
            const double distance = SquaredDistance(vertices_[i], point);
            if (IsNear(vertices_[i], point) && std::tie(distance, i) < std::tie(least, nearest)) {
              least = distance;
              nearest = i;
            }
          }
        }
      }
    }
    return nearest != kNone ? nearest : Keep(vertex);
  }

  std::uint32_t Keep(std::uint32_t vertex) {
    std::uint32_t& first = first_.try_emplace(BoxOf(vertices_[vertex]), kNone).first->second;
    next_[vertex] = std::exchange(first, vertex);
    return vertex;
  }

 private:
  using Box = std::array<std::int64_t, 3>;

  Box BoxOf(const WorldPoint& point) const {
    const auto place = [](double value, double tolerance) {
      return static_cast<std::int64_t>(std::floor(value / std::max(2.0 * tolerance, kLeastTolerance)));
    };
    return {place(point.x, tolerance_.plan), place(point.y, tolerance_.plan),
            place(point.z, tolerance_.height)};
  }

  bool IsNear(const WorldPoint& a, const WorldPoint& b) const {
    return std::abs(a.z - b.z) <= tolerance_.height &&
           SquaredPlanDistance(a, b) <= tolerance_.plan * tolerance_.plan;
  }

  const std::vector<WorldPoint>& vertices_;
  const WeldTolerance tolerance_;
  absl::flat_hash_map<Box, std::uint32_t> first_;
  // Next vertex of the same box.
  std::vector<std::uint32_t> next_;
};

struct Corner {
  std::uint32_t vertex = 0;
  // True if the edge from here to the next corner may be joined to edges with other vertices.
  bool is_seam = false;
  // Vertex of the soup at this corner, at its original position.
  std::uint32_t place = 0;
};

struct SoupPolygon : MeshPolygon {
  // Number of the polygon in the soup.
  PolygonNumber origin = 0;
};

// Polygons as loops of vertex numbers. Not thread-safe.
struct Loops {
  std::vector<Corner> corners;
  std::vector<SoupPolygon> polygons;

  // Adds a loop that originates from the polygon.
  void Add(absl::Span<const Corner> loop, const SoupPolygon& polygon) {
    polygons.push_back({{static_cast<std::uint32_t>(loop.size()), polygon.area}, polygon.origin});
    corners.insert(corners.end(), loop.begin(), loop.end());
  }

  // Calls visit(polygon, first corner, loop), which returns a status.
  template <typename Visitor>
  absl::Status ForEach(const StopCheck* stop, Visitor visit) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i < polygons.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
      const std::size_t count = polygons[i].corner_count;
      WAYSTAR_RETURN_IF_ERROR(visit(polygons[i], first, absl::MakeConstSpan(corners).subspan(first, count)));
      first += count;
    }
    return absl::OkStatus();
  }

  // Returns the edges, sorted by their pair of vertices.
  absl::StatusOr<std::vector<HalfEdge>> SortedEdges(const StopCheck* stop) const {
    return core::SortedEdges(
        polygons, corners.size(), [&](std::size_t corner) { return corners[corner].vertex; }, stop);
  }
};

// Welds one soup. Not thread-safe.
class Welder {
 public:
  Welder(MeshSoup soup, const WeldTolerance& tolerance, const StopCheck* stop)
      : soup_(std::move(soup)),
        tolerance_(tolerance),
        limit_(stop, kMostLooks + soup_.spec.corners.size()),
        stop_(&limit_),
        has_seams_(!soup_.seams.empty()) {}

  absl::StatusOr<MeshSpec> Weld() {
    for (WorldPoint& vertex : soup_.spec.vertices) {
      vertex = Rounded(vertex);
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> places, MergeVertices());
    WAYSTAR_ASSIGN_OR_RETURN(Loops loops, MakeLoops(places));
    WAYSTAR_ASSIGN_OR_RETURN(loops, SplitEdges(std::move(loops)));
    WAYSTAR_ASSIGN_OR_RETURN(loops, MakeConvex(std::move(loops)));
    WAYSTAR_ASSIGN_OR_RETURN(loops, PartThirdPolygons(std::move(loops)));
    return Finish(loops);
  }

  // Returns the report; call after Weld.
  WeldReport TakeReport() { return std::move(report_); }

 private:
  std::vector<WorldPoint>& vertices() { return soup_.spec.vertices; }

  bool IsSeam(std::size_t corner) const { return soup_.seams.empty() || soup_.seams[corner]; }

  // Returns, for each vertex, the vertex that it is merged into.
  absl::StatusOr<std::vector<std::uint32_t>> MergeVertices() {
    std::vector<bool> is_on_seam(vertices().size());
    std::size_t first = 0;
    for (const MeshPolygon& polygon : soup_.spec.polygons) {
      for (std::size_t k = 0; k < polygon.corner_count; ++k) {
        if (IsSeam(first + k)) {
          is_on_seam[soup_.spec.corners[first + k]] = true;
          is_on_seam[soup_.spec.corners[first + (k + 1 < polygon.corner_count ? k + 1 : 0)]] = true;
        }
      }
      first += polygon.corner_count;
    }
    VertexGrid grid(vertices(), tolerance_);
    std::vector<std::uint32_t> places(vertices().size());
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      places[i] = !is_on_seam[i] ? i : i < soup_.fixed_vertices ? grid.Keep(i) : grid.FindOrKeep(i);
    }
    return places;
  }

  absl::StatusOr<Loops> MakeLoops(const std::vector<std::uint32_t>& places) {
    Loops loops;
    std::size_t first = 0;
    std::vector<Corner> loop;
    absl::flat_hash_set<std::pair<std::uint32_t, std::uint32_t>> gaps;
    bool runs_back = false;
    if (has_seams_) {
      WAYSTAR_ASSIGN_OR_RETURN(runs_back, MostRunBack());
    }
    for (std::size_t i = 0; i < soup_.spec.polygons.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      const MeshPolygon& polygon = soup_.spec.polygons[i];
      if (polygon.corner_count > kMaxWeldCorners) {
        return TooManyWeldCorners();
      }
      loop.clear();
      for (std::size_t k = 0; k < polygon.corner_count; ++k) {
        const std::size_t next = first + (k + 1 < polygon.corner_count ? k + 1 : 0);
        const std::uint32_t vertex = places[soup_.spec.corners[first + k]];
        if (vertex != places[soup_.spec.corners[next]]) {
          loop.push_back({vertex, IsSeam(first + k), soup_.spec.corners[first + k]});
        }
      }
      first += polygon.corner_count;
      const Int128 area = TwiceArea(loop);
      if (area < 0) {
        Reverse(loop);
      }
      const bool is_turned = has_seams_ && (area < 0) != runs_back;
      if (area != 0 && !(is_turned && IsThin(loop))) {
        loops.Add(loop, {polygon, static_cast<PolygonNumber>(i)});
      } else {
        ++report_.dropped;
        ForEachEdge(loop, [&](std::size_t, std::uint32_t from, std::uint32_t to) {
          gaps.insert({std::min(from, to), std::max(from, to)});
        });
        if (is_turned) {
          Reverse(loop);
        }
        dropped_.Add(loop, {polygon, static_cast<PolygonNumber>(i)});
      }
    }
    OpenGaps(gaps, loops);
    soup_.spec.corners = {};
    soup_.seams = {};
    return loops;
  }

  // Returns true if most polygons of the soup run clockwise.
  // REQUIRES: it has seams.
  absl::StatusOr<bool> MostRunBack() {
    std::size_t back = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < soup_.spec.polygons.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      const std::size_t count = soup_.spec.polygons[i].corner_count;
      const Int128 area = core::TwiceArea(
          count, [&](std::size_t k) { return ToFixed(vertices()[soup_.spec.corners[first + k]]); });
      back += area < 0 ? 1 : 0;
      first += count;
    }
    return 2 * back > soup_.spec.polygons.size();
  }

  // Returns true if all corners are within the tolerance of the longest edge, seen from above.
  bool IsThin(absl::Span<const Corner> loop) {
    WorldPoint a;
    WorldPoint b;
    double length = 0.0;
    ForEachEdge(loop, [&](std::size_t, std::uint32_t from, std::uint32_t to) {
      const WorldPoint& low = vertices()[from];
      const WorldPoint& high = vertices()[to];
      const double own = DistanceInPlan(low, high);
      if (own > length) {
        a = low;
        b = high;
        length = own;
      }
    });
    return std::all_of(loop.begin(), loop.end(), [&](const Corner& corner) {
      const WorldPoint& p = vertices()[corner.vertex];
      return std::abs((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)) <= plan_tolerance() * length;
    });
  }

  // Calls visit(corner, from, to) for the edges of a loop.
  template <typename Visitor>
  static void ForEachEdge(absl::Span<const Corner> loop, Visitor visit) {
    for (std::size_t k = 0; k < loop.size(); ++k) {
      visit(k, loop[k].vertex, loop[k + 1 < loop.size() ? k + 1 : 0].vertex);
    }
  }

  // Allows edges to be joined with others that had a dropped polygon between them. `gaps` holds the edges of
  // dropped polygons.
  static void OpenGaps(const absl::flat_hash_set<std::pair<std::uint32_t, std::uint32_t>>& gaps,
                       Loops& loops) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < loops.polygons.size() && !gaps.empty(); ++i) {
      const absl::Span<Corner> loop =
          absl::MakeSpan(loops.corners).subspan(first, loops.polygons[i].corner_count);
      ForEachEdge(loop, [&](std::size_t k, std::uint32_t from, std::uint32_t to) {
        loop[k].is_seam = loop[k].is_seam || gaps.contains({std::min(from, to), std::max(from, to)});
      });
      first += loop.size();
    }
  }

  // Reverses a loop. An edge belongs to the corner where it starts, which changes with the direction.
  static void Reverse(std::vector<Corner>& loop) {
    if (loop.empty()) {
      return;
    }
    std::reverse(loop.begin(), loop.end());
    const bool last = loop.front().is_seam;
    for (std::size_t k = 0; k + 1 < loop.size(); ++k) {
      loop[k].is_seam = loop[k + 1].is_seam;
    }
    loop.back().is_seam = last;
  }

  // Splits edges without a neighbour where other edges that overlap them end.
  absl::StatusOr<Loops> SplitEdges(Loops loops) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<bool> is_open, FindOpenEdges(loops));
    std::vector<std::uint32_t> edge_at(loops.corners.size(), kNone);
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<SeamEdge> edges, ListSeams(loops, is_open, edge_at));
    WAYSTAR_ASSIGN_OR_RETURN(
        SeamSplits splits,
        SplitSeams(vertices(), edges, {.plan = plan_tolerance(), .height = tolerance_.height}, has_seams_,
                   stop_));
    report_.overlaps = std::move(splits.overlaps);
    std::vector<std::uint32_t> last_polygon_of(vertices().size(), kNone);
    Loops split;
    std::size_t pieces = 0;
    std::vector<Corner> added;
    const absl::Status visited = loops.ForEach(
        stop_, [&](const SoupPolygon& polygon, std::size_t first, absl::Span<const Corner> loop) {
          const auto number = static_cast<std::uint32_t>(split.polygons.size());
          for (const Corner& corner : loop) {
            last_polygon_of[corner.vertex] = number;
          }
          added.clear();
          for (std::size_t k = 0; k < loop.size(); ++k) {
            added.push_back(loop[k]);
            const std::uint32_t edge = edge_at[first + k];
            if (edge == kNone) {
              continue;
            }
            std::vector<VertexOnEdge>& found = splits.vertices[edge];
            std::sort(found.begin(), found.end(), [&](const VertexOnEdge& a, const VertexOnEdge& b) {
              return edges[edge].is_back ? std::tie(b.share, b.vertex) < std::tie(a.share, a.vertex)
                                         : std::tie(a.share, a.vertex) < std::tie(b.share, b.vertex);
            });
            for (const VertexOnEdge& on_edge : found) {
              if (last_polygon_of[on_edge.vertex] != number) {
                added.push_back({on_edge.vertex, true, on_edge.vertex});
              }
            }
            if (added.size() > kMaxWeldCorners) {
              return TooManyWeldCorners();
            }
          }
          split.Add(added, polygon);
          pieces += added.size() > kMaxPieceCorners ? added.size() - 2 : 1;
          if (pieces > kMaxMeshPolygons) {
            return TooManyPieces();
          }
          return split.corners.size() > kMaxMeshCorners ? TooManyInAll() : absl::OkStatus();
        });
    WAYSTAR_RETURN_IF_ERROR(visited);
    return split;
  }

  // Returns the open edges and, unless all edges are seams, the seams, including those of dropped polygons.
  // `edge_at` maps corners of the loops to edge numbers.
  absl::StatusOr<std::vector<SeamEdge>> ListSeams(const Loops& loops, const std::vector<bool>& is_open,
                                                  std::vector<std::uint32_t>& edge_at) const {
    std::vector<SeamEdge> edges;
    const auto add = [&](const Loops& from, const std::vector<bool>& is_open_at,
                         std::vector<std::uint32_t>& at) {
      return from.ForEach(stop_, [&](const SoupPolygon& polygon, std::size_t first,
                                     absl::Span<const Corner> loop) {
        ForEachEdge(loop, [&](std::size_t k, std::uint32_t from_vertex, std::uint32_t to_vertex) {
          const bool open = is_open_at[first + k];
          if (open || (has_seams_ && loop[k].is_seam)) {
            const bool is_back = from_vertex > to_vertex;
            const Corner& next = loop[k + 1 < loop.size() ? k + 1 : 0];
            const Corner& low = is_back ? next : loop[k];
            const Corner& high = is_back ? loop[k] : next;
            at[first + k] = static_cast<std::uint32_t>(edges.size());
            edges.push_back({low.vertex, high.vertex, low.place, high.place, polygon.origin, is_back, open});
          }
        });
        return absl::OkStatus();
      });
    };
    WAYSTAR_RETURN_IF_ERROR(add(loops, is_open, edge_at));
    std::vector<std::uint32_t> dropped_at(dropped_.corners.size());
    WAYSTAR_RETURN_IF_ERROR(add(dropped_, std::vector<bool>(dropped_at.size()), dropped_at));
    return edges;
  }

  // Plan tolerance, at least the error of rounding to 2^-20.
  double plan_tolerance() const { return std::max(tolerance_.plan, kLeastTolerance); }

  // Returns, for each corner, true if its edge is a seam without a polygon on the other side.
  absl::StatusOr<std::vector<bool>> FindOpenEdges(const Loops& loops) const {
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<HalfEdge> edges, loops.SortedEdges(stop_));
    std::vector<bool> is_open(loops.corners.size());
    for (std::size_t begin = 0; begin < edges.size();) {
      std::size_t end = begin + 1;
      while (end < edges.size() && edges[end].IsAlong(edges[begin])) {
        ++end;
      }
      const bool has_both_sides = edges[begin].is_back != edges[end - 1].is_back;
      for (; begin < end; ++begin) {
        is_open[edges[begin].corner] = !has_both_sides && loops.corners[edges[begin].corner].is_seam;
      }
    }
    return is_open;
  }

  absl::StatusOr<Loops> MakeConvex(Loops loops) {
    Loops convex;
    std::vector<FixedPoint> points;
    const absl::Status visited =
        loops.ForEach(stop_, [&](const SoupPolygon& polygon, std::size_t, absl::Span<const Corner> loop) {
          if (TwiceArea(loop) <= 0) {
            ++report_.dropped;
            return absl::OkStatus();
          }
          if (loop.size() <= kMaxPieceCorners && IsConvex(loop)) {
            convex.Add(loop, polygon);
            return absl::OkStatus();
          }
          points.clear();
          for (const Corner& corner : loop) {
            points.push_back(ToFixed(vertices()[corner.vertex]));
          }
          WAYSTAR_ASSIGN_OR_RETURN(const std::vector<LoopTriangle> triangles, TriangulateLoop(points, stop_));
          report_.dropped += triangles.empty() ? 1 : 0;
          for (const LoopTriangle& triangle : triangles) {
            convex.Add({loop[triangle[0]], loop[triangle[1]], loop[triangle[2]]}, polygon);
          }
          return convex.corners.size() > kMaxMeshCorners ? TooManyInAll() : absl::OkStatus();
        });
    WAYSTAR_RETURN_IF_ERROR(visited);
    return convex;
  }

  // Makes each edge have at most one polygon on each side.
  absl::StatusOr<Loops> PartThirdPolygons(Loops loops) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<HalfEdge> edges, loops.SortedEdges(stop_));
    std::vector<bool> is_third(loops.corners.size());
    for (std::size_t i = 1; i < edges.size(); ++i) {
      is_third[edges[i].corner] = edges[i].IsAlong(edges[i - 1]) && edges[i].is_back == edges[i - 1].is_back;
    }
    Loops parted;
    std::vector<Corner> added;
    const absl::Status visited = loops.ForEach(stop_, [&](const SoupPolygon& polygon, std::size_t first,
                                                          absl::Span<const Corner> loop) {
      added.assign(loop.begin(), loop.end());
      for (std::size_t k = loop.size(); k-- > 0;) {
        if (!is_third[first + k]) {
          continue;
        }
        const WorldPoint a = vertices()[loop[k].vertex];
        const WorldPoint b = vertices()[loop[k + 1 < loop.size() ? k + 1 : 0].vertex];
        const auto own = static_cast<std::uint32_t>(vertices().size());
        vertices().push_back(Rounded(WorldPoint{(a.x + b.x) / 2.0, (a.y + b.y) / 2.0, (a.z + b.z) / 2.0}));
        const auto after = static_cast<std::ptrdiff_t>(k) + 1;
        added.insert(added.begin() + after, {own, false, own});
        // An edge may be too short to have a middle.
        if (!IsConvex(added)) {
          added.erase(added.begin() + after);
          added[k].vertex = own;
          vertices()[own] = a;
        }
      }
      parted.Add(added, polygon);
      return absl::OkStatus();
    });
    WAYSTAR_RETURN_IF_ERROR(visited);
    return parted;
  }

  MeshSpec Finish(const Loops& loops) {
    MeshSpec spec;
    spec.vertices = std::move(vertices());
    spec.polygons.assign(loops.polygons.begin(), loops.polygons.end());
    for (const SoupPolygon& polygon : loops.polygons) {
      report_.origins.push_back(polygon.origin);
      if (!soup_.spec.detail.empty()) {
        spec.detail.Add(soup_.spec.detail.Of(polygon.origin));
      }
    }
    spec.corners.reserve(loops.corners.size());
    for (const Corner& corner : loops.corners) {
      spec.corners.push_back(corner.vertex);
    }
    DropUnusedVertices(spec);
    return spec;
  }

  Int128 TwiceArea(absl::Span<const Corner> loop) {
    return core::TwiceArea(loop.size(), [&](std::size_t k) { return ToFixed(vertices()[loop[k].vertex]); });
  }

  // REQUIRES: the loop has at most kMaxPolygonCorners corners.
  bool IsConvex(absl::Span<const Corner> loop) {
    std::array<FixedPoint, kMaxPolygonCorners> points;
    double reach = 0.0;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const WorldPoint& vertex = vertices()[loop[k].vertex];
      points[k] = ToFixed(vertex);
      reach = std::max({reach, std::abs(vertex.x), std::abs(vertex.y)});
    }
    return FindLoopFault(absl::MakeConstSpan(points.data(), loop.size()), LoopSlack(reach)) ==
           LoopFault::kNone;
  }

  static absl::Status TooManyInAll() {
    return TooLarge(absl::StrCat("the polygons have more than ", kMaxMeshCorners,
                                 " corners, vertices of others on their edges included"));
  }

  static absl::Status TooManyPieces() {
    return TooLarge(absl::StrCat("the polygons would be more than ", kMaxMeshPolygons,
                                 " triangles, cut where vertices of others lie on their edges"));
  }

  MeshSoup soup_;
  const WeldTolerance tolerance_;
  const WorkLimit limit_;
  const StopCheck* const stop_;
  // True if the soup says which edges are seams.
  const bool has_seams_;
  // Polygons without area, or thin and turned over; their loops run in the same direction as the others'.
  Loops dropped_;
  WeldReport report_;
};

}  // namespace

absl::StatusOr<MeshSpec> WeldMesh(MeshSoup soup, const WeldTolerance& tolerance, const StopCheck* stop,
                                  WeldReport* report) {
  Welder welder(std::move(soup), tolerance, stop);
  absl::StatusOr<MeshSpec> spec = welder.Weld();
  if (report != nullptr) {
    *report = welder.TakeReport();
  }
  return spec;
}

}  // namespace waystar::core
