#include "server/core/grid/band_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Random;

// Places for tables to point at.
std::array<int, 1000> places;

// A table, and what it must say.
struct Judged {
  BandTable<int> table;
  std::vector<int*> model;

  void Judge() const {
    for (std::size_t band = 0; band < model.size(); ++band) {
      ASSERT_EQ(table[band], model[band]) << band;
    }
  }

  Judged Changed(int changes, Random& random) const {
    Judged changed{table.ChangedCopy(), model};
    for (int i = 0; i < changes; ++i) {
      const auto band = static_cast<std::size_t>(random.Between(0, static_cast<int>(model.size()) - 1));
      int* place = &places[static_cast<std::size_t>(random.Between(0, places.size() - 1))];
      changed.table.Set(band, place);
      changed.model[band] = place;
    }
    return changed;
  }
};

// Of a few tables that are kept for some time, now and then one is changed that is not the latest, and now
// and then one is changed a great deal; and tables go in any order.
void TryManyChanges(std::size_t bands, std::uint64_t seed) {
  constexpr std::size_t kMostKept = 5;
  Random random(seed);
  std::vector<Judged> kept;
  kept.push_back({BandTable<int>(bands, &places[0]), std::vector<int*>(bands, &places[0])});
  for (int round = 0; round < 300; ++round) {
    const bool is_branch = random.Between(0, 9) == 0;
    const std::size_t from =
        is_branch ? static_cast<std::size_t>(random.Between(0, static_cast<int>(kept.size()) - 1))
                  : kept.size() - 1;
    const int changes = random.Between(0, 19) == 0 ? static_cast<int>(bands) : random.Between(0, 5);
    kept.push_back(kept[from].Changed(changes, random));
    while (kept.size() > kMostKept || (kept.size() > 1 && random.Between(0, 1) == 0)) {
      kept.erase(kept.begin() + random.Between(0, static_cast<int>(kept.size()) - 2));
    }
    for (const Judged& judged : kept) {
      ASSERT_NO_FATAL_FAILURE(judged.Judge()) << "round " << round;
    }
  }
}

TEST(BandTableTest, SmallOnesSayWhatWasSet) { TryManyChanges(10, 1); }

TEST(BandTableTest, LargeOnesSayWhatWasSet) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TryManyChanges(300, seed);
  }
}

TEST(BandTableTest, CopyLeavesTheOriginalAlone) {
  const BandTable<int> original(500, &places[0]);
  const BandTable<int> same = original;
  BandTable<int> first = original.ChangedCopy();
  BandTable<int> second = original.ChangedCopy();
  first.Set(3, &places[1]);
  second.Set(3, &places[2]);
  EXPECT_EQ(original[3], &places[0]);
  EXPECT_EQ(same[3], &places[0]);
  EXPECT_EQ(first[3], &places[1]);
  EXPECT_EQ(second[3], &places[2]);
  EXPECT_EQ(second[4], &places[0]);
}

}  // namespace
}  // namespace waystar::core
