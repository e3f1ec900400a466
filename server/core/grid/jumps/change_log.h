// Log of the words of a grid's cells that changed since some revision.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"

namespace waystar::core {

// Copy-on-write set of words. It is stored as sorted runs, each at least twice as long as the next, so that a
// copy costs a few pointers and adding a word costs amortized O(log n) moves: O'Neil, Cheng, Gawlick and
// O'Neil, "The Log-Structured Merge-Tree" (1996).
//
// Thread safety: const methods are thread-safe.
class ChangeLog {
 public:
  // Returns the approximate number of words: a word in two runs counts twice.
  std::size_t size() const { return size_; }

  void Add(absl::Span<const WordChange> changes) {
    std::vector<WordIndex> words;
    words.reserve(changes.size());
    for (const WordChange& change : changes) {
      words.push_back({change.y, change.index});
    }
    std::sort(words.begin(), words.end());
    while (!runs_.empty() && runs_.back()->size() < 2 * words.size()) {
      words = Union(*runs_.back(), words);
      runs_.pop_back();
    }
    runs_.push_back(std::make_shared<const std::vector<WordIndex>>(std::move(words)));
    size_ = 0;
    for (const Run& run : runs_) {
      size_ += run->size();
    }
  }

  // Returns the differences between `before` and `now` in the words of the log, in ascending order.
  std::vector<WordChange> Differences(const BitPlane& before, const BitPlane& now) const {
    std::vector<WordIndex> words;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      words = Union(**run, words);
    }
    std::vector<WordChange> changes;
    for (const WordIndex& word : words) {
      const auto i = static_cast<std::size_t>(word.index);
      const Word flipped = before.row(word.y)[i] ^ now.row(word.y)[i];
      if (flipped != 0) {
        changes.push_back({word.y, word.index, flipped});
      }
    }
    return changes;
  }

 private:
  using Run = std::shared_ptr<const std::vector<WordIndex>>;

  static std::vector<WordIndex> Union(const std::vector<WordIndex>& a, const std::vector<WordIndex>& b) {
    std::vector<WordIndex> both;
    both.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }

  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

}  // namespace waystar::core
