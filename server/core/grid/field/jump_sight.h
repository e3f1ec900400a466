// Jump points from which a cell is visible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Finds the last legs of paths over jump points. Every path of a jump point search leads from its last jump
// point to the goal by a diagonal and then a straight run (on a 4-connected map, a horizontal and then a
// vertical run). This searches backwards from the goal, 64 cells at a time, for the jump points on such legs.
//
// Not thread-safe. Reuses memory.
class JumpSight {
 public:
  struct Leg {
    NodeIndex from = kNoNode;
    Cost cost = 0;
  };

  // Prepares for the nodes of a graph. Costs 2 bits per cell and several nanoseconds per node. The arguments
  // must outlive the calls of AddLegs.
  void Start(const GridMap& map, const WalkGrid& walk, CornerRule rule, const JumpGraph& graph);

  // Appends the legs that end at a walkable cell; a node at the cell itself has a leg of cost 0. Costs
  // several nanoseconds per row and column from which the cell is visible, and per leg. Some legs are
  // appended twice.
  void AddLegs(Cell to, std::vector<Leg>& legs);

  std::size_t memory_bytes() const {
    return (row_nodes_.capacity() + column_nodes_.capacity() + lit_.capacity()) * sizeof(Word);
  }

 private:
  // The rows of the map, or its columns treated as rows.
  struct Side {
    const BitPlane* cells;
    const Word* nodes;
    std::size_t stride;
    bool is_turned;
  };

  void AddBeforeStraight(const Side& side, Cell to, std::vector<Leg>& legs);
  // Follows diagonals backwards from the lit cells of row y, towards lower or higher rows, and against
  // straight runs to the right or left.
  void FollowDiagonals(const Side& side, Cell to, int first, int last, int row_step, bool goes_right,
                       std::vector<Leg>& legs);
  void AddLit(const Side& side, Cell to, int y, std::size_t begin, std::size_t end, std::vector<Leg>& legs);
  void AddBeforeVertical(Cell to, std::vector<Leg>& legs);

  const JumpGraph* graph_ = nullptr;
  const WalkGrid* walk_ = nullptr;
  CornerRule rule_ = CornerRule::kNoCornerCutting;
  bool is_eight_connected_ = true;
  Cost straight_ = 0;
  Cost diagonal_ = 0;
  // One bit per node, laid out as the walkable cells of the map.
  std::vector<Word> row_nodes_;
  std::vector<Word> column_nodes_;
  std::vector<Word> lit_;
};

}  // namespace waystar::core
