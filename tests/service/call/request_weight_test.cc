// What requests would take in memory, told from their bytes.

#include <cstddef>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "server/base/error.h"
#include "server/service/call/request_parser.h"
#include "tests/service/about_map.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::About;

constexpr std::size_t kUnbounded = std::size_t{1} << 40;

// In pieces, as messages come from the network.
absl::StatusOr<std::size_t> Weigh(const std::string& bytes, const google::protobuf::Descriptor& type,
                                  std::size_t most = kUnbounded) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()), 7);
  return WeighRequest(stream, type, most);
}

template <typename Message>
std::size_t MemoryOf(const std::string& bytes) {
  google::protobuf::Arena arena;
  auto& message = *Message::default_instance().New(&arena);
  static_cast<void>(message.ParseFromString(bytes));
  return arena.SpaceUsed();
}

std::string Times(int count, const std::string& bytes) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += bytes;
  }
  return all;
}

// The estimate bounds what is taken, and is at most four times as much.
template <typename Message>
void ExpectWeighsRight(const std::string& bytes) {
  const auto weight = Weigh(bytes, *Message::descriptor()).value();
  const std::size_t memory = MemoryOf<Message>(bytes);
  EXPECT_GE(weight + bytes.size() + 4096, memory);
  EXPECT_LE(weight, 4 * memory);
}

TEST(RequestWeightTest, IsThatOfWhatIsParsed) {
  constexpr int kMany = 20'000;
  v1::UpdateMapRequest update;
  v1::FindPathsRequest batch;
  v1::CreateMapRequest create;
  for (int i = 0; i < kMany; ++i) {
    auto& cells = *update.add_edits()->mutable_block();
    cells.add_cells()->set_x(i);
    auto& query = *batch.add_queries();
    query.mutable_start()->mutable_cell()->set_x(i);
    query.add_goals()->mutable_cell()->set_y(i);
    query.set_goal_map("a name that is longer than the others");
    create.add_rows(std::string(static_cast<std::size_t>(i % 40), '.'));
  }
  ExpectWeighsRight<v1::UpdateMapRequest>(update.SerializeAsString());
  ExpectWeighsRight<v1::FindPathsRequest>(batch.SerializeAsString());
  ExpectWeighsRight<v1::CreateMapRequest>(create.SerializeAsString());
}

TEST(RequestWeightTest, IsThatOfEmptyMessages) {
  // Two bytes each: the tag of a field and the length 0.
  ExpectWeighsRight<v1::FindPathsRequest>(Times(100'000, std::string("\x2a\0", 2)));
  ExpectWeighsRight<v1::CreateMapRequest>(Times(100'000, std::string("\x12\0", 2)));
}

TEST(RequestWeightTest, TellsTheFieldThatIsTooMuch) {
  auto goals = About<v1::FindPathRequest>("m");
  for (int i = 0; i < 100'000; ++i) {
    goals.add_goals();
  }
  const absl::Status refused =
      Weigh(goals.SerializeAsString(), *v1::FindPathRequest::descriptor(), 1 << 20).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorReasonOf(refused), "TOO_MANY_ITEMS");
  EXPECT_EQ(ErrorFieldOf(refused), "goals");
}

TEST(RequestWeightTest, CountsWhatTheContractDoesNotHave) {
  // Fields of the number 100: a number, some bytes, and groups with a number in each.
  for (const std::string& unknown :
       {std::string("\xa0\x06\x01"), std::string("\xa2\x06\x00", 3), std::string("\xa3\x06\x08\x01\xa4\x06"),
        // And the field 1, a string, as a number.
        std::string("\x08\x01")}) {
    EXPECT_FALSE(Weigh(Times(100'000, unknown), *v1::FindPathRequest::descriptor(), 3'000'000).ok());
  }
}

TEST(RequestWeightTest, EndsWhereBytesAreNoMessage) {
  for (const std::string& bytes :
       {std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\x0a\x05m"), std::string("\x00\x00", 2),
        std::string("\x0c"), std::string("\x0f"), std::string("\x1a\x05\x0a\x08"), Times(1000, "\xa3\x06")}) {
    EXPECT_TRUE(Weigh(bytes, *v1::FindPathRequest::descriptor()).ok());
  }
}

}  // namespace
}  // namespace waystar::rpc
