#include "server/core/grid/cells/bit_plane.h"

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
  std::vector<WordChange> all;
  all.reserve(3 * changes.size());
  const auto add = [&](std::int32_t y, std::int32_t index, Word cells) {
    if (index >= 0) {
      cells &= SpanMask(static_cast<std::size_t>(index), 0, width);
    }
    if (index >= 0 && cells != 0) {
      all.push_back({y, index, cells});
    }
  };
  for (const WordChange& change : changes) {
    const Word cells = change.flipped;
    for (std::int32_t y = std::max(change.y - 1, 0); y <= std::min(change.y + 1, height - 1); ++y) {
      add(y, change.index - 1, cells << (kWordBits - 1));
      add(y, change.index, cells << 1 | cells | cells >> 1);
      add(y, change.index + 1, cells >> (kWordBits - 1));
    }
  }
  std::sort(all.begin(), all.end(), [](const WordChange& a, const WordChange& b) {
    return std::pair(a.y, a.index) < std::pair(b.y, b.index);
  });
  for (const WordChange& word : all) {
    if (!words_.empty() && words_.back().y == word.y && words_.back().index == word.index) {
      words_.back().flipped |= word.flipped;
    } else {
      words_.push_back(word);
    }
  }
}

}  // namespace waystar::core
