// Readers on many threads while maps change, come and go, for the thread sanitizer as much as for the
// assertions.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::Unblock;

// The first is always there, the others come and go.
constexpr std::array<const char*, 3> kMaps = {"arena", "dungeon", "forest"};
constexpr int kReaders = 5;

// Returns a number that grows with the epochs of the test, which are given in order, and the revisions of
// each.
std::uint64_t OrderOf(const MapVersion& version) { return version.epoch << 32 | version.revision; }

// The newest version that any thread has seen of a map, or of one that had its id before it.
class NewestSeen {
 public:
  std::uint64_t Get() const { return newest_.load(std::memory_order_acquire); }

  void Saw(const MapVersion& version) {
    const std::uint64_t order = OrderOf(version);
    std::uint64_t before = newest_.load(std::memory_order_relaxed);
    while (before < order && !newest_.compare_exchange_weak(before, order, std::memory_order_acq_rel)) {
    }
  }

 private:
  std::atomic<std::uint64_t> newest_ = 0;
};

class ConcurrentPinsTest : public ::testing::Test {
 protected:
  void Create(std::size_t map) {
    const std::uint64_t seen = newest_[map].Get();
    const auto created = store_.Create(kMaps[map], DrawMap({".....", "....."}), absl::UnixEpoch());
    ASSERT_THAT(created, IsOk());
    ASSERT_EQ((*created)->revision, 1U);
    ASSERT_GT(OrderOf((*created)->version()), seen);
    newest_[map].Saw((*created)->version());
  }

  void Delete(std::size_t map) {
    const auto deleted = store_.Delete(kMaps[map]);
    ASSERT_THAT(deleted, IsOk());
    ASSERT_GE(OrderOf(*deleted), newest_[map].Get());
    ASSERT_THAT(store_.Pin(kMaps[map]),
                IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  }

  void Update(std::size_t map, int i) {
    const Cell cell = {i % 5, 0};
    const auto updated =
        store_.UpdateAndWait(kMaps[map], {.edits = {i / 5 % 2 == 0 ? Block(cell) : Unblock(cell)}});
    if (updated.ok()) {
      newest_[map].Saw({.epoch = updated->epoch, .revision = updated->revision});
    } else {
      ASSERT_NE(map, 0U);
      ASSERT_THAT(updated, IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
    }
  }

  void Pin(std::size_t map) {
    const std::uint64_t seen = newest_[map].Get();
    const auto pinned = store_.Pin(kMaps[map]);
    if (pinned.ok()) {
      ASSERT_EQ((*pinned)->id, kMaps[map]);
      ASSERT_GE(OrderOf((*pinned)->version()), seen);
      newest_[map].Saw((*pinned)->version());
    } else {
      ASSERT_NE(map, 0U);
      ASSERT_THAT(pinned, IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
    }
  }

  void List() {
    std::array<std::uint64_t, kMaps.size()> seen{};
    for (std::size_t map = 0; map < kMaps.size(); ++map) {
      seen[map] = newest_[map].Get();
    }
    std::string last;
    for (const PinnedSnapshot& pinned : store_.List("", kMaps.size())) {
      ASSERT_LT(last, pinned->id);
      last = pinned->id;
      for (std::size_t map = 0; map < kMaps.size(); ++map) {
        if (pinned->id == kMaps[map]) {
          ASSERT_GE(OrderOf(pinned->version()), seen[map]);
          newest_[map].Saw(pinned->version());
        }
      }
    }
  }

  std::atomic<std::uint64_t> last_epoch_ = 0;
  MapStore store_{StoreOptions{.max_maps = kMaps.size(), .new_epoch = [this] { return ++last_epoch_; }}};
  std::array<NewestSeen, kMaps.size()> newest_;
};

// Neither on one thread nor across threads is a pin older than what was seen before it began.
TEST_F(ConcurrentPinsTest, VersionsNeverGoBack) {
  Create(0);
  std::atomic<int> changing = 4;
  std::vector<std::thread> threads;
  for (int updater = 0; updater < 2; ++updater) {
    threads.emplace_back([&] {
      for (int i = 0; i < 900; ++i) {
        Update(static_cast<std::size_t>(i) % kMaps.size(), i);
      }
      --changing;
    });
  }
  for (const std::size_t map : {1, 2}) {
    threads.emplace_back([&, map] {
      for (int i = 0; i < 150; ++i) {
        Create(map);
        Update(map, i);
        Delete(map);
      }
      --changing;
    });
  }
  for (int reader = 0; reader < kReaders; ++reader) {
    threads.emplace_back([&] {
      std::size_t pins = 0;
      do {
        Pin(pins++ % kMaps.size());
        if (pins % 64 == 0) {
          List();
        }
      } while (changing > 0 && !HasFatalFailure());
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const char* map : kMaps) {
    EXPECT_EQ(store_.OldSnapshotsOf(map).count, 0U);
  }
}

// What is handed from thread to thread, and let go of on another than the one that pinned it.
TEST_F(ConcurrentPinsTest, LastPinMayEndOnAnyThread) {
  Create(0);
  std::vector<std::thread> threads;
  for (int pair = 0; pair < 3; ++pair) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        PinnedSnapshot pinned = *store_.Pin(kMaps[0]);
        const std::uint64_t revision = pinned->revision;
        std::thread other([pinned = std::move(pinned), revision] { ASSERT_EQ(pinned->revision, revision); });
        EXPECT_THAT(store_.UpdateAndWait(kMaps[0], BlockBatch({i % 5, 1})), IsOk());
        other.join();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(store_.OldSnapshotsOf(kMaps[0]).count, 0U);
}

}  // namespace
}  // namespace waystar::core
