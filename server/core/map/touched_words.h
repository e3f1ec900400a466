// A bounded set of the words of a map's cells that may have changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// The set gives up when it holds too many words: to look at each would cost more than to look at all cells.
class TouchedWords {
 public:
  // The set holds at most `limit` words.
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

  // Returns the words in ascending order, or none if there are too many.
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
