#include "server/core/grid/field/jump_graph.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/engines/jumps.h"
#include "server/core/grid/search/octile.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

NodeIndex JumpGraph::Add(Cell cell, DirectionSet directions) {
  if (nodes_.IsFull()) {
    nodes_.Grow();
  }
  const NodeIndex index = nodes_.FindOrAdd(cell);
  if (index == ranges_.size()) {
    ranges_.emplace_back();
  }
  JumpNode& node = nodes_[index];
  const auto more = static_cast<DirectionSet>(directions & ~(node.todo | node.done));
  if (more != 0 && node.todo == 0) {
    waiting_.push_back(index);
  }
  node.todo |= more;
  return index;
}

SearchEnd JumpGraph::Explore(const GridMap& map, const WalkGrid& walk, CornerRule rule,
                             absl::Span<const Cell> roots, std::size_t max_nodes, const Budget& budget) {
  nodes_.Clear();
  ranges_.clear();
  edges_.clear();
  waiting_.clear();
  const Connectivity connectivity = map.settings().connectivity;
  for (const Cell root : roots) {
    Add(root, GridMoves::For(connectivity, rule).From(walk, root));
  }
  return RunWithJumps(map, walk, rule, *this, [&](auto jumps) { return Follow(jumps, max_nodes, budget); });
}

template <typename Jumper>
SearchEnd JumpGraph::Follow(Jumper jumps, std::size_t max_nodes, const Budget& budget) {
  for (std::uint64_t explored = 0; !waiting_.empty(); ++explored) {
    if (nodes_.size() > max_nodes) {
      return SearchEnd::kScratchLimit;
    }
    if (explored % Budget::kPollInterval == 0) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return *end;
      }
    }
    const NodeIndex index = waiting_.back();
    waiting_.pop_back();
    const DirectionSet directions = nodes_[index].todo;
    nodes_[index].todo = 0;
    nodes_[index].done |= directions;
    const Cell cell = CellOf(index);
    for (unsigned left = directions; left != 0; left &= left - 1) {
      const auto begin = static_cast<std::uint32_t>(edges_.size());
      jumps(cell, 0, static_cast<DirectionSet>(left & -left));
      ranges_[index][static_cast<std::size_t>(std::countr_zero(left))] = {
          begin, static_cast<std::uint32_t>(edges_.size()) - begin};
    }
  }
  return SearchEnd::kExhausted;
}

SearchEnd JumpCosts::Run(const JumpGraph& graph, NodeIndex root, Cost min_straight, const Budget& budget,
                         std::uint64_t& expanded) {
  states_.assign(graph.node_count(), {});
  // A bucket no wider than the cheapest step holds only final costs (Dinitz, 1978).
  open_.Start(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(min_straight))) - 1);
  const auto push = [&](Cost cost, NodeIndex node) {
    if (open_.IsFull()) {
      open_.Grow();
    }
    open_.Push(cost, node);
  };
  states_[root] = {0, graph.DirectionsOf(root)};
  push(0, root);
  while (!open_.empty()) {
    const BucketQueue::Entry entry = open_.Pop();
    const State state = states_[entry.node];
    if (entry.f != state.cost) {
      continue;
    }
    if (expanded % Budget::kPollInterval == 0) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return *end;
      }
    }
    ++expanded;
    for (unsigned left = state.onward; left != 0; left &= left - 1) {
      for (const JumpGraph::Edge& edge :
           graph.Jumps(entry.node, static_cast<unsigned>(std::countr_zero(left)))) {
        const Cost cost = state.cost + edge.cost;
        State& to = states_[edge.to];
        if (cost < to.cost) {
          to = {cost, edge.onward};
          push(cost, edge.to);
        } else if (cost == to.cost) {
          to.onward |= edge.onward;
        }
      }
    }
  }
  return SearchEnd::kExhausted;
}

void JumpSight::Start(const GridMap& map, const WalkGrid& walk, CornerRule rule, const JumpGraph& graph) {
  graph_ = &graph;
  walk_ = &walk;
  rule_ = rule;
  is_eight_connected_ = map.settings().connectivity == Connectivity::kEight;
  straight_ = map.min_straight();
  diagonal_ = is_eight_connected_ ? map.min_diagonal() : 2 * straight_;
  const auto row_words = static_cast<std::size_t>(WordsPerRow(map.width()));
  const auto column_words = static_cast<std::size_t>(WordsPerRow(map.height()));
  row_nodes_.assign(row_words * static_cast<std::size_t>(map.height()), 0);
  column_nodes_.assign(column_words * static_cast<std::size_t>(map.width()), 0);
  lit_.resize(std::max(row_words, column_words));
  for (NodeIndex node = 0; node < graph.node_count(); ++node) {
    const Cell cell = graph.CellOf(node);
    AssignBit(row_nodes_.data() + static_cast<std::size_t>(cell.y) * row_words, cell.x, true);
    AssignBit(column_nodes_.data() + static_cast<std::size_t>(cell.x) * column_words, cell.y, true);
  }
}

void JumpSight::AddLegs(Cell to, std::vector<Leg>& legs) {
  if (!is_eight_connected_) {
    AddBeforeVertical(to, legs);
    return;
  }
  const Side rows{&walk_->rows(), row_nodes_.data(), static_cast<std::size_t>(WordsPerRow(walk_->width())),
                  false};
  const Side columns{&walk_->columns(), column_nodes_.data(),
                     static_cast<std::size_t>(WordsPerRow(walk_->height())), true};
  AddBeforeStraight(rows, to, legs);
  AddBeforeStraight(columns, {to.y, to.x}, legs);
}

void JumpSight::AddBeforeStraight(const Side& side, Cell to, std::vector<Leg>& legs) {
  const Word* row = side.cells->row(to.y);
  const int first = LastClear(row, to.x) + 1;
  const int last = FirstClear(row, to.x) - 1;
  std::fill(lit_.begin(), lit_.end(), 0);
  ForEachWord(first, last + 1, [&](std::size_t i, Word mask) { lit_[i] = mask; });
  AddLit(side, to, to.y, static_cast<std::size_t>(first + 1) / kWordBits,
         static_cast<std::size_t>(last + 1) / kWordBits + 1, legs);
  for (const int row_step : {-1, 1}) {
    FollowDiagonals(side, to, first, to.x, row_step, true, legs);
    FollowDiagonals(side, to, to.x, last, row_step, false, legs);
  }
}

void JumpSight::FollowDiagonals(const Side& side, Cell to, int first, int last, int row_step, bool goes_right,
                                std::vector<Leg>& legs) {
  const auto words = static_cast<std::size_t>(side.stride) - 1;
  auto begin = static_cast<std::size_t>(first + 1) / kWordBits;
  auto end = static_cast<std::size_t>(last + 1) / kWordBits + 1;
  std::fill(lit_.begin(), lit_.end(), 0);
  ForEachWord(first, last + 1, [&](std::size_t i, Word mask) { lit_[i] = mask; });
  const int rows = side.cells->height();
  for (int y = to.y + row_step; y >= 0 && y < rows; y += row_step) {
    const Word* own = side.cells->row(y);
    const Word* next = side.cells->row(y - row_step);
    bool is_lit = false;
    if (goes_right) {
      // A step leads from (x, y) to (x + 1, y - row_step).
      begin -= begin > 0 ? 1 : 0;
      for (std::size_t i = begin; i < end; ++i) {
        const Word target = lit_[i] >> 1 | (i + 1 < end ? lit_[i + 1] << (kWordBits - 1) : 0);
        lit_[i] = own[i] & LegalDiagonals(rule_, target, FromRight(own, i), next[i]);
        is_lit = is_lit || lit_[i] != 0;
      }
    } else {
      end += end < words ? 1 : 0;
      for (std::size_t i = end; i-- > begin;) {
        const Word target = lit_[i] << 1 | (i > begin ? lit_[i - 1] >> (kWordBits - 1) : 0);
        lit_[i] = own[i] & LegalDiagonals(rule_, target, FromLeft(own, i), next[i]);
        is_lit = is_lit || lit_[i] != 0;
      }
    }
    if (!is_lit) {
      return;
    }
    while (lit_[begin] == 0) {
      ++begin;
    }
    while (lit_[end - 1] == 0) {
      --end;
    }
    AddLit(side, to, y, begin, end, legs);
  }
}

void JumpSight::AddLit(const Side& side, Cell to, int y, std::size_t begin, std::size_t end,
                       std::vector<Leg>& legs) {
  const Word* nodes = side.nodes + static_cast<std::size_t>(y) * side.stride;
  for (std::size_t i = begin; i < end; ++i) {
    for (Word bits = lit_[i] & nodes[i]; bits != 0; bits &= bits - 1) {
      const Cell from{static_cast<int>(i) * kWordBits + std::countr_zero(bits) - 1, y};
      legs.push_back({graph_->Find(side.is_turned ? Cell{from.y, from.x} : from),
                      OctileCost(from, to, straight_, diagonal_)});
    }
  }
}

void JumpSight::AddBeforeVertical(Cell to, std::vector<Leg>& legs) {
  const Word* column = walk_->Column(to.x);
  const int first = LastClear(column, to.y) + 1;
  const int last = FirstClear(column, to.y) - 1;
  const Side rows{&walk_->rows(), row_nodes_.data(), static_cast<std::size_t>(WordsPerRow(walk_->width())),
                  false};
  for (int y = first; y <= last; ++y) {
    const Word* row = walk_->Row(y);
    const int left = LastClear(row, to.x) + 1;
    const int right = FirstClear(row, to.x) - 1;
    ForEachWord(left, right + 1, [&](std::size_t i, Word mask) {
      lit_[i] = mask;
      AddLit(rows, to, y, i, i + 1, legs);
    });
  }
}

}  // namespace waystar::core
