// The working memory of searches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/components/nearest_connected.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/bucket_queue.h"
#include "server/core/search/canonical_step_cache.h"
#include "server/core/search/dearest_cells.h"
#include "server/core/search/goal_set.h"
#include "server/core/search/hierarchy_scratch.h"
#include "server/core/search/node_table.h"
#include "server/core/search/open_list.h"
#include "server/core/search/portal_scratch.h"

namespace waystar::core {

// What a search knows of a cell it has reached.
struct SearchNode {
  // The least cost from the start known so far.
  Cost g = 0;
  // The search that wrote this node; an older one means that the cell is not reached yet.
  std::uint32_t generation = 0;
  // The step that entered the cell. It is undefined at the start.
  Direction entered_by = Direction::kNorth;
  bool expanded = false;
  // For the engine's use; 0 once reached. With weighted jump points: the directions of all ways of cost g.
  DirectionSet arrivals = 0;
};

// One search's nodes, open list and path, reused from search to search. Memory grows with the cells that the
// widest search so far has touched, not with the map: nodes live in square tiles that are handed out as they
// are first touched. Starting a search costs O(1), whatever the last one left behind, but for the tables that
// a larger map needs. Who owns a scratch makes it anew when OutgrewNeed says so, or the widest search ever
// would be remembered for good.
//
// Thread safety: none. Each worker thread has its own.
class Scratch {
 public:
  // Nodes and open list together stay below `max_bytes`, and what earlier searches have left is freed before
  // a search is refused more. On top of that come a path that is written (9 bytes a step), 128 KiB once a
  // search over weighted terrain has run, 8 MiB and 8 bytes for 1,024 cells of the map once one for a large
  // agent has run there, and what the search for cells near unreachable goals has taken.
  explicit Scratch(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Clears the last search and prepares for one on `map`. Returns false if the memory limit stands in the
  // way: then the search cannot begin.
  bool Start(const GridMap& map) { return Start(map.width(), map.height()); }
  bool Start(int width, int height);

  // Returns the node of a cell of the map, or null if the memory limit stands in the way. A node that this
  // search has not written yet comes back with an older generation: see IsFresh and Reach.
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

  // Returns whether this search has not reached the node's cell yet.
  bool IsFresh(const SearchNode& node) const { return node.generation != generation_; }

  // Marks a fresh node as reached.
  void Reach(SearchNode& node, Cost g, Direction entered_by) const {
    node = {.g = g, .generation = generation_, .entered_by = entered_by, .expanded = false};
  }

  OpenList& open() { return open_; }

  // Puts an entry on the open list. Returns false if the memory limit stands in the way.
  bool Push(const OpenEntry& entry) {
    if (open_.IsFull() && !GrowOpen()) {
      return false;
    }
    open_.Push(entry);
    return true;
  }

  // Clears the last search and prepares for one over jump points, whose lowest f is `first`, with buckets of
  // 2^width_shift.
  void StartJumps(Cost first, int width_shift);
  // Prepares for a search over jump points that uses nodes of cells of `map` as well. Returns as Start does.
  bool StartJumpsOverCells(const GridMap& map, Cost first, int width_shift);
  NodeTable& nodes() { return nodes_; }
  BucketQueue& buckets() { return buckets_; }
  // Returns the index of a cell's node. If it had none, a new one with g = NodeTable::kUnreached is made.
  // Returns kNoNode if the memory limit stands in the way.
  NodeIndex FindOrAddNode(Cell cell) {
    if (nodes_.IsFull() && !GrowNodes()) {
      return kNoNode;
    }
    return nodes_.FindOrAdd(cell);
  }
  // Puts a node into the bucket of its f. Returns false if the memory limit stands in the way.
  bool PushJump(Cost f, NodeIndex node) {
    if (buckets_.IsFull() && !GrowBuckets(buckets_)) {
      return false;
    }
    buckets_.Push(f, node);
    return true;
  }

  // Clears the last search and prepares for one over a hierarchy of `node_count` nodes; the rest is as in
  // StartJumps. Returns false if the memory limit stands in the way.
  bool StartHierarchy(std::size_t node_count, Cost first, int width_shift);
  HierarchyScratch& hierarchy() { return hierarchy_; }
  // Puts a node of the hierarchy into one side's bucket of its f. Returns false if the memory limit stands in
  // the way.
  bool PushHierarchy(std::size_t side, Cost f, std::uint32_t node) {
    BucketQueue& open = hierarchy_.open[side];
    if (open.IsFull() && !GrowBuckets(open)) {
      return false;
    }
    open.Push(f, node);
    return true;
  }

  // The cache for searches over weighted terrain; it outlives them.
  CanonicalStepCache& canonical_steps() { return canonical_steps_; }

  // The dearest cells below large agents. Start clears them.
  DearestCells& dearest_cells() { return dearest_cells_; }

  // The path being built. Each start of a search clears it.
  void ClearPath();
  std::vector<Cell>& corners() { return corners_; }
  std::vector<Direction>& directions() { return directions_; }
  std::vector<Cell>& points() { return points_; }

  // Cells that may stand in for an unreachable goal. A search leaves them alone.
  std::vector<Cell>& candidates() { return candidates_; }
  // The working memory for finding those.
  NearestConnectedBuffer& nearest_connected_buffer() { return nearest_connected_buffer_; }

  // The goals of a search for the nearest of several. Other searches leave them alone.
  GoalSet& goals() { return goals_; }

  // The working memory of searches through portals, each of which consists of many of the others.
  PortalScratch& portals() { return portals_; }
  // Puts an entry on their open list, without its order. Returns false if the memory limit stands in the way.
  bool PushPortal(const PortalEntry& entry);

  // Returns the working memory of a search that runs beside those on this one, until EndBeside. It holds at
  // most half as much, and both together stay below the limit.
  Scratch& beside();
  void EndBeside() { has_portals_ = false; }

  // Returns the bytes that count against the limit.
  std::size_t memory_bytes() const;
  // Returns the bytes of all that is kept for the next search.
  std::size_t kept_bytes() const;

  // Returns whether much more is kept than any search since the last call has used: more than kMuch times as
  // much, and more than `small_bytes`.
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

  // The parts that the search in progress uses. The others hold what earlier searches have left.
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

  // Returns whether so much more stays below the limit, if need be once what is not in use is freed.
  bool HasRoom(std::size_t bytes);
  bool Fits(std::size_t bytes);
  void FreeUnused();

  // Gives a slot a tile for this search. Returns false if that would pass the memory limit.
  bool Assign(std::size_t index);

  // Return false if that would pass the limit. While a list grows, it is there twice.
  bool GrowOpen();
  bool GrowNodes();
  bool GrowBuckets(BucketQueue& buckets);

  // Notes what the last search has used, before another begins.
  void NoteUsed();
  std::size_t TakeUsed();

  const std::size_t max_bytes_;
  // The scratch that this one is beside, or null.
  Scratch* const whole_ = nullptr;
  Parts in_use_;
  // True while a search through portals is in progress.
  bool has_portals_ = false;
  std::uint32_t generation_ = 0;
  std::size_t tiles_per_row_ = 0;
  // How many slots, and nodes of the hierarchy, the search uses.
  std::size_t tile_count_ = 0;
  std::size_t node_count_ = 0;
  std::vector<TileSlot> slots_;
  std::vector<std::unique_ptr<Tile>> tiles_;
  // The tiles before this one are in use by the current search.
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

  // What has been started since the last call of OutgrewNeed, and the most bytes that a search has used.
  bool used_tiles_ = false;
  bool used_nodes_ = false;
  bool used_hierarchy_ = false;
  std::size_t used_bytes_ = 0;
};

}  // namespace waystar::core
