// Readers and writers on one navigation mesh, and every answer judged by the mesh as it was at the revision
// that the answer names.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/store/map_store.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::stress {
namespace {

constexpr char kMeshMap[] = "mesh";
constexpr int kFloorSide = 16;
constexpr int kEditsEach = 300;
constexpr std::size_t kMostPathsEach = 2000;

struct PathAnswer {
  core::PinnedSnapshot snapshot;
  core::MeshQuery query;
  core::Outcome outcome;
  double cost;
};

core::WorldPoint AnyPoint(Random& random) {
  return {random.Between(0, 1000 * kFloorSide) / 1000.0, random.Between(0, 1000 * kFloorSide) / 1000.0};
}

core::Edit AnyEdit(Random& random) {
  const std::string id = absl::StrCat("crate", random.Between(0, 11));
  if (random.Chance(0.2)) {
    return core::RemoveObstacle{id};
  }
  if (random.Chance(0.3)) {
    return core::MoveObstacle{.id = id, .dx = random.Between(-4, 4) / 2.0, .dy = 0.5};
  }
  const core::WorldPoint at = AnyPoint(random);
  return core::PutObstacle{
      .obstacle = {.id = id, .shape = {.discs = {{{at.x, at.y}, random.Between(1, 12) / 8.0}}}},
      .replace = true};
}

// Sets the outcome and the cost of FindMeshPath. Returns false if an end is under an obstacle.
bool FindOnMesh(const core::NavMesh& mesh, const core::MeshQuery& query, core::MeshScratch& scratch,
                core::Outcome& outcome, double& cost) {
  const auto found = core::FindMeshPath(mesh, query, {}, scratch);
  if (!found.ok()) {
    return false;
  }
  outcome = found->outcome;
  cost = found->cost;
  return true;
}

TEST(LivingMeshTest, EveryAnswerHoldsAtTheRevisionItNames) {
  Random random(1);
  core::MeshSpec spec;
  AddFloor(spec, kFloorSide, kFloorSide, 0.0, random);
  const core::NavMesh mesh = MeshOf(std::move(spec)).WithAgentRadius(0.25);
  core::MapStore store(1);
  ASSERT_THAT(store.Create(kMeshMap, mesh, absl::UnixEpoch()), IsOk());

  Mutex mutex;
  std::map<std::uint64_t, core::Edit> edits;
  std::vector<std::vector<PathAnswer>> answers(2);
  std::atomic<int> writers = 2;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      Random own(10 + i);
      core::MeshScratch scratch(std::size_t{64} << 20);
      while (writers > 0 || answers[i].empty()) {
        PathAnswer answer{.snapshot = *store.Pin(kMeshMap),
                          .query = {.start = AnyPoint(own), .goals = {AnyPoint(own)}}};
        if (FindOnMesh(*answer.snapshot->as_mesh(), answer.query, scratch, answer.outcome, answer.cost)) {
          answers[i].resize(std::min(answers[i].size(), kMostPathsEach - 1));
          answers[i].push_back(std::move(answer));
        }
      }
    });
  }
  for (const std::uint64_t seed : {20, 21}) {
    threads.emplace_back([&, seed] {
      Random own(seed);
      for (int left = kEditsEach; left > 0;) {
        const core::Edit edit = AnyEdit(own);
        if (const auto updated = store.UpdateAndWait(kMeshMap, {.edits = {edit}}); updated.ok()) {
          MutexLock lock(mutex);
          edits.emplace(updated->revision, edit);
          --left;
        }
      }
      --writers;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  std::map<std::uint64_t, core::NavMesh> meshes = {{1, mesh}};
  for (const auto& [revision, edit] : edits) {
    core::MeshBatchEditor editor(meshes.at(revision - 1));
    ASSERT_THAT(editor.Apply({&edit, 1}, absl::UnixEpoch()), IsOk());
    meshes.emplace(revision, std::move(editor).Finish());
  }
  core::MeshScratch scratch(std::size_t{64} << 20);
  for (const std::vector<PathAnswer>& of_reader : answers) {
    for (const PathAnswer& answer : of_reader) {
      SCOPED_TRACE(absl::StrCat("revision ", answer.snapshot->revision));
      const core::NavMesh& then = meshes.at(answer.snapshot->revision);
      EXPECT_EQ(answer.snapshot->digest(), then.digest());
      // The snapshot is as it was, whatever came after.
      for (const core::NavMesh* const of : {&then, answer.snapshot->as_mesh()}) {
        core::Outcome outcome;
        double cost = 0.0;
        ASSERT_TRUE(FindOnMesh(*of, answer.query, scratch, outcome, cost));
        EXPECT_EQ(outcome, answer.outcome);
        EXPECT_EQ(cost, answer.cost);
      }
    }
  }
}

}  // namespace
}  // namespace waystar::stress
