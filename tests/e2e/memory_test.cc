// A server whose maps' memory is limited, beside clients that ask for more.

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "client/metrics.h"
#include "gmock/gmock.h"
#include "tests/e2e/server_process.h"

namespace waystar {
namespace {

using ::waystar::client::SumOf;

constexpr int kSide = 1024;
constexpr std::int64_t kLimitMib = 24;
// Freed memory is not all given back, and threads and connections take some.
constexpr std::int64_t kOtherMib = 40;

class MemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
    GTEST_SKIP() << "the sanitizers keep memory of their own";
#endif
    begin_ = PeakMib();
  }

  // The most memory that the server has taken.
  std::int64_t PeakMib() const {
    std::ifstream status(absl::StrCat("/proc/", server_.pid(), "/status"));
    std::string name;
    std::int64_t kib = 0;
    while (status >> name) {
      if (name == "VmHWM:" && status >> kib) {
        return kib >> 10;
      }
    }
    return 0;
  }

  absl::Status Create(const std::string& map) {
    v1::CreateMapRequest request = BlankMap(map, kSide);
    for (const char* const symbol : {".", "~"}) {
      v1::Terrain& terrain = *request.mutable_grid()->add_terrains();
      terrain.set_symbol(symbol);
      terrain.set_cost(1 + request.grid().terrains_size());
    }
    return client_->CreateMap(request).status();
  }

  absl::Status Paint(const std::string& map, int side) {
    v1::UpdateMapRequest request;
    request.set_map(map);
    const auto fill = [side](v1::Shape& shape) {
      v1::Rectangle& rectangle = *shape.add_rectangles();
      rectangle.set_x(1);
      rectangle.set_width(side);
      rectangle.set_height(side);
    };
    fill(*request.add_edits()->mutable_block());
    v1::SetTerrain& ground = *request.add_edits()->mutable_set_terrain();
    ground.set_terrain("~");
    fill(*ground.mutable_shape());
    return client_->UpdateMap(request).status();
  }

  // As an agent for whom the ground costs as much.
  absl::Status Find(const std::string& map, double cost) {
    v1::FindPathRequest request;
    request.set_map(map);
    request.mutable_start()->mutable_cell();
    request.add_goals()->mutable_cell()->set_y(5);
    if (cost > 0) {
      request.mutable_agent()->mutable_profile()->add_forbidden_terrains("~");
      v1::TerrainCost& ground = *request.mutable_agent()->mutable_profile()->add_terrain_costs();
      ground.set_terrain(".");
      ground.set_cost(cost);
    }
    return client_->FindPath(request).status();
  }

  v1::GetMetricsResponse Metrics() {
    const auto metrics = client_->GetMetrics();
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    return metrics.value_or(v1::GetMetricsResponse());
  }

  // Calls of which some, but not all, are to be refused for want of memory.
  template <typename Call>
  void ExpectSomeRefused(int calls, Call call) {
    int refused = 0;
    for (int i = 0; i < calls; ++i) {
      const absl::Status status = call(i);
      refused += status.ok() ? 0 : 1;
      EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
    }
    EXPECT_GT(refused, 0);
    EXPECT_LT(refused, calls);
  }

  void ExpectWithinLimit() {
    const v1::GetMetricsResponse metrics = Metrics();
    EXPECT_EQ(SumOf(metrics, "waystar_memory_limit_bytes"), kLimitMib << 20);
    EXPECT_LE(SumOf(metrics, "waystar_memory_bytes"), kLimitMib << 20);
    EXPECT_LT(PeakMib() - begin_, kLimitMib + kOtherMib);
  }

  ServerProcess server_{{absl::StrCat("--max_maps_memory_mib=", kLimitMib), "--workers=2",
                         "--log_level=error",
                         // A machine that is busy with other tests is no reason to refuse a call.
                         "--max_queue_time=1m", "--queue_target=1m"}};
  const std::unique_ptr<client::Client> client_ = server_.NewClient();
  std::int64_t begin_ = 0;
};

TEST_F(MemoryTest, RefusesUpdatesThatPaintMoreThanThereIsRoomFor) {
  constexpr int kMaps = 30;
  for (int i = 0; i < kMaps; ++i) {
    ASSERT_TRUE(Create(absl::StrCat("m", i)).ok());
  }
  ExpectSomeRefused(kMaps, [&](int i) { return Paint(absl::StrCat("m", i), kSide - 2); });
  ExpectWithinLimit();
  EXPECT_GT(SumOf(Metrics(), "waystar_memory_refusals_total"), 0);
  EXPECT_TRUE(Paint("m0", 1).ok());
  EXPECT_TRUE(Find("m1", 0).ok());
}

TEST_F(MemoryTest, DropsViewsToMakeOthers) {
  constexpr int kMaps = 8;
  for (int i = 0; i < kMaps; ++i) {
    ASSERT_TRUE(Create(absl::StrCat("m", i)).ok());
  }
  for (int i = 0; i < 12 * kMaps; ++i) {
    const absl::Status status = Find(absl::StrCat("m", i % kMaps), 2 + i / kMaps);
    EXPECT_TRUE(status.ok()) << status;
  }
  ExpectWithinLimit();
  EXPECT_GT(SumOf(Metrics(), "waystar_memory_drops_total"), 0);
  EXPECT_EQ(SumOf(Metrics(), "waystar_memory_refusals_total"), 0);
}

TEST_F(MemoryTest, RefusesMapsAndTakesThemOnceThereIsRoom) {
  ExpectSomeRefused(900, [&](int i) { return Create(absl::StrCat("m", i)); });
  ExpectWithinLimit();
  v1::DeleteMapRequest request;
  request.set_map("m0");
  ASSERT_TRUE(client_->DeleteMap(request).ok());
  EXPECT_TRUE(Create("m0").ok());
}

}  // namespace
}  // namespace waystar
