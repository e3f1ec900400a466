#include "server/core/grid/components/component_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"

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

}  // namespace waystar::core
