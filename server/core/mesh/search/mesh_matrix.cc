#include "server/core/mesh/search/mesh_matrix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Searches check the budget themselves, but not before their first expansion.
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
    const MeshSearchReport report = SearchMesh(mesh_, {.start = start, .goal = goal}, left_, scratch_);
    if (left_.max_expansions != std::numeric_limits<std::uint64_t>::max()) {
      left_.max_expansions -= report.statistics.expanded;
    }
    matrix_.statistics.expanded += report.statistics.expanded;
    matrix_.statistics.generated += report.statistics.generated;
    if (report.end == SearchEnd::kExpansionLimit || report.end == SearchEnd::kScratchLimit) {
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
