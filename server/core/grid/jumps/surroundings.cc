#include "server/core/grid/jumps/surroundings.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::core {

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
