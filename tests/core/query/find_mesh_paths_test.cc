#include "server/core/query/find_mesh_paths.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

struct Answers {
  std::vector<absl::StatusOr<MeshPathResult>> results;
  std::uint64_t expanded = 0;
};

Answers Find(const NavMesh& mesh, const std::vector<MeshQuery>& queries) {
  std::vector<MeshPathTask> tasks;
  for (const MeshQuery& query : queries) {
    tasks.push_back({.query = &query});
  }
  MeshScratch scratch(std::size_t{1} << 28);
  Answers answers{.results = std::vector<absl::StatusOr<MeshPathResult>>(
                      queries.size(), absl::InternalError("not answered"))};
  const auto take = [&](std::size_t task, const absl::StatusOr<MeshPathResult>& answer,
                        std::chrono::nanoseconds /*took*/) {
    answers.results[task] = answer;
    answers.expanded += answer.ok() ? answer->statistics.expanded : 0;
    return absl::OkStatus();
  };
  EXPECT_THAT(FindMeshPaths(mesh, tasks, {}, scratch, take), IsOk());
  return answers;
}

std::vector<MeshQuery> QueriesOf(int count, Random& random, bool share_goal) {
  std::vector<MeshQuery> queries;
  for (int i = 0; i < count; ++i) {
    const WorldPoint any = {random.Between(0, 400) / 10.0, random.Between(0, 400) / 10.0, 0.0};
    const WorldPoint shared = {1.5, 1.5, 0.0};
    queries.push_back({.start = share_goal ? any : shared, .goals = {share_goal ? shared : any}});
    queries.back().snap.height = 5.0;
  }
  return queries;
}

TEST(FindMeshPathsTest, ManyPathsToOneGoalOrFromOneStartShareAFlood) {
  Random random(1);
  const NavMesh mesh = MeshOf(BentFloors(random, 1, 40, 40));
  for (const bool share_goal : {false, true}) {
    const std::vector<MeshQuery> queries = QueriesOf(300, random, share_goal);
    const Answers together = Find(mesh, queries);
    std::uint64_t alone = 0;
    int found = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const Answers single = Find(mesh, {queries[i]});
      alone += single.expanded;
      ASSERT_EQ(together.results[i].status().code(), single.results[0].status().code());
      if (single.results[0].ok()) {
        ASSERT_EQ(together.results[i]->outcome, single.results[0]->outcome);
        EXPECT_NEAR(together.results[i]->cost, single.results[0]->cost, 1e-9);
        found += together.results[i]->outcome == Outcome::kFound ? 1 : 0;
      }
    }
    EXPECT_GT(found, 200);
    EXPECT_LT(2 * together.expanded, alone);
  }
}

TEST(FindMeshPathsTest, EachQueryHasItsOwnError) {
  Random random(1);
  const NavMesh mesh = MeshOf(BentFloors(random, 1, 40, 40));
  std::vector<MeshQuery> queries = QueriesOf(100, random, true);
  queries[7].start = {-50.0, 0.0, 0.0};
  queries[8].algorithm = Algorithm::kAStar;
  const Answers answers = Find(mesh, queries);
  EXPECT_THAT(answers.results[7].status(),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "start"));
  EXPECT_THAT(answers.results[8].status(),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kAlgorithmUnsuited, "algorithm"));
}

}  // namespace
}  // namespace waystar::core
