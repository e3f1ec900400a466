// Updates that find no memory: each is refused, whichever of its allocations fails, and leaves the map, its
// lifetimes and what it remembers of requests as if it had not been sent.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "tests/core/grid/search/allocation_counter.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/slow_digest.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

constexpr absl::Duration kLifetime = absl::Seconds(10);

PutObstacle Put(const std::string& id, Cell cell, std::optional<absl::Duration> lifetime = std::nullopt) {
  PutObstacle put{.obstacle = {.id = id, .shape = {.cells = {cell}}}};
  put.lifetime = lifetime;
  put.replace = true;
  return put;
}

// A map with an obstacle that expires, and a batch that it remembers.
class Yard {
 public:
  Yard() {
    EXPECT_THAT(store_.Create("yard", DrawMap({"........", "........", "........"}), clock_.Now()), IsOk());
    EXPECT_EQ(Send({.edits = {Put("crate", {1, 1}, kLifetime)}, .request_id = "first"}), "OK");
  }

  // Returns the reason if the batch is refused.
  std::string Send(UpdateBatch batch, std::int64_t failing = -1) {
    std::optional<absl::StatusOr<UpdateResult>> answer;
    std::optional<FailingAllocation> one;
    UpdateDone done = [&answer](absl::StatusOr<UpdateResult> result) { answer = std::move(result); };
    if (failing >= 0) {
      one.emplace(failing);
    }
    store_.Update("yard", std::move(batch), std::move(done));
    one.reset();
    return Text(answer);
  }

  // Sends a batch, and while it is answered two more, which are committed together.
  std::string SendTogether(UpdateBatch first, UpdateBatch second, std::int64_t failing) {
    std::optional<absl::StatusOr<UpdateResult>> answers[2];
    UpdateBatch begin = BlockBatch({0, 0});
    std::optional<FailingAllocation> one;
    store_.Update("yard", std::move(begin), [&](const absl::StatusOr<UpdateResult>&) {
      one.emplace(failing);
      store_.Update("yard", std::move(first),
                    [&](absl::StatusOr<UpdateResult> result) { answers[0] = std::move(result); });
      store_.Update("yard", std::move(second),
                    [&](absl::StatusOr<UpdateResult> result) { answers[1] = std::move(result); });
    });
    one.reset();
    return absl::StrCat(Text(answers[0]), " ", Text(answers[1]));
  }

  // The map after the crate has expired is told as well.
  std::string Told() {
    std::string told = Now();
    clock_.Advance(2 * kLifetime);
    store_.ExpireDue(clock_.Now());
    return absl::StrCat(told, ", later ", Now());
  }

  std::string Now() const {
    const PinnedSnapshot latest = *store_.Pin("yard");
    EXPECT_EQ(latest->grid().digest(), SlowDigest(latest->grid()));
    return absl::StrCat("revision ", latest->revision, " of ", SlowDigest(latest->grid()));
  }

 private:
  static std::string Text(const std::optional<absl::StatusOr<UpdateResult>>& answer) {
    if (!answer) {
      return "no answer";
    }
    return answer->ok() ? "OK" : ErrorReasonOf(answer->status());
  }

  FakeClock clock_;
  MapStore store_{StoreOptions{.clock = &clock_}};
};

struct Change {
  std::string name;
  std::vector<Edit> edits;
};

std::vector<Change> Changes() {
  return {
      {"Blocks", {Block({3, 1}), Block({4, 1})}},
      {"Puts", {Put("cart", {3, 1}), Put("barrel", {4, 1}, 3 * kLifetime)}},
      {"Removes", {RemoveObstacle{.id = "crate"}}},
      {"Replaces", {Put("crate", {5, 2}, 3 * kLifetime)}},
      {"Profile", {PutProfile{{"boat", {}}}}},
      {"Portal", {PutPortal{.portal = {.id = "ladder", .from = {7, 0}, .to_map = "cellar", .to = {7, 0}}}}}};
}

class UpdatesOutOfMemoryTest : public ::testing::TestWithParam<Change> {};

TEST_P(UpdatesOutOfMemoryTest, AreRefusedAsAWhole) {
  const std::string before = Yard().Told();
  Yard changed;
  const UpdateBatch batch{.edits = GetParam().edits, .request_id = "one"};
  const std::int64_t begin = AllocationCount();
  ASSERT_EQ(changed.Send(batch), "OK");
  const std::int64_t allocations = AllocationCount() - begin;
  const std::string after = changed.Told();

  int refusals = 0;
  for (std::int64_t failing = 0; failing < allocations; ++failing) {
    Yard refused;
    // What only saves time or memory may be done without.
    if (const std::string answer = refused.Send(batch, failing); answer != "OK") {
      ++refusals;
      ASSERT_EQ(answer, "MAPS_MEMORY_FULL") << failing;
      ASSERT_EQ(refused.Told(), before) << failing;
    }
    // Another one, then the same again.
    Yard yard;
    yard.Send(batch, failing);
    ASSERT_EQ(yard.Send(batch), "OK") << failing;
    ASSERT_EQ(yard.Told(), after) << failing;
  }
  EXPECT_GT(refusals, 5);
}

TEST_P(UpdatesOutOfMemoryTest, TakeThoseAlongThatAreCommittedTogether) {
  const UpdateBatch first{.edits = {Put("cart", {6, 1}, 3 * kLifetime)}, .request_id = "one"};
  const UpdateBatch second{.edits = GetParam().edits, .request_id = "two"};
  Yard changed;
  ASSERT_EQ(changed.Send(BlockBatch({0, 0})), "OK");
  const std::string begun = changed.Now();
  const std::int64_t begin = AllocationCount();
  ASSERT_EQ(changed.Send(first), "OK");
  ASSERT_EQ(changed.Send(second), "OK");
  const std::int64_t allocations = AllocationCount() - begin;
  const std::string after = changed.Told();

  int refusals = 0;
  for (std::int64_t failing = 0; failing < allocations; ++failing) {
    Yard yard;
    const std::string answers = yard.SendTogether(first, second, failing);
    if (answers == "MAPS_MEMORY_FULL MAPS_MEMORY_FULL") {
      ++refusals;
      ASSERT_EQ(yard.Now(), begun) << failing;
    }
    ASSERT_EQ(yard.Send(first), "OK") << failing;
    ASSERT_EQ(yard.Send(second), "OK") << failing;
    if (answers != "MAPS_MEMORY_FULL OK") {
      ASSERT_EQ(yard.Told(), after) << failing;
    }
  }
  EXPECT_GT(refusals, 5);
}

INSTANTIATE_TEST_SUITE_P(All, UpdatesOutOfMemoryTest, ::testing::ValuesIn(Changes()),
                         [](const auto& change) { return change.param.name; });

}  // namespace
}  // namespace waystar::core
