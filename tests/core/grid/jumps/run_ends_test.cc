#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>

#include "gmock/gmock.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

constexpr Sense kSenses[] = {Sense::kForward, Sense::kBackward};

Word Reversed(Word word) {
  Word reversed = 0;
  for (int i = 0; i < kWordBits; ++i) {
    reversed |= (word >> i & 1U) << (kWordBits - 1 - i);
  }
  return reversed;
}

std::size_t PlacesOf(int length) { return static_cast<std::size_t>(WordsPerRow(length)); }

// The bits that are set, written down.
class Model {
 public:
  void Flip(Sense sense, int line, std::size_t place) {
    const Key key(sense, line, place);
    if (bits_.erase(key) == 0) {
      bits_.insert(key);
    }
  }
  bool Has(Sense sense, int line, std::size_t place) const { return bits_.contains({sense, line, place}); }

 private:
  using Key = std::tuple<Sense, int, std::size_t>;
  std::set<Key> bits_;
};

// Both models against every bit, and every word against the bits that it is made of.
void ExpectIs(const RunEnds& ends, int lines, int length, const Model& whole, const Model& beyond) {
  for (const Sense sense : kSenses) {
    for (std::size_t place = 0; place < PlacesOf(length); ++place) {
      for (int line = 0; line < lines; ++line) {
        ASSERT_EQ(ends.IsWhole(sense, line, place), whole.Has(sense, line, place)) << line << ", " << place;
        ASSERT_EQ(ends.LeadsBeyond(sense, line, place), beyond.Has(sense, line, place))
            << line << ", " << place;
      }
      for (int block = 0; block <= lines / kWordBits; ++block) {
        Word word = 0;
        for (int bit = 0; bit < kWordBits; ++bit) {
          const int line = block * kWordBits + bit - 1;
          word |= Word{whole.Has(sense, line, place) ? 1U : 0U} << bit;
        }
        ASSERT_EQ(*ends.Whole(sense, block, static_cast<int>(place)), word) << block << ", " << place;
        ASSERT_EQ(*ends.WholeReversed(sense, block, static_cast<int>(place)), Reversed(word))
            << block << ", " << place;
      }
    }
  }
}

TEST(RunEndsTest, BitsAreThoseThatWereFlipped) {
  for (const int lines : {1, 62, 63, 64, 65, 150}) {
    const int length = 200;
    Random random(static_cast<std::uint64_t>(lines));
    RunEnds ends(lines, length);
    Model whole;
    Model beyond;
    RunEndsWriter writer(ends);
    for (int i = 0; i < 400; ++i) {
      const Sense sense = kSenses[random.Between(0, 1)];
      const int line = random.Between(0, lines - 1);
      const auto place = static_cast<std::size_t>(random.Between(0, static_cast<int>(PlacesOf(length)) - 1));
      if (random.Chance(0.5)) {
        writer.FlipWhole(sense, line, place);
        whole.Flip(sense, line, place);
      } else {
        writer.FlipBeyond(sense, line, place);
        beyond.Flip(sense, line, place);
      }
    }
    ExpectIs(ends, lines, length, whole, beyond);
  }
}

// A run may look one place and one block further than there are on each side, whatever is written inside.
TEST(RunEndsTest, NothingIsWholeBeyondTheGrid) {
  constexpr int kLines = 126;
  constexpr int kLength = 126;
  RunEnds ends(kLines, kLength);
  RunEndsWriter writer(ends);
  const auto places = static_cast<int>(PlacesOf(kLength));
  const int blocks = kLines / kWordBits + 1;
  for (const Sense sense : kSenses) {
    for (int line = 0; line < kLines; ++line) {
      for (int place = 0; place < places; ++place) {
        writer.FlipWhole(sense, line, static_cast<std::size_t>(place));
        writer.FlipBeyond(sense, line, static_cast<std::size_t>(place));
      }
    }
  }
  for (const Sense sense : kSenses) {
    for (int place = -1; place <= places; ++place) {
      for (const int block : {-1, blocks}) {
        EXPECT_EQ(*ends.Whole(sense, block, place), 0U) << block << ", " << place;
        EXPECT_EQ(*ends.WholeReversed(sense, block, place), 0U) << block << ", " << place;
      }
    }
    for (int block = -1; block <= blocks; ++block) {
      for (const int place : {-1, places}) {
        EXPECT_EQ(*ends.Whole(sense, block, place), 0U) << block << ", " << place;
        EXPECT_EQ(*ends.WholeReversed(sense, block, place), 0U) << block << ", " << place;
      }
    }
  }
}

TEST(RunEndsTest, CopiesAreNotWrittenTo) {
  RunEnds ends(100, 100);
  RunEndsWriter(ends).FlipWhole(Sense::kForward, 70, 1);
  const RunEnds before = ends;
  Model whole;
  whole.Flip(Sense::kForward, 70, 1);
  RunEndsWriter writer(ends);
  writer.FlipWhole(Sense::kForward, 70, 1);
  writer.FlipWhole(Sense::kBackward, 3, 0);
  writer.FlipBeyond(Sense::kForward, 99, 1);
  ExpectIs(before, 100, 100, whole, {});
  EXPECT_TRUE(ends.IsWhole(Sense::kBackward, 3, 0));
  EXPECT_FALSE(ends.IsWhole(Sense::kForward, 70, 1));
}

}  // namespace
}  // namespace waystar::core
