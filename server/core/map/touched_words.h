// Which words of a map's cells may have changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// A set of words that gives up when it holds too many: to look at each would cost more than to look at all.
class TouchedWords {
 public:
  // Holds that many at the most.
  explicit TouchedWords(std::size_t limit) : limit_(limit) {}

  void Add(int y, std::size_t index) {
    const WordIndex word{y, static_cast<std::int32_t>(index)};
    if (is_too_many_ || (!words_.empty() && words_.back() == word)) {
      return;
    }
    if (words_.size() >= 2 * limit_) {
      LeaveOutRepetitions();
      if (is_too_many_) {
        return;
      }
    }
    words_.push_back(word);
  }

  // Ascending. Empty if there are too many.
  absl::Span<const WordIndex> Sorted() {
    LeaveOutRepetitions();
    return words_;
  }

  bool empty() const { return words_.empty() && !is_too_many_; }

  // REQUIRES: Sorted() was called after the last Add.
  bool is_too_many() const { return is_too_many_; }

 private:
  void LeaveOutRepetitions() {
    if (!std::is_sorted(words_.begin(), words_.end())) {
      std::sort(words_.begin(), words_.end());
    }
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    if (words_.size() > limit_) {
      is_too_many_ = true;
      words_ = {};
    }
  }

  std::size_t limit_;
  std::vector<WordIndex> words_;
  bool is_too_many_ = false;
};

}  // namespace waystar::core
