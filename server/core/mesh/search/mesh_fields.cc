#include "server/core/mesh/search/mesh_fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/mesh/search/weighted_search.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr std::uint32_t kNoVertex = kNoPolygon;

Box BoxAround(const NavMesh& mesh, PolygonNumber polygon) {
  Box box;
  for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
    const WorldPoint& at = mesh.VertexAt(vertex);
    box = box.And({at.x, at.y, at.x, at.y});
  }
  return box;
}

// Submesh of the polygons in a region. Paths that enter only these polygons may turn at vertices that are on
// no wall of the whole mesh, and polygons around a vertex may be connected only by other polygons. The
// submesh represents both.
//
// Thread safety: immutable.
class MeshRegion {
 public:
  // Takes the polygons that are completely inside the box `region`, seen from above and including its edges,
  // and near the box `reach`. Costs O(polygons), plus O(n log n) for the n polygons taken. The memory is
  // reserved on `account`, if not null, which must outlive this.
  //
  // Returns nullopt if there is no such polygon; the error of `stop`; or RESOURCE_EXHAUSTED with "region":
  // REGION_TOO_LARGE for too many vertices, or MAPS_MEMORY_FULL.
  static absl::StatusOr<std::optional<MeshRegion>> Make(const NavMesh& whole, const Box& region,
                                                        const Box& reach, MemoryAccount* account,
                                                        const StopCheck* stop);

  // Returns true if the region contains a polygon of the whole mesh.
  static bool Holds(const Box& region, const NavMesh& whole, PolygonNumber polygon);

  const NavMesh& mesh() const { return mesh_; }
  // Returns the number on the whole mesh of a polygon of this one. The order is the same.
  PolygonNumber NumberOnWhole(PolygonNumber polygon) const { return numbers_[polygon]; }
  // Appends the places on this mesh that correspond to the place: several if the polygons around it are not
  // connected here; none if no polygon is in the region.
  void AddPlaces(const NavMesh& whole, const MeshPlace& place, std::vector<MeshPlace>& places) const;

 private:
  MeshRegion(NavMesh mesh, std::vector<PolygonNumber> numbers)
      : mesh_(std::move(mesh)), numbers_(std::move(numbers)) {}

  MemoryAccount::Reservation memory_;
  NavMesh mesh_;
  // In ascending order.
  std::vector<PolygonNumber> numbers_;
};

bool MeshRegion::Holds(const Box& region, const NavMesh& whole, PolygonNumber polygon) {
  return region.And(BoxAround(whole, polygon)) == region;
}

absl::StatusOr<std::optional<MeshRegion>> MeshRegion::Make(const NavMesh& whole, const Box& region,
                                                           const Box& reach, MemoryAccount* account,
                                                           const StopCheck* stop) {
  std::vector<PolygonNumber> numbers;
  // Maps numbers of polygons and vertices of the whole mesh to numbers here. Pieces that are not of one
  // polygon have different vertices at the same position.
  absl::flat_hash_map<PolygonNumber, PolygonNumber> polygons;
  std::vector<std::uint32_t> vertices(whole.vertex_count(), kNoVertex);
  absl::flat_hash_map<std::tuple<double, double, double>, std::uint32_t> new_vertices;
  for (const PolygonNumber polygon : whole.Polygons()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, polygon));
    const Box box = BoxAround(whole, polygon);
    if (region.And(box) == region && reach.Overlaps(box)) {
      numbers.push_back(polygon);
    }
  }
  std::ranges::sort(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    polygons.emplace(numbers[i], static_cast<PolygonNumber>(i));
  }
  if (numbers.empty()) {
    return std::nullopt;
  }
  MeshSpec spec;
  for (const PolygonNumber polygon : numbers) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, spec.polygons.size()));
    const absl::Span<const std::uint32_t> corners = whole.VerticesOf(polygon);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const WorldPoint& at = whole.VertexAt(corners[k]);
      std::uint32_t& vertex = corners[k] < vertices.size()
                                  ? vertices[corners[k]]
                                  : new_vertices.try_emplace({at.x, at.y, at.z}, kNoVertex).first->second;
      if (vertex == kNoVertex) {
        vertex = static_cast<std::uint32_t>(spec.vertices.size());
        spec.vertices.push_back(at);
      }
      spec.corners.push_back(vertex);
      const auto neighbour = polygons.find(whole.Across(polygon, k));
      spec.neighbours.push_back(neighbour == polygons.end() ? kNoPolygon : neighbour->second);
    }
    spec.polygons.push_back(
        {.corner_count = static_cast<std::uint32_t>(corners.size()), .area = whole.AreaOf(polygon)});
  }
  absl::StatusOr<NavMesh> mesh = NavMesh::Create(std::move(spec), stop);
  if (mesh.status().code() == absl::StatusCode::kInvalidArgument) {
    return MakeError(ErrorReason::kRegionTooLarge, "region", "the region has too many vertices");
  }
  WAYSTAR_RETURN_IF_ERROR(mesh.status());
  MeshRegion held(*std::move(mesh), std::move(numbers));
  const std::size_t bytes = held.mesh_.memory_bytes() + held.numbers_.capacity() * sizeof(PolygonNumber);
  if (account != nullptr && !account->Reserve(bytes, held.memory_)) {
    return MakeError(ErrorReason::kMapsMemoryFull, "region",
                     absl::StrCat("all maps together, with a mesh of the region, would take more than ",
                                  account->max_bytes() >> 20, " MiB, the server's limit"));
  }
  return held;
}

void MeshRegion::AddPlaces(const NavMesh& whole, const MeshPlace& place,
                           std::vector<MeshPlace>& places) const {
  std::vector<PolygonNumber> around;
  FindPolygonsOfAllFans(whole, place, around);
  PolygonSet joined;
  for (const PolygonNumber polygon : around) {
    const auto number = std::ranges::lower_bound(numbers_, polygon);
    if (number == numbers_.end() || *number != polygon) {
      continue;
    }
    const auto here = static_cast<PolygonNumber>(number - numbers_.begin());
    if (!joined.Has(here)) {
      places.push_back({here, place.point});
      for (const MeshPlace& fan : FindPlacesAround(mesh_, places.back())) {
        AddPolygonsAround(mesh_, fan, joined);
      }
    }
  }
}

absl::StatusOr<double> ToMaxLength(const std::optional<double>& max_cost) {
  WAYSTAR_RETURN_IF_ERROR(ToMaxCost(max_cost).status());
  return max_cost ? *max_cost + *max_cost * 1e-8 : std::numeric_limits<double>::infinity();
}

absl::Status CheckPlaceInRegion(const NavMesh& mesh, const std::optional<Box>& region, const MeshPlace& place,
                                absl::string_view field) {
  std::vector<PolygonNumber> polygons;
  FindPolygonsOfAllFans(mesh, place, polygons);
  const bool is_held = !region || std::ranges::any_of(polygons, [&](PolygonNumber polygon) {
    return MeshRegion::Holds(*region, mesh, polygon);
  });
  return is_held ? absl::OkStatus()
                 : MakeError(ErrorReason::kBadValue, field, "its polygon does not lie wholly in the region");
}

// Returns a box around everything that paths from these seeds can reach, seen from above.
Box ReachOf(absl::Span<const MeshPlace> seeds, double max_length) {
  Box reach;
  for (const MeshPlace& seed : seeds) {
    reach = reach.And(Box::Around(seed.point.x, seed.point.y, max_length + kFloodRounding));
  }
  return reach;
}

// FloodMesh restricted to the region.
// REQUIRES: the region contains the seeds.
absl::StatusOr<MeshFloodReport> Flood(const NavMesh& mesh, const MeshFloodTask& task,
                                      const std::optional<Box>& region, MemoryAccount* memory,
                                      const Budget& budget, MeshScratch& scratch) {
  if (!region) {
    MeshFloodReport report = FloodMesh(mesh, task, budget, scratch);
    WAYSTAR_RETURN_IF_ERROR(StatusOfMeshFlood(report.end, report.statistics.expanded));
    return report;
  }
  const BudgetStop stop(budget);
  WAYSTAR_ASSIGN_OR_RETURN(
      const std::optional<MeshRegion> held,
      MeshRegion::Make(mesh, *region, ReachOf(task.seeds, task.max_length), memory, &stop));
  if (!held) {
    return MeshFloodReport();
  }
  std::vector<MeshPlace> seeds;
  for (const MeshPlace& seed : task.seeds) {
    held->AddPlaces(mesh, seed, seeds);
  }
  MeshFloodTask task_there = task;
  task_there.seeds = seeds;
  WAYSTAR_ASSIGN_OR_RETURN(MeshFloodReport report,
                           Flood(held->mesh(), task_there, std::nullopt, nullptr, budget, scratch));
  for (MeshFloodPath& path : report.paths) {
    path.polygon = held->NumberOnWhole(path.polygon);
  }
  return report;
}

}  // namespace

absl::StatusOr<ReachablePolygons> FindReachablePolygons(const NavMesh& mesh, const MeshReachQuery& query,
                                                        const Budget& budget, MeshScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const double max_length, ToMaxLength(query.max_cost));
  WAYSTAR_RETURN_IF_ERROR(CheckPlaceInRegion(mesh, query.region, query.start, "start"));
  WAYSTAR_ASSIGN_OR_RETURN(
      const MeshFloodReport report,
      Flood(mesh, {.seeds = {&query.start, 1}, .aim = FloodAim::kNearest, .max_length = max_length},
            query.region, query.memory, budget, scratch));
  ReachablePolygons reachable{.polygons = {}, .statistics = report.statistics};
  reachable.polygons.reserve(report.paths.size());
  for (const MeshFloodPath& path : report.paths) {
    reachable.polygons.push_back({path.polygon, path.point, path.length});
  }
  return reachable;
}

absl::StatusOr<MeshFlow> ComputeMeshFlow(const NavMesh& mesh, const MeshFlowQuery& query,
                                         const Budget& budget, MeshScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const double max_length, ToMaxLength(query.max_cost));
  std::vector<MeshPlace> goals;
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    const std::optional<MeshPlace>& goal = query.goals[i];
    if (!goal) {
      continue;
    }
    WAYSTAR_RETURN_IF_ERROR(CheckPlaceInRegion(mesh, query.region, *goal, IndexedField("goals", i)));
    if (std::ranges::find(goals, *goal) == goals.end()) {
      goals.push_back(*goal);
    }
  }
  if (goals.empty()) {
    return MakeError(ErrorReason::kGoalBlocked, "goals", "no goal is on the mesh, or near enough");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const MeshFloodReport report,
                           Flood(mesh, {.seeds = goals, .aim = FloodAim::kMiddle, .max_length = max_length},
                                 query.region, query.memory, budget, scratch));
  MeshFlow flow{.steps = {}, .statistics = report.statistics};
  flow.steps.reserve(report.paths.size());
  for (const MeshFloodPath& path : report.paths) {
    flow.steps.push_back({path.polygon, path.point, path.next, path.length});
  }
  return flow;
}

namespace {

// Number of pairs between budget checks; a search does not check the budget before its first expansion.
constexpr std::size_t kPairsPerPoll = 64;

auto OrderOf(const MeshPlace& place) {
  return std::tie(place.polygon, place.point.x, place.point.y, place.point.z);
}

class MeshMatrixMaker {
 public:
  MeshMatrixMaker(const NavMesh& mesh, absl::Span<const MeshPlace> starts, absl::Span<const MeshPlace> goals,
                  const Budget& budget, MeshScratch& scratch)
      : mesh_(mesh), starts_(starts), goals_(goals), left_(budget), stop_(budget), scratch_(scratch) {}

  absl::StatusOr<MeshMatrix> Make() {
    matrix_.lengths.assign(starts_.size() * goals_.size(), MeshMatrix::kUnreachable);
    CollectPairs();
    double length = MeshMatrix::kUnreachable;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (i % kPairsPerPoll == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      }
      const Pair& pair = pairs_[i];
      if (i == 0 || !pair.IsSameWay(pairs_[i - 1])) {
        WAYSTAR_ASSIGN_OR_RETURN(
            length, LengthOf(starts_[pair.entry / goals_.size()], goals_[pair.entry % goals_.size()]));
      }
      matrix_.lengths[pair.entry] = length;
    }
    return std::move(matrix_);
  }

 private:
  // An entry of the matrix, and the two places of its path, the lower number first.
  struct Pair {
    std::size_t low;
    std::size_t high;
    std::size_t entry;

    bool IsSameWay(const Pair& other) const { return low == other.low && high == other.high; }
  };

  // Sorts the entries whose places are in the same part, so that entries for the same two places are
  // adjacent.
  void CollectPairs() {
    std::vector<MeshPlace> places(starts_.begin(), starts_.end());
    places.insert(places.end(), goals_.begin(), goals_.end());
    const auto precedes = [](const MeshPlace& a, const MeshPlace& b) { return OrderOf(a) < OrderOf(b); };
    std::sort(places.begin(), places.end(), precedes);
    const auto numbers_of = [&](absl::Span<const MeshPlace> side) {
      std::vector<std::size_t> numbers;
      for (const MeshPlace& place : side) {
        numbers.push_back(static_cast<std::size_t>(
            std::lower_bound(places.begin(), places.end(), place, precedes) - places.begin()));
      }
      return numbers;
    };
    const std::vector<std::size_t> starts = numbers_of(starts_);
    const std::vector<std::size_t> goals = numbers_of(goals_);
    const auto parts_of = [&](absl::Span<const MeshPlace> side) {
      std::vector<PartsAround> parts;
      for (const MeshPlace& place : side) {
        parts.push_back(FindPartsAround(mesh_, place));
      }
      return parts;
    };
    const std::vector<PartsAround> start_parts = parts_of(starts_);
    const std::vector<PartsAround> goal_parts = parts_of(goals_);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      for (std::size_t j = 0; j < goals.size(); ++j) {
        if (HaveSharedPart(start_parts[i], goal_parts[j])) {
          pairs_.push_back(
              {std::min(starts[i], goals[j]), std::max(starts[i], goals[j]), i * goals.size() + j});
        }
      }
    }
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
      return std::tie(a.low, a.high, a.entry) < std::tie(b.low, b.high, b.entry);
    });
  }

  absl::StatusOr<double> LengthOf(const MeshPlace& start, const MeshPlace& goal) {
    const MeshSearchTask task{.start = start, .goal = goal};
    const MeshSearchReport report = mesh_.is_weighted() ? SearchWeightedMesh(mesh_, task, left_, scratch_)
                                                        : SearchMesh(mesh_, task, left_, scratch_);
    if (left_.max_expansions != std::numeric_limits<std::uint64_t>::max()) {
      left_.max_expansions -= report.statistics.expanded;
    }
    matrix_.statistics.expanded += report.statistics.expanded;
    matrix_.statistics.generated += report.statistics.generated;
    const bool is_cut_short = left_.max_expansions == 0 && report.bound > kWeightedBound;
    if (is_cut_short || report.end == SearchEnd::kExpansionLimit || report.end == SearchEnd::kScratchLimit) {
      return MakeError(
          ErrorReason::kRegionTooLarge, "",
          "searches over so large a mesh would take more than the server's limits for one answer");
    }
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(report.end, matrix_.statistics.expanded));
    return report.end == SearchEnd::kGoalReached ? report.length : MeshMatrix::kUnreachable;
  }

  const NavMesh& mesh_;
  const absl::Span<const MeshPlace> starts_;
  const absl::Span<const MeshPlace> goals_;
  // Remaining budget.
  Budget left_;
  const BudgetStop stop_;
  MeshScratch& scratch_;
  std::vector<Pair> pairs_;
  MeshMatrix matrix_;
};

}  // namespace

absl::StatusOr<MeshMatrix> ComputeMeshMatrix(const NavMesh& mesh, absl::Span<const MeshPlace> starts,
                                             absl::Span<const MeshPlace> goals, const Budget& budget,
                                             MeshScratch& scratch) {
  return MeshMatrixMaker(mesh, starts, goals, budget, scratch).Make();
}

}  // namespace waystar::core
