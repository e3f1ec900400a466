#include "server/core/grid/walk/footprint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {
namespace {

// Returns the cells of word i of a row that start a run of `side` set cells.
Word RunsOf(const Word* row, std::size_t i, std::size_t last, int side) {
  Word low = row[i];
  Word high = i < last ? row[i + 1] : 0;
  int length = 1;
  while (length < side) {
    const int more = std::min(length, side - length);
    low &= low >> more | high << (kWordBits - more);
    high &= high >> more;
    length += more;
  }
  return low;
}

Word ErodedWord(const BitPlane& cells, int side, int y, std::size_t i) {
  const auto last = static_cast<std::size_t>(WordsPerRow(cells.width())) - 1;
  Word word = y + side <= cells.height() ? ~Word{0} : 0;
  for (int row = y; row < y + side && word != 0; ++row) {
    word &= RunsOf(cells.row(row), i, last, side);
  }
  return word;
}

}  // namespace

absl::Status CheckFootprint(int footprint) {
  if (footprint >= 1 && footprint <= kMaxFootprint) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, "footprint",
                   absl::StrCat("a footprint is from 1 to ", kMaxFootprint, " cells, not ", footprint));
}

BitPlane Eroded(const BitPlane& cells, int side) {
  BitPlane eroded(cells.width(), cells.height(), false);
  BitPlaneWriter writer(eroded);
  for (int y = 0; y + side <= cells.height(); ++y) {
    ForEachWord(0, cells.width(), [&](std::size_t i, Word) {
      if (const Word word = ErodedWord(cells, side, y, i); word != 0) {
        writer.row(y)[i] = word;
      }
    });
  }
  return eroded;
}

std::vector<WordChange> RepairEroded(const BitPlane& cells, int side, absl::Span<const WordChange> changes,
                                     BitPlane& eroded) {
  // An agent that covers a changed cell stands up to side - 1 cells above it and to its left.
  std::vector<std::pair<std::int32_t, std::int32_t>> words;
  for (const WordChange& change : changes) {
    for (std::int32_t y = std::max(change.y - side + 1, 0); y <= change.y; ++y) {
      words.emplace_back(y, change.index);
      if (change.index > 0) {
        words.emplace_back(y, change.index - 1);
      }
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());

  std::vector<WordChange> changed;
  BitPlaneWriter writer(eroded);
  for (const auto& [y, index] : words) {
    const auto i = static_cast<std::size_t>(index);
    const Word flipped = eroded.row(y)[i] ^ ErodedWord(cells, side, y, i);
    if (flipped != 0) {
      writer.row(y)[i] ^= flipped;
      changed.push_back({y, index, flipped});
    }
  }
  return changed;
}

}  // namespace waystar::core
