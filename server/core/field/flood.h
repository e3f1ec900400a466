// Floods: the least costs between some cells and all others of a region.
//
// Dijkstra, "A Note on Two Problems in Connexion with Graphs" (1959). Where all steps cost the same, each
// cell is looked at from few sides, by the pruning of jump point search: Sturtevant, Rabin, "Canonical
// Orderings on Grids" (2016). Where cells differ in cost, the same goes for those amid cells that cost the
// same: Carlson, Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal Pathfinding on Weighted Grid Maps" (2023).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/field/bucket_ring.h"
#include "server/core/field/flood_gates.h"
#include "server/core/field/flood_ground.h"
#include "server/core/field/flood_sense.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

struct FloodSpec {
  // The seeds, which are in the region and free. Several may be the same cell.
  absl::Span<const Cell> seeds;
  FloodSense sense = FloodSense::kFromSeeds;
  // Cells that cost more are not reached.
  Cost max_cost = std::numeric_limits<Cost>::max();
  // Indexes of cells. If there are any, the flood may end when it has come to all of them; costs of cells
  // beyond may then be too high.
  absl::Span<const std::uint32_t> until;
  // The portals to be passed, read in the same sense, or null for none.
  const FloodGates* gates = nullptr;
};

// The state of one flood, reused from flood to flood: 9 bytes a cell, and the open list. It allocates nothing
// once it has held a flood as large.
//
// Thread safety: none. Each worker thread has its own.
class Flood {
 public:
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

  // Floods the ground by paths that do not leave its region. It expands 30 to 80 cells a microsecond where
  // steps cost the same, 20 to 60 where they do not, and 8 to 20 where they do not and nothing can be pruned:
  // on 4-connected maps, and with very many costs. Where there are gates, it expands each cell once, and
  // passes the gates of each once. It checks the budget every Budget::kPollInterval expansions; `expanded`
  // counts on. Returns kExhausted if the flood is complete.
  SearchEnd Run(const FloodGround& ground, const FloodSpec& spec, const Budget& budget,
                std::uint64_t& expanded);

  // Returns the costs by index of the ground; kUnreached where no path leads.
  const std::vector<Cost>& costs() const { return costs_; }

  // Returns the step that a cheapest path takes at its last cell (kFromSeeds) or at its first (kToSeeds); of
  // several always the same. Returns nothing at a seed, where it takes a portal, and where no path leads.
  std::optional<Direction> StepAt(std::uint32_t index) const;
  // Writes the steps of all cells, by index: 0 where no path leads, 9 at a seed, 10 where the path takes a
  // portal, else the Direction's value plus one. REQUIRES: steps.size() == costs().size().
  void WriteSteps(absl::Span<std::uint8_t> steps) const;

  // Returns the portals that are taken, each by the gate whose `to` is a cell at which StepAt returns
  // nothing, in the order of these cells. REQUIRES: the gates of the last flood still exist.
  std::vector<Gate> GatesTaken() const;

  // Returns how often the last flood passed the gates of a cell.
  std::uint64_t gate_looks() const { return gate_looks_; }
  // Returns how often the last flood looked whether it had come to a cell of `until`.
  std::uint64_t until_looks() const { return until_looks_; }

  std::size_t memory_bytes() const {
    return costs_.capacity() * sizeof(Cost) + arrivals_.capacity() + open_.memory_bytes() +
           (sorted_.capacity() + near_.capacity() + far_.capacity()) * sizeof(Waiting) +
           entries_.size() * sizeof(Entry);
  }

 private:
  // How a flood orders the cells of a bucket. Gates may lead from one of them to another.
  enum class Order {
    // There are no gates: in the order in which they were pushed.
    kAsPushed,
    // Steps lead to later buckets: it first passes all gates of the bucket, by cost.
    kGatesFirst,
    // Steps lead to cells of the bucket too: by cost.
    kByCost,
  };
  // The cost and index of a cell that waits in a heap.
  using Waiting = std::pair<Cost, std::uint32_t>;
  // A cell, and the gate through which the flood last came to it more cheaply than before.
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
  // The directions in which the flood came to a cell at its cost; none at a seed.
  std::vector<DirectionSet> arrivals_;
  BucketRing open_;
  // Where cells are taken by cost, those that the bucket held when its draining began.
  std::vector<Waiting> sorted_;
  // A heap of cells of the bucket being drained whose cost has fallen since, or whose gates are to be passed.
  // Cells whose cost falls once more are in it again.
  std::vector<Waiting> near_;
  // A heap of cells that portals of a high cost lead to.
  std::vector<Waiting> far_;
  absl::flat_hash_map<std::uint32_t, const Gate*> entries_;
  // How many of `until`, in order, have their final costs.
  std::size_t come_ = 0;
  std::uint64_t gate_looks_ = 0;
  std::uint64_t until_looks_ = 0;
};

}  // namespace waystar::core
