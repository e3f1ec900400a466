#include "server/core/store/reader_copies.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "tests/testing/drawn_map.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;

PinnedSnapshot SnapshotOf(std::uint64_t revision) {
  return std::make_shared<const MapSnapshot>(
      MapSnapshot{.id = "arena", .revision = revision, .map = DrawMap({"."})});
}

TEST(ReaderCopiesTest, EachStripeCountsItsOwnReaders) {
  const PinnedSnapshot snapshot = SnapshotOf(1);
  const ReaderCopies copies(snapshot, 2);
  const PinnedSnapshot pinned = copies.Of(0);
  const PinnedSnapshot again = copies.Of(0);
  const PinnedSnapshot other = copies.Of(1);
  EXPECT_EQ(pinned, snapshot);
  EXPECT_EQ(other, snapshot);
  EXPECT_EQ(pinned.use_count(), 3);
  EXPECT_EQ(other.use_count(), 2);
  // The two stripes, and this test.
  EXPECT_EQ(snapshot.use_count(), 3);
}

TEST(ReaderCopiesTest, SnapshotLivesUntilTheLastReaderOfAnyStripeLetsGo) {
  PinnedSnapshot snapshot = SnapshotOf(1);
  const std::weak_ptr<const MapSnapshot> weak = snapshot;
  ReaderCopies copies(std::exchange(snapshot, nullptr), 4);
  PinnedSnapshot pinned = copies.Of(3);
  ReaderCopies next(SnapshotOf(2), 4);
  copies.Swap(next);
  next = ReaderCopies();
  EXPECT_EQ(copies.Of(3)->revision, 2U);
  EXPECT_EQ(weak.lock(), pinned);
  EXPECT_EQ(weak.use_count(), 1);
  pinned.reset();
  EXPECT_TRUE(weak.expired());
}

TEST(ReaderCopiesTest, NoneAreNull) { EXPECT_EQ(ReaderCopies().Of(5), nullptr); }

}  // namespace
}  // namespace waystar::core
