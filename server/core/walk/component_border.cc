#include "server/core/walk/component_border.h"

#include <cstdint>
#include <utility>

namespace waystar::core {

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
