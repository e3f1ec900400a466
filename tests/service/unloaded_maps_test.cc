// A server with more maps than its memory has room for.

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/service/test_server.h"
#include "tests/testing/random.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::PathRequest;
using ::waystar::testing::RestartTest;

class UnloadedMapsTest : public RestartTest {
 protected:
  static constexpr int kMaps = 100;
  static constexpr int kWidth = 640;
  static constexpr int kHeight = 480;

  UnloadedMapsTest() {
    options_.max_maps_memory_mib = 4;
    Restart();
  }

  static std::string IdOf(int i) { return absl::StrCat("map-", i); }
  // Map `i` has a wall in column `i + 1`, open at the bottom.
  void CreateMaps() {
    for (int i = 0; i < kMaps; ++i) {
      std::vector<std::string> rows(kHeight, std::string(kWidth, '.'));
      for (int y = 0; y < kHeight - 1; ++y) {
        rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(i + 1)] = '#';
      }
      server_->Create(IdOf(i), rows);
    }
  }
  double SumOf(const std::string& metric) { return client::SumOf(server_->Metrics(), metric); }
  // The cost of the way around the wall.
  double CostOn(int i) {
    return server_->Find(PathRequest(IdOf(i), CellAt(0, 0), CellAt(kWidth - 1, 0))).cost();
  }
  // Returns the first map that is not in memory.
  int FirstUnloaded() {
    v1::ListMapsRequest request;
    request.set_page_size(kMaps + 1);
    const auto maps = server_->client().ListMaps(request);
    EXPECT_TRUE(maps.ok()) << maps.status();
    for (int i = 0; i < kMaps; ++i) {
      for (const v1::MapInfo& info : maps->maps()) {
        if (info.map() == IdOf(i) && info.unloaded()) {
          return i;
        }
      }
    }
    return kMaps;
  }
};

TEST_F(UnloadedMapsTest, QueriesWaitUntilTheirMapIsThere) {
  CreateMaps();
  EXPECT_GT(SumOf("waystar_unloaded_maps"), 0);
  EXPECT_EQ(SumOf("waystar_unloaded_maps") + SumOf("waystar_maps"), kMaps);
  std::map<int, double> costs;
  for (int i = 0; i < kMaps; ++i) {
    costs[i] = CostOn(i);
    EXPECT_GT(costs[i], 2 * (kHeight - 1));
  }
  EXPECT_GT(SumOf("waystar_map_loads_total"), 0);
  EXPECT_GT(SumOf("waystar_map_evictions_total"), 0);
  Restart();
  EXPECT_EQ(SumOf("waystar_unloaded_maps") + SumOf("waystar_maps"), kMaps);
  for (int i = 0; i < kMaps; ++i) {
    EXPECT_EQ(CostOn(i), costs[i]);
  }
}

TEST_F(UnloadedMapsTest, AllAreListed) {
  CreateMaps();
  v1::ListMapsRequest request;
  request.set_page_size(7);
  int maps = 0;
  int unloaded = 0;
  do {
    const auto page = server_->client().ListMaps(request);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const v1::MapInfo& info : page->maps()) {
      ++maps;
      unloaded += info.unloaded() ? 1 : 0;
      EXPECT_EQ(info.version().revision(), 1U);
      EXPECT_EQ(info.has_grid(), !info.unloaded());
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(maps, kMaps);
  EXPECT_GT(unloaded, 0);
}

TEST_F(UnloadedMapsTest, ChangesAreMadeAsInMemory) {
  CreateMaps();
  const int i = FirstUnloaded();
  ASSERT_LT(i, kMaps);
  v1::UpdateMapRequest update = BlockRequest(IdOf(i), {CellAt(0, 3)});
  update.set_request_id("once");
  const auto updated = server_->client().UpdateMap(update);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->version().revision(), 2U);
  // Until it is let go of again.
  for (int other = 0; other < kMaps; ++other) {
    CostOn(other);
  }
  const auto again = server_->client().UpdateMap(update);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->already_applied());

  v1::DeleteMapRequest remove;
  remove.set_map(IdOf(FirstUnloaded()));
  ASSERT_LT(FirstUnloaded(), kMaps);
  EXPECT_TRUE(server_->client().DeleteMap(remove).ok());
  EXPECT_THAT(server_->client().FindPath(PathRequest(remove.map(), CellAt(0, 0), CellAt(1, 0))),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

TEST_F(UnloadedMapsTest, PortalsLeadToMapsThatAreNotInMemory) {
  CreateMaps();
  const int i = FirstUnloaded();
  ASSERT_LT(i, kMaps);
  v1::UpdateMapRequest update;
  update.set_map(IdOf(kMaps - 1));
  v1::Portal& portal = *update.add_edits()->mutable_add_portal();
  portal.set_id("gate");
  *portal.mutable_from() = CellAt(0, 0);
  portal.set_to_map(IdOf(i));
  *portal.mutable_to() = CellAt(0, 0);
  ASSERT_TRUE(server_->client().UpdateMap(update).ok());
  v1::FindPathRequest query = PathRequest(IdOf(kMaps - 1), CellAt(0, 0), CellAt(0, 5));
  query.set_goal_map(IdOf(i));
  const v1::FindPathResponse answer = server_->Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND) << answer.DebugString();
}

TEST_F(UnloadedMapsTest, AllAreExported) {
  CreateMaps();
  const client::Client client(client::Options{.target = server_->target()});
  v1::ExportMapRequest request;
  request.set_format(v1::MAP_FORMAT_WAYSTAR);
  for (int i = 0; i < kMaps; ++i) {
    request.set_map(IdOf(i));
    const auto map = client.ExportMap(request);
    EXPECT_TRUE(map.ok()) << map.status();
  }
  EXPECT_GT(SumOf("waystar_map_loads_total"), 0);
}

TEST_F(UnloadedMapsTest, ManyClientsAskForMoreThanThereIsRoomFor) {
  CreateMaps();
  std::atomic<int> failures = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (std::uint64_t n = 0; n < testing::Rounds(60); ++n) {
        const int i = static_cast<int>((n * 7 + static_cast<std::uint64_t>(c) * 11) % kMaps);
        const auto found =
            server_->client().FindPath(PathRequest(IdOf(i), CellAt(0, 0), CellAt(kWidth - 1, 0)));
        if (!found.ok()) {
          ADD_FAILURE() << found.status();
          ++failures;
        }
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace waystar
