#include "server/core/grid/field/flood_matrix.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/base/status_macros.h"
#include "server/core/grid/field/flood_sense.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

absl::Status FillByFloods(const FloodMatrixQuery& query, const Budget& budget, FieldScratch& scratch,
                          CostMatrix& matrix) {
  const FloodGround& ground = scratch.ground();
  Flood& flood = scratch.flood();
  FloodGates& gates = scratch.gates();
  const bool is_turned = query.goals.size() < query.starts.size();
  const absl::Span<const Cell> roots = is_turned ? query.goals : query.starts;
  const absl::Span<const Cell> ends = is_turned ? query.starts : query.goals;
  const FloodSense sense = is_turned ? FloodSense::kToSeeds : FloodSense::kFromSeeds;
  gates.Read(ground, query.passages, sense);
  std::vector<std::uint32_t> until;
  for (std::size_t root = 0; root < roots.size(); ++root) {
    // Floods of few cells on a large ground do not check the clock themselves.
    if (const std::optional<SearchEnd> end = Interruption(budget)) {
      return StatusOfEnd(*end, matrix.expanded);
    }
    until.clear();
    for (const Cell end : ends) {
      if (is_turned ? query.leads(end, roots[root]) : query.leads(roots[root], end)) {
        until.push_back(ground.IndexOf(end));
      }
    }
    if (until.empty()) {
      continue;
    }
    const FloodSpec spec{.seeds = {&roots[root], 1}, .sense = sense, .until = until, .gates = &gates};
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(flood.Run(ground, spec, budget, matrix.expanded), matrix.expanded));
    for (std::size_t end = 0; end < ends.size(); ++end) {
      if (const Cost cost = flood.costs()[ground.IndexOf(ends[end])]; cost != Flood::kUnreached) {
        const std::size_t entry = is_turned ? end * roots.size() + root : root * ends.size() + end;
        matrix.costs[entry] = CostToDouble(cost);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
