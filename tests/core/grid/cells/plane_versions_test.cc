#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "server/core/grid/cells/plane.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

// Knows how many there are.
struct Counted {
  Counted() { ++alive; }
  explicit Counted(int of) : value(of) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }

  int value = 0;
  static inline std::int64_t alive = 0;
};

// Enough for tables that are used again, and for few.
constexpr int kManyRows = 600;
constexpr int kFewRows = 20;
// Of each row, which is a band.
constexpr std::size_t kStride = 8;

Plane<Counted> NewPlane(int rows) { return {rows, std::vector<Counted>(kStride, Counted(0)), 1}; }

// A plane, and what it must say.
struct Judged {
  Plane<Counted> plane;
  std::vector<int> model;

  static Judged New(int rows) {
    return {NewPlane(rows), std::vector<int>(static_cast<std::size_t>(rows), 0)};
  }

  int rows() const { return static_cast<int>(model.size()); }

  void Judge() const {
    for (int y = 0; y < rows(); ++y) {
      ASSERT_EQ(plane.row(y)->value, model[static_cast<std::size_t>(y)]) << y;
      ASSERT_EQ(plane.row(y)[kStride - 1].value, model[static_cast<std::size_t>(y)]) << y;
    }
  }
};

// Writes to a plane while it is at the same place.
class Changer {
 public:
  explicit Changer(const Judged& before) : judged_{before}, writer_(judged_.plane) {}

  void Change(int changes, Random& random) {
    for (int i = 0; i < changes; ++i) {
      const int y = random.Between(0, judged_.rows() - 1);
      const int value = random.Between(1, 1'000'000);
      std::fill_n(writer_.row(y), kStride, Counted(value));
      judged_.model[static_cast<std::size_t>(y)] = value;
    }
  }
  void Release() { writer_.Release(); }
  const Judged& judged() const { return judged_; }

 private:
  Judged judged_;
  PlaneWriter<Counted> writer_;
};

std::unique_ptr<Changer> Changed(const Judged& before, int changes, Random& random) {
  auto changer = std::make_unique<Changer>(before);
  changer->Change(changes, random);
  return changer;
}

// How many bands there are in memory, one that all rows are at first not counted.
std::int64_t BandsAlive() { return Counted::alive / static_cast<std::int64_t>(kStride) - 1; }

std::int64_t BandsRead(const std::vector<Judged>& planes) {
  std::set<const Counted*> bands;
  for (const Judged& judged : planes) {
    for (int y = 0; y < judged.rows(); ++y) {
      if (judged.model[static_cast<std::size_t>(y)] != 0) {
        bands.insert(judged.plane.row(y));
      }
    }
  }
  return static_cast<std::int64_t>(bands.size());
}

// But for what is kept to be used again, no band is in memory that none of the planes reads.
void ExpectOnlyBandsOf(const std::vector<Judged>& planes) {
  const std::int64_t read = BandsRead(planes);
  EXPECT_GE(BandsAlive(), read);
  EXPECT_LE(BandsAlive(), read + planes.front().rows() / 8);
}

// Any state is changed, now and then one that others came of before, and now and then a great deal; some are
// still written to while others come and go.
void TryTree(int rows, std::uint64_t seed) {
  constexpr std::size_t kMostKept = 7;
  Random random(seed);
  const auto any = [&](std::size_t size) {
    return static_cast<std::size_t>(random.Between(0, static_cast<int>(size) - 1));
  };
  std::vector<Judged> kept = {Judged::New(rows)};
  std::vector<std::unique_ptr<Changer>> at_work;
  for (int round = 0; round < 400; ++round) {
    const int changes = random.Chance(0.05) ? rows : random.Between(0, 5);
    at_work.push_back(
        Changed(kept[random.Chance(0.2) ? any(kept.size()) : kept.size() - 1], changes, random));
    while (at_work.size() > 3 || (!at_work.empty() && random.Chance(0.7))) {
      const auto done = at_work.begin() + static_cast<std::ptrdiff_t>(any(at_work.size()));
      if (random.Chance(0.8)) {
        (*done)->Release();
        kept.push_back((*done)->judged());
        (*done)->Change(random.Between(0, 2), random);
        ASSERT_NO_FATAL_FAILURE((*done)->judged().Judge());
      }
      at_work.erase(done);
    }
    while (kept.size() > kMostKept || (kept.size() > 1 && random.Chance(0.5))) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(any(kept.size())));
    }
    for (const Judged& judged : kept) {
      ASSERT_NO_FATAL_FAILURE(judged.Judge()) << "round " << round;
    }
  }
  at_work.clear();
  kept.erase(kept.begin(), kept.end() - 1);
  ExpectOnlyBandsOf(kept);
}

TEST(PlaneVersionsTest, SayWhatWasWritten) {
  for (const int rows : {kFewRows, kManyRows}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      ASSERT_NO_FATAL_FAILURE(TryTree(rows, seed)) << rows << " rows, seed " << seed;
    }
  }
  EXPECT_EQ(Counted::alive, 0);
}

// Of states that came of each other in a row, in whatever order they go.
TEST(PlaneVersionsTest, FreesWhatNoneReads) {
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    std::vector<Judged> kept = {Judged::New(kManyRows)};
    for (int i = 0; i < 10; ++i) {
      kept.push_back(Changed(kept.back(), random.Between(1, 400), random)->judged());
    }
    while (!kept.empty()) {
      ASSERT_NO_FATAL_FAILURE(ExpectOnlyBandsOf(kept));
      for (const Judged& judged : kept) {
        ASSERT_NO_FATAL_FAILURE(judged.Judge());
      }
      kept.erase(kept.begin() + random.Between(0, static_cast<int>(kept.size()) - 1));
    }
    EXPECT_EQ(Counted::alive, 0);
  }
}

// One state has two that came of it, and goes first.
TEST(PlaneVersionsTest, FreesWhatForksLeave) {
  Random random(1);
  for (const bool first_stays : {false, true}) {
    Judged trunk = Changed(Judged::New(kManyRows), 300, random)->judged();
    std::vector<Judged> forks = {Changed(trunk, 300, random)->judged(),
                                 Changed(trunk, 300, random)->judged()};
    trunk = {};
    for (const Judged& fork : forks) {
      fork.Judge();
    }
    forks.erase(first_stays ? forks.end() - 1 : forks.begin());
    forks.front().Judge();
    ExpectOnlyBandsOf(forks);
  }
  EXPECT_EQ(Counted::alive, 0);
}

std::vector<int> UnsharedRows(const Judged& judged, const Judged& other) {
  std::vector<int> rows;
  judged.plane.ForEachUnsharedRow(other.plane, judged.rows(), [&](int y) { rows.push_back(y); });
  return rows;
}

std::vector<int> RowsWithOtherBands(const Judged& judged, const Judged& other) {
  std::vector<int> rows;
  for (int y = 0; y < judged.rows(); ++y) {
    if (judged.plane.row(y) != other.plane.row(y)) {
      rows.push_back(y);
    }
  }
  return rows;
}

// Ancestors, descendants and cousins, when some of those between are gone.
TEST(PlaneVersionsTest, TellsWhichRowsAreNotShared) {
  Random random(1);
  std::vector<Judged> kept = {Judged::New(kManyRows)};
  for (int i = 0; i < 100; ++i) {
    const int from = random.Chance(0.2) ? random.Between(0, static_cast<int>(kept.size()) - 1)
                                        : static_cast<int>(kept.size()) - 1;
    kept.push_back(Changed(kept[static_cast<std::size_t>(from)], random.Between(1, 10), random)->judged());
  }
  const Judged first = kept.front();
  const Judged last = kept.back();
  EXPECT_EQ(UnsharedRows(first, last), RowsWithOtherBands(first, last));
  for (int i = 0; i < 85; ++i) {
    kept.erase(kept.begin() + random.Between(0, static_cast<int>(kept.size()) - 1));
  }
  for (const Judged& a : kept) {
    for (const Judged& b : kept) {
      const std::vector<int> expected = RowsWithOtherBands(a, b);
      ASSERT_EQ(UnsharedRows(a, b), expected);
      const std::size_t beyond = a.plane.BytesBeyond(b.plane);
      ASSERT_EQ(beyond == 0, &a == &b);
    }
  }
}

TEST(PlaneVersionsTest, CountsTheBytesThatTheOtherDoesNotHold) {
  constexpr std::size_t kBandBytes = kStride * sizeof(Counted);
  Judged first = Judged::New(kManyRows);
  const std::size_t blank = first.plane.memory_bytes();
  EXPECT_GT(blank, kManyRows * sizeof(void*));
  EXPECT_LT(blank, kManyRows * sizeof(void*) + 1000);
  Judged second = first;
  EXPECT_EQ(second.plane.BytesBeyond(first.plane), 0U);
  {
    PlaneWriter<Counted> writer(second.plane);
    writer.row(5)->value = 1;
    writer.row(7)->value = 1;
    writer.row(5)->value = 2;
  }
  EXPECT_EQ(second.plane.memory_bytes(), blank + 2 * kBandBytes);
  EXPECT_EQ(second.plane.BytesBeyond(first.plane), blank - kBandBytes + 2 * kBandBytes);
  // Those that all rows began as are held by both.
  EXPECT_EQ(first.plane.BytesBeyond(second.plane), blank - kBandBytes);
  EXPECT_EQ(second.plane.BytesBeyond(NewPlane(kManyRows)), second.plane.memory_bytes());
}

// Readers take states, judge them and let go of them, while a writer makes others.
TEST(PlaneVersionsTest, LetsGoOnAnyThread) {
  constexpr int kRows = 400;
  constexpr int kStatesPerReader = 200;
  constexpr int kReaders = 3;
  using State = Plane<std::uint32_t>;
  Mutex mutex;
  State latest(kRows, std::vector<std::uint32_t>(kStride, 0), 1);
  const auto take = [&] {
    MutexLock lock(mutex);
    return latest;
  };
  std::atomic<int> reading = kReaders;
  const auto read = [&](std::uint64_t seed) {
    Random random(seed);
    std::vector<State> kept;
    for (int i = 0; i < kStatesPerReader; ++i) {
      State state = take();
      // Every row says which round wrote it, and row 0 is written by each.
      for (int y = 0; y < kRows; ++y) {
        EXPECT_LE(*state.row(y), *state.row(0));
        EXPECT_EQ(state.row(y)[kStride - 1], *state.row(y));
      }
      if (random.Chance(0.3)) {
        State fork = state;
        PlaneWriter<std::uint32_t>(fork).row(random.Between(0, kRows - 1))[0] = 0;
      }
      kept.push_back(std::move(state));
      if (kept.size() > 4) {
        kept.erase(kept.begin() + random.Between(0, 4));
      }
    }
    --reading;
  };
  std::vector<std::thread> readers;
  readers.reserve(kReaders);
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back(read, static_cast<std::uint64_t>(i));
  }
  Random random(99);
  for (std::uint32_t round = 1; reading > 0; ++round) {
    State next = take();
    {
      PlaneWriter<std::uint32_t> writer(next);
      for (int i = 0; i < 20; ++i) {
        std::fill_n(writer.row(random.Between(0, kRows - 1)), kStride, round);
      }
      std::fill_n(writer.row(0), kStride, round);
    }
    MutexLock lock(mutex);
    std::swap(latest, next);
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
}

}  // namespace
}  // namespace waystar::core
