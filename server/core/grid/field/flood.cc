#include "server/core/grid/field/flood.h"

#include <array>
#include <functional>

#include "absl/base/attributes.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Offset from a cell's index to that of each neighbour.
using Offsets = std::array<std::int64_t, kDirectionCount>;

Offsets OffsetsIn(const Rectangle& region) {
  Offsets offsets{};
  for (std::size_t d = 0; d < kDirectionCount; ++d) {
    offsets[d] = std::int64_t{kSteps[d].y} * region.width + kSteps[d].x;
  }
  return offsets;
}

struct UniformPricing {
  std::array<Cost, 2> costs;
  Cost operator()(unsigned direction, std::size_t /*from*/, std::size_t /*to*/) const {
    return costs[direction & 1U];
  }
};

// Step costs by cell, for a flood that runs along the agent's path or against it.
template <FloodSense kSense>
struct CellPricing {
  const CellCosts::Entry* entering;
  Cost operator()(unsigned direction, std::size_t from, std::size_t to) const {
    const CellCosts::Entry& entry = entering[kSense == FloodSense::kFromSeeds ? to : from];
    return (direction & 1U) != 0 ? entry.diagonal : entry.straight;
  }
};

template <FloodSense kSense>
struct NumberPricing {
  const std::uint8_t* numbers;
  const CellCosts::Entry* costs;
  Cost operator()(unsigned direction, std::size_t from, std::size_t to) const {
    const CellCosts::Entry& entry = costs[numbers[kSense == FloodSense::kFromSeeds ? to : from]];
    return (direction & 1U) != 0 ? entry.diagonal : entry.straight;
  }
};

// Pruning that keeps every legal step.
struct NoPruning {
  DirectionSet operator()(std::size_t /*cell*/, DirectionSet /*arrivals*/, DirectionSet moves) const {
    return moves;
  }
};

// Pruning by JumpDirections, looked up by the legal moves of a cell instead of the cells around it, which
// would only add information about illegal steps.
class CanonicalMoves {
 public:
  DirectionSet operator()(std::size_t /*cell*/, DirectionSet arrivals, DirectionSet moves) const {
    return Of(arrivals, moves);
  }
  DirectionSet Of(DirectionSet arrivals, DirectionSet moves) const {
    if (arrivals == 0) {
      return moves;
    }
    unsigned onward = 0;
    for (unsigned left = arrivals; left != 0; left &= left - 1) {
      onward |= table_[static_cast<std::size_t>(std::countr_zero(left))][moves];
    }
    return static_cast<DirectionSet>(onward);
  }

  static const CanonicalMoves& For(CornerRule rule) {
    static const CanonicalMoves kNoCornerCutting = Make<CornerRule::kNoCornerCutting>();
    static const CanonicalMoves kOneSideFree = Make<CornerRule::kOneSideFree>();
    static const CanonicalMoves kAlways = Make<CornerRule::kAlways>();
    switch (rule) {
      case CornerRule::kNoCornerCutting:
        return kNoCornerCutting;
      case CornerRule::kOneSideFree:
        return kOneSideFree;
      case CornerRule::kAlways:
        return kAlways;
    }
    return kNoCornerCutting;
  }

 private:
  template <CornerRule kRule>
  static CanonicalMoves Make() {
    CanonicalMoves canonical;
    for (unsigned window = 0; window < 512; ++window) {
      const DirectionSet moves = GridMoves::MovesIn(window, Connectivity::kEight, kRule);
      for (unsigned d = 0; d < kDirectionCount; ++d) {
        const auto arrival = static_cast<Direction>(d);
        if ((moves & SetOf(Opposite(arrival))) != 0) {
          canonical.table_[d][moves] = kJumpDirections<kRule>.From(arrival, window);
        }
      }
    }
    return canonical;
  }

  std::array<std::array<DirectionSet, 256>, kDirectionCount> table_{};
};

// Pruning by CanonicalMoves at cells surrounded by cells of the same cost, where alone another path can
// replace the pruned one. Keeps every legal step elsewhere.
struct CanonicalMovesAmidEvenCells {
  DirectionSet operator()(std::size_t cell, DirectionSet arrivals, DirectionSet moves) const {
    return even_cells.Test(cell) ? canonical.Of(arrivals, moves) : moves;
  }

  const EvenCells& even_cells;
  const CanonicalMoves& canonical;
};

}  // namespace

SearchEnd Flood::Run(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                     std::uint64_t& expanded) {
  sense_ = spec.sense;
  costs_.assign(ground.cell_count(), kUnreached);
  arrivals_.assign(ground.cell_count(), 0);
  open_.Start(ground.min_straight(), ground.max_step());
  sorted_.clear();
  near_.clear();
  far_.clear();
  entries_.clear();
  come_ = 0;
  gate_looks_ = 0;
  until_looks_ = 0;
  for (const Cell seed : spec.seeds) {
    const std::uint32_t index = ground.IndexOf(seed);
    if (costs_[index] != 0) {
      costs_[index] = 0;
      open_.Push(0, index);
    }
  }
  if (ground.is_uniform()) {
    const UniformPricing pricing{{ground.min_straight(), ground.min_diagonal()}};
    return ground.is_eight_connected()
               ? Expand(ground, spec, budget, expanded, pricing, CanonicalMoves::For(ground.rule()))
               : Expand(ground, spec, budget, expanded, pricing, NoPruning{});
  }
  return spec.sense == FloodSense::kFromSeeds
             ? ExpandWeighted<FloodSense::kFromSeeds>(ground, spec, budget, expanded)
             : ExpandWeighted<FloodSense::kToSeeds>(ground, spec, budget, expanded);
}

template <FloodSense kSense>
SearchEnd Flood::ExpandWeighted(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                                std::uint64_t& expanded) {
  if (ground.numbers().empty()) {
    return Expand(ground, spec, budget, expanded, CellPricing<kSense>{ground.entering()}, NoPruning{});
  }
  const NumberPricing<kSense> pricing{ground.numbers().numbers().data(), ground.numbers().costs().data()};
  // Pruning needs all arrivals of a cell before it is expanded.
  if (!ground.is_eight_connected() || !open_.has_final_buckets()) {
    return Expand(ground, spec, budget, expanded, pricing, NoPruning{});
  }
  const CanonicalMovesAmidEvenCells pruning{ground.even_cells(), CanonicalMoves::For(ground.rule())};
  return Expand(ground, spec, budget, expanded, pricing, pruning);
}

// Returns true if all cells of `until` cost less than `cost` and are therefore final. Cells found final are
// not checked again.
bool Flood::HasCome(absl::Span<const std::uint32_t> until, Cost cost) {
  ++until_looks_;
  while (come_ < until.size() && costs_[until[come_]] < cost) {
    ++come_;
    ++until_looks_;
  }
  return come_ == until.size();
}

template <Flood::Order kOrder>
bool Flood::NextBucket() {
  bool is_any = open_.Next();
  if constexpr (kOrder != Order::kAsPushed) {
    const bool is_to_resume = !is_any && !far_.empty();
    if (is_to_resume) {
      open_.SkipTo(far_.front().first);
    }
    while (!far_.empty() && open_.HasRoomFor(far_.front().first)) {
      std::pop_heap(far_.begin(), far_.end(), std::greater<>());
      open_.Push(far_.back().first, far_.back().second);
      far_.pop_back();
    }
    is_any = is_any || (is_to_resume && open_.Next());
  }
  if constexpr (kOrder == Order::kByCost) {
    sorted_.clear();
    for (std::size_t i = 0; i < open_.drained_count(); ++i) {
      const std::uint32_t cell = open_.Drained(i);
      if (open_.IsCurrent(costs_[cell])) {
        sorted_.emplace_back(costs_[cell], cell);
      }
    }
    const auto costs_less = [](const Waiting& a, const Waiting& b) { return a.first < b.first; };
    // Fast path: usually all of them cost the same.
    if (!std::is_sorted(sorted_.begin(), sorted_.end(), costs_less)) {
      std::sort(sorted_.begin(), sorted_.end());
    }
  }
  return is_any;
}

// Returns the next cell of the bucket to expand. Inlined, as is Put: a call per cell would slow floods
// through portals by half.
template <Flood::Order kOrder>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline std::optional<std::uint32_t> Flood::NextCell(std::size_t& drained) {
  if constexpr (kOrder == Order::kByCost) {
    while (drained < sorted_.size()) {
      const auto [cost, cell] = sorted_[drained];
      if (const std::optional<std::uint32_t> nearer = PopNear(cost)) {
        return nearer;
      }
      ++drained;
      if (cost == costs_[cell]) {
        return cell;
      }
    }
    return PopNear();
  } else {
    while (drained < open_.drained_count()) {
      const std::uint32_t cell = open_.Drained(drained++);
      if (open_.IsCurrent(costs_[cell])) {
        return cell;
      }
    }
    return std::nullopt;
  }
}

// Adds a cell whose cost decreased to the open list, unless it is there already.
template <Flood::Order kOrder>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline void Flood::Put(Cost before, Cost cost, std::uint32_t cell) {
  if constexpr (kOrder == Order::kByCost) {
    if (open_.IsCurrent(cost)) {
      PushNear(cost, cell);
      return;
    }
  }
  if constexpr (kOrder != Order::kAsPushed) {
    if (open_.AreInOneBucket(before, cost)) {
      return;
    }
  }
  open_.Push(cost, cell);
}

ABSL_ATTRIBUTE_NOINLINE void Flood::PushNear(Cost cost, std::uint32_t cell) {
  near_.emplace_back(cost, cell);
  std::push_heap(near_.begin(), near_.end(), std::greater<>());
}

// Pops the cheapest cell of the heap if it costs less than `bound`.
ABSL_ATTRIBUTE_NOINLINE std::optional<std::uint32_t> Flood::PopNear(Cost bound) {
  while (!near_.empty() && near_.front().first < bound) {
    std::pop_heap(near_.begin(), near_.end(), std::greater<>());
    const auto [cost, cell] = near_.back();
    near_.pop_back();
    if (cost == costs_[cell]) {
      return cell;
    }
  }
  return std::nullopt;
}

// Passes the gates of the bucket being drained, all of whose cells then have their final costs.
void Flood::PassGatesOfBucket(const FloodSpec& spec) {
  for (std::size_t i = 0; i < open_.drained_count(); ++i) {
    const std::uint32_t cell = open_.Drained(i);
    if (spec.gates->IsAt(cell) && open_.IsCurrent(costs_[cell])) {
      PushNear(costs_[cell], cell);
    }
  }
  while (const std::optional<std::uint32_t> cell = PopNear()) {
    PassGates<Order::kGatesFirst>(spec, *cell);
  }
}

template <Flood::Order kOrder>
ABSL_ATTRIBUTE_NOINLINE void Flood::PassGates(const FloodSpec& spec, std::uint32_t from) {
  ++gate_looks_;
  for (const Gate& gate : spec.gates->From(from)) {
    // Guards against overflow: very many expensive portals together exceed the range of Cost.
    if (gate.cost > spec.max_cost - costs_[from]) {
      continue;
    }
    const Cost cost = costs_[from] + gate.cost;
    const Cost before = costs_[gate.to];
    if (cost >= before) {
      continue;
    }
    costs_[gate.to] = cost;
    arrivals_[gate.to] = 0;
    entries_[gate.to] = &gate;
    if (kOrder == Order::kGatesFirst && open_.IsCurrent(cost) && spec.gates->IsAt(gate.to)) {
      PushNear(cost, gate.to);
    }
    if (open_.HasRoomFor(cost)) {
      Put<kOrder>(before, cost, gate.to);
    } else if (!open_.AreInOneBucket(before, cost)) {
      far_.emplace_back(cost, gate.to);
      std::push_heap(far_.begin(), far_.end(), std::greater<>());
    }
  }
}

template <typename Pricing, typename Pruning>
SearchEnd Flood::Expand(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                        std::uint64_t& expanded, const Pricing& pricing, const Pruning& pruning) {
  if (spec.gates == nullptr || spec.gates->empty()) {
    return ExpandAll<Order::kAsPushed>(ground, spec, budget, expanded, pricing, pruning);
  }
  return open_.has_final_buckets()
             ? ExpandAll<Order::kGatesFirst>(ground, spec, budget, expanded, pricing, pruning)
             : ExpandAll<Order::kByCost>(ground, spec, budget, expanded, pricing, pruning);
}

template <Flood::Order kOrder, typename Pricing, typename Pruning>
SearchEnd Flood::ExpandAll(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                           std::uint64_t& expanded, const Pricing& pricing, const Pruning& pruning) {
  const Offsets offsets = OffsetsIn(ground.region());
  const DirectionSet* moves = ground.moves();
  Cost* costs = costs_.data();
  DirectionSet* arrivals = arrivals_.data();
  const Cost max_cost = spec.max_cost;
  while (NextBucket<kOrder>()) {
    if (!spec.until.empty() && HasCome(spec.until, open_.Floor())) {
      return SearchEnd::kExhausted;
    }
    if constexpr (kOrder == Order::kGatesFirst) {
      PassGatesOfBucket(spec);
    }
    std::size_t drained = 0;
    while (const std::optional<std::uint32_t> next = NextCell<kOrder>(drained)) {
      const std::size_t from = *next;
      const Cost cost_here = costs[from];
      if (const std::optional<SearchEnd> end = BudgetEnd(budget, expanded)) {
        return *end;
      }
      ++expanded;
      if constexpr (kOrder == Order::kByCost) {
        if (spec.gates->IsAt(from)) {
          PassGates<kOrder>(spec, *next);
        }
      }
      for (unsigned left = pruning(from, arrivals[from], moves[from]); left != 0; left &= left - 1) {
        const auto d = static_cast<unsigned>(std::countr_zero(left));
        const auto to = static_cast<std::size_t>(static_cast<std::int64_t>(from) + offsets[d]);
        const Cost cost = cost_here + pricing(d, from, to);
        const Cost before = costs[to];
        if (cost > before || cost > max_cost) {
          continue;
        }
        const auto arrival = static_cast<DirectionSet>(1U << d);
        if (cost == before) {
          arrivals[to] |= arrival;
          continue;
        }
        costs[to] = cost;
        arrivals[to] = arrival;
        Put<kOrder>(before, cost, static_cast<std::uint32_t>(to));
      }
    }
  }
  return SearchEnd::kExhausted;
}

std::optional<Direction> Flood::StepAt(std::uint32_t index) const {
  const DirectionSet arrivals = arrivals_[index];
  if (arrivals == 0) {
    return std::nullopt;
  }
  const auto arrival = static_cast<Direction>(std::countr_zero(arrivals));
  return sense_ == FloodSense::kFromSeeds ? arrival : Opposite(arrival);
}

void Flood::WriteSteps(absl::Span<std::uint8_t> steps) const {
  constexpr std::uint8_t kNoWay = 0;
  constexpr std::uint8_t kAtSeed = 9;
  constexpr std::uint8_t kThroughPortal = 10;
  // Steps indexed by the set of arrivals, which is empty at seeds and at unreachable cells.
  std::array<std::uint8_t, 256> by_arrivals{};
  for (unsigned arrivals = 1; arrivals < by_arrivals.size(); ++arrivals) {
    const auto arrival = static_cast<Direction>(std::countr_zero(arrivals));
    const Direction step = sense_ == FloodSense::kFromSeeds ? arrival : Opposite(arrival);
    by_arrivals[arrivals] = static_cast<std::uint8_t>(static_cast<int>(step) + 1);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DirectionSet arrivals = arrivals_[i];
    steps[i] = arrivals != 0 ? by_arrivals[arrivals] : costs_[i] == 0 ? kAtSeed : kNoWay;
  }
  for (const Entry& entry : entries_) {
    if (IsTaken(entry)) {
      steps[entry.first] = kThroughPortal;
    }
  }
}

std::vector<Gate> Flood::GatesTaken() const {
  std::vector<Gate> taken;
  for (const Entry& entry : entries_) {
    if (IsTaken(entry)) {
      taken.push_back(*entry.second);
    }
  }
  std::sort(taken.begin(), taken.end(), [](const Gate& a, const Gate& b) { return a.to < b.to; });
  return taken;
}

}  // namespace waystar::core
