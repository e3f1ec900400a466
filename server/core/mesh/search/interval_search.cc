#include "server/core/mesh/search/interval_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/search/interval_expansion.h"
#include "server/core/mesh/search/landmarks.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

const NavMesh& MeshOf(const NavMesh& mesh) { return mesh; }
const NavMesh& MeshOf(const CellLayer& cells) { return cells.mesh(); }

// Expansions before a search uses landmarks: short ones need none.
constexpr std::uint64_t kExpandedBeforeBounds = 16;

// Returns the polygon directly behind the point of an edge that leads into a polygon or a cell.
PolygonNumber PolygonBehind(const NavMesh& /*mesh*/, PolygonNumber polygon, const WorldPoint& /*point*/) {
  return polygon;
}
template <typename Cells>
PolygonNumber PolygonBehind(const Cells& cells, PolygonNumber cell, const WorldPoint& point) {
  const absl::Span<const std::uint32_t> corners = cells.VerticesOf(cell);
  WorldPoint inside{};
  for (const std::uint32_t vertex : corners) {
    const WorldPoint& corner = cells.VertexAt(vertex);
    inside = {inside.x + corner.x, inside.y + corner.y, inside.z + corner.z};
  }
  // Fraction of the way from the point to the mean of the corners.
  constexpr double kShare = 1.0 / 64.0;
  const auto count = static_cast<double>(corners.size());
  const auto go = [&](double from, double sum) { return from + (sum / count - from) * kShare; };
  inside = {go(point.x, inside.x), go(point.y, inside.y), go(point.z, inside.z)};
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const std::optional<MeshPlace> place = cells.mesh().FindNearest({inside, kAny, kAny});
  return place ? place->polygon : kNoPolygon;
}

// Start and goal places of a search, one in each fan of polygons that contains the start or goal. In a search
// over cells, cell numbers replace polygon numbers.
struct SearchEnds {
  PlacesAround starts;
  PlacesAround goals;
};

// Returns the ends in parts that contain both a start and a goal. Others lead nowhere.
SearchEnds EndsOf(const NavMesh& mesh, const MeshSearchTask& task) {
  SearchEnds ends{FindPlacesAround(mesh, task.start), FindPlacesAround(mesh, task.goal)};
  const auto keep_shared = [&](PlacesAround& places, const PartsAround& parts) {
    const auto is_elsewhere = [&](const MeshPlace& place) {
      return !std::ranges::binary_search(parts, mesh.PartOf(place.polygon));
    };
    places.erase(std::remove_if(places.begin(), places.end(), is_elsewhere), places.end());
  };
  if (ends.starts.size() + ends.goals.size() > 2) {
    const PartsAround start_parts = FindPartsAround(mesh, task.start);
    keep_shared(ends.starts, FindPartsAround(mesh, task.goal));
    keep_shared(ends.goals, start_parts);
  } else if (mesh.PartOf(task.start.polygon) != mesh.PartOf(task.goal.polygon)) {
    return {};
  }
  return ends;
}

struct NoTolls {
  static constexpr bool kAny = false;
};

// Prices of entering the areas of a divided mesh.
struct AreaTolls {
  static constexpr bool kAny = true;

  // Returns the price of a step from a polygon to another.
  double Between(PolygonNumber from, PolygonNumber to) const {
    double price = 0.0;
    VisitEntered(divided.OwnersAt(from), divided.OwnersAt(to),
                 [&](std::uint32_t owner) { price += prices[owner]; });
    return price;
  }
  double At(PolygonNumber polygon) const {
    double price = 0.0;
    VisitEntered({}, divided.OwnersAt(polygon), [&](std::uint32_t owner) { price += prices[owner]; });
    return price;
  }

  const DividedMesh& divided;
  const absl::Span<const double> prices;
};

// `Tolls` says what it costs to enter polygons, and whether anything does.
template <typename Mesh, typename Recorder, typename Tolls = NoTolls>
class IntervalSearch : private IntervalExpansion<IntervalSearch<Mesh, Recorder, Tolls>, Mesh> {
  using Expansion = IntervalExpansion<IntervalSearch, Mesh>;
  friend Expansion;

  using Expansion::ArrivalAt;
  using Expansion::BoundOf;
  using Expansion::Expand;
  using Expansion::ExpandSeed;
  using Expansion::Fill;
  using Expansion::LeastDistance;
  using Expansion::MarkOpenedRooms;
  using Expansion::MarkOuterRooms;
  using Expansion::mesh_;
  using Expansion::NoteEnds;
  using Expansion::PointOf;
  using Expansion::PolygonBefore;
  using Expansion::ReserveFor;
  using Expansion::scratch_;
  using Expansion::TracePath;
  using typename Expansion::Arrival;
  using typename Expansion::End;
  using typename Expansion::Root;

 public:
  // `goals` are the places of the goal on the mesh; they must outlive this.
  IntervalSearch(const Mesh& mesh, const MeshSearchTask& task, const PlacesAround& goals,
                 const Budget& budget, MeshScratch& scratch, Recorder& recorder, const Tolls& tolls = {})
      : Expansion(mesh, scratch),
        tolls_(tolls),
        start_(task.start.point),
        goal_(task.goal.point),
        goals_(goals),
        weight_(1.0 + task.tolerance),
        max_length_(CostToDouble(budget.max_cost)),
        budget_(budget),
        recorder_(recorder) {}

  MeshSearchReport Run(const SearchEnds& ends) {
    recorder_.Begin();
    if (!scratch_.Start(mesh_.vertex_count(), mesh_.room_count())) {
      report_.end = SearchEnd::kScratchLimit;
      return report_;
    }
    for (const MeshPlace& start : ends.starts) {
      FindPolygonsAround(mesh_, start, scratch_.start_polygons());
    }
    for (const MeshPlace& goal : ends.goals) {
      FindPolygonsAround(mesh_, goal, scratch_.goal_polygons());
    }
    std::ranges::sort(scratch_.goal_polygons());
    const double toll = TakeStartToll();
    for (const PolygonNumber polygon : scratch_.start_polygons()) {
      if (IsGoal(polygon)) {
        scratch_.corridor().push_back(polygon);
        Finish(MeshInterval::kNoParent);
        return report_;
      }
    }
    MarkRooms(ends);
    MarkOpenedRooms();
    report_.end =
        ExpandSeed(MeshInterval::kStart, scratch_.start_polygons(), toll) ? Loop() : SearchEnd::kScratchLimit;
    return report_;
  }

 private:
  // Pieces of a divided mesh have vertices of their own, which no other floor shares.
  static constexpr bool kTurnsOnceAtPieces = Tolls::kAny;
  static bool IsSeed(std::uint32_t root) { return root == MeshInterval::kStart; }
  const WorldPoint& SeedAt(std::uint32_t /*root*/) const { return start_; }
  bool IsGoal(PolygonNumber polygon) const {
    const std::vector<PolygonNumber>& goals = scratch_.goal_polygons();
    return polygon == goals.front() || (goals.size() > 1 && std::ranges::binary_search(goals, polygon));
  }

  // Returns what it costs to be at the start. Keeps only polygons around it where that is least, and that are
  // in the same areas.
  double TakeStartToll() {
    if constexpr (Tolls::kAny) {
      std::vector<PolygonNumber>& polygons = scratch_.start_polygons();
      const auto toll_at = [this](PolygonNumber polygon) { return tolls_.At(polygon); };
      const PolygonNumber first = *std::ranges::min_element(polygons, {}, [&](PolygonNumber polygon) {
        return std::pair(toll_at(polygon), tolls_.divided.OwnersAt(polygon).size());
      });
      std::erase_if(polygons, [&](PolygonNumber polygon) {
        return tolls_.divided.OwnersAt(polygon) != tolls_.divided.OwnersAt(first);
      });
      return toll_at(first);
    }
    return 0.0;
  }

  // Returns the root of an interval beyond a new edge: a toll adds to its cost. Notes the cost of the path to
  // the root itself, which a difference of costs would not give exactly.
  Root Toll(Root root, IntervalNumber parent, PolygonNumber polygon, std::uint32_t edge_left) {
    if constexpr (Tolls::kAny) {
      const bool is_first = parent == MeshInterval::kNoParent;
      const double toll =
          tolls_.Between(is_first ? PolygonBefore(polygon, edge_left) : scratch_.At(parent).polygon, polygon);
      const bool has_turned = is_first || scratch_.At(parent).root != root.vertex;
      costs_to_roots_.resize(scratch_.interval_count());
      costs_to_roots_.push_back(has_turned ? root.g : costs_to_roots_[parent]);
      root.g += toll;
    }
    return root;
  }
  // Returns the cost of the path to the root of an interval, without tolls behind it.
  double CostToRoot(IntervalNumber number) const {
    if constexpr (Tolls::kAny) {
      return costs_to_roots_[number];
    }
    return scratch_.At(number).g;
  }

  // Marks the rooms of the ends and between them. A path into other rooms would return through the same door.
  void MarkRooms(const SearchEnds& ends) {
    if (ends.starts.size() + ends.goals.size() > 2) {
      for (const PlacesAround* const places : {&ends.starts, &ends.goals}) {
        for (const MeshPlace& place : *places) {
          MarkOuterRooms(place.polygon);
        }
      }
      return;
    }
    std::uint32_t from = mesh_.RoomOf(ends.starts.front().polygon);
    std::uint32_t to = mesh_.RoomOf(ends.goals.front().polygon);
    while (from != to) {
      // The outer of two rooms has the lower number.
      std::uint32_t& inner = from > to ? from : to;
      scratch_.MarkRoom(inner);
      inner = mesh_.OuterRoomOf(inner);
    }
    scratch_.MarkRoom(from);
  }

  SearchEnd Loop() {
    while (true) {
      if (!next_) {
        if (scratch_.is_open_empty()) {
          return SearchEnd::kExhausted;
        }
        next_ = scratch_.Pop();
      } else if (!scratch_.is_open_empty() && scratch_.first().Precedes(*next_)) {
        next_ = scratch_.Exchange(*next_);
      }
      if (next_->f > max_length_) {
        report_.least_length = next_->f;
        return SearchEnd::kCostLimit;
      }
      const IntervalNumber number = next_->interval;
      next_.reset();
      const MeshInterval& interval = scratch_.At(number);
      const bool is_last = scratch_.is_open_empty();
      const OpenInterval after = is_last ? OpenInterval{} : scratch_.first();
      if (!is_last) {
        scratch_.Prefetch(after.interval);
        mesh_.PrefetchFace(after.polygon);
      }
      if (interval.is_final) {
        Finish(number);
        return report_.end;
      }
      if (interval.root != MeshInterval::kStart &&
          scratch_.template IsBeaten<Mesh::kMayBeCut>(CostToRoot(number), interval.root)) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, report_.statistics.expanded)) {
        return *end;
      }
      if (++report_.statistics.expanded == kExpandedBeforeBounds && MeshOf(mesh_).landmarks() != nullptr) {
        bounds_.emplace(MeshOf(mesh_), goals_);
      }
      recorder_.Expanded(number);
      if (!ReserveFor(interval.polygon)) {
        return SearchEnd::kScratchLimit;
      }
      Expand(number);
      if (!is_last) {
        mesh_.PrefetchCorners(after.polygon);
      }
    }
  }

  // Adds an interval of the edge between these vertices, unless no shortest path can lead through it.
  void AddSuccessor(const Root& before, IntervalNumber parent, PolygonNumber polygon,
                    std::uint32_t edge_right, std::uint32_t edge_left, const End& right, const End& left) {
    const bool is_final = IsGoal(polygon);
    // A path may leave a room and come back around an area at its door.
    if (!Tolls::kAny && !is_final && !scratch_.IsRoomMarked(mesh_.RoomOf(polygon))) {
      return;
    }
    mesh_.PrefetchCorners(polygon);
    const WorldPoint& from = PointOf(before.vertex);
    if (!NoteEnds(from, before, edge_right, edge_left, right, left)) {
      return;
    }
    const Root root = Toll(before, parent, polygon, edge_left);
    MeshInterval& interval = scratch_.AddBlank();
    Fill(interval, from, root, parent, polygon, edge_left, right, left);
    interval.is_final = is_final;
    double f = 0.0;
    if (is_final) {
      const std::optional<Arrival> arrival = ArrivalAt(goal_, interval, root, edge_right);
      if (!arrival) {
        scratch_.TakeBack();
        return;
      }
      interval.root = arrival->root.vertex;
      interval.before = arrival->root.before;
      interval.g = arrival->root.g;
      interval.is_turned = arrival->is_turned;
      f = arrival->length;
    } else {
      f = root.g + weight_ * Estimate(interval, from, edge_right);
    }

    const OpenInterval entry{f, static_cast<IntervalNumber>(scratch_.interval_count() - 1), polygon};
    ++report_.statistics.generated;
    recorder_.Generated([&] { return Traced(interval, root, edge_right, f); });
    if (!next_) {
      next_ = entry;
    } else if (entry.Precedes(*next_)) {
      scratch_.Push(*next_);
      next_ = entry;
    } else {
      scratch_.Push(entry);
    }
    report_.open_peak = std::max(report_.open_peak, scratch_.open_size() + 1);
  }

  // Returns a lower bound of the distance from the root through the interval to the goal.
  double Estimate(const MeshInterval& interval, const WorldPoint& root, std::uint32_t edge_right) const {
    if (!bounds_) {
      return LeastDistance(goal_, interval, root, edge_right);
    }
    const typename Expansion::LineBound bound = BoundOf(*bounds_, interval, root, edge_right);
    // No line through the point is shorter than the least.
    return DistanceInPlan(bound.x, bound.y, goal_.x, goal_.y) <= bound.beyond
               ? bound.whole()
               : std::max(bound.whole(), LeastDistance(goal_, interval, root, edge_right));
  }

  // Returns the interval as seen from the root, even if it is final and has been given another root.
  TracedInterval Traced(const MeshInterval& interval, const Root& root, std::uint32_t edge_right,
                        double f) const {
    const WorldPoint& a = PointOf(interval.edge_left);
    const WorldPoint& b = PointOf(edge_right);
    const auto on_edge = [&](double x, double y) {
      const bool is_wide = std::abs(b.x - a.x) > std::abs(b.y - a.y);
      const double share = is_wide ? (x - a.x) / (b.x - a.x) : (y - a.y) / (b.y - a.y);
      return WorldPoint{x, y, a.z + share * (b.z - a.z)};
    };
    const WorldPoint left = interval.is_left_vertex ? a : on_edge(interval.left_x, interval.left_y);
    const WorldPoint right = interval.is_right_vertex ? b : on_edge(interval.right_x, interval.right_y);
    const WorldPoint middle{(left.x + right.x) / 2, (left.y + right.y) / 2, (left.z + right.z) / 2};
    return {.left = left,
            .right = right,
            .root = PointOf(root.vertex),
            .g = root.g,
            .f = f,
            .parent = interval.parent,
            .polygon = PolygonBehind(mesh_, interval.polygon, middle)};
  }

  // Builds the path that ends with this interval.
  void Finish(IntervalNumber last) {
    std::vector<WorldPoint>& corners = scratch_.corners();
    std::vector<PolygonNumber>& corridor = scratch_.corridor();
    if (last == MeshInterval::kNoParent) {
      corners.push_back(goal_);
      if (!IsSamePlace(goal_, start_)) {
        corners.push_back(start_);
      }
    } else {
      TracePath(last, goal_, corners, corridor);
    }
    std::reverse(corners.begin(), corners.end());
    std::reverse(corridor.begin(), corridor.end());
    report_.end = SearchEnd::kGoalReached;
    report_.corners = corners;
    report_.corridor = corridor;
    for (std::size_t i = 1; i < corners.size(); ++i) {
      report_.length += DistanceInPlan(corners[i - 1], corners[i]);
    }
  }

  const Tolls tolls_;
  // For each interval.
  std::vector<double> costs_to_roots_;
  const WorldPoint start_;
  const WorldPoint goal_;
  const PlacesAround& goals_;
  const double weight_;
  const double max_length_;
  const Budget& budget_;
  Recorder& recorder_;
  MeshSearchReport report_;
  std::optional<GoalBounds> bounds_;
  // First successor of the last expansion, which is not on the open list yet.
  std::optional<OpenInterval> next_;
};

template <typename Cells, typename Recorder>
MeshSearchReport Search(const NavMesh& mesh, const MeshSearchTask& task, const SearchEnds& ends,
                        const Budget& budget, MeshScratch& scratch, Recorder& recorder) {
  const Cells cells(mesh);
  SearchEnds among_cells = ends;
  for (PlacesAround* const places : {&among_cells.starts, &among_cells.goals}) {
    for (MeshPlace& place : *places) {
      place.polygon = cells.CellOf(place.polygon);
    }
  }
  MeshSearchReport report =
      IntervalSearch(cells, task, ends.goals, budget, scratch, recorder).Run(among_cells);
  if (report.end != SearchEnd::kGoalReached) {
    return report;
  }
  const PolygonsAround start_polygons = FindPolygonsAround(mesh, ends.starts);
  const PolygonsAround goal_polygons = FindPolygonsAround(mesh, ends.goals);
  if (FindCorridor(mesh, report.corners, start_polygons, goal_polygons, scratch.corridor())) {
    report.corridor = scratch.corridor();
    return report;
  }
  // Dents prevented the walk along the path.
  return IntervalSearch(mesh, task, ends.goals, budget, scratch, recorder).Run(ends);
}

template <typename Recorder>
MeshSearchReport Search(const NavMesh& mesh, const MeshSearchTask& task, const SearchEnds& ends,
                        const Budget& budget, MeshScratch& scratch, Recorder& recorder) {
  return mesh.is_cut() ? Search<CutCellLayer>(mesh, task, ends, budget, scratch, recorder)
                       : Search<CellLayer>(mesh, task, ends, budget, scratch, recorder);
}

}  // namespace

MeshSearchReport SearchMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                            MeshScratch& scratch, IntervalRecorder* recorder) {
  const SearchEnds ends = EndsOf(mesh, task);
  if (ends.starts.empty()) {
    return {};
  }
  if (recorder != nullptr) {
    return Search(mesh, task, ends, budget, scratch, *recorder);
  }
  NoIntervalRecorder none;
  return Search(mesh, task, ends, budget, scratch, none);
}

MeshSearchReport SearchDivided(const DividedMesh& divided, absl::Span<const double> prices,
                               const MeshSearchTask& task, const Budget& budget, MeshScratch& scratch) {
  const SearchEnds ends = EndsOf(divided.mesh, task);
  if (ends.starts.empty()) {
    return {};
  }
  NoIntervalRecorder none;
  return IntervalSearch(divided.mesh, task, ends.goals, budget, scratch, none,
                        AreaTolls{.divided = divided, .prices = prices})
      .Run(ends);
}

}  // namespace waystar::core
