// Working memory of searches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/canonical_steps.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/taut_turns.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/portal/portal_net.h"
#include "server/core/search/open_list.h"
#include "server/geometry/cell.h"

namespace waystar::core {

using PortalCrossing = Crossing<Portal, Cell>;

inline constexpr std::uint32_t kNoDoor = std::numeric_limits<std::uint32_t>::max();

// Entry of the open list: a path to a door or a goal. The cost of the walk from the previous door is exact or
// a lower bound.
struct PortalEntry {
  Cost f = 0;
  Cost g = 0;
  bool is_exact = false;
  // Previous door; kNoDoor means the start.
  std::uint32_t from = kNoDoor;
  // A door, or a goal numbered after the last door.
  std::uint32_t to = 0;

  // Smaller f first, then exact costs before bounds, then larger g, then a fixed order.
  bool Precedes(const PortalEntry& other) const {
    if (f != other.f) {
      return f < other.f;
    }
    if (is_exact != other.is_exact) {
      return is_exact;
    }
    if (g != other.g) {
      return g > other.g;
    }
    return to != other.to ? to < other.to : from + 1 < other.from + 1;
  }
};

struct PortalScratch {
  std::vector<PortalEntry> open;
  std::vector<Cell> points;
  std::vector<Direction> directions;
  std::vector<PortalCrossing> crossings;

  std::size_t memory_bytes() const {
    return open.capacity() * sizeof(open[0]) + points.capacity() * sizeof(points[0]) +
           directions.capacity() * sizeof(directions[0]) + crossings.capacity() * sizeof(crossings[0]);
  }

  void Clear() {
    open.clear();
    points.clear();
    directions.clear();
    crossings.clear();
  }
};

// Search state of a node. Index 0 is the search from the start, 1 the search from the goal.
struct HierarchyNode {
  // Minimum cost of an upward path so far, or NodeTable::kUnreached.
  std::array<Cost, 2> g;
  // Last arc of that path; HierarchyScratch::kFromEnd if it starts at this node.
  std::array<std::uint32_t, 2> arc;
  // Number of the search that wrote this. A node with an older number was reached from neither end.
  std::uint32_t generation = 0;
  // True, by side, if the node is on the open list.
  std::array<bool, 2> is_waiting;
  // Sector that the path arrives from; kSectorCount at the start and goal.
  std::array<Sector, 2> from;
};

// Nodes, open lists and arcs of hierarchy searches, reused between them. Clearing costs O(1); memory grows
// with the largest hierarchy searched. Not thread-safe.
struct HierarchyScratch {
  static constexpr std::uint32_t kFromEnd = 0xFFFFFFFF;

  // Nodes by their number in the hierarchy; may be longer than the hierarchy.
  std::vector<HierarchyNode> nodes;
  std::uint32_t generation = 0;
  std::array<BucketQueue, 2> open;
  std::vector<std::uint32_t> arcs;
  struct Leg {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t arc;
  };
  std::vector<Leg> legs;

  std::size_t memory_bytes() const {
    return nodes.capacity() * sizeof(nodes[0]) + open[0].memory_bytes() + open[1].memory_bytes() +
           arcs.capacity() * sizeof(arcs[0]) + legs.capacity() * sizeof(legs[0]);
  }
};

// Search state of a cell.
struct SearchNode {
  // Minimum cost from the start so far.
  Cost g = 0;
  // Search that wrote this node; an older generation means that the cell is not reached yet.
  std::uint32_t generation = 0;
  // Step that entered the cell. Undefined at the start.
  Direction entered_by = Direction::kNorth;
  bool expanded = false;
  // For use by the engine; 0 once reached. With weighted jump points: the directions of all paths of cost g.
  DirectionSet arrivals = 0;
};

// Nodes, open list and path of one search, reused between searches. Nodes are stored in square tiles
// allocated on first touch, so memory grows with the largest search so far, not with the map. Starting a
// search costs O(1), except for tables that a larger map needs. The owner should replace a scratch when
// OutgrewNeed returns true, to release the memory of an unusually large search.
//
// Not thread-safe; each worker thread has its own.
class Scratch {
 public:
  // Nodes and open list together stay below `max_bytes`; memory left by earlier searches is freed before a
  // search is refused more. Not counted: the path (9 bytes per step), 128 KiB after a search over weighted
  // terrain, 8 MiB plus 8 bytes per 1,024 cells of the map after a search for a large agent, and the memory
  // of searches for cells near unreachable goals.
  explicit Scratch(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::size_t max_bytes() const { return max_bytes_; }

  // Clears the scratch and prepares for a search on `map`. Returns false if the memory limit does not allow
  // it.
  bool Start(const GridMap& map) { return Start(map.width(), map.height()); }
  bool Start(int width, int height);

  // Returns the node of a cell, or null if the memory limit is reached. A node that this search has not
  // written yet has an older generation: see IsFresh and Reach.
  SearchNode* Find(Cell cell) {
    const std::size_t index = (static_cast<std::size_t>(cell.y) >> kTileShift) * tiles_per_row_ +
                              (static_cast<std::size_t>(cell.x) >> kTileShift);
    if (slots_[index].generation != generation_ && !Assign(index)) {
      return nullptr;
    }
    const auto x = static_cast<std::size_t>(cell.x) & (kTileSide - 1);
    const auto y = static_cast<std::size_t>(cell.y) & (kTileSide - 1);
    return &(*slots_[index].tile)[y << kTileShift | x];
  }

  // Returns true if this search has not reached the node's cell yet.
  bool IsFresh(const SearchNode& node) const { return node.generation != generation_; }

  // Marks a fresh node as reached.
  void Reach(SearchNode& node, Cost g, Direction entered_by) const {
    node = {.g = g, .generation = generation_, .entered_by = entered_by, .expanded = false};
  }

  OpenList& open() { return open_; }

  // Pushes an entry onto the open list. Returns false if the memory limit is reached.
  bool Push(const OpenEntry& entry) {
    if (open_.IsFull() && !Grow(open_)) {
      return false;
    }
    open_.Push(entry);
    return true;
  }

  // Clears the scratch and prepares for a search over jump points. `first` is the lowest f; buckets are
  // 2^width_shift wide.
  void StartJumps(Cost first, int width_shift);
  // As StartJumps, for a search that also uses nodes of cells of `map`. Returns false if the memory limit
  // does not allow it.
  bool StartJumpsOverCells(const GridMap& map, Cost first, int width_shift);
  NodeTable& nodes() { return nodes_; }
  BucketQueue& buckets() { return buckets_; }
  // Returns the index of a cell's node; adds one with g = NodeTable::kUnreached if there is none. Returns
  // kNoNode if the memory limit is reached.
  NodeIndex FindOrAddNode(Cell cell) {
    if (nodes_.IsFull() && !Grow(nodes_)) {
      return kNoNode;
    }
    return nodes_.FindOrAdd(cell);
  }
  // Pushes a node into the bucket of f. Returns false if the memory limit is reached.
  bool PushJump(Cost f, NodeIndex node) { return PushInto(buckets_, f, node); }

  // Clears the scratch and prepares for a search over a hierarchy of `node_count` nodes; other arguments are
  // as in StartJumps. Returns false if the memory limit does not allow it.
  bool StartHierarchy(std::size_t node_count, Cost first, int width_shift);
  HierarchyScratch& hierarchy() { return hierarchy_; }
  // Pushes a node of the hierarchy into one side's bucket of f. Returns false if the memory limit is reached.
  bool PushHierarchy(std::size_t side, Cost f, std::uint32_t node) {
    return PushInto(hierarchy_.open[side], f, node);
  }

  // Cache for searches over weighted terrain; kept between searches.
  CanonicalStepCache& canonical_steps() { return canonical_steps_; }

  // Most expensive cells below large agents. Cleared by Start.
  DearestCells& dearest_cells() { return dearest_cells_; }

  // Path being built. Cleared by each start of a search.
  void ClearPath();
  std::vector<Cell>& corners() { return corners_; }
  std::vector<Direction>& directions() { return directions_; }
  std::vector<Cell>& points() { return points_; }

  // Cells that may replace an unreachable goal. Not cleared by searches.
  std::vector<Cell>& candidates() { return candidates_; }
  NearestConnectedBuffer& nearest_connected_buffer() { return nearest_connected_buffer_; }

  // Goals of a search for the nearest of several. Not changed by other searches.
  GoalSet& goals() { return goals_; }

  // Working memory of searches through portals, each of which runs many other searches.
  PortalScratch& portals() { return portals_; }
  // Appends an entry to their open list without restoring its order. Returns false if the memory limit is
  // reached.
  bool PushPortal(const PortalEntry& entry);

  // Returns the working memory of a second search that runs beside those on this one, until EndBeside. It
  // holds at most half the limit, and both together stay below the limit.
  Scratch& beside();
  void EndBeside() { has_portals_ = false; }

  // Returns the bytes that count against the limit.
  std::size_t memory_bytes() const;
  // Returns the bytes kept for the next search.
  std::size_t kept_bytes() const;

  // Returns true if more than `small_bytes`, and more than kMuch times the bytes that any search since the
  // last call used, are kept.
  static constexpr std::size_t kMuch = 4;
  bool OutgrewNeed(std::size_t small_bytes);

 private:
  static constexpr std::size_t kTileShift = 5;
  static constexpr std::size_t kTileSide = std::size_t{1} << kTileShift;

  using Tile = std::array<SearchNode, kTileSide * kTileSide>;

  struct TileSlot {
    Tile* tile = nullptr;
    std::uint32_t generation = 0;
  };

  // Parts used by the search in progress. Others hold memory of earlier searches.
  struct Parts {
    bool cells = false;
    bool nodes = false;
    bool hierarchy = false;
  };

  Scratch(std::size_t max_bytes, Scratch* whole) : max_bytes_(max_bytes), whole_(whole) {}

  void Begin(const Parts& parts);
  bool StartCells(int width, int height);
  template <typename List>
  void Renew(List& list) const;

  // Returns true if `bytes` more fit below the limit, after freeing unused memory if necessary.
  bool HasRoom(std::size_t bytes);
  bool Fits(std::size_t bytes);
  void FreeUnused();

  // Gives a slot a tile for this search. Returns false if the memory limit is reached.
  bool Assign(std::size_t index);

  bool PushInto(BucketQueue& buckets, Cost f, std::uint32_t node) {
    if (buckets.IsFull() && !Grow(buckets)) {
      return false;
    }
    buckets.Push(f, node);
    return true;
  }
  // Grows a list, which temporarily needs both its old and new memory. Returns false if the limit is reached.
  template <typename List>
  ABSL_ATTRIBUTE_NOINLINE bool Grow(List& list) {
    if (!HasRoom(list.grown_bytes())) {
      return false;
    }
    list.Grow();
    return true;
  }

  // Records the memory used by the last search, before another begins.
  void NoteUsed();
  std::size_t TakeUsed();

  const std::size_t max_bytes_;
  // Scratch that this one is beside, or null.
  Scratch* const whole_ = nullptr;
  Parts in_use_;
  // True while a search through portals is in progress.
  bool has_portals_ = false;
  std::uint32_t generation_ = 0;
  std::size_t tiles_per_row_ = 0;
  // Numbers of slots, and of nodes of the hierarchy, in use.
  std::size_t tile_count_ = 0;
  std::size_t node_count_ = 0;
  std::vector<TileSlot> slots_;
  std::vector<std::unique_ptr<Tile>> tiles_;
  // Number of tiles in use by the current search.
  std::size_t next_tile_ = 0;
  OpenList open_;
  NodeTable nodes_;
  BucketQueue buckets_;
  HierarchyScratch hierarchy_;
  PortalScratch portals_;
  CanonicalStepCache canonical_steps_;
  DearestCells dearest_cells_;
  std::vector<Direction> directions_;
  std::vector<Cell> corners_;
  std::vector<Cell> points_;
  std::vector<Cell> candidates_;
  GoalSet goals_;
  NearestConnectedBuffer nearest_connected_buffer_;
  std::unique_ptr<Scratch> beside_;

  // Parts used since the last call of OutgrewNeed, and the maximum bytes used by a search.
  bool used_tiles_ = false;
  bool used_nodes_ = false;
  bool used_hierarchy_ = false;
  std::size_t used_bytes_ = 0;
};

// Open list of a search over jump points, in the scratch. With a weighted heuristic, f may decrease along a
// path, for which a BucketQueue has no room; the list is then a heap in the order of OpenEntry.
// REQUIRES: the scratch was started by StartJumps or, if kIsWeighted, by StartJumpsOverCells.
template <bool kIsWeighted>
struct JumpQueue {
  static bool IsEmpty(Scratch& scratch) {
    return kIsWeighted ? scratch.open().empty() : scratch.buckets().empty();
  }

  // Removes and returns an entry of which no other has an f below its Floor.
  // REQUIRES: !IsEmpty().
  static BucketQueue::Entry Pop(Scratch& scratch) {
    if constexpr (kIsWeighted) {
      const OpenEntry entry = scratch.open().Pop();
      return {.f = entry.f, .node = entry.packed_cell, .next = 0};
    } else {
      return scratch.buckets().Pop();
    }
  }

  // Returns a lower bound of all f in the list and of `popped`, the entry popped last.
  static Cost Floor(Scratch& scratch, const BucketQueue::Entry& popped) {
    return kIsWeighted ? popped.f : scratch.buckets().Floor();
  }

  // Returns false if the memory limit is reached.
  static bool Push(Scratch& scratch, Cost f, Cost g, NodeIndex node) {
    return kIsWeighted ? scratch.Push({.f = f, .g = g, .packed_cell = node}) : scratch.PushJump(f, node);
  }
};

}  // namespace waystar::core
