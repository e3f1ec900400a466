#include "server/core/mesh/map/mesh_cut.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/mesh/map/cell_cut.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/cut_table.h"
#include "server/core/mesh/map/face_cut.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/triangulation.h"
#include "server/geometry/world_point.h"

namespace waystar::core {
namespace {

// An outline touches whatever is at most this far from it: more than lines are moved by.
constexpr double kTouch = 4.0 * kOnLine;

absl::Status TooIntricate() {
  return MakeError(ErrorReason::kRegionTooLarge, "", "the area cuts a polygon into too many pieces");
}

// Returns true if all points lie to the right of the line from a to b, by more than kTouch.
template <typename Points>
bool AreRightOf(const WorldPoint& a, const WorldPoint& b, const Points& points) {
  const double limit = -kTouch * DistanceInPlan(a, b);
  return std::ranges::all_of(points, [&](const WorldPoint& point) { return Side(a, b, point) < limit; });
}

// Returns true if a side of the loop separates it from the points.
// REQUIRES: the loop is convex and counterclockwise.
template <typename Loop, typename Points>
bool IsApart(const Loop& loop, const Points& points) {
  for (std::size_t k = 0; k < loop.size(); ++k) {
    if (AreRightOf(loop[k], loop[k + 1 < loop.size() ? k + 1 : 0], points)) {
      return true;
    }
  }
  return false;
}

// Orders holes by what they are.
bool ComesBefore(const std::shared_ptr<const MeshHole>& a, const std::shared_ptr<const MeshHole>& b) {
  const auto key = [](const WorldPoint& point) { return std::pair(point.x, point.y); };
  const auto order = std::lexicographical_compare_three_way(
      a->outline.begin(), a->outline.end(), b->outline.begin(), b->outline.end(),
      [&](const WorldPoint& p, const WorldPoint& q) { return key(p) <=> key(q); });
  return order != 0 ? order < 0
                    : std::pair(a->heights.low, a->heights.high) < std::pair(b->heights.low, b->heights.high);
}

// Returns a hole that is equal to this one, or the end.
HoleList::const_iterator FindIn(const HoleList& holes, const MeshHole& hole) {
  return std::ranges::find_if(holes, [&](const auto& other) { return *other == hole; });
}

// Sets of numbers that were joined (Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975).
// Not thread-safe.
class NumberSets {
 public:
  bool Has(std::uint32_t number) const { return next_.contains(number); }
  // Returns the same number for all that are joined.
  std::uint32_t RootOf(std::uint32_t number) {
    std::uint32_t root = number;
    for (auto next = next_.find(root); next != next_.end() && next->second != root; next = next_.find(root)) {
      root = next->second;
    }
    if (root != number) {
      next_[number] = root;
    }
    return root;
  }
  void Join(std::uint32_t a, std::uint32_t b) {
    next_.try_emplace(a, a);
    next_.try_emplace(b, b);
    next_[RootOf(a)] = RootOf(b);
  }

 private:
  // For each number, one on the way to its root.
  absl::flat_hash_map<std::uint32_t, std::uint32_t> next_;
};

// Connections of polygons through those that a change cuts again. Not thread-safe.
class LocalLinks {
 public:
  // `changed` are polygons of the uncut mesh.
  LocalLinks(const NavMesh& mesh, absl::Span<const PolygonNumber> changed) {
    const absl::flat_hash_set<PolygonNumber> inside(changed.begin(), changed.end());
    for (const PolygonNumber polygon : changed) {
      mesh.ForEachPieceOf(polygon, [&](PolygonNumber piece) {
        for (std::size_t k = 0; k < mesh.VerticesOf(piece).size(); ++k) {
          const PolygonNumber next = mesh.Across(piece, k);
          if (next == kNoPolygon) {
            continue;
          }
          if (!inside.contains(mesh.WholeOf(next)) && !links_.Has(next)) {
            outside_.push_back(next);
          }
          links_.Join(piece, next);
        }
      });
    }
  }

  // Returns the polygons that do not change and are adjacent to one that does.
  const std::vector<PolygonNumber>& outside() const { return outside_; }
  // Returns the same polygon for all that are connected.
  PolygonNumber RootOf(PolygonNumber polygon) { return links_.RootOf(polygon); }

 private:
  NumberSets links_;
  std::vector<PolygonNumber> outside_;
};

// Walks over a mesh that advance at the same pace, to find out which of them meet. Those that meet are a
// group. Not thread-safe.
class PartWalks {
 public:
  explicit PartWalks(const NavMesh& mesh) : mesh_(mesh) {}

  // Adds a walk that starts in these polygons.
  void Add(const std::vector<PolygonNumber>& polygons) {
    walks_.emplace_back();
    ++open_groups_;
    for (const PolygonNumber polygon : polygons) {
      Reach(static_cast<std::uint32_t>(walks_.size() - 1), polygon);
    }
  }

  // Walks on through polygons that may be entered, until each group but one has seen all that it can reach.
  // Takes what they see from `left`, and returns false if it is too little.
  template <typename MayEnter>
  bool Run(std::size_t& left, const MayEnter& may_enter) {
    std::vector<std::uint32_t> active(walks_.size());
    std::iota(active.begin(), active.end(), 0U);
    while (open_groups_ > 1 && owners_.size() <= left) {
      std::erase_if(active, [&](std::uint32_t i) {
        Walk& walk = walks_[i];
        if (walk.next == walk.seen.size()) {
          open_groups_ -= --walks_[groups_.RootOf(i)].open_walks == 0 ? 1 : 0;
          return true;
        }
        const PolygonNumber polygon = walk.seen[walk.next++];
        for (std::size_t k = 0; k < mesh_.VerticesOf(polygon).size(); ++k) {
          const PolygonNumber next = mesh_.Across(polygon, k);
          if (next != kNoPolygon && may_enter(next)) {
            Reach(i, next);
          }
        }
        return false;
      });
    }
    left -= std::min(left, owners_.size());
    return open_groups_ <= 1;
  }

  // Calls visit(polygons) with the polygons of each group, the largest or unfinished one first.
  template <typename Visitor>
  void VisitGroups(const Visitor& visit) {
    std::vector<std::vector<PolygonNumber>> groups(walks_.size());
    std::size_t largest = 0;
    for (std::uint32_t i = 0; i < walks_.size(); ++i) {
      std::vector<PolygonNumber>& group = groups[groups_.RootOf(i)];
      group.insert(group.end(), walks_[i].seen.begin(), walks_[i].seen.end());
    }
    const auto rank = [&](std::size_t group) {
      return std::pair(walks_[group].open_walks > 0, groups[group].size());
    };
    for (std::size_t i = 0; i < groups.size(); ++i) {
      largest = rank(i) > rank(largest) ? i : largest;
    }
    visit(groups[largest]);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (i != largest && !groups[i].empty()) {
        visit(groups[i]);
      }
    }
  }

 private:
  struct Walk {
    std::vector<PolygonNumber> seen;
    std::size_t next = 0;
    // Number of walks of the group that go on, if this one is the root of the group.
    std::uint32_t open_walks = 1;
  };

  void Reach(std::uint32_t walk, PolygonNumber polygon) {
    const auto [owner, is_new] = owners_.try_emplace(polygon, walk);
    if (is_new) {
      walks_[walk].seen.push_back(polygon);
      return;
    }
    const std::uint32_t a = groups_.RootOf(walk);
    const std::uint32_t b = groups_.RootOf(owner->second);
    if (a != b) {
      const std::uint32_t open_walks = walks_[a].open_walks + walks_[b].open_walks;
      open_groups_ -= walks_[a].open_walks > 0 && walks_[b].open_walks > 0 ? 1 : 0;
      walks_[a].open_walks = walks_[b].open_walks = 0;
      groups_.Join(a, b);
      walks_[groups_.RootOf(a)].open_walks = open_walks;
    }
  }

  const NavMesh& mesh_;
  std::vector<Walk> walks_;
  NumberSets groups_;
  // The walk that has seen each polygon.
  absl::flat_hash_map<PolygonNumber, std::uint32_t> owners_;
  // Number of groups with a walk that goes on.
  std::size_t open_groups_ = 0;
};

// Cuts one mesh. Not thread-safe.
class MeshCutter {
 public:
  using CoversOf = absl::flat_hash_map<PolygonNumber, HoleList>;

  // If `covers` is not null, divides the mesh instead, and sets the holes around each new piece and each
  // piece that had a number before; none around those that are gone or outside.
  MeshCutter(const NavMesh& mesh, const HoleChange& change, const StopCheck* stop, CoversOf* covers = nullptr)
      : mesh_(mesh),
        change_(change),
        stop_(stop),
        covers_(covers),
        table_(mesh.is_cut() ? std::make_shared<CutTable>(*mesh.cuts())
                             : std::make_shared<CutTable>(
                                   CutNumbers(mesh.vertex_count(), mesh.polygon_count()),
                                   CutNumbers(mesh.vertex_count(), CellLayer(mesh).cell_count()))) {
    touched_ = static_cast<std::int64_t>(table_->hole_count);
    if (!mesh.is_cut()) {
      table_->next_part = static_cast<std::uint32_t>(mesh.part_count());
    }
  }

  absl::StatusOr<NavMesh> Cut() {
    for (const auto& hole : change_.removed) {
      WAYSTAR_RETURN_IF_ERROR(FindTouched(hole, [&](HoleList& holes) {
        const HoleList::const_iterator at = FindIn(holes, *hole);
        assert(at != holes.end());
        if (at != holes.end()) {
          holes.erase(at);
          --touched_;
        }
      }));
    }
    for (const auto& hole : change_.added) {
      WAYSTAR_RETURN_IF_ERROR(FindTouched(hole, [&](HoleList& holes) {
        holes.insert(std::ranges::upper_bound(holes, hole, ComesBefore), hole);
        ++touched_;
      }));
      const std::size_t most = covers_ == nullptr ? kMaxTouchedPolygons : kMaxDividedPolygons;
      if (touched_ > static_cast<std::int64_t>(most)) {
        return MakeError(ErrorReason::kRegionTooLarge, "",
                         absl::StrCat("the holes of a mesh touch at most ", most,
                                      " polygons, counted once for each hole"));
      }
    }
    AddBeside();
    for (Face& face : faces_) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      if (face.holes.size() > kMaxHolesOfPolygon) {
        return TooIntricate();
      }
      face.is_covered = covers_ == nullptr && IsCovered(face);
      if (face.is_covered) {
        continue;
      }
      face.border = BorderOf(face);
      face.is_whole = covers_ != nullptr && StaysWhole(face);
      if (face.is_whole) {
        face.has_ground.assign(face.border.size(), true);
        continue;
      }
      face.cut = Cut(face);
      if (!face.cut->is_cut()) {
        return TooIntricate();
      }
      for (std::size_t k = 0; k < face.border.size(); ++k) {
        face.has_ground.push_back(face.cut->HasGroundAt(k));
      }
      if (faces_.size() > kMostCuts) {
        face.cut.reset();
      }
    }
    for (Face& face : faces_) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      WAYSTAR_RETURN_IF_ERROR(Finish(face));
    }
    for (auto& [polygon, after] : finished_) {
      Replace(polygon, std::move(after));
    }
    if (table_->polygons.count() == 0) {
      return mesh_.WithCuts(nullptr);
    }
    if (covers_ != nullptr) {
      return mesh_.WithCuts(table_);
    }
    std::vector<PolygonNumber> changed;
    for (const Face& face : faces_) {
      changed.push_back(face.polygon);
    }
    if (!CutCells(mesh_.WithCuts(table_), changed, *table_)) {
      return TooIntricate();
    }
    WAYSTAR_RETURN_IF_ERROR(LabelParts(changed));
    return mesh_.WithCuts(table_);
  }

 private:
  // A polygon that is cut again.
  struct Face {
    PolygonNumber polygon = kNoPolygon;
    // See CutFace::holes.
    HoleList holes;
    // Changed holes that touch it.
    std::vector<const MeshHole*> changed;
    // True if a hole leaves nothing of it. The members below are then empty.
    bool is_covered = false;
    // True if the mesh is divided, and no outline divides the polygon.
    bool is_whole = false;
    std::vector<BorderPoint> border;
    // For each point of the border, whether ground is left along the edge that starts there.
    std::vector<bool> has_ground;
    // Null if there are too many to keep.
    std::unique_ptr<FaceCut> cut = nullptr;
  };

  // Polygons that get a label of their own before all are labelled again. Each change copies the list.
  static constexpr std::size_t kMostOwnParts = 4096;
  // Maximum number of FaceCuts kept at a time, of some 20 kB each. More are made twice.
  static constexpr std::size_t kMostCuts = 4096;

  // Returns true if all corners of a loop are inside the hole.
  static bool Covers(const MeshHole& hole, const std::vector<WorldPoint>& loop) {
    const ConvexOutline& outline = hole.outline;
    for (std::size_t k = 0; k < outline.size(); ++k) {
      if (!AreRightOf(outline[k + 1 < outline.size() ? k + 1 : 0], outline[k], loop)) {
        return false;
      }
    }
    return true;
  }
  // Returns true if a hole leaves nothing of the polygon.
  bool IsCovered(const Face& face) const {
    const std::vector<WorldPoint> loop = LoopOf(face.polygon);
    return std::ranges::any_of(face.holes, [&](const auto& hole) { return Covers(*hole, loop); });
  }
  // Returns true if no outline divides the polygon.
  bool StaysWhole(const Face& face) const {
    const std::vector<WorldPoint> loop = LoopOf(face.polygon);
    return face.border.size() == loop.size() && !mesh_.IsDented(face.polygon) &&
           std::ranges::all_of(face.holes, [&](const auto& hole) { return Covers(*hole, loop); });
  }
  // Returns such a polygon as one piece.
  CutFace WholeFace(const Face& face) const {
    const CutNumbers& numbers = table_->polygons.numbers();
    const PolygonNumber piece = numbers.FirstPieceOf(face.polygon);
    CutFace whole{.pieces = {{0, static_cast<std::uint8_t>(face.border.size())}}};
    for (const BorderPoint& at : face.border) {
      const auto own = static_cast<std::uint32_t>(whole.points.size());
      if (at.vertex == VertexWalls::kNone) {
        whole.points.push_back(at.point);
        whole.walls.push_back({VertexWalls::kSeveral, VertexWalls::kSeveral});
      }
      whole.corners.push_back(at.vertex == VertexWalls::kNone ? numbers.FirstVertexOf(face.polygon) + own
                                                              : at.vertex);
      whole.neighbours.push_back(at.beyond);
      if (at.beyond != kNoPolygon) {
        whole.entries.push_back({at.point.x, at.point.y, piece});
      }
    }
    return whole;
  }

  std::unique_ptr<FaceCut> Cut(const Face& face) const {
    std::vector<ConvexOutline> outlines;
    const std::vector<WorldPoint> loop = LoopOf(face.polygon);
    for (const auto& hole : face.holes) {
      outlines.push_back(PartNear(hole->outline, loop));
    }
    return std::make_unique<FaceCut>(face.border, outlines,
                                     covers_ == nullptr ? FaceCut::Mode::kCut : FaceCut::Mode::kDivide);
  }

  std::vector<WorldPoint> LoopOf(PolygonNumber polygon) const {
    std::vector<WorldPoint> loop;
    for (const std::uint32_t vertex : mesh_.VerticesOf(polygon)) {
      loop.push_back(mesh_.VertexAt(vertex));
    }
    return loop;
  }

  Face& FaceAt(PolygonNumber polygon) {
    const auto entry = index_.find(polygon);
    if (entry != index_.end()) {
      return faces_[entry->second];
    }
    faces_.push_back({.polygon = polygon, .holes = HolesAt(polygon)});
    index_.emplace(polygon, faces_.size() - 1);
    return faces_.back();
  }
  const Face* FindFace(PolygonNumber polygon) const {
    const auto entry = index_.find(polygon);
    return entry == index_.end() ? nullptr : &faces_[entry->second];
  }
  // Returns the holes that touch the polygon: after the change if it is cut again.
  const HoleList& HolesAt(PolygonNumber polygon) const {
    static const HoleList kNone;
    if (const Face* const face = FindFace(polygon)) {
      return face->holes;
    }
    const CutFace* const before = table_->polygons.Find(polygon);
    return before == nullptr ? kNone : before->holes;
  }

  // Calls change(holes) for each polygon that the hole touches.
  template <typename Change>
  absl::Status FindTouched(const std::shared_ptr<const MeshHole>& hole, const Change& change) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    std::vector<PolygonNumber> polygons;
    mesh_.FindAllTouching(hole->outline, -kTouch, polygons);
    for (const PolygonNumber polygon : polygons) {
      const MeshBounds bounds = mesh_.BoundsOf(polygon);
      const std::vector<WorldPoint> loop = LoopOf(polygon);
      if (hole->heights.Overlaps({bounds.low.z, bounds.high.z}) && !IsApart(hole->outline, loop) &&
          (mesh_.IsDented(polygon) || !IsApart(loop, hole->outline))) {
        Face& face = FaceAt(polygon);
        change(face.holes);
        face.changed.push_back(hole.get());
      }
    }
    return absl::OkStatus();
  }

  // Returns the outline without corners that are far from the loop: those behind one of its sides together
  // with both of their neighbours.
  static ConvexOutline PartNear(ConvexOutline outline, const std::vector<WorldPoint>& loop) {
    std::vector<bool> is_behind;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const WorldPoint& a = loop[k];
      const WorldPoint& b = loop[k + 1 < loop.size() ? k + 1 : 0];
      const std::size_t count = outline.size();
      const double limit = -kTouch * DistanceInPlan(a, b);
      is_behind.clear();
      for (const WorldPoint& corner : outline) {
        is_behind.push_back(Side(a, b, corner) < limit);
      }
      std::size_t kept = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (!is_behind[i] || !is_behind[i > 0 ? i - 1 : count - 1] || !is_behind[i + 1 < count ? i + 1 : 0]) {
          outline[kept++] = outline[i];
        }
      }
      outline.resize(kept);
    }
    return outline;
  }

  // Returns true if the hole touches the edge from corner k of the polygon to the next.
  bool TouchesEdge(const MeshHole& hole, PolygonNumber polygon, std::uint32_t k) const {
    const EdgeEnds ends = mesh_.EndsOf({polygon, k});
    return !IsApart(hole.outline, std::array{ends.from, ends.to}) &&
           !AreRightOf(ends.from, ends.to, hole.outline) && !AreRightOf(ends.to, ends.from, hole.outline);
  }
  bool TouchesVertex(const MeshHole& hole, std::uint32_t vertex) const {
    return !IsApart(hole.outline, std::array{mesh_.VertexAt(vertex)});
  }

  // Adds polygons at other heights than the changed holes that meet touched ones at a touched edge or vertex.
  void AddBeside() {
    const std::size_t count = faces_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const PolygonNumber polygon = faces_[i].polygon;
      const std::vector<const MeshHole*> changed = faces_[i].changed;
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      for (std::uint32_t k = 0; k < corners.size(); ++k) {
        for (const MeshHole* const hole : changed) {
          if (neighbours[k] != kNoPolygon && FindFace(neighbours[k]) == nullptr &&
              TouchesEdge(*hole, polygon, k)) {
            FaceAt(neighbours[k]);
          }
          if (TouchesVertex(*hole, corners[k])) {
            ForEachAround(polygon, k, [&](PolygonNumber around) { FaceAt(around); });
          }
        }
      }
    }
    std::ranges::sort(faces_, {}, &Face::polygon);
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      index_[faces_[i].polygon] = i;
    }
  }

  // Returns true if a hole that touches a polygon around the corner touches the corner.
  bool IsTouched(PolygonNumber polygon, std::uint32_t corner) const {
    const std::uint32_t vertex = mesh_.VerticesOf(polygon)[corner];
    bool is_touched = false;
    const auto look = [&](PolygonNumber around) {
      is_touched = is_touched || std::ranges::any_of(HolesAt(around), [&](const auto& hole) {
                     return TouchesVertex(*hole, vertex);
                   });
    };
    look(polygon);
    if (!is_touched) {
      ForEachAround(polygon, corner, look);
    }
    return is_touched;
  }

  // Calls visit(polygon) for the other polygons of the uncut mesh around a corner.
  template <typename Visitor>
  void ForEachAround(PolygonNumber polygon, std::uint32_t corner, const Visitor& visit) const {
    const std::uint32_t vertex = mesh_.VerticesOf(polygon)[corner];
    for (const bool is_counterclockwise : {false, true}) {
      PolygonNumber at = polygon;
      std::size_t place = corner;
      do {
        const std::size_t count = mesh_.VerticesOf(at).size();
        at = mesh_.NeighboursOf(at)[is_counterclockwise ? (place + count - 1) % count : place];
        if (at == kNoPolygon || at == polygon) {
          break;
        }
        visit(at);
        const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(at);
        place = static_cast<std::size_t>(std::ranges::find(corners, vertex) - corners.begin());
      } while (at != polygon);
      if (at == polygon) {
        return;
      }
    }
  }

  std::vector<BorderPoint> BorderOf(const Face& face) const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(face.polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(face.polygon);
    std::vector<BorderPoint> border;
    for (std::uint32_t k = 0; k < corners.size(); ++k) {
      const std::uint32_t next = corners[k + 1 < corners.size() ? k + 1 : 0];
      std::vector<const MeshHole*> holes;
      bool is_alike = true;
      const auto add = [&](const HoleList& own, const HoleList* other) {
        for (const auto& hole : own) {
          if (TouchesEdge(*hole, face.polygon, k)) {
            holes.push_back(hole.get());
            is_alike &= other == nullptr || FindIn(*other, *hole) != other->end();
          }
        }
      };
      const HoleList* const others = neighbours[k] == kNoPolygon ? nullptr : &HolesAt(neighbours[k]);
      add(face.holes, others);
      if (others != nullptr) {
        add(*others, &face.holes);
      }
      border.push_back({mesh_.VertexAt(corners[k]),
                        IsTouched(face.polygon, k) ? VertexWalls::kNone : corners[k], false, neighbours[k],
                        is_alike});
      for (const WorldPoint& split : SplitsOf(corners[k], next, holes)) {
        border.push_back({split, VertexWalls::kNone, true, neighbours[k], is_alike});
      }
    }
    return border;
  }

  // Returns the points at which the holes meet the interior of an edge, from `from` to `to`. They are the
  // same in both directions, and in every order of the holes.
  std::vector<WorldPoint> SplitsOf(std::uint32_t from, std::uint32_t to,
                                   const std::vector<const MeshHole*>& holes) const {
    const WorldPoint& a = mesh_.VertexAt(std::min(from, to));
    const WorldPoint& b = mesh_.VertexAt(std::max(from, to));
    const double length = DistanceInPlan(a, b);
    std::vector<double> shares;
    for (const MeshHole* const hole : holes) {
      const ConvexOutline& loop = hole->outline;
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const WorldPoint& p = loop[k];
        const WorldPoint& q = loop[k + 1 < loop.size() ? k + 1 : 0];
        const double p_side = Side(a, b, p);
        const double q_side = Side(a, b, q);
        if (std::abs(p_side) <= kOnLine * length) {
          shares.push_back(((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / (length * length));
        } else if (std::abs(q_side) > kOnLine * length && (p_side < 0.0) != (q_side < 0.0)) {
          const double a_side = Side(p, q, a);
          const double b_side = Side(p, q, b);
          if ((a_side < 0.0) != (b_side < 0.0)) {
            shares.push_back(a_side / (a_side - b_side));
          }
        }
      }
    }
    std::ranges::sort(shares);
    std::vector<WorldPoint> splits;
    for (const double share : shares) {
      const WorldPoint point = Rounded(
          WorldPoint{a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z)});
      const auto is_near = [&](const WorldPoint& other) {
        return SquaredPlanDistance(point, other) <= kOnLine * kOnLine;
      };
      if (share > 0.0 && share < 1.0 && !is_near(a) && !is_near(b) &&
          (splits.empty() || !is_near(splits.back()))) {
        splits.push_back(point);
      }
    }
    if (from > to) {
      std::ranges::reverse(splits);
    }
    return splits;
  }

  // Returns true if there is ground across the edge at this point of the face's border.
  bool IsOpen(const Face& face, std::size_t k) const {
    const BorderPoint& at = face.border[k];
    if (at.beyond == kNoPolygon) {
      return false;
    }
    const Face* const other = FindFace(at.beyond);
    const WorldPoint& start = face.border[k + 1 < face.border.size() ? k + 1 : 0].point;
    if (other == nullptr) {
      const CutFace* const kept = table_->polygons.Find(at.beyond);
      return kept == nullptr || std::ranges::any_of(kept->entries, [&](const CutFace::Entry& entry) {
               return entry.x == start.x && entry.y == start.y;
             });
    }
    for (std::size_t i = 0; i < other->border.size(); ++i) {
      const BorderPoint& across = other->border[i];
      if (across.beyond == face.polygon && across.point.x == start.x && across.point.y == start.y) {
        return other->has_ground[i];
      }
    }
    return false;
  }

  absl::Status Finish(Face& face) {
    if (face.is_covered) {
      finished_.emplace_back(face.polygon, std::make_shared<const CutFace>(CutFace{.holes = face.holes}));
      return absl::OkStatus();
    }
    if (covers_ != nullptr) {
      ForgetCovers(face.polygon);
    }
    if (face.is_whole) {
      CutFace whole = WholeFace(face);
      if (!face.holes.empty()) {
        (*covers_)[table_->polygons.numbers().FirstPieceOf(face.polygon)] = face.holes;
      }
      whole.holes = std::move(face.holes);
      whole.Shrink();
      finished_.emplace_back(face.polygon, std::make_shared<const CutFace>(std::move(whole)));
      return absl::OkStatus();
    }
    std::vector<bool> is_open(face.border.size());
    for (std::size_t k = 0; k < is_open.size(); ++k) {
      is_open[k] = IsOpen(face, k);
    }
    if (face.cut == nullptr) {
      face.cut = Cut(face);
    }
    face.cut->SetOpen(std::move(is_open));
    std::optional<CutFace> cut = face.cut->Finish(
        face.polygon, table_->polygons.numbers(),
        [&](const WorldPoint& point) { return mesh_.NearestPoint(face.polygon, point.x, point.y).z; });
    if (!cut) {
      return TooIntricate();
    }
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(face.polygon);
    const bool is_whole =
        face.holes.empty() && cut->pieces.size() == 1 && cut->points.empty() &&
        cut->corners.size() == neighbours.size() &&
        std::ranges::count(cut->neighbours, kNoPolygon) == std::ranges::count(neighbours, kNoPolygon);
    if (covers_ != nullptr) {
      NoteCovers(face);
    }
    face.cut.reset();
    cut->holes = face.holes;
    cut->Shrink();
    finished_.emplace_back(face.polygon,
                           is_whole ? nullptr : std::make_shared<const CutFace>(*std::move(cut)));
    return absl::OkStatus();
  }

  void ForgetCovers(PolygonNumber polygon) {
    const CutFace* const before = table_->polygons.Find(polygon);
    const PolygonNumber first = table_->polygons.numbers().FirstPieceOf(polygon);
    for (PolygonNumber i = 0; before != nullptr && i < before->pieces.size(); ++i) {
      (*covers_)[first + i].clear();
    }
  }

  void NoteCovers(const Face& face) {
    PolygonNumber piece = table_->polygons.numbers().FirstPieceOf(face.polygon);
    for (const FaceCut::Cover& cover : face.cut->CoversOfPieces()) {
      for (const std::uint32_t hole : cover) {
        (*covers_)[piece].push_back(face.holes[hole]);
      }
      ++piece;
    }
  }

  void Replace(PolygonNumber polygon, std::shared_ptr<const CutFace> after) {
    if (const CutFace* const before = table_->polygons.Find(polygon)) {
      table_->hole_count -= before->holes.size();
    }
    if (after != nullptr) {
      table_->hole_count += after->holes.size();
    }
    table_->polygons.Put(polygon, std::move(after));
  }

  // Labels the new pieces with their parts. Where the change separates or joins parts, the smaller one gets
  // another label; if it is large, all polygons are labelled again.
  absl::Status LabelParts(absl::Span<const PolygonNumber> changed) {
    for (const PolygonNumber polygon : changed) {
      table_->own_parts.erase(polygon);
      if (const CutFace* const before = mesh_.is_cut() ? mesh_.cuts()->polygons.Find(polygon) : nullptr) {
        const PolygonNumber first = table_->polygons.numbers().FirstPieceOf(polygon);
        for (PolygonNumber piece = first; piece < first + before->pieces.size(); ++piece) {
          table_->own_parts.erase(piece);
        }
      }
    }
    const NavMesh cut = mesh_.WithCuts(table_);
    LocalLinks before(mesh_, changed);
    LocalLinks after(cut, changed);
    if (!SeparateParts(cut, before, after) || !JoinParts(cut, changed, before, after)) {
      return LabelAll(cut);
    }
    absl::flat_hash_map<PolygonNumber, std::uint32_t> labels;
    for (const PolygonNumber polygon : after.outside()) {
      labels.try_emplace(after.RootOf(polygon), cut.PartOf(polygon));
    }
    for (const PolygonNumber polygon : changed) {
      cut.ForEachPieceOf(polygon, [&](PolygonNumber piece) {
        const auto [label, is_new] = labels.try_emplace(after.RootOf(piece), table_->next_part);
        table_->next_part += is_new ? 1 : 0;
        SetParts(cut, {&piece, 1}, label->second);
      });
    }
    // Labels are not used twice. Before they run out, all polygons are labelled again.
    constexpr std::uint32_t kLastLabel = 0xF0000000;
    const bool has_too_many = table_->own_parts.size() > 2 * table_->needed_own_parts + kMostOwnParts;
    return has_too_many || table_->next_part > kLastLabel ? LabelAll(cut) : absl::OkStatus();
  }

  void SetParts(const NavMesh& cut, absl::Span<const PolygonNumber> polygons, std::uint32_t label) {
    for (const PolygonNumber polygon : polygons) {
      table_->own_parts.erase(polygon);
      if (cut.PartOf(polygon) != label) {
        table_->own_parts.emplace(polygon, label);
      }
    }
  }

  // Gives new labels to parts that were connected through changed polygons and no longer are. Returns false
  // if that takes long.
  bool SeparateParts(const NavMesh& cut, LocalLinks& before, LocalLinks& after) {
    // For each group of polygons that was connected, those that the changed polygons still connect.
    std::map<PolygonNumber, std::map<PolygonNumber, std::vector<PolygonNumber>>> groups;
    for (const PolygonNumber polygon : before.outside()) {
      groups[before.RootOf(polygon)][after.RootOf(polygon)].push_back(polygon);
    }
    for (const auto& [root, places] : groups) {
      if (places.size() == 1) {
        continue;
      }
      PartWalks walks(cut);
      for (const auto& [place, polygons] : places) {
        walks.Add(polygons);
      }
      if (!walks.Run(may_walk_, [](PolygonNumber /*polygon*/) { return true; })) {
        return false;
      }
      // A part may have been separated already, elsewhere.
      absl::flat_hash_set<std::uint32_t> labels;
      walks.VisitGroups([&](const std::vector<PolygonNumber>& polygons) {
        if (!labels.insert(cut.PartOf(polygons.front())).second) {
          SetParts(cut, polygons, table_->next_part++);
        }
      });
    }
    return true;
  }

  // Gives one label to parts that changed polygons connect. Returns false if that takes long.
  bool JoinParts(const NavMesh& cut, absl::Span<const PolygonNumber> changed, const LocalLinks& before,
                 LocalLinks& after) {
    NumberSets joined;
    absl::flat_hash_map<PolygonNumber, std::uint32_t> label_of;
    for (const PolygonNumber polygon : after.outside()) {
      const std::uint32_t label = cut.PartOf(polygon);
      const std::uint32_t other = label_of.try_emplace(after.RootOf(polygon), label).first->second;
      if (label != other) {
        joined.Join(label, other);
      }
    }
    // The polygons beside the change, by part. All others of the part can be reached from these without
    // entering changed polygons.
    std::map<std::uint32_t, std::map<std::uint32_t, std::vector<PolygonNumber>>> groups;
    for (const std::vector<PolygonNumber>* const outside : {&before.outside(), &after.outside()}) {
      for (const PolygonNumber polygon : *outside) {
        if (const std::uint32_t label = cut.PartOf(polygon); joined.Has(label)) {
          groups[joined.RootOf(label)][label].push_back(polygon);
        }
      }
    }
    const absl::flat_hash_set<PolygonNumber> inside(changed.begin(), changed.end());
    for (const auto& [root, parts] : groups) {
      PartWalks walks(cut);
      for (const auto& [label, polygons] : parts) {
        walks.Add(polygons);
      }
      const auto is_outside = [&](PolygonNumber next) { return !inside.contains(cut.WholeOf(next)); };
      if (!walks.Run(may_walk_, is_outside)) {
        return false;
      }
      std::optional<std::uint32_t> label;
      walks.VisitGroups([&](const std::vector<PolygonNumber>& polygons) {
        if (!label) {
          label = cut.PartOf(polygons.front());
        } else {
          SetParts(cut, polygons, *label);
        }
      });
    }
    return true;
  }

  // Labels all polygons and pieces.
  absl::Status LabelAll(const NavMesh& cut) {
    auto labels = std::make_shared<std::vector<std::uint32_t>>(mesh_.polygon_count(), VertexWalls::kNone);
    absl::flat_hash_map<PolygonNumber, std::uint32_t> of_pieces;
    std::uint32_t count = 0;
    // Returns false if it has a label already.
    const auto label = [&](PolygonNumber polygon) {
      if (polygon >= mesh_.polygon_count()) {
        return of_pieces.emplace(polygon, count).second;
      }
      const bool is_new = (*labels)[polygon] == VertexWalls::kNone;
      (*labels)[polygon] = is_new ? count : (*labels)[polygon];
      return is_new;
    };
    std::vector<PolygonNumber> open;
    for (const PolygonNumber first : cut.Polygons()) {
      if (!label(first)) {
        continue;
      }
      open.push_back(first);
      for (std::size_t step = 0; !open.empty(); ++step) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, step));
        const PolygonNumber polygon = open.back();
        open.pop_back();
        for (std::size_t k = 0; k < cut.VerticesOf(polygon).size(); ++k) {
          const PolygonNumber next = cut.Across(polygon, k);
          if (next != kNoPolygon && label(next)) {
            open.push_back(next);
          }
        }
      }
      ++count;
    }
    table_->own_parts.clear();
    table_->polygons.ForEach([&](PolygonNumber polygon, const CutFace& face) {
      const PolygonNumber first = table_->polygons.numbers().FirstPieceOf(polygon);
      for (PolygonNumber piece = first; piece < first + face.pieces.size(); ++piece) {
        if (piece == first) {
          (*labels)[polygon] = of_pieces[piece];
        } else if (of_pieces[piece] != (*labels)[polygon]) {
          table_->own_parts.emplace(piece, of_pieces[piece]);
        }
      }
    });
    table_->needed_own_parts = table_->own_parts.size();
    table_->parts = std::move(labels);
    table_->next_part = count;
    return absl::OkStatus();
  }

  const NavMesh& mesh_;
  const HoleChange& change_;
  const StopCheck* const stop_;
  CoversOf* const covers_;
  const std::shared_ptr<CutTable> table_;
  std::vector<Face> faces_;
  absl::flat_hash_map<PolygonNumber, std::size_t> index_;
  // Number of polygons that holes touch, counted once for each hole.
  std::int64_t touched_ = 0;
  // Number of polygons that PartWalks may see yet. Beyond it, all polygons are labelled again.
  std::size_t may_walk_ = 8 * kMostOwnParts;
  // Polygons that were cut again; null for those that are whole.
  std::vector<std::pair<PolygonNumber, std::shared_ptr<const CutFace>>> finished_;
};

}  // namespace

absl::StatusOr<HoleList> HolesOf(const Shape& shape, const HeightRange& heights, double widening,
                                 const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(std::vector<ConvexOutline> outlines, OutlinesOf(shape, widening, stop));
  HoleList holes;
  holes.reserve(outlines.size());
  for (ConvexOutline& outline : outlines) {
    holes.push_back(std::make_shared<const MeshHole>(MeshHole{std::move(outline), heights}));
  }
  return holes;
}

absl::StatusOr<HoleList> HolesOf(const Obstacle& obstacle, double widening, const StopCheck* stop) {
  return HolesOf(obstacle.shape, obstacle.heights.value_or(HeightRange()), widening, stop);
}

void AddBoxes(const HoleList& holes, BoxSet& boxes) {
  for (const std::shared_ptr<const MeshHole>& hole : holes) {
    Box box;
    for (const WorldPoint& corner : hole->outline) {
      box = box.And({corner.x, corner.y, corner.x, corner.y});
    }
    boxes.Add(box);
  }
}

absl::StatusOr<NavMesh> ChangeHoles(const NavMesh& mesh, const HoleChange& change, const StopCheck* stop) {
  return MeshCutter(mesh, change, stop).Cut();
}

absl::Status DivideByHoles(absl::Span<const OwnedHole> holes, DividedMesh& divided, const StopCheck* stop) {
  HoleChange change;
  for (const OwnedHole& owned : holes) {
    change.added.push_back(owned.hole);
    divided.owner_of.emplace(owned.hole.get(), owned.owner);
  }
  MeshCutter::CoversOf covers;
  WAYSTAR_ASSIGN_OR_RETURN(divided.mesh, MeshCutter(divided.mesh, change, stop, &covers).Cut());
  for (const auto& [piece, cover] : covers) {
    DividedMesh::Owners owners;
    for (const auto& hole : cover) {
      owners.push_back(divided.owner_of.at(hole.get()));
    }
    std::ranges::sort(owners);
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    if (owners.empty()) {
      divided.owners.erase(piece);
    } else {
      divided.owners[piece] = std::move(owners);
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
