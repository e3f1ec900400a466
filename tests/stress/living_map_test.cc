// Readers and writers on one map, and every answer judged by the map as it was at the revision that the
// answer names.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/service/convert/convert_edits.h"
#include "tests/service/test_server.h"
#include "tests/stress/answer_judge.h"
#include "tests/stress/random_requests.h"
#include "tests/testing/patience.h"

namespace waystar::stress {
namespace {

using core::GridMap;
using testing::TestServer;

constexpr char kMap[] = "map-1";
constexpr int kSide = 40;
constexpr int kAnswersEach = 250;

struct Answer {
  v1::FindPathRequest request;
  v1::FindPathResponse response;
};

// What was applied, by the revision that it made.
class History {
 public:
  void Add(std::uint64_t revision, v1::UpdateMapRequest update) {
    MutexLock lock(mutex_);
    EXPECT_TRUE(updates_.emplace(revision, std::move(update)).second)
        << "two updates made revision " << revision;
  }

  // The map at every revision, the first one at index 1.
  std::vector<GridMap> Replay() const {
    MutexLock lock(mutex_);
    std::vector<GridMap> maps(
        2, *GridMap::Create(kSide, kSide, {.terrains = {{}, {.symbol = '~', .cost = 2.5}}}));
    for (const auto& [revision, update] : updates_) {
      EXPECT_EQ(revision, maps.size()) << "a revision is missing";
      const auto edits = rpc::ToEdits(update.edits(), kMap, rpc::HexCoordinates());
      EXPECT_TRUE(edits.ok()) << edits.status();
      auto edited = core::ApplyEdits(maps.back(), *edits);
      EXPECT_TRUE(edited.ok()) << edited.status();
      maps.push_back(std::move(edited->map));
    }
    return maps;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::uint64_t, v1::UpdateMapRequest> updates_ ABSL_GUARDED_BY(mutex_);
};

v1::FindPathRequest Query(RandomRequests& requests) {
  v1::FindPathRequest request = requests.FindPath(kMap);
  request.set_path_form(v1::PATH_FORM_EVERY_CELL);
  request.set_algorithm(v1::ALGORITHM_AUTO);
  request.set_unreachable_policy(v1::UNREACHABLE_POLICY_REPORT);
  request.clear_view();
  request.clear_goal_map();
  return request;
}

void WriteUntil(const std::atomic<int>& readers, TestServer& server, std::uint64_t seed, History& history) {
  RandomRequests requests(seed, kSide);
  while (readers > 0) {
    v1::UpdateMapRequest update = requests.UpdateMap(kMap);
    for (v1::Edit& edit : *update.mutable_edits()) {
      if (edit.has_put_obstacle()) {
        // Its end would be a revision that nobody asked for.
        edit.mutable_put_obstacle()->clear_lifetime();
      }
    }
    const auto updated = server.client().UpdateMap(update);
    if (!updated.ok()) {
      continue;
    }
    const std::uint64_t revision = updated->version().revision();
    history.Add(revision, std::move(update));
    const auto seen = server.client().FindPath(Query(requests));
    if (seen.ok()) {
      EXPECT_GE(seen->info().version().revision(), revision)
          << "a query that began after the answer does not see the update";
    }
  }
}

void Read(TestServer& server, std::uint64_t seed, std::vector<Answer>& answers) {
  RandomRequests requests(seed, kSide);
  std::uint64_t latest = 0;
  const testing::Patience patience("answers");
  while (answers.size() < kAnswersEach && patience.Lasts()) {
    Answer answer{.request = Query(requests)};
    auto response = server.client().FindPath(answer.request);
    if (response.ok()) {
      EXPECT_GE(response->info().version().revision(), latest) << "a later query saw an earlier revision";
      latest = response->info().version().revision();
      answer.response = *std::move(response);
      answers.push_back(std::move(answer));
    } else {
      const absl::StatusCode code = response.status().code();
      EXPECT_TRUE(code == absl::StatusCode::kFailedPrecondition ||
                  (code == absl::StatusCode::kNotFound && answer.request.agent().has_profile_name()))
          << response.status();
    }
  }
}

TEST(LivingMapTest, EveryAnswerHoldsAtTheRevisionItNames) {
  TestServer server;
  v1::CreateMapRequest create;
  create.set_map(kMap);
  create.mutable_blank()->set_width(kSide);
  create.mutable_blank()->set_height(kSide);
  v1::Terrain& mud = *create.mutable_grid()->add_terrains();
  mud.set_symbol("~");
  mud.set_cost(2.5);
  ASSERT_TRUE(server.client().CreateMap(create).ok());

  History history;
  std::vector<std::vector<Answer>> answers(2);
  std::atomic<int> readers = static_cast<int>(answers.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      Read(server, 100 + i, answers[i]);
      --readers;
    });
  }
  for (std::uint64_t seed : {1, 2}) {
    threads.emplace_back([&, seed] { WriteUntil(readers, server, seed, history); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  const std::vector<GridMap> maps = history.Replay();
  int by_profile = 0;
  for (const std::vector<Answer>& of_reader : answers) {
    for (const Answer& answer : of_reader) {
      ASSERT_LT(answer.response.info().version().revision(), maps.size());
      EXPECT_EQ(FaultOf(answer.request, answer.response, maps[answer.response.info().version().revision()]),
                "")
          << "revision " << answer.response.info().version().revision() << "\n"
          << answer.request.DebugString();
      by_profile += answer.request.agent().movement_case() == v1::Agent::MOVEMENT_NOT_SET ? 0 : 1;
    }
  }
  EXPECT_GT(by_profile, 0);
}

}  // namespace
}  // namespace waystar::stress
