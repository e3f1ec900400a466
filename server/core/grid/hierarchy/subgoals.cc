#include "server/core/grid/hierarchy/subgoals.h"

#include <cstddef>

#include "server/core/grid/jumps/straight_scan.h"

namespace waystar::core {
namespace {

std::size_t WordsFor(int lines, int length) {
  return static_cast<std::size_t>(lines) * static_cast<std::size_t>(WordsPerRow(length));
}

// Returns the subgoals in word `i` of a row or column.
Word SubgoalsIn(const LineBits& line, std::size_t i) {
  Word found = 0;
  for (const int offset : {-1, 1}) {
    for (const Word* side : {line.low, line.high}) {
      found |= side[i] & Shifted(line.own, i, offset) & ~Shifted(side, i, offset);
    }
  }
  return found & line.own[i];
}

// Calls put(index, subgoals, walkable) for each word of a line; the last word is outside the map.
template <typename Put>
void ScanLine(const LineBits& line, std::size_t words, Put put) {
  for (std::size_t i = 0; i + 1 < words; ++i) {
    put(i, SubgoalsIn(line, i), line.own[i]);
  }
  put(words - 1, 0, 0);
}

}  // namespace

std::size_t Subgoals::BytesFor(int width, int height) {
  return WordsFor(height + 2, width) * (sizeof(Word) + sizeof(Marks)) +
         WordsFor(width, height) * sizeof(Word);
}

Subgoals::Subgoals(const WalkCells& walk)
    : width_(walk.width()),
      height_(walk.height()),
      row_words_(static_cast<std::size_t>(WordsPerRow(width_))),
      column_words_(static_cast<std::size_t>(WordsPerRow(height_))),
      row_stops_(WordsFor(height_ + 2, width_), ~Word{0}),
      column_stops_(WordsFor(width_, height_)),
      marks_(row_stops_.size()) {
  for (int y = 0; y < height_; ++y) {
    const std::size_t first = RowAt(y);
    ScanLine(RowLine(walk, y), row_words_, [&](std::size_t i, Word subgoals, Word walkable) {
      row_stops_[first + i] = ~walkable | subgoals;
      marks_[first + i] = {.subgoals = subgoals, .before = count_};
      count_ += static_cast<SubgoalId>(std::popcount(subgoals));
    });
  }
  for (int x = 0; x < width_; ++x) {
    const std::size_t first = static_cast<std::size_t>(x) * column_words_;
    ScanLine(ColumnLine(walk, x), column_words_, [&](std::size_t i, Word subgoals, Word walkable) {
      column_stops_[first + i] = ~walkable | subgoals;
    });
  }
}

}  // namespace waystar::core
