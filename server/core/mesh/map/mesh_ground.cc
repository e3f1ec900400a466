#include "server/core/mesh/map/mesh_ground.h"

#include <algorithm>
#include <cmath>
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
#include "server/core/mesh/map/mesh_seams.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/polygon_tree.h"

namespace waystar::core {
namespace {

constexpr double kHeightsOfWeld = 25.0;
// Maximum number of edges looked at to join grounds: about a second.
constexpr std::size_t kMostLooks = std::size_t{1} << 25;
// Exceed the errors of rounding a point of an edge to 2^-20.
constexpr double kOnEdge = 4.0 / kFixedScale;
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

// Joins the polygons of grounds to those of a file.
class GroundJoiner {
 public:
  GroundJoiner(const NavMesh& file, const GroundTable& grounds, bool is_first, const StopCheck* stop)
      : file_(file), grounds_(grounds), is_first_(is_first), stop_(stop) {
    parts_.is_removed.resize(file.polygon_count());
  }

  absl::StatusOr<GroundParts> Join() && {
    WAYSTAR_RETURN_IF_ERROR(FindRemoved());
    ListPolygons();
    ListOpenEdges();
    WAYSTAR_RETURN_IF_ERROR(Weld());
    WAYSTAR_RETURN_IF_ERROR(SplitOpenEdges());
    if (looks_ >= kMostLooks) {
      return MakeError(ErrorReason::kBadSize, "",
                       "too many edges are within the distance for joining grounds");
    }
    AddFile();
    AddGrounds();
    for (const MeshPolygon& polygon : parts_.spec.polygons) {
      if (polygon.corner_count > kMaxPolygonCorners) {
        return MakeError(ErrorReason::kBadSize, "",
                         "too many corners of grounds are on the edges of a polygon of the file");
      }
    }
    return std::move(parts_);
  }

 private:
  struct Polygon {
    std::vector<WorldPoint> corners;
    std::uint8_t area = 0;
    double weld = 0.0;
  };

  // An edge of the file without a polygon on the other side, from a corner to the next.
  struct OpenEdge {
    // Position in the list of all corners of the file.
    std::size_t corner = 0;
    WorldPoint from;
    WorldPoint to;
    // Vertices of `welded_` between its ends.
    std::vector<VertexOnEdge> splits = {};
  };

  absl::Status FindRemoved() {
    absl::Status status;
    grounds_.VisitAfter("", [&](const MeshGround& ground) {
      if (ground.region) {
        status = Remove(*ground.region, ground.heights);
      }
      return status.ok();
    });
    return status;
  }

  absl::Status Remove(const Shape& region, const HeightRange& heights) {
    WAYSTAR_ASSIGN_OR_RETURN(const HoleList holes, HolesOf(region, heights, 0.0, stop_));
    for (const std::shared_ptr<const MeshHole>& hole : holes) {
      std::vector<PolygonNumber> polygons;
      file_.FindAllTouching(hole->outline, -kMeshTolerance, polygons);
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

  // Lists the polygons of grounds for this surface.
  void ListPolygons() {
    grounds_.VisitAfter("", [&](const MeshGround& ground) {
      for (const GroundPolygon& polygon : ground.polygons) {
        if (!IsOf(polygon, file_, is_first_)) {
          continue;
        }
        Polygon& added = polygons_.emplace_back(
            Polygon{.area = AreaNamed(polygon.terrain, file_).value_or(0), .weld = ground.weld});
        for (const WorldPoint& corner : polygon.corners) {
          added.corners.push_back(Rounded(corner));
          bounds_.Add(added.corners.back());
        }
        weld_ = std::max(weld_, ground.weld);
      }
      return true;
    });
  }

  void ListOpenEdges() {
    std::vector<MeshBounds> boxes;
    const MeshBounds near = Around(bounds_, weld_);
    std::size_t first = 0;
    for (PolygonNumber polygon = 0; polygon < file_.polygon_count(); ++polygon) {
      const absl::Span<const PolygonNumber> neighbours = file_.NeighboursOf(polygon);
      ForEachEdge(file_, polygon, [&](std::uint32_t k, const WorldPoint& from, const WorldPoint& to) {
        MeshBounds box;
        box.Add(from);
        box.Add(to);
        if (!parts_.is_removed[polygon] && IsOpen(neighbours[k]) && box.Overlaps(near)) {
          edge_at_.emplace(first + k, edges_.size());
          edges_.push_back({first + k, from, to});
          boxes.push_back(box);
        }
      });
      first += neighbours.size();
    }
    tree_ = PolygonTree(boxes, stop_);
  }

  bool IsOpen(PolygonNumber neighbour) const {
    return neighbour == kNoPolygon || parts_.is_removed[neighbour];
  }

  static MeshBounds Around(MeshBounds box, double weld) {
    box.low = {box.low.x - weld, box.low.y - weld, box.low.z - kHeightsOfWeld * weld};
    box.high = {box.high.x + weld, box.high.y + weld, box.high.z + kHeightsOfWeld * weld};
    return box;
  }

  // Calls visit(edge) for the open edges with a box near this one, at most kMostLooks times in all.
  template <typename Visitor>
  void VisitEdgesNear(const MeshBounds& box, double weld, const Visitor& visit) {
    const MeshBounds near = Around(box, weld);
    tree_.VisitTouching([&](const MeshBounds& other) { return looks_ < kMostLooks && other.Overlaps(near); },
                        [&](std::uint32_t edge) {
                          ++looks_;
                          visit(edges_[edge]);
                        });
  }

  // Returns the vertex of an open edge that is nearest to the point, else the nearest point of such an edge,
  // else nullopt if none is within the tolerance.
  std::optional<WorldPoint> Snapped(const WorldPoint& point, double weld) {
    MeshBounds box;
    box.Add(point);
    // Orders vertices before points of edges.
    using Rank = std::tuple<bool, double, WorldPoint>;
    std::optional<Rank> best;
    const auto consider = [&](bool is_on_edge, const WorldPoint& other) {
      if (SquaredPlanDistance(other, point) <= weld * weld &&
          std::abs(other.z - point.z) <= kHeightsOfWeld * weld) {
        const Rank rank{is_on_edge, SquaredDistance(other, point), other};
        best = best ? std::min(*best, rank) : rank;
      }
    };
    VisitEdgesNear(box, weld, [&](const OpenEdge& edge) {
      consider(false, edge.from);
      consider(false, edge.to);
      const SegmentPoint nearest = NearestOnPlanSegment(edge.from, edge.to, point);
      consider(true, Rounded(WorldPoint{nearest.point.x, nearest.point.y, HeightOf(edge, nearest.share)}));
    });
    return best ? std::optional(std::get<WorldPoint>(*best)) : std::nullopt;
  }

  static double HeightOf(const OpenEdge& edge, double share) {
    return edge.from.z + share * (edge.to.z - edge.from.z);
  }

  // Moves the corners of the polygons to the file's vertices and edges, adds the file's vertices on their
  // edges as corners, and welds the polygons.
  absl::Status Weld() {
    std::vector<std::vector<WorldPoint>> loops;
    absl::flat_hash_map<Key, std::uint32_t> snapped;
    MeshSoup soup;
    for (const Polygon& polygon : polygons_) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, loops.size()));
      std::vector<WorldPoint> corners;
      for (const WorldPoint& corner : polygon.corners) {
        const std::optional<WorldPoint> at = Snapped(corner, polygon.weld);
        corners.push_back(at.value_or(corner));
        if (at) {
          // The first of vertices near each other keeps its position, so these come first.
          NumberOf(*at, soup.spec.vertices, snapped);
        }
      }
      std::vector<WorldPoint>& loop = loops.emplace_back();
      for (std::size_t k = 0; k < corners.size(); ++k) {
        loop.push_back(corners[k]);
        AddVerticesOn(corners[k], corners[k + 1 < corners.size() ? k + 1 : 0], polygon.weld, loop);
      }
      for (const WorldPoint& corner : loop) {
        if (IsFileVertex(corner)) {
          NumberOf(corner, soup.spec.vertices, snapped);
        }
      }
    }
    for (std::size_t i = 0; i < loops.size(); ++i) {
      std::vector<std::uint32_t> loop;
      for (const WorldPoint& corner : loops[i]) {
        loop.push_back(NumberOf(corner, soup.spec.vertices, snapped));
      }
      soup.spec.AddPolygon(loop, polygons_[i].area);
    }
    WAYSTAR_ASSIGN_OR_RETURN(
        welded_, WeldMesh(std::move(soup), {.plan = weld_, .height = kHeightsOfWeld * weld_}, stop_));
    WAYSTAR_ASSIGN_OR_RETURN(welded_.neighbours, MatchMeshEdges(welded_, stop_));
    return absl::OkStatus();
  }

  using Key = std::tuple<double, double, double>;

  static std::uint32_t NumberOf(const WorldPoint& point, std::vector<WorldPoint>& vertices,
                                absl::flat_hash_map<Key, std::uint32_t>& numbers) {
    const auto [entry, is_new] =
        numbers.try_emplace({point.x, point.y, point.z}, static_cast<std::uint32_t>(vertices.size()));
    if (is_new) {
      vertices.push_back(point);
    }
    return entry->second;
  }

  bool IsFileVertex(const WorldPoint& point) {
    bool is_any = false;
    MeshBounds box;
    box.Add(point);
    VisitEdgesNear(box, 0.0, [&](const OpenEdge& edge) { is_any |= edge.from == point || edge.to == point; });
    return is_any;
  }

  // Appends the file's vertices between two corners of a polygon, in their order.
  void AddVerticesOn(const WorldPoint& from, const WorldPoint& to, double weld,
                     std::vector<WorldPoint>& loop) {
    if (from.x == to.x && from.y == to.y) {
      return;
    }
    MeshBounds box;
    box.Add(from);
    box.Add(to);
    std::vector<std::pair<double, WorldPoint>> found;
    const auto consider = [&](const WorldPoint& vertex) {
      const SegmentPoint nearest = NearestOnPlanSegment(from, to, vertex);
      const double height = from.z + nearest.share * (to.z - from.z);
      if (nearest.share > 0.0 && nearest.share < 1.0 && nearest.squared_distance <= weld * weld &&
          std::abs(vertex.z - height) <= kHeightsOfWeld * weld && vertex != from && vertex != to) {
        found.emplace_back(nearest.share, vertex);
      }
    };
    VisitEdgesNear(box, weld, [&](const OpenEdge& edge) {
      consider(edge.from);
      consider(edge.to);
    });
    std::ranges::sort(found);
    for (const auto& [share, vertex] : found) {
      if (loop.back() != vertex) {
        loop.push_back(vertex);
      }
    }
  }

  // Finds the vertices of welded polygons on the open edges.
  absl::Status SplitOpenEdges() {
    std::vector<bool> is_done(welded_.vertices.size());
    std::size_t first = 0;
    for (const MeshPolygon& polygon : welded_.polygons) {
      for (std::size_t k = 0; k < polygon.corner_count; ++k) {
        if (welded_.neighbours[first + k] == kNoPolygon) {
          for (const std::size_t end : {k, k + 1 < polygon.corner_count ? k + 1 : 0}) {
            const std::uint32_t vertex = welded_.corners[first + end];
            if (!is_done[vertex]) {
              is_done[vertex] = true;
              SplitAt(vertex);
            }
          }
        }
      }
      first += polygon.corner_count;
    }
    for (OpenEdge& edge : edges_) {
      std::ranges::sort(edge.splits, {},
                        [](const VertexOnEdge& on_edge) { return std::pair(on_edge.share, on_edge.vertex); });
    }
    return CheckStop(stop_);
  }

  void SplitAt(std::uint32_t vertex) {
    const WorldPoint& point = welded_.vertices[vertex];
    MeshBounds box;
    box.Add(point);
    VisitEdgesNear(box, kOnEdge, [&](OpenEdge& edge) {
      const SegmentPoint nearest = NearestOnPlanSegment(edge.from, edge.to, point);
      const bool is_between = nearest.share > 0.0 && nearest.share < 1.0 && point != edge.from &&
                              point != edge.to && nearest.squared_distance <= kOnEdge * kOnEdge;
      if (is_between && std::abs(HeightOf(edge, nearest.share) - point.z) <= kHeightOnEdge) {
        edge.splits.push_back({nearest.share, vertex});
      }
    });
  }

  std::uint32_t VertexOf(const WorldPoint& point) { return NumberOf(point, parts_.spec.vertices, vertices_); }

  void AddFile() {
    MeshSpec& spec = parts_.spec;
    std::size_t first = 0;
    for (PolygonNumber polygon = 0; polygon < file_.polygon_count(); ++polygon) {
      const std::size_t begin = spec.corners.size();
      const absl::Span<const PolygonNumber> neighbours = file_.NeighboursOf(polygon);
      ForEachEdge(file_, polygon, [&](std::uint32_t k, const WorldPoint& from, const WorldPoint&) {
        spec.corners.push_back(VertexOf(from));
        spec.neighbours.push_back(IsOpen(neighbours[k]) || parts_.is_removed[polygon] ? kNoPolygon
                                                                                      : neighbours[k]);
        if (const auto open = edge_at_.find(first + k); open != edge_at_.end()) {
          AddOpenEdge(edges_[open->second]);
        }
      });
      first += neighbours.size();
      spec.polygons.push_back(
          {static_cast<std::uint32_t>(spec.corners.size() - begin), file_.AreaOf(polygon)});
    }
  }

  // Adds the corners between the ends of an open edge, whose first corner was added last, and lists its parts
  // by their ends.
  void AddOpenEdge(const OpenEdge& edge) {
    MeshSpec& spec = parts_.spec;
    const auto polygon = static_cast<PolygonNumber>(spec.polygons.size());
    const auto end_part = [&](std::uint32_t to) {
      open_parts_.try_emplace({spec.corners.back(), to}, OpenPart{polygon, spec.corners.size() - 1});
    };
    for (const VertexOnEdge& split : edge.splits) {
      const std::uint32_t vertex = VertexOf(welded_.vertices[split.vertex]);
      if (vertex != spec.corners.back()) {
        end_part(vertex);
        spec.corners.push_back(vertex);
        spec.neighbours.push_back(kNoPolygon);
      }
    }
    end_part(VertexOf(edge.to));
  }

  void AddGrounds() {
    MeshSpec& spec = parts_.spec;
    const auto first_polygon = static_cast<PolygonNumber>(spec.polygons.size());
    std::size_t first = 0;
    for (const MeshPolygon& polygon : welded_.polygons) {
      const auto number = static_cast<PolygonNumber>(spec.polygons.size());
      const auto vertex_at = [&](std::size_t k) {
        return VertexOf(welded_.vertices[welded_.corners[first + k % polygon.corner_count]]);
      };
      for (std::size_t k = 0; k < polygon.corner_count; ++k) {
        PolygonNumber neighbour = welded_.neighbours[first + k];
        if (neighbour != kNoPolygon) {
          neighbour += first_polygon;
        } else if (const auto open = open_parts_.find({vertex_at(k + 1), vertex_at(k)});
                   open != open_parts_.end() && spec.neighbours[open->second.corner] == kNoPolygon) {
          neighbour = open->second.polygon;
          spec.neighbours[open->second.corner] = number;
        }
        spec.corners.push_back(vertex_at(k));
        spec.neighbours.push_back(neighbour);
      }
      spec.polygons.push_back(polygon);
      first += polygon.corner_count;
    }
  }

  // A part of an open edge, from this corner in the list of all corners to the next.
  struct OpenPart {
    PolygonNumber polygon = 0;
    std::size_t corner = 0;
  };

  const NavMesh& file_;
  const GroundTable& grounds_;
  const bool is_first_;
  const StopCheck* const stop_;
  std::vector<Polygon> polygons_;
  MeshBounds bounds_;
  double weld_ = 0.0;
  std::vector<OpenEdge> edges_;
  // Places in `edges_`, by OpenEdge::corner.
  absl::flat_hash_map<std::size_t, std::size_t> edge_at_;
  PolygonTree tree_;
  std::size_t looks_ = 0;
  MeshSpec welded_;
  absl::flat_hash_map<Key, std::uint32_t> vertices_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, OpenPart> open_parts_;
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
    WAYSTAR_RETURN_IF_ERROR_AT("region", OutlinesOf(*ground.region).status());
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
  if (ground.region) {
    const NavMesh& file = mesh.of_file();
    std::vector<PolygonNumber> polygons;
    if (const absl::StatusOr<HoleList> holes = HolesOf(*ground.region, ground.heights); holes.ok()) {
      for (const std::shared_ptr<const MeshHole>& hole : *holes) {
        file.FindAllTouching(hole->outline, -kMeshTolerance, polygons);
      }
    }
    for (const PolygonNumber polygon : polygons) {
      const MeshBounds box = file.BoundsOf(polygon);
      boxes.Add(Box{box.low.x, box.low.y, box.high.x, box.high.y});
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
