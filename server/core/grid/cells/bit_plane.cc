#include "server/core/grid/cells/bit_plane.h"

#include <cassert>

namespace waystar::core {
namespace {

// Transposes a strip of columns, a few words wide, so that both input and output stay in the CPU cache.
class StripTurner {
 public:
  static constexpr int kColumns = 8 * kWordBits;

  explicit StripTurner(const BitPlane& plane)
      : plane_(plane),
        words_(static_cast<std::size_t>(WordsPerRow(plane.height()))),
        rows_(kColumns * words_) {}

  // Transposes up to kColumns columns from `left` on.
  void Turn(int left) {
    std::ranges::fill(rows_, Word{0});
    const int right = std::min(left + kColumns, plane_.width());
    for (int top = 0; top < plane_.height(); top += kWordBits) {
      for (int x = left; x < right; x += kWordBits) {
        TurnSquare(top, x, x - left);
      }
    }
  }

  // Returns column left + i as a row.
  absl::Span<const Word> Row(int i) const {
    return absl::MakeConstSpan(rows_).subspan(static_cast<std::size_t>(i) * words_, words_);
  }

 private:
  void TurnSquare(int top, int x, int first_row) {
    std::array<Word, kWordBits> square = {};
    const auto word = static_cast<std::size_t>(x / kWordBits);
    for (int i = 0; i < std::min(kWordBits, plane_.height() - top); ++i) {
      square[static_cast<std::size_t>(i)] = Shifted(plane_.row(top + i), word, 1);
    }
    Transpose(square);
    Word* row = rows_.data() + static_cast<std::size_t>(first_row) * words_ +
                static_cast<std::size_t>(top / kWordBits);
    for (const Word cells : square) {
      row[0] |= cells << 1;
      row[1] |= cells >> (kWordBits - 1);
      row += words_;
    }
  }

  const BitPlane& plane_;
  const std::size_t words_;
  std::vector<Word> rows_;
};

}  // namespace

// Writes only rows that differ from the initial fill, so that uniform parts share one band.
BitPlane Transposed(const BitPlane& plane) {
  BitPlane turned(plane.height(), plane.width(), plane.Test({0, 0}));
  BitPlaneWriter writer(turned);
  StripTurner strip(plane);
  for (int left = 0; left < plane.width(); left += StripTurner::kColumns) {
    strip.Turn(left);
    for (int x = left; x < std::min(left + StripTurner::kColumns, plane.width()); ++x) {
      const absl::Span<const Word> row = strip.Row(x - left);
      if (!std::equal(row.begin(), row.end(), turned.row(x))) {
        std::ranges::copy(row, writer.row(x));
      }
    }
  }
  return turned;
}

Surroundings::Surroundings(absl::Span<const WordChange> changes, int width, int height) {
  assert(std::ranges::is_sorted(changes, {}, &WordChange::place));
  std::vector<WordChange> wide;
  wide.reserve(changes.size() + 2);
  const auto widen = [&](std::int32_t y, std::int32_t index, Word cells) {
    if (index < 0 || (cells &= SpanMask(static_cast<std::size_t>(index), 0, width)) == 0) {
      return;
    }
    auto at = wide.end();
    while (at != wide.begin() && WordIndex{y, index} < (at - 1)->place()) {
      --at;
    }
    if (at != wide.begin() && (at - 1)->place() == WordIndex{y, index}) {
      (at - 1)->flipped |= cells;
    } else {
      wide.insert(at, {y, index, cells});
    }
  };
  for (const WordChange& change : changes) {
    const Word cells = change.flipped;
    widen(change.y, change.index - 1, cells << (kWordBits - 1));
    widen(change.y, change.index, cells << 1 | cells | cells >> 1);
    widen(change.y, change.index + 1, cells >> (kWordBits - 1));
  }
  // Each word is also that of the row above and of the row below.
  words_.reserve(3 * wide.size());
  std::array<std::size_t, 3> next = {};
  const auto place_of = [&](std::size_t k) {
    const WordChange& word = wide[next[k]];
    return WordIndex{word.y + static_cast<std::int32_t>(k) - 1, word.index};
  };
  while (true) {
    WordIndex least = {height, 0};
    for (std::size_t k = 0; k < next.size(); ++k) {
      if (next[k] < wide.size()) {
        least = std::min(least, place_of(k));
      }
    }
    if (least.y == height) {
      return;
    }
    Word cells = 0;
    for (std::size_t k = 0; k < next.size(); ++k) {
      if (next[k] < wide.size() && place_of(k) == least) {
        cells |= wide[next[k]++].flipped;
      }
    }
    if (least.y >= 0) {
      words_.push_back({least.y, least.index, cells});
    }
  }
}

}  // namespace waystar::core
