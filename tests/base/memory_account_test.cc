#include "server/base/memory_account.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MemoryAccountTest : public ::testing::Test {
 protected:
  MemoryAccountTest() {
    account_.SetHooks({.measure =
                           [this] {
                             ++measurements_;
                             return use_;
                           },
                       .drop =
                           [this](MemoryDrop what) {
                             drops_.push_back(what);
                             use_.views = what == MemoryDrop::kUnusedViews ? use_.views / 2 : 0;
                             use_.history = what == MemoryDrop::kHistory ? 0 : use_.history;
                           }});
  }

  MemoryUse use_;
  int measurements_ = 0;
  std::vector<MemoryDrop> drops_;
  MemoryAccount account_{1000};
};

TEST_F(MemoryAccountTest, AddsUpWithoutMeasuringWhileThereIsRoom) {
  MemoryAccount::Reservation a;
  MemoryAccount::Reservation b;
  EXPECT_TRUE(account_.Reserve(600, a));
  EXPECT_TRUE(account_.Reserve(400, b));
  EXPECT_EQ(account_.taken(), 1000);
  EXPECT_EQ(account_.room(), 0);
  EXPECT_EQ(measurements_, 0);
}

TEST_F(MemoryAccountTest, TakesBackWhatIsNotKept) {
  {
    MemoryAccount::Reservation reservation;
    EXPECT_TRUE(account_.Reserve(600, reservation));
    EXPECT_TRUE(account_.Reserve(100, reservation));
    EXPECT_EQ(account_.taken(), 700);
  }
  EXPECT_EQ(account_.taken(), 0);
}

TEST_F(MemoryAccountTest, PutsWhatWasTakenInThePlaceOfBounds) {
  {
    MemoryAccount::Reservation reservation;
    EXPECT_TRUE(account_.Reserve(900, reservation));
    reservation.Keep();
  }
  EXPECT_EQ(account_.taken(), 900);
  use_.maps = 100;
  MemoryAccount::Reservation next;
  EXPECT_TRUE(account_.Reserve(800, next));
  EXPECT_EQ(measurements_, 1);
  EXPECT_EQ(account_.taken(), 900);
  EXPECT_THAT(drops_, IsEmpty());
}

TEST_F(MemoryAccountTest, CountsWhatIsStillBeingMade) {
  use_.maps = 300;
  MemoryAccount::Reservation making;
  EXPECT_TRUE(account_.Reserve(500, making));
  MemoryAccount::Reservation next;
  EXPECT_FALSE(account_.Reserve(501, next));
  EXPECT_EQ(account_.taken(), 800);
  EXPECT_EQ(account_.refusals(), 1);
  EXPECT_TRUE(account_.Reserve(200, next));
}

TEST_F(MemoryAccountTest, DropsNoMoreThanItMust) {
  use_ = {.maps = 500, .views = 400};
  account_.Measure();
  MemoryAccount::Reservation half;
  EXPECT_TRUE(account_.Reserve(300, half));
  EXPECT_THAT(drops_, ElementsAre(MemoryDrop::kUnusedViews));
  MemoryAccount::Reservation all;
  EXPECT_TRUE(account_.Reserve(200, all));
  EXPECT_THAT(drops_, ElementsAre(MemoryDrop::kUnusedViews, MemoryDrop::kUnusedViews, MemoryDrop::kViews));
  EXPECT_EQ(account_.drops(), 3);
}

TEST_F(MemoryAccountTest, DropsHistoryOnceViewsAreNotEnough) {
  use_ = {.maps = 500, .views = 100, .history = 300};
  account_.Measure();
  MemoryAccount::Reservation reservation;
  EXPECT_TRUE(account_.Reserve(450, reservation));
  EXPECT_THAT(drops_, ElementsAre(MemoryDrop::kHistory));
}

TEST_F(MemoryAccountTest, DropsNothingInVain) {
  use_ = {.maps = 500, .views = 400};
  account_.Measure();
  MemoryAccount::Reservation reservation;
  EXPECT_FALSE(account_.Reserve(501, reservation));
  EXPECT_THAT(drops_, IsEmpty());
}

TEST_F(MemoryAccountTest, SparesWhatItIsTold) {
  MemoryAccount::Reservation reservation;
  EXPECT_FALSE(account_.Reserve(950, reservation, 100));
  EXPECT_TRUE(account_.Reserve(900, reservation, 100));
  EXPECT_FALSE(account_.TryAdd(1, 100));
  EXPECT_TRUE(account_.TryAdd(100, 0));
}

TEST_F(MemoryAccountTest, CountsOnWithoutHooks) {
  account_.SetHooks({});
  MemoryAccount::Reservation reservation;
  EXPECT_TRUE(account_.Reserve(1000, reservation));
  EXPECT_FALSE(account_.Reserve(1, reservation));
}

}  // namespace
}  // namespace waystar
