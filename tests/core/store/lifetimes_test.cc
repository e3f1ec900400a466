#include "server/core/store/lifetimes.h"

#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kBegin = absl::FromUnixSeconds(1'700'000'000);

Edit Put(const std::string& id, std::optional<int> seconds) {
  PutObstacle put;
  put.obstacle.id = id;
  if (seconds) {
    put.lifetime = absl::Seconds(*seconds);
  }
  return put;
}

std::vector<std::string> Take(Lifetimes& lifetimes, int seconds, std::size_t max = 100) {
  std::vector<std::string> ids;
  for (const Edit& edit : lifetimes.TakeRemovalsDue(kBegin + absl::Seconds(seconds), max)) {
    ids.push_back(std::get<RemoveObstacle>(edit).id);
  }
  return ids;
}

TEST(LifetimesTest, RemovesInTheOrderOfExpiry) {
  Lifetimes lifetimes;
  lifetimes.Follow({Put("b", 20), Put("a", 10), Put("stays", std::nullopt), Put("c", 30)}, kBegin);
  EXPECT_EQ(lifetimes.next(), kBegin + absl::Seconds(10));
  EXPECT_THAT(Take(lifetimes, 9), IsEmpty());
  EXPECT_THAT(Take(lifetimes, 20), ElementsAre("a", "b"));
  EXPECT_EQ(lifetimes.next(), kBegin + absl::Seconds(30));
  EXPECT_THAT(Take(lifetimes, 1000), ElementsAre("c"));
  EXPECT_EQ(lifetimes.next(), absl::InfiniteFuture());
}

TEST(LifetimesTest, TakesNoMoreThanAskedFor) {
  Lifetimes lifetimes;
  lifetimes.Follow({Put("b", 20), Put("a", 10), Put("c", 30)}, kBegin);
  EXPECT_THAT(Take(lifetimes, 100, 2), ElementsAre("a", "b"));
  EXPECT_THAT(Take(lifetimes, 100, 2), ElementsAre("c"));
}

TEST(LifetimesTest, PuttingAgainBeginsAgain) {
  Lifetimes lifetimes;
  lifetimes.Follow({Put("a", 10), Put("b", 10), Put("c", 10)}, kBegin);
  lifetimes.Follow({Put("a", 10), Put("b", std::nullopt)}, kBegin + absl::Seconds(5));
  EXPECT_THAT(Take(lifetimes, 10), ElementsAre("c"));
  EXPECT_THAT(Take(lifetimes, 15), ElementsAre("a"));
  EXPECT_EQ(lifetimes.next(), absl::InfiniteFuture());
}

TEST(LifetimesTest, OnlyPuttingAndRemovingConcernThem) {
  Lifetimes lifetimes;
  lifetimes.Follow({Put("a", 10), Put("b", 10), Put("a b", 10)}, kBegin);
  lifetimes.Follow({RemoveObstacle{"a"}, MoveObstacle{.id = "b", .dx = 1.0}, ResizeObstacle{.id = "b"},
                    RemoveObstacle{"unknown"}},
                   kBegin + absl::Seconds(5));
  EXPECT_THAT(Take(lifetimes, 10), ElementsAre("a b", "b"));
}

}  // namespace
}  // namespace waystar::core
