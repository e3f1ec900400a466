#include "server/service/transport/http/json.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/rpc/status.pb.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::http {
namespace {

using ::testing::ElementsAre;

const google::protobuf::Descriptor& Query() { return *v1::FindPathRequest::descriptor(); }

std::string FieldBlamedIn(const std::string& json) {
  const absl::StatusOr<std::string> wire = JsonToWire(Query(), json);
  EXPECT_TRUE(absl::IsInvalidArgument(wire.status())) << json;
  return ErrorFieldOf(wire.status());
}

TEST(JsonTest, BecomesBytesAndBack) {
  const auto wire =
      JsonToWire(Query(), R"({"map": "arena", "start": {"cell": {"x": 3}}, "snap": {}})").value();
  v1::FindPathRequest request;
  ASSERT_TRUE(request.ParseFromString(wire));
  EXPECT_EQ(request.map(), "arena");
  EXPECT_EQ(request.start().cell().x(), 3);
  EXPECT_TRUE(request.has_snap());
  EXPECT_EQ(*WireToJson(Query(), wire), R"({"map":"arena","start":{"cell":{"x":3}},"snap":{}})");
}

TEST(JsonTest, NamesTheFieldToBlame) {
  EXPECT_EQ(FieldBlamedIn(R"({"start": {"cell": {"x": "a"}}})"), "start.cell.x");
  EXPECT_EQ(FieldBlamedIn(R"({"start": {"cell": {"z": 1}}})"), "start.cell.z");
  EXPECT_EQ(FieldBlamedIn(R"({"nothing": 1})"), "nothing");
  EXPECT_EQ(FieldBlamedIn(R"({"a @ b: c": 1})"), "a @ b: c");
  EXPECT_EQ(FieldBlamedIn(R"({"map": )"), "");
}

TEST(JsonTest, QuotesLittleOfWhatWasSent) {
  for (const char* const part : {"k", "\xC3\xA9", "\xE2\x82\xAC", "\\u00e9", "\\n", " x"}) {
    std::string key = "a";
    for (int i = 0; i < 1'000; ++i) {
      key += part;
    }
    for (const std::string& json : {absl::StrCat(R"({")", key, R"(": 1})"),
                                    absl::StrCat(R"({"start": {"cell": {"x": ")", key, R"("}}})")}) {
      const absl::Status status = JsonToWire(Query(), json).status();
      EXPECT_TRUE(absl::IsInvalidArgument(status));
      EXPECT_LE(status.message().size(), 250);
      EXPECT_LE(ErrorFieldOf(status).size(), 203);
      // Text that is no UTF-8 would not become JSON.
      google::rpc::Status message;
      message.set_message(std::string(status.message()));
      EXPECT_NE(MessageJson(message), "{}");
    }
  }
}

TEST(JsonTest, RefusesWhatIsNoMessage) {
  for (const char* const json :
       {"", "{", "[]", "3", "null x", R"({"map": {}})", "\xff", R"({"start": [1]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(JsonToWire(Query(), json).status())) << json;
  }
}

TEST(JsonTest, IsNotNestedDeeply) {
  for (const int depth : {200, 100'000}) {
    std::string deep;
    for (int i = 0; i < depth; ++i) {
      absl::StrAppend(&deep, R"({"start":)");
    }
    EXPECT_TRUE(absl::IsInvalidArgument(JsonToWire(Query(), deep).status())) << depth;
    const std::string lists =
        absl::StrCat(R"({"nothing":)", std::string(depth, '['), std::string(depth, ']'), "}");
    EXPECT_TRUE(absl::IsInvalidArgument(JsonToWire(Query(), lists).status())) << depth;
  }
}

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
