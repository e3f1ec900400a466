// Rows of cells packed 64 to a word.
//
// Cell x of a row is bit x + 1. The bits on both sides of the row therefore exist and are 0, and every word
// in which a window of three cells starts has a successor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

using Word = std::uint64_t;
inline constexpr int kWordBits = 64;

constexpr int WordsPerRow(int width) { return (width + 2 + kWordBits - 1) / kWordBits + 1; }

// A row of zeros; stands for the rows above and below the map.
inline constexpr Word kEmptyRow[static_cast<std::size_t>(WordsPerRow(kMaxMapSide))] = {};

// Returns the index of the word that holds cell x of a row.
constexpr std::size_t WordOf(int x) { return static_cast<unsigned>(x + 1) / kWordBits; }

// Returns true if the bit of cell x is set in its word.
inline bool TestBitOfWord(Word word, int x) {
  return (word >> (static_cast<unsigned>(x + 1) % kWordBits) & 1U) != 0;
}

inline bool TestBit(const Word* row, int x) { return TestBitOfWord(row[WordOf(x)], x); }

inline void AssignBit(Word* row, int x, bool value) {
  const auto bit = static_cast<unsigned>(x + 1);
  const Word mask = Word{1} << (bit % kWordBits);
  Word& word = row[WordOf(x)];
  word = value ? word | mask : word & ~mask;
}

// Returns a mask of the cells with x_begin <= x < x_end in word `index` of a row.
inline Word SpanMask(std::size_t index, int x_begin, int x_end) {
  const auto low = static_cast<std::int64_t>(index) * kWordBits;
  const std::int64_t from = std::max<std::int64_t>(x_begin + 1 - low, 0);
  const std::int64_t to = std::min<std::int64_t>(x_end + 1 - low, kWordBits);
  if (from >= to) {
    return 0;
  }
  return (~Word{0} >> (kWordBits - (to - from))) << from;
}

// Calls visit(index, mask) for each word with cells x_begin <= x < x_end; `mask` selects these cells.
template <typename Visitor>
void ForEachWord(int x_begin, int x_end, Visitor visit) {
  for (std::size_t index = WordOf(x_begin); index <= WordOf(x_end - 1); ++index) {
    visit(index, SpanMask(index, x_begin, x_end));
  }
}

// Returns the bits of the cells in `mask`, a part of word `index`, that satisfy is_set(x).
template <typename Predicate>
Word WordWhere(std::size_t index, Word mask, Predicate is_set) {
  Word word = 0;
  for (Word bits = mask; bits != 0; bits &= bits - 1) {
    const int bit = std::countr_zero(bits);
    word |= Word{is_set(static_cast<int>(index) * kWordBits + bit - 1)} << static_cast<unsigned>(bit);
  }
  return word;
}

// Returns the bits of cells x - 1, x and x + 1, with x - 1 lowest.
inline unsigned ThreeBits(const Word* row, int x) {
  const auto bit = static_cast<unsigned>(x);
  const unsigned shift = bit % kWordBits;
  // The analyzer assumes that any row may be the empty one.
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
  const Word low = row[bit / kWordBits] >> shift;
  const Word high = row[bit / kWordBits + 1] << 1 << (kWordBits - 1 - shift);
  return static_cast<unsigned>((low | high) & 7U);
}

// Run of bits begin, ..., end - 1 of a word.
struct BitRun {
  int begin = 0;
  int end = 0;
};

// Calls visit(run) for each run of set bits, lowest first.
template <typename Visitor>
void ForEachRun(Word bits, Visitor visit) {
  while (bits != 0) {
    const int begin = std::countr_zero(bits);
    visit(BitRun{begin, begin + std::countr_one(bits >> begin)});
    // The carry clears the lowest run and sets one bit that was clear.
    bits &= bits + (bits & -bits);
  }
}

// Returns word i of a row shifted by `offset`, from -1 to 1: each bit becomes that of the cell `offset`
// further on.
inline Word Shifted(const Word* row, std::size_t i, int offset) {
  if (offset > 0) {
    return row[i] >> 1 | row[i + 1] << (kWordBits - 1);
  }
  if (offset < 0) {
    return row[i] << 1 | (i == 0 ? 0 : row[i - 1] >> (kWordBits - 1));
  }
  return row[i];
}

// Returns the first set bit at or after `bit` (kStep 1), or at or before it (kStep -1), of a row whose word i
// is word_at(i).
// REQUIRES: there is one.
template <int kStep, typename WordAt>
int NextSetBit(unsigned bit, WordAt word_at) {
  std::size_t i = bit / kWordBits;
  Word found = word_at(i) &
               (kStep > 0 ? ~Word{0} << (bit % kWordBits) : ~Word{0} >> (kWordBits - 1 - bit % kWordBits));
  while (found == 0) {
    i += static_cast<std::size_t>(kStep);
    found = word_at(i);
  }
  const int place = kStep > 0 ? std::countr_zero(found) : kWordBits - 1 - std::countl_zero(found);
  return static_cast<int>(i) * kWordBits + place;
}

// Returns the first cell at or right of x whose bit is clear.
// REQUIRES: 0 <= x <= width.
inline int FirstClear(const Word* row, int x) {
  return NextSetBit<1>(static_cast<unsigned>(x + 1), [&](std::size_t i) { return ~row[i]; }) - 1;
}

// Returns the last cell at or left of x whose bit is clear.
// REQUIRES: -1 <= x < width.
inline int LastClear(const Word* row, int x) {
  return NextSetBit<-1>(static_cast<unsigned>(x + 1), [&](std::size_t i) { return ~row[i]; }) - 1;
}

// Returns true if the bits of all cells with first <= x <= last are set.
// REQUIRES: 0 <= first <= last < width.
inline bool AreSet(const Word* row, int first, int last) {
  const auto low = static_cast<unsigned>(first + 1);
  const auto high = static_cast<unsigned>(last + 1);
  std::size_t index = low / kWordBits;
  const std::size_t end = high / kWordBits;
  Word wanted = ~Word{0} << (low % kWordBits);
  for (; index < end; ++index) {
    if ((~row[index] & wanted) != 0) {
      return false;
    }
    wanted = ~Word{0};
  }
  wanted &= ~Word{0} >> (kWordBits - 1 - high % kWordBits);
  return (~row[index] & wanted) == 0;
}

}  // namespace waystar::core
