#include "server/core/map/nearest_connected.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "server/core/map/bit_run.h"
#include "server/core/map/cell.h"
#include "server/core/map/component_block.h"
#include "server/core/map/components.h"

namespace waystar::core {
namespace {

std::int64_t SquaredLength(std::int64_t x, std::int64_t y) { return x * x + y * y; }

// How far `value` is from the nearest of low, ..., high.
int Gap(int value, int low, int high) { return std::max({low - value, value - high, 0}); }

struct Candidate {
  // Of the block's nearest cell to the goal, set or not.
  std::int64_t squared_distance = 0;
  const ComponentBlock* block = nullptr;
  int level = 0;
  Cell corner;
  // By the block's components: whether they are part of the one that is searched.
  std::vector<bool> wanted;
};

bool IsFarther(const Candidate& a, const Candidate& b) { return a.squared_distance > b.squared_distance; }

class Search {
 public:
  Search(Cell goal, std::vector<Cell>& nearest)
      : goal_(goal), nearest_(nearest), first_(static_cast<std::ptrdiff_t>(nearest.size())) {}

  void Add(const ComponentBlock* block, int level, Cell corner, std::vector<bool> wanted) {
    const int last = BlockSide(level) - 1;
    candidates_.push_back({.squared_distance = SquaredLength(Gap(goal_.x, corner.x, corner.x + last),
                                                             Gap(goal_.y, corner.y, corner.y + last)),
                           .block = block,
                           .level = level,
                           .corner = corner,
                           .wanted = std::move(wanted)});
    std::ranges::push_heap(candidates_, IsFarther);
  }

  void Run() {
    while (!candidates_.empty() && candidates_.front().squared_distance <= least_) {
      std::ranges::pop_heap(candidates_, IsFarther);
      const Candidate candidate = std::move(candidates_.back());
      candidates_.pop_back();
      if (candidate.level == 0) {
        ScanLeaf(candidate);
      } else {
        AddChildren(candidate);
      }
    }
    std::sort(nearest_.begin() + first_, nearest_.end(), RowMajorLess);
  }

 private:
  void AddChildren(const Candidate& candidate) {
    const auto& parent = static_cast<const ComponentParent&>(*candidate.block);
    const int side = BlockSide(candidate.level - 1);
    for (std::size_t i = 0; i < parent.children.size(); ++i) {
      const ComponentBlock* child = parent.children[i].get();
      if (child == nullptr) {
        continue;
      }
      std::vector<bool> wanted(child->components, false);
      bool any = false;
      for (std::size_t component = 0; component < child->open; ++component) {
        wanted[component] = candidate.wanted[parent.upward[i][component]];
        any = any || wanted[component];
      }
      if (any) {
        Add(child, candidate.level - 1,
            {candidate.corner.x + (i % 2 == 0 ? 0 : side), candidate.corner.y + (i / 2 == 0 ? 0 : side)},
            std::move(wanted));
      }
    }
  }

  void ScanLeaf(const Candidate& candidate) {
    const auto& leaf = static_cast<const ComponentLeaf&>(*candidate.block);
    for (int y = 0; y < kLeafSide; ++y) {
      std::size_t run_number = leaf.first_run[static_cast<std::size_t>(y)];
      ForEachRun(leaf.rows[static_cast<std::size_t>(y)], [&](BitRun run) {
        if (candidate.wanted[leaf.run_components[run_number++]]) {
          const int left = candidate.corner.x + run.begin;
          const int right = candidate.corner.x + run.end - 1;
          Offer({std::clamp(goal_.x, left, right), candidate.corner.y + y});
        }
      });
    }
  }

  void Offer(Cell cell) {
    const std::int64_t squared_distance = SquaredLength(cell.x - goal_.x, cell.y - goal_.y);
    if (squared_distance < least_) {
      least_ = squared_distance;
      nearest_.erase(nearest_.begin() + first_, nearest_.end());
    }
    if (squared_distance == least_) {
      nearest_.push_back(cell);
    }
  }

  Cell goal_;
  std::vector<Cell>& nearest_;
  // Of those that this search appended.
  std::ptrdiff_t first_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  std::vector<Candidate> candidates_;
};

}  // namespace

void NearestConnected(const Components& components, Cell start, Cell goal, std::vector<Cell>& nearest) {
  const ComponentId id = components.Find(start);
  if (id.block == nullptr) {
    return;
  }
  const ComponentBlock* block = components.root();
  int level = components.root_level();
  for (; block != id.block; --level) {
    const auto* parent = static_cast<const ComponentParent*>(block);
    block = parent->children[ComponentParent::ChildAt(start.x, start.y, level)].get();
  }
  std::vector<bool> wanted(block->components, false);
  wanted[id.number] = true;
  const int side = BlockSide(level);
  Search search(goal, nearest);
  search.Add(block, level, {start.x / side * side, start.y / side * side}, std::move(wanted));
  search.Run();
}

}  // namespace waystar::core
