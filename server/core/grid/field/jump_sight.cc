#include "server/core/grid/field/jump_sight.h"

#include <algorithm>
#include <bit>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/field/legal_diagonals.h"
#include "server/core/grid/search/octile.h"

namespace waystar::core {

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
