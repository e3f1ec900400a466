// Floods: minimum costs between some cells and all others of a region.
//
// Dijkstra, "A Note on Two Problems in Connexion with Graphs" (1959). Where all steps cost the same, jump
// point pruning limits the sides from which a cell is reached: Sturtevant, Rabin, "Canonical Orderings on
// Grids" (2016). Where costs differ, it applies to cells surrounded by cells of the same cost: Carlson,
// Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal Pathfinding on Weighted Grid Maps" (2023).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/passages.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Open list of floods: cells by cost in buckets of equal width; the buckets in use form a ring. Dial,
// "Algorithm 360: Shortest-Path Forest with Topological Ordering" (1969); buckets as wide as the cheapest
// step: Dinitz (1978).
//
// A pushed cell must lie at most one step above the bucket being drained, or where HasRoomFor allows.
//
// If a bucket is no wider than the cheapest step, the cells of the lowest bucket are final: no cell of the
// bucket leads to another more cheaply. Buckets are that narrow unless the most expensive step costs more
// than kMost times the cheapest. Otherwise they are wider, and a search must reopen cells whose cost
// decreases.
//
// Not thread-safe. Memory is kept.
class BucketRing {
 public:
  // Clears the ring. The first bucket starts at 0.
  void Start(Cost cheapest_step, Cost dearest_step) {
    shift_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cheapest_step))) - 1;
    is_final_ = true;
    while ((static_cast<std::uint64_t>(dearest_step) >> shift_) + 2 > kMost) {
      ++shift_;
      is_final_ = false;
    }
    const std::size_t count = std::bit_ceil((static_cast<std::size_t>(dearest_step) >> shift_) + 2);
    buckets_.resize(std::max(buckets_.size(), count));
    for (std::vector<std::uint32_t>& bucket : buckets_) {
      bucket.clear();
    }
    mask_ = count - 1;
    current_ = 0;
    waiting_ = 0;
    is_draining_ = false;
  }

  // Returns true if buckets are no wider than the cheapest step.
  bool has_final_buckets() const { return is_final_; }

  void Push(Cost cost, std::uint32_t cell) {
    buckets_[NumberOf(cost) & mask_].push_back(cell);
    ++waiting_;
  }

  // Clears the drained bucket and moves to the next one. Returns false if no cell is left.
  bool Next() {
    if (is_draining_) {
      waiting_ -= Current().size();
      Current().clear();
    }
    is_draining_ = waiting_ > 0;
    while (waiting_ > 0 && Current().empty()) {
      ++current_;
    }
    return is_draining_;
  }

  // Returns true if a cell of that cost may be pushed, regardless of its distance from the bucket being
  // drained.
  // REQUIRES: the cost is not below that bucket.
  bool HasRoomFor(Cost cost) const { return NumberOf(cost) - current_ <= mask_; }
  // Moves on to the bucket of that cost.
  // REQUIRES: Next() returned false; the cost is not below the current bucket.
  void SkipTo(Cost cost) { current_ = NumberOf(cost); }

  // Cells of the bucket being drained. Cells pushed into it meanwhile are appended.
  std::size_t drained_count() const { return buckets_[current_ & mask_].size(); }
  std::uint32_t Drained(std::size_t i) const { return buckets_[current_ & mask_][i]; }
  // Returns true if a cell of that cost belongs to the bucket being drained; if not, it was drained before.
  bool IsCurrent(Cost cost) const { return NumberOf(cost) == current_; }
  bool AreInOneBucket(Cost a, Cost b) const { return NumberOf(a) == NumberOf(b); }
  // Returns a lower bound of the costs of the remaining cells.
  Cost Floor() const { return static_cast<Cost>(current_ << shift_); }

  std::size_t memory_bytes() const {
    std::size_t bytes = 0;
    for (const std::vector<std::uint32_t>& bucket : buckets_) {
      bytes += sizeof(bucket) + bucket.capacity() * sizeof(std::uint32_t);
    }
    return bytes;
  }

 private:
  static constexpr std::size_t kMost = 4096;

  std::uint64_t NumberOf(Cost cost) const { return static_cast<std::uint64_t>(cost) >> shift_; }
  std::vector<std::uint32_t>& Current() { return buckets_[current_ & mask_]; }

  // Buckets of the ring, and further ones that earlier floods needed.
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  std::uint64_t current_ = 0;
  std::size_t waiting_ = 0;
  bool is_draining_ = false;
  bool is_final_ = true;
};

struct FloodSpec {
  // Seeds, which must be walkable and in the region. May contain duplicates.
  absl::Span<const Cell> seeds;
  FloodSense sense = FloodSense::kFromSeeds;
  // Maximum cost; cells that cost more are not reached.
  Cost max_cost = std::numeric_limits<Cost>::max();
  // Indices of cells. If not empty, the flood may end once all of them are final; costs of cells beyond may
  // then be too high.
  absl::Span<const std::uint32_t> until;
  // Portals to use, read in the same sense, or null.
  const FloodGates* gates = nullptr;
};

// State of one flood, reused between floods: 9 bytes per cell plus the open list. Allocates nothing once it
// has held a flood of the same size.
//
// Not thread-safe; each worker thread has its own.
class Flood {
 public:
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

  // Floods the ground by paths that stay in its region. Expands 30 to 80 cells per microsecond where steps
  // cost the same, 20 to 60 where costs differ, and 8 to 20 where costs differ and nothing can be pruned: on
  // 4-connected maps, and with very many costs. With gates, it expands each cell once and passes the gates of
  // each cell once. Checks the budget every Budget::kPollInterval expansions, which it adds to `expanded`.
  // Returns kExhausted if the flood is complete.
  SearchEnd Run(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                std::uint64_t& expanded);

  // Returns the costs by index of the ground; kUnreached for cells without a path.
  const std::vector<Cost>& costs() const { return costs_; }

  // Returns the last step (kFromSeeds) or first step (kToSeeds) of a cheapest path at the cell; deterministic
  // if there are several. Returns nullopt at seeds, at unreachable cells, and where the path takes a portal.
  std::optional<Direction> StepAt(std::uint32_t index) const;
  // Writes the steps of all cells by index: 0 if unreachable, 9 at a seed, 10 where the path takes a portal,
  // else the Direction's value plus one.
  // REQUIRES: steps.size() == costs().size().
  void WriteSteps(absl::Span<std::uint8_t> steps) const;

  // Returns the gates through which cheapest paths take portals, in the order of `to`, at which StepAt
  // returns nullopt.
  // REQUIRES: the gates of the last flood still exist.
  std::vector<Gate> GatesTaken() const;

  // Number of times that the last flood passed the gates of a cell.
  std::uint64_t gate_looks() const { return gate_looks_; }
  // Number of times that the last flood checked cells of `until`.
  std::uint64_t until_looks() const { return until_looks_; }

  std::size_t memory_bytes() const {
    return costs_.capacity() * sizeof(Cost) + arrivals_.capacity() + open_.memory_bytes() +
           (sorted_.capacity() + near_.capacity() + far_.capacity()) * sizeof(Waiting) +
           entries_.size() * sizeof(Entry);
  }

 private:
  // Order in which the cells of a bucket are expanded. Gates may connect cells of one bucket.
  enum class Order {
    // Without gates: in the order in which they were pushed.
    kAsPushed,
    // Steps lead to later buckets: all gates of the bucket are passed first, by cost.
    kGatesFirst,
    // Steps may lead to cells of the same bucket: by cost.
    kByCost,
  };
  // Cost and index of a cell in a heap.
  using Waiting = std::pair<Cost, std::uint32_t>;
  // A cell, and the gate through which the flood last reached it at a lower cost.
  using Entry = std::pair<const std::uint32_t, const Gate*>;

  bool HasCome(absl::Span<const std::uint32_t> until, Cost cost);
  template <typename Pricing, typename Pruning>
  SearchEnd Expand(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                   std::uint64_t& expanded, const Pricing& pricing, const Pruning& pruning);
  template <FloodSense kSense>
  SearchEnd ExpandWeighted(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                           std::uint64_t& expanded);
  template <Order kOrder, typename Pricing, typename Pruning>
  SearchEnd ExpandAll(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                      std::uint64_t& expanded, const Pricing& pricing, const Pruning& pruning);
  template <Order kOrder>
  bool NextBucket();
  template <Order kOrder>
  std::optional<std::uint32_t> NextCell(std::size_t& drained);
  template <Order kOrder>
  void Put(Cost before, Cost cost, std::uint32_t cell);
  void PassGatesOfBucket(const FloodSpec& spec);
  template <Order kOrder>
  void PassGates(const FloodSpec& spec, std::uint32_t from);
  void PushNear(Cost cost, std::uint32_t cell);
  std::optional<std::uint32_t> PopNear(Cost bound = kUnreached);
  bool IsTaken(const Entry& entry) const { return arrivals_[entry.first] == 0; }

  FloodSense sense_ = FloodSense::kFromSeeds;
  std::vector<Cost> costs_;
  // Directions in which the flood reached a cell at its cost; empty at a seed.
  std::vector<DirectionSet> arrivals_;
  BucketRing open_;
  // With Order::kByCost, the cells that were in the bucket when its draining began.
  std::vector<Waiting> sorted_;
  // Heap of cells of the bucket being drained whose cost decreased since, or whose gates are to be passed. A
  // cell is pushed again each time its cost decreases.
  std::vector<Waiting> near_;
  // Heap of cells reached through portals of high cost.
  std::vector<Waiting> far_;
  absl::flat_hash_map<std::uint32_t, const Gate*> entries_;
  // Number of leading cells of `until` that are final.
  std::size_t come_ = 0;
  std::uint64_t gate_looks_ = 0;
  std::uint64_t until_looks_ = 0;
};

// Returns true if a flood of the map is faster than searches that make that many expansions. A jump takes as
// long as 10 flooded cells, or 40 where costs differ; a step of A* as long as 4.
inline bool IsFloodQuicker(const GridMap& map, int footprint, std::uint64_t expansions) {
  const Connectivity connectivity = map.settings().connectivity;
  const bool has_jumps = map.HasUniformCost() && connectivity != Connectivity::kSix;
  const bool has_weighted_jumps =
      !map.HasUniformCost() && connectivity == Connectivity::kEight && footprint == 1;
  const std::uint64_t cells_each = has_jumps ? 10 : has_weighted_jumps ? 40 : 4;
  return expansions * cells_each > static_cast<std::uint64_t>(map.walkable_cells());
}

}  // namespace waystar::core
