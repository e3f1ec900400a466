// Floods: minimum costs between some cells and all others of a region.
//
// Dijkstra, "A Note on Two Problems in Connexion with Graphs" (1959). Where all steps cost the same, jump
// point pruning limits the sides from which a cell is reached: Sturtevant, Rabin, "Canonical Orderings on
// Grids" (2016). Where costs differ, it applies to cells surrounded by cells of the same cost: Carlson,
// Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal Pathfinding on Weighted Grid Maps" (2023).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/bucket_ring.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/passages.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

struct FloodSpec {
  // Seeds, which must be walkable and in the region. May contain duplicates.
  absl::Span<const Cell> seeds;
  FloodSense sense = FloodSense::kFromSeeds;
  // Cells that cost more are not reached.
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
  // if there are several. Returns nothing at seeds, at unreachable cells, and where the path takes a portal.
  std::optional<Direction> StepAt(std::uint32_t index) const;
  // Writes the steps of all cells by index: 0 if unreachable, 9 at a seed, 10 where the path takes a portal,
  // else the Direction's value plus one.
  // REQUIRES: steps.size() == costs().size().
  void WriteSteps(absl::Span<std::uint8_t> steps) const;

  // Returns the portals taken, in the order of their cells: each as the gate whose `to` is a cell at which
  // StepAt returns nothing.
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
