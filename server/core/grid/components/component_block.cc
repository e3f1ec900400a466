#include "server/core/grid/components/component_block.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/components/component_leaf.h"

namespace waystar::core {
namespace {

void Apply(const BorderFlip& flip, ComponentBorder& border) {
  std::vector<BorderRun>& runs = border.runs;
  const auto begin = runs.begin() + (flip.side == kNorthSide ? 0 : border.ends[flip.side - 1U]);
  const auto end = runs.begin() + border.ends[flip.side];
  const auto run =
      std::partition_point(begin, end, [&](const BorderRun& at) { return at.end <= flip.place; });
  const std::size_t runs_before = runs.size();
  const auto next = static_cast<std::uint16_t>(flip.place + 1);
  if (run != end && run->begin <= flip.place) {
    if (run->begin == flip.place && run->end == next) {
      runs.erase(run);
    } else if (run->begin == flip.place) {
      run->begin = next;
    } else if (run->end == next) {
      run->end = flip.place;
    } else {
      const BorderRun rest = {.begin = next, .end = run->end, .component = run->component};
      run->end = flip.place;
      runs.insert(run + 1, rest);
    }
  } else {
    const bool is_after_one = run != begin && (run - 1)->end == flip.place;
    const bool is_before_one = run != end && run->begin == next;
    if (is_after_one && is_before_one) {
      (run - 1)->end = run->end;
      runs.erase(run);
    } else if (is_after_one) {
      (run - 1)->end = next;
    } else if (is_before_one) {
      run->begin = flip.place;
    } else {
      runs.insert(run, {.begin = flip.place, .end = next, .component = flip.component});
    }
  }
  for (std::size_t side = flip.side; side < kBorderSideCount; ++side) {
    border.ends[side] += static_cast<std::uint32_t>(runs.size() - runs_before);
  }
}

bool IsNumberedInOrder(const ComponentBorder& border) {
  ComponentNumber next = 0;
  for (const BorderRun& run : border.runs) {
    if (run.component > next) {
      return false;
    }
    if (run.component == next) {
      ++next;
    }
  }
  return next == border.components;
}

}  // namespace

std::optional<ComponentBorder> Flipped(const ComponentBorder& border, absl::Span<const BorderFlip> flips) {
  ComponentBorder flipped = border;
  for (const BorderFlip& flip : flips) {
    Apply(flip, flipped);
  }
  flipped.runs.shrink_to_fit();
  return IsNumberedInOrder(flipped) ? std::optional(std::move(flipped)) : std::nullopt;
}

BorderDrawer::BorderDrawer(LabelForest& labels) : labels_(labels), numbers_(labels.size(), kNoNumber) {
  labels.Flatten();
}

void BorderDrawer::AddRun(int begin, int end, LabelForest::Label label) {
  const std::size_t side_begin = side_ == 0 ? 0 : border_.ends[side_ - 1];
  if (runs_.size() > side_begin && runs_.back().end == begin) {
    runs_.back().end = static_cast<std::uint16_t>(end);
    return;
  }
  runs_.push_back({.begin = static_cast<std::uint16_t>(begin),
                   .end = static_cast<std::uint16_t>(end),
                   .component = NumberOf(label)});
}

ComponentBorder BorderDrawer::Finish() {
  border_.components = next_;
  border_.runs.assign(runs_.begin(), runs_.end());
  return std::move(border_);
}

ComponentNumber BorderDrawer::NumberOf(LabelForest::Label label) {
  ComponentNumber& number = numbers_[labels_.Lowest(label)];
  if (number == kNoNumber) {
    number = next_++;
  }
  return number;
}

namespace {

enum Child : std::uint8_t { kNorthWest, kNorthEast, kSouthWest, kSouthEast };

// Joins the borders of four children. Components are labelled one child after the other.
class Joiner {
 public:
  Joiner(const ComponentParent::Children& children, int child_side, Adjacency adjacency)
      : child_side_(child_side), reach_(adjacency) {
    std::size_t labels = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      first_label_[i] = labels;
      if (children[i] != nullptr) {
        borders_[i] = children[i]->border.get();
        labels += children[i]->open;
      }
    }
    labels_ = LabelForest(labels);
    Unite(kNorthWest, kEastSide, kNorthEast, kWestSide);
    Unite(kSouthWest, kEastSide, kSouthEast, kWestSide);
    Unite(kNorthWest, kSouthSide, kSouthWest, kNorthSide);
    Unite(kNorthEast, kSouthSide, kSouthEast, kNorthSide);
    if (adjacency == Adjacency::kAny) {
      UniteCorners(kNorthWest, true, kSouthEast);
    }
    if (adjacency != Adjacency::kStraight) {
      UniteCorners(kNorthEast, false, kSouthWest);
    }
  }

  std::size_t first_label(std::size_t child) const { return first_label_[child]; }
  LabelForest& labels() { return labels_; }

  ComponentBorder DrawBorder(BorderDrawer& drawer) const {
    Draw(kNorthWest, kNorthEast, kNorthSide, drawer);
    Draw(kSouthWest, kSouthEast, kSouthSide, drawer);
    Draw(kNorthWest, kSouthWest, kWestSide, drawer);
    Draw(kNorthEast, kSouthEast, kEastSide, drawer);
    return drawer.Finish();
  }

 private:
  absl::Span<const BorderRun> SideOf(Child child, BorderSide side) const {
    return borders_[child] == nullptr ? absl::Span<const BorderRun>() : borders_[child]->side(side);
  }

  LabelForest::Label LabelOf(Child child, const BorderRun& run) const {
    return static_cast<LabelForest::Label>(first_label_[child] + run.component);
  }

  void Unite(Child child_a, BorderSide side_a, Child child_b, BorderSide side_b) {
    const absl::Span<const BorderRun> a = SideOf(child_a, side_a);
    const absl::Span<const BorderRun> b = SideOf(child_b, side_b);
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i].begin < b[j].end + reach_.right && b[j].begin < a[i].end + reach_.left) {
        labels_.Unite(LabelOf(child_a, a[i]), LabelOf(child_b, b[j]));
      }
      // The run that ends first touches no later run.
      ++(a[i].end < b[j].end ? i : j);
    }
  }

  // Unites runs of two children that touch only at the block's centre: a northern one and the one diagonally
  // opposite.
  void UniteCorners(Child north, bool north_is_west, Child south) {
    const absl::Span<const BorderRun> a = SideOf(north, kSouthSide);
    const absl::Span<const BorderRun> b = SideOf(south, kNorthSide);
    if (a.empty() || b.empty()) {
      return;
    }
    const BorderRun& run_a = north_is_west ? a.back() : a.front();
    const BorderRun& run_b = north_is_west ? b.front() : b.back();
    const bool meet = north_is_west ? run_a.end == child_side_ && run_b.begin == 0
                                    : run_a.begin == 0 && run_b.end == child_side_;
    if (meet) {
      labels_.Unite(LabelOf(north, run_a), LabelOf(south, run_b));
    }
  }

  void Draw(Child low, Child high, BorderSide side, BorderDrawer& drawer) const {
    for (const BorderRun& run : SideOf(low, side)) {
      drawer.AddRun(run.begin, run.end, LabelOf(low, run));
    }
    for (const BorderRun& run : SideOf(high, side)) {
      drawer.AddRun(child_side_ + run.begin, child_side_ + run.end, LabelOf(high, run));
    }
    drawer.EndSide();
  }

  int child_side_;
  // Distance along a common side within which two cells across it are neighbours.
  NeighbourReach reach_;
  std::array<const ComponentBorder*, ComponentParent::kChildCount> borders_{};
  std::array<std::size_t, ComponentParent::kChildCount> first_label_{};
  LabelForest labels_;
};

std::size_t BytesOf(const ComponentParent& parent) {
  std::size_t bytes = sizeof(parent) + (parent.border == nullptr ? 0 : parent.border->memory_bytes());
  for (const auto& child : parent.children) {
    bytes += child == nullptr ? 0 : child->bytes + child->open * sizeof(ComponentNumber);
  }
  return bytes;
}

using OpenBlocks = std::array<std::shared_ptr<const ComponentBlock>, kMaxBlockLevel + 1>;

OpenBlocks MakeOpenBlocks() {
  OpenBlocks blocks;
  const auto leaf = LabelLeaf(kFullLeaf, Adjacency::kStraight);
  leaf->bytes = 0;
  blocks[0] = leaf;
  for (std::size_t level = 1; level < blocks.size(); ++level) {
    const auto& child = blocks[level - 1];
    const auto parent =
        JoinBlocks({child, child, child, child}, static_cast<int>(level), Adjacency::kStraight, false);
    parent->bytes = 0;
    blocks[level] = parent;
  }
  return blocks;
}

}  // namespace

std::shared_ptr<ComponentParent> JoinBlocks(const ComponentParent::Children& children, int level,
                                            Adjacency adjacency, bool is_root) {
  auto parent = std::make_shared<ComponentParent>();
  parent->children = children;
  Joiner joiner(children, BlockSide(level - 1), adjacency);
  BorderDrawer drawer(joiner.labels());
  if (!is_root) {
    parent->border = std::make_shared<const ComponentBorder>(joiner.DrawBorder(drawer));
    parent->open = parent->border->components;
  }
  const std::size_t labels = joiner.labels().size();
  std::shared_ptr<ComponentNumber[]> upward = std::make_shared_for_overwrite<ComponentNumber[]>(labels);
  for (std::size_t label = 0; label < labels; ++label) {
    upward[static_cast<std::ptrdiff_t>(label)] = drawer.NumberOf(static_cast<LabelForest::Label>(label));
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    parent->upward[i] = upward.get() + joiner.first_label(i);
  }
  parent->upward_storage = std::move(upward);
  parent->components = drawer.count();
  parent->bytes = BytesOf(*parent);
  return parent;
}

std::shared_ptr<ComponentParent> ReplaceChildren(const ComponentParent& parent,
                                                 ComponentParent::Children children,
                                                 std::shared_ptr<const ComponentBorder> border) {
  auto replaced = std::make_shared<ComponentParent>();
  replaced->border = std::move(border);
  replaced->open = parent.open;
  replaced->components = parent.components;
  replaced->upward = parent.upward;
  replaced->upward_storage = parent.upward_storage;
  replaced->children = std::move(children);
  replaced->bytes = BytesOf(*replaced);
  return replaced;
}

const std::shared_ptr<const ComponentBlock>& OpenBlock(int level) {
  // Never destroyed, so that it outlives everything that refers to it.
  static const OpenBlocks& blocks = *new OpenBlocks(MakeOpenBlocks());
  return blocks[static_cast<std::size_t>(level)];
}

}  // namespace waystar::core
