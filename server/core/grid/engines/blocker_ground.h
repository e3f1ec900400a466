// Ground whose blockers can be passed at a price.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/blockers.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// A map whose obstacles may be passed.
struct BlockedMap {
  // The map with the agent's overlay, and the same without.
  const GridMap& map;
  const GridMap& before_overlay;
  // Area that the overlay blocks; null for none.
  const Shape* area = nullptr;
  // Sorted tags that portals must have.
  absl::Span<const std::string> required_tags = {};
};

// Ground of AStarSearch on which blockers do not block. Each position of the agent has the set of blockers
// that cover its cells; a step costs what it costs on the ground beneath, plus the price of each blocker
// that it enters: one in the set of its end and not of its start. The same holds for a portal on the map, and
// a closed one has a price too.
//
// The sets are read in square tiles when a search first comes near a blocker, so that the memory grows with
// what it sees. Equal sets have equal numbers. Open ground costs one test of nine bits.
//
// Not thread-safe.
class BlockerGround {
 public:
  // All arguments must outlive this. Tiles and sets may take `max_bytes`; the first 64 obstacles of a tile
  // that exceed it end the search. The list of the map's obstacles, which is read here, does not count.
  BlockerGround(const BlockedMap& blocked, const PathQuery& query, const BlockerPrices& prices,
                const Budget& budget, std::size_t max_bytes);
  BlockerGround(const BlockerGround&) = delete;
  BlockerGround& operator=(const BlockerGround&) = delete;

  // The ground of AStarSearch.
  Cost Begin(Cell start, Scratch& scratch);
  DirectionSet MovesFrom(Cell cell);
  Cost After(Cost g, Direction direction, Cell entered);
  struct Jump {
    Cell from;
    Cell to;
    const Portal* portal = nullptr;
    // Cost at `to`.
    Cost g = 0;
  };
  // Valid until the next call.
  absl::Span<const Jump> JumpsFrom(Cell cell, Cost g);
  void Take(const Jump& jump) { taken_[Pack(jump.to)] = jump; }
  std::optional<SearchEnd> end() const { return end_; }

  // Returns true if no removal of blockers lets the agent stand on a cell of the map: it would leave the map,
  // or cover what cannot be passed.
  bool IsWall(Cell cell) { return SetAt(cell) == kWall; }

  // Returns the jump by which the search reached a cell.
  // REQUIRES: there is one.
  const Jump& JumpTo(Cell cell) const { return taken_.find(Pack(cell))->second; }
  // Appends the blockers that a step enters, or that cover the start if `from` is null, with that index.
  // `portal` is the portal that the step passes, if any.
  void AppendEntries(const Cell* from, Cell to, const Portal* portal, std::size_t index,
                     std::vector<Blocker>& entries);

  // Returns the lowest cost of a straight step on the ground beneath.
  Cost least_straight() const { return least_straight_; }
  // All jumps that may be made, with the costs of their portals alone.
  absl::Span<const Jump> jumps() const { return jumps_; }

 private:
  // Number of a blocker: a terrain, the nameless obstacles, the overlay's area, or an obstacle by its rank in
  // the order of ids.
  using Number = std::uint32_t;
  static constexpr Number kNameless = kMaxTerrains;
  static constexpr Number kArea = kNameless + 1;
  static constexpr Number kFirstObstacle = kArea + 1;
  static constexpr Number kImpassable = ~Number{0};

  // Number of a set. The empty one is 0, and 1 stands for what cannot be passed.
  using SetNumber = std::uint32_t;
  static constexpr SetNumber kFree = 0;
  static constexpr SetNumber kWall = 1;
  // A set is its largest number and the set of the others.
  struct Set {
    Number largest = 0;
    SetNumber rest = kFree;
    // Sum of all prices.
    Cost price = 0;
  };

  static constexpr int kShift = 5;
  static constexpr int kSide = 1 << kShift;
  // A tile has a margin of one position, so that it holds all neighbours of its own positions.
  static constexpr int kStride = kSide + 2;
  using Tile = std::array<SetNumber, std::size_t{kStride} * kStride>;

  void AddJump(Cell from, Cell to, const Portal& portal);

  // Returns the set of a position in a tile, so that those of neighbours are at the offsets of OffsetOf. Null
  // once the ground ends the search.
  const SetNumber* Around(Cell cell);
  static constexpr int OffsetOf(Cell step) { return step.y * kStride + step.x; }
  SetNumber SetAt(Cell cell);

  bool Read(Tile& tile, Cell first);
  // Returns true, and sets `end_`, if the limit of memory or the budget ends the search.
  bool MustEnd();
  void MarkGround(Tile& tile, Cell first, const Rectangle& cells);
  bool MarkObstacles(Tile& tile, Cell first, const Rectangle& cells);
  // Adds a blocker to all positions from which the agent covers one of the cells x_begin, ..., x_end - 1.
  void Mark(Tile& tile, Cell first, int y, int x_begin, int x_end, Number blocker);

  SetNumber With(SetNumber set, Number blocker);
  SetNumber Extended(SetNumber rest, Number largest);
  Cost PriceOf(Number blocker) const;
  // Returns the set without its largest number. Polls the budget every 2^20 calls.
  SetNumber RestOf(SetNumber set);
  // Calls visit(number) for the members of `to` that are not in `from`, the largest first.
  template <typename Visitor>
  void VisitEntered(SetNumber from, SetNumber to, Visitor visit);
  Cost PriceOfEntering(SetNumber from, SetNumber to);
  // Returns true if each member of a set is in one of the two others.
  bool IsWithin(SetNumber set, SetNumber a, SetNumber b);

  const BlockedMap& blocked_;
  const GridMap& map_;
  const std::shared_ptr<const WalkGrid> walk_;
  const PathQuery& query_;
  const BlockerPrices& prices_;
  const Budget& budget_;
  const std::size_t max_bytes_;
  // Steps on open ground.
  const DirectionSet open_moves_;
  Cost least_straight_;
  Cost price_;

  // Blocking obstacles by rank.
  std::vector<const Obstacle*> obstacles_;
  absl::flat_hash_map<const Obstacle*, Number> numbers_;
  std::vector<Cost> obstacle_prices_;

  std::vector<Set> sets_;
  absl::flat_hash_map<std::uint64_t, SetNumber> extensions_;
  std::size_t tiles_per_row_;
  std::vector<std::unique_ptr<Tile>> tiles_;
  std::size_t tiles_read_ = 0;
  std::size_t rests_ = 0;
  std::optional<SearchEnd> end_;

  DearestCells* dearest_ = nullptr;
  DearestCells::Ground dearest_ground_;
  // Sorted by the cells that they start from.
  std::vector<Jump> jumps_;
  // The jumps of the last JumpsFrom.
  std::vector<Jump> jumps_here_;
  absl::flat_hash_map<PackedCell, Jump> taken_;
  // Sets around the cell of the last MovesFrom; null on open ground.
  const SetNumber* around_ = nullptr;
};

}  // namespace waystar::core
