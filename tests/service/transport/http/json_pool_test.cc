#include "server/service/transport/http/json_pool.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "tests/testing/patience.h"

namespace waystar::http {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::Event;
using ::waystar::testing::WaitUntil;

constexpr std::size_t kLarge = JsonPool::kSmallBytes + 1;
constexpr std::size_t kSmall = JsonPool::kSmallBytes;
constexpr std::uint64_t kGreedy = 1;
constexpr std::uint64_t kOther = 2;

// A task that runs until it is let go.
class Block {
 public:
  bool RunIn(JsonPool& pool, std::uint64_t client, std::size_t bytes = kLarge) {
    return pool.Run(client, bytes, [this] {
      began_.Happen();
      end_.Wait();
    });
  }
  void WaitForBegin() { began_.Wait(); }
  bool HasBegun() { return began_.HasHappened(); }
  void LetGo() { end_.Happen(); }

 private:
  Event began_{"the begin of a task"};
  Event end_{"the end of a task"};
};

// The names of tasks in the order in which they ran.
class Order {
 public:
  bool RunIn(JsonPool& pool, std::uint64_t client, const std::string& name) {
    return pool.Run(client, kLarge, [this, name] {
      MutexLock lock(mutex_);
      names_.push_back(name);
    });
  }
  std::vector<std::string> names() {
    MutexLock lock(mutex_);
    return names_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
};

TEST(JsonPoolTest, SmallMessagesDoNotWaitForLargeOnes) {
  Block block;
  Event small("a small message");
  JsonPool pool(1);
  ASSERT_TRUE(block.RunIn(pool, kGreedy));
  block.WaitForBegin();
  EXPECT_TRUE(pool.Run(kGreedy, kSmall, [&] { small.Happen(); }));
  EXPECT_TRUE(small.Wait());
  block.LetGo();
}

TEST(JsonPoolTest, ClientsTakeTurns) {
  Block block;
  Order order;
  JsonPool pool(1);
  ASSERT_TRUE(block.RunIn(pool, kGreedy));
  block.WaitForBegin();
  for (const char* const name : {"a1", "a2", "a3"}) {
    ASSERT_TRUE(order.RunIn(pool, kGreedy, name));
  }
  for (const char* const name : {"b1", "b2"}) {
    ASSERT_TRUE(order.RunIn(pool, kOther, name));
  }
  block.LetGo();
  EXPECT_TRUE(WaitUntil([&] { return order.names().size() == 5; }, "all messages"));
  EXPECT_THAT(order.names(), ElementsAre("a1", "b1", "a2", "b2", "a3"));
}

TEST(JsonPoolTest, OneClientHasHalfOfTheThreadsForLargeMessages) {
  Block first;
  Block second;
  Block third;
  Block other;
  JsonPool pool(4);
  ASSERT_TRUE(first.RunIn(pool, kGreedy));
  ASSERT_TRUE(second.RunIn(pool, kGreedy));
  first.WaitForBegin();
  second.WaitForBegin();
  ASSERT_TRUE(third.RunIn(pool, kGreedy));
  ASSERT_TRUE(other.RunIn(pool, kOther));
  // Were there room for it, the third would have begun before.
  other.WaitForBegin();
  EXPECT_FALSE(third.HasBegun());
  first.LetGo();
  third.WaitForBegin();
  for (Block* const block : {&second, &third, &other}) {
    block->LetGo();
  }
}

TEST(JsonPoolTest, NoClientFillsTheLine) {
  Block block;
  const auto held = std::make_shared<int>();
  {
    JsonPool pool(1);
    ASSERT_TRUE(block.RunIn(pool, kGreedy));
    block.WaitForBegin();
    int waiting = 0;
    while (pool.Run(kGreedy, kLarge, [held] {})) {
      ASSERT_LT(++waiting, 10'000);
    }
    EXPECT_GT(waiting, 100);
    EXPECT_EQ(held.use_count(), waiting + 1) << "the one that was refused is gone";
    for (int i = 0; i < waiting / 4; ++i) {
      EXPECT_TRUE(pool.Run(kOther, kLarge, [held] {}));
    }
    EXPECT_FALSE(pool.Run(kGreedy, kLarge, [held] {}));
    EXPECT_TRUE(pool.Run(kGreedy, kSmall, [held] {}));
    block.LetGo();
  }
  EXPECT_EQ(held.use_count(), 1) << "what has not begun ends with the pool";
}

}  // namespace
}  // namespace waystar::http
