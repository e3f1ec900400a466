#include "server/core/watch/dependent_cells.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/shapes/hex_line.h"

namespace waystar::core {
namespace {

class Collector {
 public:
  Collector(SightRule rule, int footprint) : rule_(rule), footprint_(footprint) {}

  void AddPosition(Cell cell) { Add(cell.x, cell.y); }

  // Adds the cells under the agent after a step, and the cells beside a diagonal step.
  void AddStep(Cell from, Cell to) {
    Add(to.x, to.y);
    if (from.x != to.x && from.y != to.y && rule_.corner != CornerRule::kAlways) {
      Add(to.x, from.y);
      Add(from.x, to.y);
    }
  }

  std::vector<WordChange> Finish() {
    std::sort(words_.begin(), words_.end(), [](const WordChange& a, const WordChange& b) {
      return a.index != b.index ? a.index < b.index : a.y < b.y;
    });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < words_.size(); ++i) {
      if (words_[i].index == words_[kept].index && words_[i].y == words_[kept].y) {
        words_[kept].flipped |= words_[i].flipped;
      } else {
        words_[++kept] = words_[i];
      }
    }
    words_.resize(kept + 1);
    return std::move(words_);
  }

 private:
  void Add(std::int32_t x, std::int32_t y) {
    ForEachWord(x, x + footprint_, [&](std::size_t index, Word mask) {
      for (std::int32_t row = y; row < y + footprint_; ++row) {
        words_.push_back({row, static_cast<std::int32_t>(index), mask});
      }
    });
  }

  const SightRule rule_;
  const int footprint_;
  std::vector<WordChange> words_;
};

}  // namespace

std::vector<WordChange> DependentCells(absl::Span<const Cell> points, SightRule rule, int footprint) {
  Collector collector(rule, footprint);
  collector.AddPosition(points.front());
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (rule.lattice == Lattice::kHexagonal) {
      for (const HexPart& part : HexPartsOf(points[i - 1], points[i])) {
        collector.AddPosition(part.cell);
      }
      continue;
    }
    ForEachStepOnLine(points[i - 1], points[i], [&](Cell from, Cell to) {
      collector.AddStep(from, to);
      return true;
    });
  }
  return collector.Finish();
}

}  // namespace waystar::core
