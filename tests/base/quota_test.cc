#include "server/base/quota.h"

#include <string>

#include "gmock/gmock.h"

namespace waystar {
namespace {

using Places = Quota<std::string>;

TEST(QuotaTest, HasAFixedPartForEachAndABoundForAll) {
  Places places = Places::Fixed(10, 6);
  EXPECT_TRUE(places.Take("a", 6));
  EXPECT_FALSE(places.Take("a"));
  EXPECT_FALSE(places.Take("b", 5)) << "there are not so many";
  EXPECT_TRUE(places.Take("b", 4));
  EXPECT_FALSE(places.Take("c"));
  EXPECT_EQ(places.free(), 0);
  EXPECT_EQ(places.holders(), 2);
  places.GiveBack("b", 4);
  EXPECT_EQ(places.Of("b"), 0);
  EXPECT_EQ(places.holders(), 1);
  EXPECT_TRUE(places.Take("c", 4));
}

TEST(QuotaTest, LeavesAQuarterToOthersWhereItIsShared) {
  Places places = Places::Shared(16);
  int alone = 0;
  while (places.Take("greedy")) {
    ++alone;
  }
  EXPECT_EQ(alone, 12);
  EXPECT_TRUE(places.Take("modest"));
  // Who comes late has one in any case.
  EXPECT_TRUE(places.Take("a"));
  EXPECT_TRUE(places.Take("b"));
  EXPECT_TRUE(places.Take("c"));
  EXPECT_FALSE(places.Take("d")) << "none is left";
  EXPECT_EQ(places.Of("d"), 0);
  EXPECT_EQ(places.holders(), 5);
}

TEST(QuotaTest, SharesBytesAsItSharesPlaces) {
  Places bytes = Places::Shared(1000);
  EXPECT_TRUE(bytes.Take("a", 600));
  EXPECT_FALSE(bytes.Take("a", 200)) << "800 would be more than three times the 200 that are left";
  EXPECT_TRUE(bytes.Take("a", 150));
  EXPECT_EQ(bytes.total(), 750);
}

TEST(QuotaTest, GivesMoreThanThereIsToWhoHasTheRight) {
  Places places = Places::Fixed(2, 1);
  places.TakeAnyway("a", 5);
  EXPECT_EQ(places.Of("a"), 5);
  EXPECT_EQ(places.free(), 0);
  EXPECT_FALSE(places.Take("b"));
  EXPECT_FALSE(places.Take("a"));
  places.GiveBack("a", 5);
  EXPECT_TRUE(places.Take("b"));
}

}  // namespace
}  // namespace waystar
