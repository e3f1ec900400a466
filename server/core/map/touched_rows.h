// Which parts of a map's rows were written to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace waystar::core {

// Of each row the smallest span that holds all that was written to.
class TouchedRows {
 public:
  struct Span {
    std::int32_t y = 0;
    std::int32_t x_begin = 0;
    std::int32_t x_end = 0;
  };

  void Add(int y, int x_begin, int x_end) {
    if (!spans_.empty() && spans_.back().y == y) {
      spans_.back().x_begin = std::min(spans_.back().x_begin, x_begin);
      spans_.back().x_end = std::max(spans_.back().x_end, x_end);
      return;
    }
    if (spans_.size() >= 2 * merged_ + kUnmerged) {
      Merge();
    }
    spans_.push_back({y, x_begin, x_end});
  }

  // Calls visit(span) in the order of rows, once for each that was touched.
  template <typename Visitor>
  void ForEach(Visitor visit) {
    Merge();
    std::for_each(spans_.begin(), spans_.end(), visit);
  }

  void Clear() {
    spans_.clear();
    merged_ = 0;
  }

 private:
  // How many spans may wait at the least before they are merged.
  static constexpr std::size_t kUnmerged = 1024;

  void Merge() {
    std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) { return a.y < b.y; });
    std::size_t kept = 0;
    for (const Span& span : spans_) {
      if (kept > 0 && spans_[kept - 1].y == span.y) {
        Span& row = spans_[kept - 1];
        row.x_begin = std::min(row.x_begin, span.x_begin);
        row.x_end = std::max(row.x_end, span.x_end);
      } else {
        spans_[kept++] = span;
      }
    }
    spans_.resize(kept);
    merged_ = kept;
  }

  // Unsorted and with repetitions.
  std::vector<Span> spans_;
  std::size_t merged_ = 0;
};

}  // namespace waystar::core
