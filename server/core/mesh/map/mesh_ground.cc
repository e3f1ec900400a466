#include "server/core/mesh/map/mesh_ground.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/tags.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/mesh_check.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/polygon_tree.h"

namespace waystar::core {
namespace {

constexpr double kHeightsOfWeld = 25.0;
// Maximum number of edges looked at to join grounds: about a second.
constexpr std::size_t kMostVisits = std::size_t{1} << 25;
// Differences in height, per unit of weld, of points on one edge or of vertices beside it.
constexpr double kSlopeOfWeld = 4.0;
constexpr int kMostWelds = 4;
// Exceed the errors of rounding a point of an edge to 2^-20.
constexpr double kOnEdge = 2.0 / kFixedScale;
constexpr double kHeightOnEdge = 16.0 / kFixedScale;

// Returns the area of a terrain, or nullopt if the mesh has no such terrain.
std::optional<std::uint8_t> AreaNamed(const std::string& terrain, const NavMesh& mesh) {
  const absl::Span<const MeshTerrain> terrains = mesh.terrains();
  const auto named = std::ranges::find(terrains, terrain, &MeshTerrain::name);
  if (named == terrains.end()) {
    return terrain.empty() ? std::optional<std::uint8_t>(0) : std::nullopt;
  }
  return static_cast<std::uint8_t>(named - terrains.begin());
}

bool IsOf(const GroundPolygon& polygon, const NavMesh& surface, bool is_first) {
  // Radii are compared in single precision, in which files have them.
  return polygon.agent_radius == 0.0
             ? is_first
             : static_cast<float>(polygon.agent_radius) == static_cast<float>(surface.agent_radius());
}

absl::Status CheckPolygon(const GroundPolygon& polygon, const NavMesh& mesh) {
  if (polygon.corners.size() < 3 || polygon.corners.size() > kMaxPolygonCorners) {
    return MakeError(ErrorReason::kBadGround, "corners",
                     absl::StrCat("a polygon has 3 to ", kMaxPolygonCorners, " corners"));
  }
  for (std::size_t k = 0; k < polygon.corners.size(); ++k) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("corners[", k, "]"), CheckPosition(polygon.corners[k]));
  }
  const auto corner = [&](std::size_t k) { return ToFixed(polygon.corners[k]); };
  if (TwiceArea(polygon.corners.size(), corner) == 0) {
    return MakeError(ErrorReason::kBadGround, "corners", "the polygon has no area, seen from above");
  }
  Polygon outline;
  outline.vertices.reserve(polygon.corners.size());
  for (const WorldPoint& point : polygon.corners) {
    outline.vertices.push_back({point.x, point.y});
  }
  if (!OutlinesOf({.polygons = {std::move(outline)}}).ok()) {
    return MakeError(ErrorReason::kBadGround, "corners",
                     "the polygon touches or crosses itself, seen from above");
  }
  if (!(polygon.agent_radius >= 0.0 && polygon.agent_radius <= kMaxMeshAgentRadius)) {
    return BadNumber(ErrorReason::kBadGround, "agent_radius", polygon.agent_radius,
                     absl::StrCat("0 to ", kMaxMeshAgentRadius));
  }
  bool is_on_any = IsOf(polygon, mesh, true);
  bool has_terrain = AreaNamed(polygon.terrain, mesh).has_value();
  for (const NavMesh& surface : mesh.larger()) {
    if (IsOf(polygon, surface, false)) {
      is_on_any = true;
      has_terrain = AreaNamed(polygon.terrain, surface).has_value();
    }
  }
  if (!is_on_any) {
    return MakeError(ErrorReason::kBadGround, "agent_radius",
                     absl::StrCat("no surface of the mesh is for agents of radius ", polygon.agent_radius));
  }
  return has_terrain ? absl::OkStatus()
                     : MakeError(ErrorReason::kUnknownTerrain, "terrain",
                                 absl::StrCat("the mesh has no terrain \"", polygon.terrain, "\""));
}

// Ground that takes part in joining: the file, or the polygons of one ground once they are welded.
struct Source {
  // An edge without a polygon on the other side, from a corner to the next.
  struct OpenEdge {
    // Position of the corner in the list of all corners of the source.
    std::size_t corner = 0;
    WorldPoint from;
    WorldPoint to;
    // Corners of other sources between its ends, with their shares of the way.
    std::vector<std::pair<double, WorldPoint>> splits = {};
  };

  MeshBounds bounds;
  std::vector<OpenEdge> edges;
  // Places in `edges`, by OpenEdge::corner.
  absl::flat_hash_map<std::size_t, std::size_t> edge_at;
  PolygonTree tree;

  void AddEdge(const OpenEdge& edge) {
    bounds.Add(edge.from);
    bounds.Add(edge.to);
    edge_at.emplace(edge.corner, edges.size());
    edges.push_back(edge);
  }
  void MakeTree(const StopCheck* stop) {
    std::vector<MeshBounds> boxes(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      boxes[i].Add(edges[i].from);
      boxes[i].Add(edges[i].to);
    }
    tree = PolygonTree(boxes, stop);
  }
};

MeshBounds Around(MeshBounds box, double weld) {
  box.low = {box.low.x - weld, box.low.y - weld, box.low.z - kHeightsOfWeld * weld};
  box.high = {box.high.x + weld, box.high.y + weld, box.high.z + kHeightsOfWeld * weld};
  return box;
}

// Joins grounds, one after the other, to the file and to the grounds before them. Not thread-safe.
class GroundJoiner {
 public:
  // The mesh and the grounds must outlive this.
  GroundJoiner(const NavMesh& file, const GroundTable& grounds, bool is_first, const StopCheck* stop)
      : file_(file), grounds_(grounds), is_first_(is_first), stop_(stop) {
    parts_.is_removed.resize(file.polygon_count());
  }

  absl::StatusOr<GroundParts> Join() && {
    WAYSTAR_RETURN_IF_ERROR(ForEachGround([&](const MeshGround& ground) {
      return ground.region ? Remove(*ground.region, ground.heights) : absl::OkStatus();
    }));
    WAYSTAR_RETURN_IF_ERROR(ListEdgesOfFile());
    WAYSTAR_RETURN_IF_ERROR(ForEachGround([&](const MeshGround& ground) { return Weld(ground); }));
    AddFile();
    for (std::size_t i = 0; i < welded_.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      AddWelded(welded_[i], sources_[i + 1]);
    }
    WAYSTAR_RETURN_IF_ERROR(CheckSplitPolygons());
    return std::move(parts_);
  }

 private:
  using OpenEdge = Source::OpenEdge;
  using Key = std::tuple<double, double, double>;
  using Numbers = absl::flat_hash_map<Key, std::uint32_t>;

  // A part of an open edge, from this corner in the list of all corners to the next.
  struct OpenPart {
    const Source* source = nullptr;
    PolygonNumber polygon = 0;
    std::size_t corner = 0;
  };

  template <typename Visitor>
  absl::Status ForEachGround(const Visitor& visit) {
    absl::Status status;
    grounds_.VisitAfter("", [&](const MeshGround& ground) {
      status = CheckStop(stop_);
      status.Update(status.ok() ? visit(ground) : status);
      return status.ok();
    });
    return status;
  }

  static absl::Status TooMany() {
    return MakeError(ErrorReason::kBadSize, "",
                     "too many edges and corners are within the distance for joining grounds");
  }

  absl::Status Remove(const Shape& region, const HeightRange& heights) {
    WAYSTAR_ASSIGN_OR_RETURN(const HoleList holes, HolesOf(region, heights, 0.0, stop_));
    for (const std::shared_ptr<const MeshHole>& hole : holes) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      std::vector<PolygonNumber> polygons;
      file_.FindAllTouching(hole->outline, -kMeshTolerance, polygons);
      touched_ += polygons.size();
      if (touched_ > kMaxTouchedPolygons) {
        return MakeError(ErrorReason::kRegionTooLarge, "",
                         absl::StrCat("the parts of the regions of grounds touch more than ",
                                      kMaxTouchedPolygons, " polygons"));
      }
      for (const PolygonNumber polygon : polygons) {
        const WorldPoint middle = MiddleOf(polygon);
        if (heights.low <= middle.z && middle.z <= heights.high && IsWithin(hole->outline, middle)) {
          parts_.is_removed[polygon] = true;
        }
      }
    }
    return absl::OkStatus();
  }

  WorldPoint MiddleOf(PolygonNumber polygon) const {
    const absl::Span<const std::uint32_t> loop = file_.VerticesOf(polygon);
    const auto count = static_cast<double>(loop.size());
    WorldPoint middle;
    for (const std::uint32_t vertex : loop) {
      const WorldPoint& corner = file_.VertexAt(vertex);
      middle = {middle.x + corner.x / count, middle.y + corner.y / count, middle.z + corner.z / count};
    }
    return Rounded(middle);
  }

  static bool IsWithin(const ConvexOutline& outline, const WorldPoint& point) {
    for (std::size_t k = 0; k < outline.size(); ++k) {
      if (Side(outline[k], outline[k + 1 < outline.size() ? k + 1 : 0], point) < 0.0) {
        return false;
      }
    }
    return true;
  }

  // Lists the open edges of the file near the grounds.
  absl::Status ListEdgesOfFile() {
    MeshBounds near;
    grounds_.VisitAfter("", [&](const MeshGround& ground) {
      MeshBounds own;
      for (const GroundPolygon& polygon : ground.polygons) {
        for (const WorldPoint& corner : polygon.corners) {
          own.Add(corner);
        }
      }
      near.Add(Around(own, ground.weld));
      return true;
    });
    Source& source = sources_.emplace_back();
    std::size_t first = 0;
    for (PolygonNumber polygon = 0; polygon < file_.polygon_count(); ++polygon) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, polygon));
      const absl::Span<const PolygonNumber> neighbours = file_.NeighboursOf(polygon);
      ForEachEdge(file_, polygon, [&](std::uint32_t k, const WorldPoint& from, const WorldPoint& to) {
        MeshBounds box;
        box.Add(from);
        box.Add(to);
        if (!parts_.is_removed[polygon] && IsOpen(neighbours[k]) && box.Overlaps(near)) {
          source.AddEdge({first + k, from, to});
        }
      });
      first += neighbours.size();
    }
    source.MakeTree(stop_);
    return CheckStop(stop_);
  }

  bool IsOpen(PolygonNumber neighbour) const {
    return neighbour == kNoPolygon || parts_.is_removed[neighbour];
  }

  // Calls visit(edge) for the open edges so far with a box near this one, at most kMostVisits times in all.
  template <typename Visitor>
  void VisitEdgesNear(const MeshBounds& box, double weld, const Visitor& visit) {
    const MeshBounds near = Around(box, weld);
    for (Source* const source : near_) {
      source->tree.VisitTouching(
          [&](const MeshBounds& other) { return visits_ < kMostVisits && other.Overlaps(near); },
          [&](std::uint32_t edge) {
            ++visits_;
            visit(source->edges[edge]);
          });
    }
  }

  static double HeightOf(const OpenEdge& edge, double share) {
    return edge.from.z + share * (edge.to.z - edge.from.z);
  }

  // Returns where a corner is joined to: the nearest point of an open edge within the tolerance, or a vertex
  // about as high as that; nullopt if there is none. Sets `is_vertex`.
  std::optional<WorldPoint> Snapped(const WorldPoint& corner, double weld, bool& is_vertex) {
    using Rank = std::pair<double, WorldPoint>;
    MeshBounds box;
    box.Add(corner);
    std::optional<Rank> on_edge;
    const auto keep_nearer = [&](const WorldPoint& point, std::optional<Rank>& best) {
      const Rank rank{SquaredDistance(point, corner), point};
      best = best ? std::min(*best, rank) : rank;
    };
    const auto is_near = [&](const WorldPoint& point) {
      return SquaredPlanDistance(point, corner) <= weld * weld &&
             std::abs(point.z - corner.z) <= kHeightsOfWeld * weld;
    };
    VisitEdgesNear(box, weld, [&](const OpenEdge& edge) {
      const SegmentPoint nearest = NearestOnPlanSegment(edge.from, edge.to, corner);
      const WorldPoint point{nearest.point.x, nearest.point.y, HeightOf(edge, nearest.share)};
      if (is_near(point)) {
        keep_nearer(Rounded(point), on_edge);
      }
    });
    if (!on_edge) {
      return std::nullopt;
    }
    std::optional<Rank> vertex;
    VisitEdgesNear(box, weld, [&](const OpenEdge& edge) {
      for (const WorldPoint& end : {edge.from, edge.to}) {
        if (is_near(end) && std::abs(end.z - on_edge->second.z) <= kSlopeOfWeld * weld) {
          keep_nearer(end, vertex);
        }
      }
    });
    is_vertex = vertex.has_value();
    return is_vertex ? vertex->second : on_edge->second;
  }

  // Welds the polygons of a ground, with their corners at vertices and on edges of the sources so far, and
  // makes them the next source.
  absl::Status Weld(const MeshGround& ground) {
    MeshBounds bounds;
    std::vector<const GroundPolygon*> polygons;
    for (const GroundPolygon& polygon : ground.polygons) {
      if (IsOf(polygon, file_, is_first_)) {
        polygons.push_back(&polygon);
        for (const WorldPoint& corner : polygon.corners) {
          bounds.Add(corner);
        }
      }
    }
    near_.clear();
    for (Source& source : sources_) {
      if (source.bounds.Overlaps(Around(bounds, ground.weld))) {
        near_.push_back(&source);
      }
    }
    const WeldTolerance tolerance{.plan = ground.weld, .height = kHeightsOfWeld * ground.weld};
    WAYSTAR_ASSIGN_OR_RETURN(MeshSoup moved, SoupOf(polygons, ground.weld));
    WAYSTAR_ASSIGN_OR_RETURN(MeshSpec welded, WeldMesh(std::move(moved), tolerance, stop_));
    // The edges beside polygons that are dropped may be joined to each other.
    for (int round = 0; round < kMostWelds && DropThin(welded); ++round) {
      MeshSoup soup{.spec = std::move(welded)};
      soup.fixed_vertices = soup.spec.vertices.size();
      WAYSTAR_ASSIGN_OR_RETURN(welded, WeldMesh(std::move(soup), tolerance, stop_));
    }
    WAYSTAR_ASSIGN_OR_RETURN(welded.neighbours, MatchMeshEdges(welded, stop_));
    Source& source = sources_.emplace_back();
    std::size_t first = 0;
    for (const MeshPolygon& polygon : welded.polygons) {
      const std::size_t count = polygon.corner_count;
      for (std::size_t k = first; k < first + count; ++k) {
        if (welded.neighbours[k] == kNoPolygon) {
          const std::size_t next = k + 1 < first + count ? k + 1 : first;
          source.AddEdge({k, welded.vertices[welded.corners[k]], welded.vertices[welded.corners[next]]});
          Split(source.edges.back(), ground.weld);
        }
      }
      first += count;
    }
    source.MakeTree(stop_);
    welded_.push_back(std::move(welded));
    return visits_ < kMostVisits ? CheckStop(stop_) : TooMany();
  }

  // Removes the polygons without an area but for rounding: triangles with a corner in the middle of a side.
  // Returns false if there are none.
  static bool DropThin(MeshSpec& spec) {
    MeshSpec left;
    std::size_t first = 0;
    for (const MeshPolygon& polygon : spec.polygons) {
      const auto loop = absl::MakeConstSpan(spec.corners).subspan(first, polygon.corner_count);
      first += polygon.corner_count;
      double longest = 0.0;
      double area = 0.0;
      const WorldPoint& origin = spec.vertices[loop.front()];
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const WorldPoint& from = spec.vertices[loop[k]];
        const WorldPoint& to = spec.vertices[loop[k + 1 < loop.size() ? k + 1 : 0]];
        longest = std::max(longest, DistanceInPlan(from, to));
        area += Side(origin, from, to) / 2.0;
      }
      if (area > kOnEdge * longest / 2.0) {
        left.AddPolygon(loop, polygon.area);
      }
    }
    if (left.polygons.size() == spec.polygons.size()) {
      return false;
    }
    spec.polygons = std::move(left.polygons);
    spec.corners = std::move(left.corners);
    return true;
  }

  // Returns the polygons with their corners moved, and with the vertices of other sources on their edges as
  // corners. These vertices come first and are fixed; points of edges follow, as the first of vertices near
  // each other keeps its position. Returns TooMany, or the error of `stop_`.
  absl::StatusOr<MeshSoup> SoupOf(const std::vector<const GroundPolygon*>& polygons, double weld) {
    std::vector<std::vector<WorldPoint>> loops;
    std::vector<WorldPoint> on_edges;
    Numbers numbers;
    MeshSoup soup;
    std::size_t corners = 0;
    for (const GroundPolygon* const polygon : polygons) {
      std::vector<WorldPoint> moved;
      moved.reserve(polygon->corners.size());
      for (const WorldPoint& corner : polygon->corners) {
        bool is_vertex = false;
        const std::optional<WorldPoint> at = Snapped(Rounded(corner), weld, is_vertex);
        moved.push_back(at.value_or(Rounded(corner)));
        if (is_vertex) {
          NumberOf(moved.back(), soup.spec.vertices, numbers);
        } else if (at) {
          on_edges.push_back(*at);
        }
      }
      std::vector<WorldPoint>& loop = loops.emplace_back();
      for (std::size_t k = 0; k < moved.size() && visits_ < kMostVisits; ++k) {
        loop.push_back(moved[k]);
        const std::vector<WorldPoint> between =
            VerticesBetween(moved[k], moved[k + 1 < moved.size() ? k + 1 : 0], weld);
        for (const WorldPoint& vertex : between) {
          NumberOf(vertex, soup.spec.vertices, numbers);
          if (std::ranges::find(loop, vertex) == loop.end()) {
            loop.push_back(vertex);
          }
        }
        if (loop.size() > kMaxWeldCorners) {
          return TooMany();
        }
      }
      corners += loop.size();
      if (corners > kMaxMeshCorners || visits_ >= kMostVisits) {
        return TooMany();
      }
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    }
    soup.fixed_vertices = soup.spec.vertices.size();
    for (const WorldPoint& point : on_edges) {
      NumberOf(point, soup.spec.vertices, numbers);
    }
    for (std::size_t i = 0; i < loops.size(); ++i) {
      std::vector<std::uint32_t> loop;
      loop.reserve(loops[i].size());
      for (const WorldPoint& corner : loops[i]) {
        loop.push_back(NumberOf(corner, soup.spec.vertices, numbers));
      }
      soup.spec.AddPolygon(loop, AreaNamed(polygons[i]->terrain, file_).value_or(0));
    }
    return soup;
  }

  static std::uint32_t NumberOf(const WorldPoint& point, std::vector<WorldPoint>& vertices,
                                Numbers& numbers) {
    const auto [entry, is_new] =
        numbers.try_emplace({point.x, point.y, point.z}, static_cast<std::uint32_t>(vertices.size()));
    if (is_new) {
      vertices.push_back(point);
    }
    return entry->second;
  }

  // Returns the vertices of open edges between two corners of a polygon, in their order. If some are above
  // each other, only the one nearest in height is among them.
  std::vector<WorldPoint> VerticesBetween(const WorldPoint& from, const WorldPoint& to, double weld) {
    if (from.x == to.x && from.y == to.y) {
      return {};
    }
    struct Found {
      double share = 0.0;
      double off = 0.0;
      WorldPoint vertex;

      auto operator<=>(const Found&) const = default;
    };
    MeshBounds box;
    box.Add(from);
    box.Add(to);
    std::vector<Found> found;
    VisitEdgesNear(box, weld, [&](const OpenEdge& edge) {
      const double overlap = std::abs(NearestOnPlanSegment(from, to, edge.from).share -
                                      NearestOnPlanSegment(from, to, edge.to).share) *
                             DistanceInPlan(from, to);
      // A vertex of another storey may be within the tolerance, but its edges seldom run along this one.
      const double most_off = (overlap > 2.0 * weld ? kHeightsOfWeld : kSlopeOfWeld) * weld;
      for (const WorldPoint& vertex : {edge.from, edge.to}) {
        const SegmentPoint nearest = NearestOnPlanSegment(from, to, vertex);
        const double off = std::abs(from.z + nearest.share * (to.z - from.z) - vertex.z);
        if (nearest.share > 0.0 && nearest.share < 1.0 && nearest.squared_distance <= weld * weld &&
            off <= most_off && vertex != from && vertex != to) {
          found.push_back({nearest.share, off, vertex});
        }
      }
    });
    std::ranges::sort(found);
    std::vector<Found> kept;
    for (const Found& next : found) {
      const bool is_above = !kept.empty() &&
                            SquaredPlanDistance(kept.back().vertex, next.vertex) <= weld * weld &&
                            std::abs(kept.back().vertex.z - next.vertex.z) > kSlopeOfWeld * weld;
      if (!is_above) {
        kept.push_back(next);
      } else if (next.off < kept.back().off) {
        kept.back() = next;
      }
    }
    std::vector<WorldPoint> vertices;
    vertices.reserve(kept.size());
    for (const Found& one : kept) {
      vertices.push_back(one.vertex);
    }
    return vertices;
  }

  // Splits an edge at a corner of another source that is on it, at most `height` above or below.
  static void SplitIfOn(const WorldPoint& corner, double height, OpenEdge& edge) {
    const SegmentPoint nearest = NearestOnPlanSegment(edge.from, edge.to, corner);
    const bool is_between = nearest.share > 0.0 && nearest.share < 1.0 && corner != edge.from &&
                            corner != edge.to && nearest.squared_distance <= kOnEdge * kOnEdge;
    if (is_between && std::abs(HeightOf(edge, nearest.share) - corner.z) <= height) {
      edge.splits.emplace_back(nearest.share, corner);
    }
  }

  // Splits the open edges of earlier sources on which the edge begins, and the edge itself where they begin
  // or end on it: a thin polygon between them may have been dropped.
  void Split(OpenEdge& edge, double weld) {
    MeshBounds box;
    box.Add(edge.from);
    VisitEdgesNear(box, kOnEdge, [&](OpenEdge& other) { SplitIfOn(edge.from, kHeightOnEdge, other); });
    box.Add(edge.to);
    const double height = std::max(kHeightOnEdge, kSlopeOfWeld * weld);
    VisitEdgesNear(box, std::max(kOnEdge, height / kHeightsOfWeld), [&](const OpenEdge& other) {
      SplitIfOn(other.from, height, edge);
      SplitIfOn(other.to, height, edge);
    });
  }

  std::uint32_t VertexOf(const WorldPoint& point) { return NumberOf(point, parts_.spec.vertices, vertices_); }

  void AddFile() {
    Source& source = sources_.front();
    std::size_t first = 0;
    for (PolygonNumber polygon = 0; polygon < file_.polygon_count(); ++polygon) {
      const absl::Span<const PolygonNumber> neighbours = file_.NeighboursOf(polygon);
      const std::size_t begin = parts_.spec.corners.size();
      ForEachEdge(file_, polygon, [&](std::uint32_t k, const WorldPoint& from, const WorldPoint&) {
        const bool is_wall = parts_.is_removed[polygon] || IsOpen(neighbours[k]);
        AddCorner(from, is_wall ? kNoPolygon : neighbours[k], source, first + k);
      });
      first += neighbours.size();
      EndPolygon(begin, neighbours.size(), file_.AreaOf(polygon));
    }
  }

  void AddWelded(const MeshSpec& welded, Source& source) {
    const auto first_polygon = static_cast<PolygonNumber>(parts_.spec.polygons.size());
    std::size_t first = 0;
    for (const MeshPolygon& polygon : welded.polygons) {
      const std::size_t begin = parts_.spec.corners.size();
      for (std::size_t k = first; k < first + polygon.corner_count; ++k) {
        const PolygonNumber neighbour = welded.neighbours[k];
        AddCorner(welded.vertices[welded.corners[k]],
                  neighbour == kNoPolygon ? kNoPolygon : neighbour + first_polygon, source, k);
      }
      first += polygon.corner_count;
      EndPolygon(begin, polygon.corner_count, polygon.area);
    }
  }

  // Adds a corner of the polygon that is being added, and those on its edge to the next corner if the edge,
  // which begins at this corner of the source, is open.
  void AddCorner(const WorldPoint& at, PolygonNumber neighbour, Source& source, std::size_t corner) {
    MeshSpec& spec = parts_.spec;
    spec.corners.push_back(VertexOf(at));
    spec.neighbours.push_back(neighbour);
    const auto open = source.edge_at.find(corner);
    if (open == source.edge_at.end()) {
      return;
    }
    OpenEdge& edge = source.edges[open->second];
    std::ranges::sort(edge.splits);
    for (const auto& [share, point] : edge.splits) {
      const std::uint32_t vertex = VertexOf(point);
      if (vertex != spec.corners.back()) {
        EndPart(vertex, source);
        spec.corners.push_back(vertex);
        spec.neighbours.push_back(kNoPolygon);
      }
    }
    EndPart(VertexOf(edge.to), source);
  }

  // Joins the part of an open edge from the last corner to this vertex to that of another source, or lists
  // it.
  void EndPart(std::uint32_t to, const Source& source) {
    MeshSpec& spec = parts_.spec;
    const std::uint32_t from = spec.corners.back();
    const auto polygon = static_cast<PolygonNumber>(spec.polygons.size());
    const auto opposite = open_parts_.find({to, from});
    if (opposite != open_parts_.end() && opposite->second.source != &source) {
      spec.neighbours.back() = opposite->second.polygon;
      spec.neighbours[opposite->second.corner] = polygon;
      open_parts_.erase(opposite);
    } else {
      open_parts_.try_emplace({from, to}, OpenPart{&source, polygon, spec.corners.size() - 1});
    }
  }

  void EndPolygon(std::size_t begin, std::size_t corners, std::uint8_t area) {
    MeshSpec& spec = parts_.spec;
    const std::size_t count = spec.corners.size() - begin;
    spec.polygons.push_back({static_cast<std::uint32_t>(count), area});
    if (count > corners) {
      split_.push_back(begin);
    }
  }

  // Checks the polygons that have got corners.
  absl::Status CheckSplitPolygons() const {
    const MeshSpec& spec = parts_.spec;
    std::size_t begin = 0;
    auto next = split_.begin();
    for (const MeshPolygon& polygon : spec.polygons) {
      if (next != split_.end() && *next == begin) {
        ++next;
        if (polygon.corner_count > kMaxPolygonCorners) {
          return MakeError(ErrorReason::kBadSize, "",
                           "too many corners of grounds are on the edges of a polygon");
        }
        std::vector<FixedPoint> loop;
        loop.reserve(polygon.corner_count);
        double reach = 0.0;
        for (std::size_t k = begin; k < begin + polygon.corner_count; ++k) {
          const WorldPoint& corner = spec.vertices[spec.corners[k]];
          loop.push_back(ToFixed(corner));
          reach = std::max({reach, std::abs(corner.x), std::abs(corner.y)});
        }
        if (FindLoopFault(loop, LoopSlack(reach)) != LoopFault::kNone) {
          return MakeError(
              ErrorReason::kBadGround, "",
              "corners of grounds on the edges of a polygon would bend it: they are too near to it");
        }
      }
      begin += polygon.corner_count;
    }
    return absl::OkStatus();
  }

  const NavMesh& file_;
  const GroundTable& grounds_;
  const bool is_first_;
  const StopCheck* const stop_;
  std::size_t touched_ = 0;
  // The file, and each ground.
  std::deque<Source> sources_;
  // The welded polygons of each ground.
  std::vector<MeshSpec> welded_;
  // Sources near the ground that is being welded.
  std::vector<Source*> near_;
  std::size_t visits_ = 0;
  Numbers vertices_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, OpenPart> open_parts_;
  // First corners of the polygons with corners of other sources.
  std::vector<std::size_t> split_;
  GroundParts parts_;
};

}  // namespace

std::size_t BytesOf(const MeshGround& ground) {
  // The reference count, and the heap's rounding.
  constexpr std::size_t kOverhead = 48;
  std::size_t bytes = sizeof(MeshGround) + kOverhead + ground.id.capacity() +
                      (ground.region ? BytesOf(*ground.region) : 0) +
                      ground.polygons.capacity() * sizeof(GroundPolygon);
  for (const GroundPolygon& polygon : ground.polygons) {
    bytes += polygon.terrain.capacity() + polygon.corners.capacity() * sizeof(WorldPoint);
  }
  return bytes;
}

std::uint64_t DigestOf(const MeshGround& ground) {
  ElementHash hash(ElementKind::kMeshGround);
  hash.AddText(ground.id);
  hash.Add(ground.region ? 1 : 0);
  if (ground.region) {
    AddShape(*ground.region, hash);
  }
  hash.AddDouble(ground.heights.low);
  hash.AddDouble(ground.heights.high);
  hash.AddDouble(ground.weld);
  hash.Add(ground.polygons.size());
  for (const GroundPolygon& polygon : ground.polygons) {
    hash.AddDouble(polygon.agent_radius);
    hash.AddText(polygon.terrain);
    hash.Add(polygon.corners.size());
    for (const WorldPoint& corner : polygon.corners) {
      hash.AddDouble(corner.x);
      hash.AddDouble(corner.y);
      hash.AddDouble(corner.z);
    }
  }
  return hash.value();
}

absl::Status CheckGround(const MeshGround& ground, const NavMesh& mesh) {
  WAYSTAR_RETURN_IF_ERROR(CheckName(ground.id, "the id of a ground", ErrorReason::kBadGround, "id"));
  if (!(ground.weld >= 0.0 && ground.weld <= kMaxGroundWeld)) {
    return BadNumber(ErrorReason::kBadGround, "weld", ground.weld, absl::StrCat("0 to ", kMaxGroundWeld));
  }
  if (!(ground.heights.low <= ground.heights.high)) {
    return MakeError(ErrorReason::kBadGround, "heights.low", "heights are from a low one up to a high one");
  }
  if (ground.region) {
    const absl::StatusOr<std::vector<ConvexOutline>> outlines = OutlinesOf(*ground.region);
    WAYSTAR_RETURN_IF_ERROR_AT("region", outlines.status());
    if (outlines->size() > kMaxRegionParts) {
      return MakeError(ErrorReason::kBadGround, "region",
                       absl::StrCat("a region has at most ", kMaxRegionParts, " convex parts"));
    }
  } else if (ground.polygons.empty()) {
    return MakeError(ErrorReason::kBadGround, "", "a ground has a region, polygons or both");
  }
  if (ground.polygons.size() > kMaxGroundPolygons) {
    return MakeError(ErrorReason::kBadGround, "polygons",
                     absl::StrCat("a ground has at most ", kMaxGroundPolygons, " polygons"));
  }
  std::size_t corners = 0;
  for (std::size_t i = 0; i < ground.polygons.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("polygons[", i, "]."), CheckPolygon(ground.polygons[i], mesh));
    corners += ground.polygons[i].corners.size();
  }
  return corners <= kMaxGroundCorners ? absl::OkStatus()
                                      : MakeError(ErrorReason::kBadGround, "polygons",
                                                  absl::StrCat("the polygons of a ground have at most ",
                                                               kMaxGroundCorners, " corners together"));
}

absl::StatusOr<NavMesh> WithGrounds(const NavMesh& mesh, const GroundTable& grounds, const StopCheck* stop) {
  const auto make = [&](const NavMesh& surface, bool is_first) -> absl::StatusOr<NavMesh> {
    NavMesh file = surface.of_file().Bare();
    if (grounds.empty()) {
      return file;
    }
    WAYSTAR_ASSIGN_OR_RETURN(GroundParts parts, GroundJoiner(file, grounds, is_first, stop).Join());
    return file.WithParts(std::move(parts), is_first ? grounds : GroundTable(), stop);
  };
  std::vector<NavMesh> larger;
  for (const NavMesh& surface : mesh.larger()) {
    WAYSTAR_ASSIGN_OR_RETURN(NavMesh made, make(surface, false));
    larger.push_back(std::move(made));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const NavMesh made, make(mesh, true));
  return made.WithLarger(std::move(larger));
}

void AddBoxes(const MeshGround& ground, const NavMesh& mesh, BoxSet& boxes) {
  const auto add_removed = [&](const NavMesh& file) {
    const absl::StatusOr<HoleList> holes = HolesOf(*ground.region, ground.heights);
    for (const std::shared_ptr<const MeshHole>& hole : holes.ok() ? *holes : HoleList()) {
      std::vector<PolygonNumber> polygons;
      file.FindAllTouching(hole->outline, -kMeshTolerance, polygons);
      MeshBounds box;
      for (const PolygonNumber polygon : polygons) {
        box.Add(file.BoundsOf(polygon));
      }
      boxes.Add(Box{box.low.x, box.low.y, box.high.x, box.high.y});
    }
  };
  if (ground.region) {
    add_removed(mesh.of_file());
    for (const NavMesh& surface : mesh.larger()) {
      add_removed(surface.of_file());
    }
  }
  for (const GroundPolygon& polygon : ground.polygons) {
    Box box;
    for (const WorldPoint& corner : polygon.corners) {
      box = box.And(Box::Around(corner.x, corner.y, ground.weld));
    }
    boxes.Add(box);
  }
}

}  // namespace waystar::core
