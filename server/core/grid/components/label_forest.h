// Union-find over 16-bit labels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace waystar::core {

// Disjoint sets of labels, each represented by its lowest. Path halving without ranks: Tarjan and van
// Leeuwen, "Worst-case Analysis of Set Union Algorithms" (1984). Not thread-safe.
class LabelForest {
 public:
  using Label = std::uint16_t;

  // Makes labels 0, ..., count - 1, each in its own set.
  // REQUIRES: there are never more than 65535 labels.
  explicit LabelForest(std::size_t count = 0) : above_(count) {
    std::iota(above_.begin(), above_.end(), Label{0});
  }

  std::size_t size() const { return above_.size(); }

  void Reserve(std::size_t count) { above_.reserve(count); }

  // Returns a new label in its own set.
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

  // Makes Lowest correct for every label until the next change.
  void Flatten() {
    for (Label& above : above_) {
      above = above_[above];
    }
  }
  Label Lowest(Label label) const { return above_[label]; }

 private:
  // Parent of each label, which is at most the label itself.
  std::vector<Label> above_;
};

}  // namespace waystar::core
