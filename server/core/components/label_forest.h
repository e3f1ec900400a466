// Labels of which some turn out to mean the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace waystar::core {

// Disjoint sets of labels, each known by its lowest. Path halving without ranks: Tarjan and van Leeuwen,
// "Worst-case Analysis of Set Union Algorithms" (1984). One thread only.
class LabelForest {
 public:
  using Label = std::uint16_t;

  // Labels 0, ..., count - 1, each alone. REQUIRES: there are never more than 65535.
  explicit LabelForest(std::size_t count = 0) : above_(count) {
    std::iota(above_.begin(), above_.end(), Label{0});
  }

  std::size_t size() const { return above_.size(); }

  void Reserve(std::size_t count) { above_.reserve(count); }

  // A further label, alone.
  Label Add() {
    above_.push_back(static_cast<Label>(above_.size()));
    return above_.back();
  }

  Label Find(Label label) {
    while (above_[label] != label) {
      above_[label] = above_[above_[label]];
      label = above_[label];
    }
    return label;
  }

  void Unite(Label a, Label b) {
    a = Find(a);
    b = Find(b);
    above_[std::max(a, b)] = std::min(a, b);
  }

  // Makes Lowest right for every label, until the next change.
  void Flatten() {
    for (Label& above : above_) {
      above = above_[above];
    }
  }
  Label Lowest(Label label) const { return above_[label]; }

 private:
  // Never above the label itself.
  std::vector<Label> above_;
};

}  // namespace waystar::core
