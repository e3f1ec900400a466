#include "server/core/store/in_flight.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

// Batches that are worth a group.
constexpr std::size_t kMany = 1000;

class InFlightTest : public ::testing::Test {
 protected:
  // A batch that has led to a revision.
  ComposedGroup Changed(std::uint64_t revision) {
    ComposedGroup group = Refused(absl::StrCat(revision));
    group.next = std::make_shared<const MapSnapshot>(
        MapSnapshot{.id = "arena", .revision = revision, .map = DrawMap({".."})});
    group.bytes = 1;
    return group;
  }

  // A batch that has changed nothing.
  ComposedGroup Refused(const std::string& name) {
    ComposedGroup group;
    group.answers.push_back(
        {.done =
             [this, name](const absl::StatusOr<UpdateResult>& result) {
               told_.push_back(
                   absl::StrCat(name, result.ok() ? "" : absl::StrCat(": ", result.status().message())));
             },
         .result = UpdateResult()});
    group.batches = 1;
    return group;
  }

  bool Add(ComposedGroup group) { return in_flight_.Add(group); }

  bool LandAndUnpark() {
    in_flight_.Land();
    return in_flight_.Unpark(kMany);
  }

  InFlight in_flight_{4, 100};
  std::vector<std::string> told_;
};

TEST_F(InFlightTest, WhatChangesNothingIsToldAfterWhatItStandsUpon) {
  EXPECT_TRUE(Add(Changed(2)));
  EXPECT_TRUE(Add(Changed(3)));
  EXPECT_FALSE(Add(Refused("a")));
  EXPECT_EQ(in_flight_.First().next->revision, 2U);
  EXPECT_EQ(in_flight_.Newest()->revision, 3U);
  EXPECT_EQ(in_flight_.Land().next->revision, 2U);
  EXPECT_THAT(told_, ElementsAre("2"));
  EXPECT_EQ(in_flight_.Land().next->revision, 3U);
  EXPECT_THAT(told_, ElementsAre("2", "3", "a"));
  EXPECT_EQ(in_flight_.Newest(), nullptr);
  EXPECT_EQ(in_flight_.bytes(), 0U);
}

// One whose edits are kept, as with a shared log.
ComposedGroup Kept(ComposedGroup group, Cell cell) {
  group.answers[0].kept = std::make_unique<KeptBatch>(
      KeptBatch{.commit = std::make_shared<const Commit>(Commit{.edits = {Block(cell)}})});
  return group;
}

TEST_F(InFlightTest, WhatConflictsComesBackInItsOrderWithItsEdits) {
  EXPECT_TRUE(Add(Kept(Changed(2), {2, 0})));
  EXPECT_TRUE(Add(Kept(Changed(3), {3, 0})));
  EXPECT_TRUE(in_flight_.Doom());
  EXPECT_EQ(in_flight_.Hold().is_conflict(), true);
  // The leader was composing meanwhile.
  EXPECT_FALSE(Add(Kept(Changed(4), {4, 0})));
  EXPECT_FALSE(in_flight_.LoseToConflict());
  EXPECT_FALSE(LandAndUnpark());
  EXPECT_TRUE(in_flight_.LoseToConflict());
  std::vector<WaitingBatch> lost = in_flight_.TakeLost();
  ASSERT_EQ(lost.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    WaitingBatch& batch = lost[static_cast<std::size_t>(i)];
    EXPECT_THAT(batch.batch.edits, ElementsAre(Block({i + 2, 0})));
    std::move(batch.done)(UpdateResult());
  }
  in_flight_.Recover();
  in_flight_.Land();
  EXPECT_THAT(told_, ElementsAre("2", "3", "4"));
  EXPECT_FALSE(in_flight_.Doom());
  EXPECT_EQ(in_flight_.bytes(), 0U);
}

TEST_F(InFlightTest, WhatHasFailedDoesNotComeBack) {
  EXPECT_TRUE(Add(Kept(Changed(2), {2, 0})));
  EXPECT_TRUE(Add(Kept(Changed(3), {3, 0})));
  EXPECT_FALSE(in_flight_.Lose(absl::UnavailableError("lost")));
  in_flight_.Land();
  EXPECT_TRUE(in_flight_.LoseToConflict());
  EXPECT_EQ(in_flight_.TakeLost().size(), 1U);
  in_flight_.Recover();
  in_flight_.Land();
  EXPECT_THAT(told_, ElementsAre("2: lost"));
}

}  // namespace
}  // namespace waystar::core
