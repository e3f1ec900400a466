#include "server/core/mesh/search/one_to_many.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/search/interval_expansion.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

template <typename Cells>
class ManyPathsFlood : private IntervalExpansion<ManyPathsFlood<Cells>, Cells> {
  using Expansion = IntervalExpansion<ManyPathsFlood, Cells>;
  friend Expansion;

  using Expansion::ArrivalAt;
  using Expansion::Expand;
  using Expansion::ExpandSeed;
  using Expansion::Fill;
  using Expansion::MarkOpenedRooms;
  using Expansion::MarkOuterRooms;
  using Expansion::mesh_;
  using Expansion::NearestOf;
  using Expansion::NoteEnds;
  using Expansion::PointOf;
  using Expansion::ReserveFor;
  using Expansion::scratch_;
  using Expansion::TracePath;
  using typename Expansion::Arrival;
  using typename Expansion::End;
  using typename Expansion::Root;

 public:
  ManyPathsFlood(const Cells& cells, const MeshPlace& hub, absl::Span<const MeshPlace> others,
                 const Budget& budget, MeshScratch& scratch)
      : Expansion(cells, scratch), hub_(hub), budget_(budget), targets_(others.size()) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      targets_[i].point = others[i].point;
    }
  }

  SearchEnd Run(absl::Span<const MeshPlace> others) {
    if (!scratch_.Start(mesh_.vertex_count(), mesh_.room_count())) {
      return SearchEnd::kScratchLimit;
    }
    std::vector<PolygonNumber>& around_hub = scratch_.start_polygons();
    for (const MeshPlace& place : CellsAround(hub_)) {
      MarkOuterRooms(place.polygon);
      FindPolygonsAround(mesh_, place, around_hub);
    }
    const PartsAround hub_parts = FindPartsAround(mesh_.mesh(), hub_);
    std::vector<PolygonNumber> around;
    for (std::uint32_t i = 0; i < others.size(); ++i) {
      around.clear();
      for (const MeshPlace& place : CellsAround(others[i])) {
        MarkOuterRooms(place.polygon);
        FindPolygonsAround(mesh_, place, around);
      }
      if (std::ranges::find_first_of(around, around_hub) == around.end() &&
          HaveSharedPart(hub_parts, FindPartsAround(mesh_.mesh(), others[i]))) {
        ++targets_left_;
        for (const PolygonNumber cell : around) {
          targets_in_[cell].push_back(i);
        }
      }
    }
    MarkOpenedRooms();
    if (targets_left_ == 0) {
      return SearchEnd::kExhausted;
    }
    return ExpandSeed(MeshInterval::kStart, around_hub) ? Loop() : SearchEnd::kScratchLimit;
  }

  std::uint64_t expanded() const { return expanded_; }

  // Appends the corners of the path to a target, from there to the hub. Returns false if no path was found.
  bool Trace(std::size_t target, std::vector<WorldPoint>& corners) {
    const Target& to = targets_[target];
    if (to.through == MeshInterval::kNoParent || !scratch_.Reserve(1)) {
      return false;
    }
    MeshInterval last = scratch_.At(to.through);
    last.root = to.root.vertex;
    last.before = to.root.before;
    last.g = to.root.g;
    last.is_turned = to.is_turned;
    std::vector<PolygonNumber> cells;
    TracePath(scratch_.Add(last), to.point, corners, cells);
    return true;
  }

 private:
  struct Target {
    WorldPoint point;
    // The last interval of the shortest path, and its Arrival.
    IntervalNumber through = MeshInterval::kNoParent;
    Root root{};
    bool is_turned = false;
    double length = std::numeric_limits<double>::infinity();
  };

  static bool IsSeed(std::uint32_t root) { return root == MeshInterval::kStart; }
  const WorldPoint& SeedAt(std::uint32_t /*root*/) const { return hub_.point; }

  // Returns the places around a place, with cells in place of polygons.
  PlacesAround CellsAround(const MeshPlace& place) const {
    PlacesAround places = FindPlacesAround(mesh_.mesh(), place);
    for (MeshPlace& each : places) {
      each.polygon = mesh_.CellOf(each.polygon);
    }
    return places;
  }

  SearchEnd Loop() {
    while (!scratch_.is_open_empty()) {
      const OpenInterval first = scratch_.Pop();
      if (targets_left_ == 0 && first.f >= farthest_) {
        farthest_ = Farthest();
        if (first.f >= farthest_) {
          break;
        }
      }
      const MeshInterval& interval = scratch_.At(first.interval);
      if (!IsSeed(interval.root) && scratch_.template IsBeaten<Cells::kMayBeCut>(interval.g, interval.root)) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, expanded_)) {
        return *end;
      }
      ++expanded_;
      if (!ReserveFor(interval.polygon)) {
        return SearchEnd::kScratchLimit;
      }
      Expand(first.interval);
    }
    return SearchEnd::kExhausted;
  }

  // Returns the length of the longest path known.
  double Farthest() const {
    double farthest = 0.0;
    for (const Target& target : targets_) {
      farthest = std::max(farthest, target.through == MeshInterval::kNoParent ? 0.0 : target.length);
    }
    return farthest;
  }

  void AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber cell, std::uint32_t edge_right,
                    std::uint32_t edge_left, const End& right, const End& left) {
    if (!scratch_.IsRoomMarked(mesh_.RoomOf(cell))) {
      return;
    }
    const WorldPoint& from = PointOf(root.vertex);
    if (!NoteEnds(from, root, edge_right, edge_left, right, left)) {
      return;
    }
    MeshInterval& interval = scratch_.AddBlank();
    Fill(interval, from, root, parent, cell, edge_left, right, left);
    const auto number = static_cast<IntervalNumber>(scratch_.interval_count() - 1);
    scratch_.Push({root.g + NearestOf(from, right, left).distance, number, cell});
    const auto targets = targets_in_.find(cell);
    if (targets == targets_in_.end()) {
      return;
    }
    for (const std::uint32_t i : targets->second) {
      Target& target = targets_[i];
      const std::optional<Arrival> arrival = ArrivalAt(target.point, interval, root, edge_right);
      if (arrival && arrival->length < target.length) {
        targets_left_ -= target.through == MeshInterval::kNoParent ? 1 : 0;
        target.through = number;
        target.root = arrival->root;
        target.is_turned = arrival->is_turned;
        target.length = arrival->length;
      }
    }
  }

  const MeshPlace hub_;
  const Budget& budget_;
  std::vector<Target> targets_;
  // For each cell, the targets in it.
  absl::flat_hash_map<PolygonNumber, absl::InlinedVector<std::uint32_t, 2>> targets_in_;
  // Number of targets without a path so far.
  std::size_t targets_left_ = 0;
  // Upper bound of Farthest once no target is left; lengths only decrease.
  double farthest_ = 0.0;
  std::uint64_t expanded_ = 0;
};

template <typename Cells>
SearchEnd Search(const NavMesh& mesh, const MeshPlace& hub, HubEnd hub_end,
                 absl::Span<const MeshPlace> others, const Budget& of_flood, const Budget& budget,
                 MeshScratch& scratch, OneToManySink sink) {
  const Cells cells(mesh);
  ManyPathsFlood<Cells> flood(cells, hub, others, of_flood, scratch);
  if (const SearchEnd end = flood.Run(others); end != SearchEnd::kExhausted) {
    return end;
  }
  std::uint64_t expanded = flood.expanded();
  const bool starts_at_hub = hub_end == HubEnd::kStart;
  const PolygonsAround around_hub = FindPolygonsAround(mesh, FindPlacesAround(mesh, hub));
  const auto trace = [&](std::size_t i) {
    std::vector<WorldPoint>& corners = scratch.corners();
    corners.clear();
    if (!flood.Trace(i, corners)) {
      return false;
    }
    if (starts_at_hub) {
      std::ranges::reverse(corners);
    }
    const PolygonsAround around_other = FindPolygonsAround(mesh, FindPlacesAround(mesh, others[i]));
    return FindCorridor(mesh, corners, starts_at_hub ? around_hub : around_other,
                        starts_at_hub ? around_other : around_hub, scratch.corridor());
  };
  // Searches of their own use the scratch of the flood, so they come last.
  std::vector<std::size_t> alone;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (!trace(i)) {
      alone.push_back(i);
      continue;
    }
    const std::vector<WorldPoint>& corners = scratch.corners();
    MeshSearchReport report{
        .end = SearchEnd::kGoalReached, .corners = corners, .corridor = scratch.corridor()};
    for (std::size_t k = 1; k < corners.size(); ++k) {
      report.length += DistanceInPlan(corners[k - 1], corners[k]);
    }
    report.statistics.expanded = std::exchange(expanded, 0);
    sink(i, report);
  }
  for (const std::size_t i : alone) {
    MeshSearchReport report =
        SearchMesh(mesh, {.start = starts_at_hub ? hub : others[i], .goal = starts_at_hub ? others[i] : hub},
                   budget, scratch);
    report.statistics.expanded += std::exchange(expanded, 0);
    sink(i, report);
  }
  return SearchEnd::kExhausted;
}

}  // namespace

SearchEnd SearchOneToMany(const NavMesh& mesh, const MeshPlace& hub, HubEnd hub_end,
                          absl::Span<const MeshPlace> others, std::uint64_t max_flood_expansions,
                          const Budget& budget, MeshScratch& scratch, OneToManySink sink) {
  Budget of_flood = budget;
  of_flood.max_expansions = std::min(budget.max_expansions, max_flood_expansions);
  return mesh.is_cut() ? Search<CutCellLayer>(mesh, hub, hub_end, others, of_flood, budget, scratch, sink)
                       : Search<CellLayer>(mesh, hub, hub_end, others, of_flood, budget, scratch, sink);
}

}  // namespace waystar::core
