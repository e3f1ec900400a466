#include "server/core/grid/field/sample_cells.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/core/search/random_draws.h"

namespace waystar::core {
namespace {

// Cells to draw from, in row-major order.
class Candidates {
 public:
  Candidates(const GridMap& map, World& world, const WalkGrid& walk, const SampleQuery& query,
             const Rectangle& region)
      : walk_(walk), region_(region), part_(query.part), board_(map.settings().frame.hexagons) {
    if (query.reachable_from.has_value()) {
      FindReachableComponents(map, world, query.agent, *query.reachable_from);
    }
  }

  SearchEnd Count(const Budget& budget) {
    for (int y = region_.y; y < region_.y + region_.height; ++y) {
      if (y % kRowsPerPoll == 0) {
        if (const std::optional<SearchEnd> end = Interruption(budget)) {
          return *end;
        }
      }
      std::int64_t in_row = 0;
      ForEachRunOfRow(y, [&](int /*first*/, int length) { in_row += length; });
      total_ += in_row;
      through_.push_back(total_);
    }
    return SearchEnd::kExhausted;
  }

  std::int64_t total() const { return total_; }

  // Sets `cells` to the candidates with these numbers, in the order of `numbers`.
  SearchEnd Find(const std::vector<std::int64_t>& numbers, const Budget& budget,
                 std::vector<Cell>& cells) const {
    std::vector<std::size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return numbers[a] != numbers[b] ? numbers[a] < numbers[b] : a < b;
    });
    cells.resize(numbers.size());
    int rows = 0;
    for (std::size_t i = 0; i < order.size(); ++rows) {
      if (rows % kRowsPerPoll == 0) {
        if (const std::optional<SearchEnd> end = Interruption(budget)) {
          return *end;
        }
      }
      const auto row = static_cast<std::size_t>(
          std::upper_bound(through_.begin(), through_.end(), numbers[order[i]]) - through_.begin());
      const int y = region_.y + static_cast<int>(row);
      std::int64_t number = row == 0 ? 0 : through_[row - 1];
      ForEachRunOfRow(y, [&](int first, int length) {
        for (; i < order.size() && numbers[order[i]] < number + length; ++i) {
          cells[order[i]] = {first + static_cast<int>(numbers[order[i]] - number), y};
        }
        number += length;
      });
    }
    return SearchEnd::kExhausted;
  }

 private:
  // Number of rows between polls of the budget: a row of the largest map has thousands of runs.
  static constexpr int kRowsPerPoll = 4;

  // Calls visit(first, length) for the runs of candidates in a row. All cells of a run are connected.
  template <typename Visitor>
  void ForEachRunOfRow(int y, Visitor visit) const {
    const Word* row = walk_.Row(y);
    const HexBoard::Span span =
        part_ ? board_->InRow(y, *part_) : HexBoard::Span{region_.x, region_.x + region_.width};
    const int end = span.end;
    for (int x = span.begin; x < end;) {
      if (!TestBit(row, x)) {
        x = NextSet(row, x, end);
        continue;
      }
      const int stop = std::min(FirstClear(row, x), end);
      if (components_ == nullptr || IsReachable(components_->Find({x, y}))) {
        visit(x, stop - x);
      }
      x = stop;
    }
  }

  void FindReachableComponents(const GridMap& map, World& world, const Agent& agent, Cell from) {
    if (map.portals().empty()) {
      components_ = &walk_.components(AdjacencyOf(map, agent.corner_rule));
      reachable_ = {components_->Find(from)};
      return;
    }
    through_portals_.emplace(map, world, agent);
    components_ = &through_portals_->components();
    reachable_ = through_portals_->ComponentsFrom(from);
    std::sort(reachable_.begin(), reachable_.end(), Before);
  }

  bool IsReachable(ComponentId id) const {
    return std::binary_search(reachable_.begin(), reachable_.end(), id, Before);
  }
  static bool Before(ComponentId a, ComponentId b) {
    return a.block != b.block ? std::less<>()(a.block, b.block) : a.number < b.number;
  }

  // Returns the first set cell from x on; `end` if there is none before it.
  static int NextSet(const Word* row, int x, int end) {
    const auto bit = static_cast<unsigned>(x + 1);
    std::size_t index = bit / kWordBits;
    const std::size_t last = static_cast<unsigned>(end) / kWordBits;
    Word set = row[index] & ~Word{0} << (bit % kWordBits);
    while (set == 0 && index < last) {
      set = row[++index];
    }
    return set == 0 ? end : std::min(end, static_cast<int>(index) * kWordBits + std::countr_zero(set) - 1);
  }

  const WalkGrid& walk_;
  const Rectangle region_;
  const std::optional<Rectangle> part_;
  const std::optional<HexBoard> board_;
  // Reachability on a map with portals; otherwise unset.
  std::optional<PortalReach> through_portals_;
  const Components* components_ = nullptr;
  std::vector<ComponentId> reachable_;
  std::int64_t total_ = 0;
  // Number of candidates up to and including each row.
  std::vector<std::int64_t> through_;
};

}  // namespace

absl::StatusOr<SampledCells> SampleCells(const GridMap& map, World& world, const SampleQuery& query,
                                         const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.agent.footprint));
  if (query.count < 1) {
    return MakeError(ErrorReason::kBadValue, "count",
                     absl::StrCat("count must be at least 1, got ", query.count));
  }
  WAYSTAR_RETURN_IF_ERROR(CheckCount("count", static_cast<std::size_t>(query.count), kMaxSampledCells));
  WAYSTAR_ASSIGN_OR_RETURN(const Rectangle region, CheckRegion(map, query.region));
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  if (query.reachable_from.has_value()) {
    WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "reachable_from", *query.reachable_from));
    WAYSTAR_RETURN_IF_ERROR(
        CheckFree(map, *walk, "reachable_from", *query.reachable_from, ErrorReason::kStartBlocked));
  }
  Candidates candidates(map, world, *walk, query, region);
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(candidates.Count(budget), 0));
  SampledCells sampled{.candidates = candidates.total()};
  if (sampled.candidates > 0) {
    SplitMix random(query.seed);
    const std::vector<std::int64_t> numbers = query.distinct
                                                  ? DrawDistinct(query.count, sampled.candidates, random)
                                                  : Draw(query.count, sampled.candidates, random);
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(candidates.Find(numbers, budget, sampled.cells), 0));
  }
  return sampled;
}

}  // namespace waystar::core
