// Sets of cells stored as row spans.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::core {

// Cells of row y with x_begin <= x < x_end.
struct RowSpan {
  std::int32_t y = 0;
  std::int32_t x_begin = 0;
  std::int32_t x_end = 0;

  friend bool operator==(const RowSpan&, const RowSpan&) = default;
};

// Set of cells to which spans can be added in any order.
class SpanSet {
 public:
  SpanSet() = default;
  explicit SpanSet(std::vector<RowSpan> spans) : spans_(std::move(spans)) {}

  // REQUIRES: the span is not empty.
  void Add(const RowSpan& span) {
    if (!spans_.empty() && Join(spans_.back(), span)) {
      return;
    }
    if (spans_.size() >= 2 * merged_ + kUnmerged) {
      Merge();
    }
    spans_.push_back(span);
  }

  // Returns the spans in row-major order, with a gap between the spans of a row.
  absl::Span<const RowSpan> Sorted() {
    Merge();
    return spans_;
  }

  bool empty() const { return spans_.empty(); }
  void Clear() {
    spans_.clear();
    merged_ = 0;
  }

 private:
  // Minimum number of unmerged spans that triggers a merge.
  static constexpr std::size_t kUnmerged = 1024;

  // Makes `into` the union of both spans and returns true if they overlap or touch.
  static bool Join(RowSpan& into, const RowSpan& span) {
    if (into.y != span.y || span.x_begin > into.x_end || span.x_end < into.x_begin) {
      return false;
    }
    into.x_begin = std::min(into.x_begin, span.x_begin);
    into.x_end = std::max(into.x_end, span.x_end);
    return true;
  }

  void Merge() {
    const auto is_before = [](const RowSpan& a, const RowSpan& b) {
      return a.y != b.y ? a.y < b.y : a.x_begin < b.x_begin;
    };
    if (!std::is_sorted(spans_.begin(), spans_.end(), is_before)) {
      std::sort(spans_.begin(), spans_.end(), is_before);
    }
    std::size_t kept = 0;
    for (const RowSpan span : spans_) {
      if (kept == 0 || !Join(spans_[kept - 1], span)) {
        spans_[kept++] = span;
      }
    }
    spans_.resize(kept);
    merged_ = kept;
  }

  std::vector<RowSpan> spans_;
  std::size_t merged_ = 0;
};

// Calls visit(span, is_of_first) for the cells that are in exactly one of two sets.
// REQUIRES: both have the form that SpanSet::Sorted returns.
template <typename Visitor>
void ForEachDifference(absl::Span<const RowSpan> first, absl::Span<const RowSpan> second, Visitor visit) {
  const auto subtract = [&](absl::Span<const RowSpan> from, absl::Span<const RowSpan> other, bool is_first) {
    std::size_t i = 0;
    for (RowSpan rest : from) {
      while (i < other.size() &&
             (other[i].y != rest.y ? other[i].y < rest.y : other[i].x_end <= rest.x_begin)) {
        ++i;
      }
      for (std::size_t j = i; j < other.size() && other[j].y == rest.y && other[j].x_begin < rest.x_end;
           ++j) {
        if (other[j].x_begin > rest.x_begin) {
          visit(RowSpan{rest.y, rest.x_begin, other[j].x_begin}, is_first);
        }
        rest.x_begin = other[j].x_end;
      }
      if (rest.x_begin < rest.x_end) {
        visit(rest, is_first);
      }
    }
  };
  subtract(first, second, true);
  subtract(second, first, false);
}

}  // namespace waystar::core
