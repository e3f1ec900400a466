// Creations and deletions of a store with a durable log.

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

class DurableMapsTest : public HeldStoreTest {
 protected:
  // A call that waits for the log, on a thread of its own.
  template <typename Result>
  class Call {
   public:
    template <typename Function>
    explicit Call(Function function) : thread_([this, function] { result_.emplace(function()); }) {}
    const Result& Wait() {
      thread_.join();
      return *result_;
    }

   private:
    std::optional<Result> result_;
    std::thread thread_;
  };
  using Creation = Call<absl::StatusOr<PinnedSnapshot>>;
  using Deletion = Call<absl::StatusOr<MapVersion>>;

  auto Create(const std::string& id) {
    return [this, id] { return store_.Create(id, DrawMap({"...."}), clock_.Now()); };
  }
  auto Delete(const std::string& id) {
    return [this, id] { return store_.Delete(id); };
  }

  static auto IsLost() { return IsError(absl::StatusCode::kUnavailable, ErrorReason::kStorageFailed, ""); }
  static auto IsGone() { return IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"); }
};

TEST_F(DurableMapsTest, MapIsThereOnceItHasLanded) {
  Creation creation(Create("b"));
  log_.WaitForAppends(1);
  EXPECT_THAT(store_.Pin("b"), IsGone());
  EXPECT_THAT(store_.List("", 9), SizeIs(1));
  EXPECT_EQ(store_.size(), 1U);
  log_.LandNext();
  const absl::StatusOr<PinnedSnapshot>& created = creation.Wait();
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(*store_.Pin("b"), *created);
  const std::vector<HeldLog::Entry> durable = log_.durable();
  ASSERT_THAT(durable, SizeIs(1));
  EXPECT_EQ(durable[0].version, (*created)->version());
  EXPECT_EQ(durable[0].first->create_time, clock_.Now());
  EXPECT_EQ(durable[0].first->digest(), (*created)->digest());
}

TEST_F(DurableMapsTest, MapIsGoneOnceItsDeletionHasLanded) {
  Update(0);
  Deletion deletion(Delete("arena"));
  log_.WaitForAppends(2);
  EXPECT_THAT(store_.Pin("arena"), IsOk());
  // It waits for the deletion.
  Update(1);
  EXPECT_EQ(log_.appends(), 2U);
  EXPECT_THAT(store_.CheckCanCreate("arena"),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  log_.LandNext();
  EXPECT_EQ(Revision(), 2U);
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
  log_.LandNext();
  const absl::StatusOr<MapVersion>& last = deletion.Wait();
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(*last, (MapVersion{.epoch = 7, .revision = 2}));
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: MAP_NOT_FOUND"));
  EXPECT_THAT(store_.Pin("arena"), IsGone());
  ASSERT_THAT(listener_.heard(), SizeIs(2));
  EXPECT_TRUE(listener_.heard()[1].is_deletion);
  EXPECT_EQ(listener_.heard()[1].revision, 2U);
  EXPECT_EQ(log_.durable().back().version, *last);
}

TEST_F(DurableMapsTest, DeletionThatComesUponALossIsRefused) {
  Update(0);
  Update(1);
  log_.FailNext();
  Update(2);
  EXPECT_THAT(store_.Delete("arena"), IsLost());
  EXPECT_EQ(log_.appends(), 2U);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: STORAGE_FAILED", "1: STORAGE_FAILED", "2: 2"));
  Deletion deletion(Delete("arena"));
  log_.WaitForAppends(4);
  log_.LandAll();
  EXPECT_THAT(deletion.Wait(), IsOk());
}

TEST_F(DurableMapsTest, OneOfTwoDeletionsIsTheOne) {
  Deletion first(Delete("arena"));
  log_.WaitForAppends(1);
  Deletion second(Delete("arena"));
  log_.LandNext();
  EXPECT_THAT(first.Wait(), IsOk());
  EXPECT_THAT(second.Wait(), IsGone());
  EXPECT_EQ(log_.appends(), 1U);
}

TEST_F(DurableMapsTest, TheSecondDeletionDoesWhatTheFirstCouldNot) {
  Deletion first(Delete("arena"));
  log_.WaitForAppends(1);
  Deletion second(Delete("arena"));
  log_.FailNext();
  EXPECT_THAT(first.Wait(), IsLost());
  log_.WaitForAppends(2);
  log_.LandNext();
  EXPECT_THAT(second.Wait(), IsOk());
}

TEST_F(DurableMapsTest, MapOfTheSameIdBeginsAgainUnderAnotherEpoch) {
  Update(0);
  Update(1);
  log_.LandAll();
  // What is lost was nobody's revision.
  Update(2);
  log_.FailNext();
  Deletion deletion(Delete("arena"));
  log_.WaitForAppends(4);
  EXPECT_THAT(Create("arena")(), IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  log_.LandNext();
  EXPECT_EQ(deletion.Wait()->revision, 3U);
  Creation lost(Create("arena"));
  log_.WaitForAppends(5);
  log_.FailNext();
  EXPECT_THAT(lost.Wait(), IsLost());
  Creation creation(Create("arena"));
  log_.WaitForAppends(6);
  log_.LandNext();
  const absl::StatusOr<PinnedSnapshot>& created = creation.Wait();
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ((*created)->revision, 1U);
  EXPECT_NE((*created)->epoch, 7U);
  Update(0);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: 3", "2: STORAGE_FAILED", "3: 2"));
}

TEST_F(DurableMapsTest, AnUploadMayBeCheckedWhileAnotherMapIsOnItsWay) {
  Creation creation(Create("b"));
  log_.WaitForAppends(1);
  EXPECT_THAT(store_.CheckCanCreate("c"), IsOk());
  Update(0);
  log_.LandAll();
  EXPECT_THAT(creation.Wait(), IsOk());
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
}

}  // namespace
}  // namespace waystar::core
