// Changed cells and their neighbours, for which derived data must be recomputed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {

// The changed cells of a map and their eight neighbours, word by word. Data derived from a cell and its
// neighbours must be recomputed there; elsewhere only along runs that lead to these cells.
class Surroundings {
 public:
  Surroundings(absl::Span<const WordChange> changes, int width, int height);

  // Returns the cells as `flipped` bits of words in row-major order, each word once.
  absl::Span<const WordChange> words() const { return words_; }

  // Returns the cells in word `index` of row y.
  Word At(std::int32_t y, std::int32_t index) const {
    const auto it = std::lower_bound(words_.begin(), words_.end(), std::pair(y, index), IsBefore);
    return it != words_.end() && it->y == y && it->index == index ? it->flipped : 0;
  }

  // Call visit(cell) for the cells of a word whose neighbour on that side is not in the surroundings.
  template <typename Visitor>
  void ForEachWestEnd(const WordChange& word, Visitor visit) const {
    const Word beside = word.flipped << 1 | At(word.y, word.index - 1) >> (kWordBits - 1);
    ForEachCell({word.y, word.index, word.flipped & ~beside}, visit);
  }
  template <typename Visitor>
  void ForEachEastEnd(const WordChange& word, Visitor visit) const {
    const Word beside = word.flipped >> 1 | At(word.y, word.index + 1) << (kWordBits - 1);
    ForEachCell({word.y, word.index, word.flipped & ~beside}, visit);
  }
  template <typename Visitor>
  void ForEachNorthEnd(const WordChange& word, Visitor visit) const {
    ForEachCell({word.y, word.index, word.flipped & ~At(word.y - 1, word.index)}, visit);
  }
  template <typename Visitor>
  void ForEachSouthEnd(const WordChange& word, Visitor visit) const {
    ForEachCell({word.y, word.index, word.flipped & ~At(word.y + 1, word.index)}, visit);
  }

 private:
  static bool IsBefore(const WordChange& word, std::pair<std::int32_t, std::int32_t> place) {
    return std::pair(word.y, word.index) < place;
  }

  std::vector<WordChange> words_;
};

}  // namespace waystar::core
