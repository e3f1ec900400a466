#include "server/core/mesh/search/mesh_matrix.h"

#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/search/interval_search.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::AddFloor;
using ::waystar::testing::DrawRooms;
using ::waystar::testing::ForSeeds;
using ::waystar::testing::IsOk;
using ::waystar::testing::MeshOf;
using ::waystar::testing::PlaceAt;
using ::waystar::testing::Random;
using ::waystar::testing::RandomPlace;

class MeshMatrixTest : public ::testing::Test {
 protected:
  // REQUIRES: no limit stands in the way.
  MeshMatrix Compute(const NavMesh& mesh, const std::vector<MeshPlace>& starts,
                     const std::vector<MeshPlace>& goals) {
    absl::StatusOr<MeshMatrix> matrix = ComputeMeshMatrix(mesh, starts, goals, budget_, scratch_);
    EXPECT_THAT(matrix, IsOk());
    return *std::move(matrix);
  }

  MeshSearchReport Search(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal) {
    return SearchMesh(mesh, {start, goal}, Budget{}, scratch_);
  }

  Budget budget_;
  MeshScratch scratch_{std::size_t{1} << 28};
};

TEST_F(MeshMatrixTest, HasARowForEachStart) {
  const NavMesh mesh = MeshOf(DrawRooms({"...#.",  //
                                         ".#.#.",  //
                                         "...#."}));
  const MeshPlace a = PlaceAt(mesh, 0.5, 0.5);
  const MeshPlace b = PlaceAt(mesh, 2.5, 0.5);
  const MeshPlace c = PlaceAt(mesh, 0.5, 2.5);
  const MeshPlace island = PlaceAt(mesh, 4.5, 0.5);
  EXPECT_THAT(Compute(mesh, {a, island}, {a, b, c, island}).lengths,
              ElementsAre(0, 2, 2, MeshMatrix::kUnreachable, MeshMatrix::kUnreachable,
                          MeshMatrix::kUnreachable, MeshMatrix::kUnreachable, 0));
  EXPECT_THAT(Compute(mesh, {}, {a}).lengths, IsEmpty());
}

TEST_F(MeshMatrixTest, SearchesOnceForTheSameTwoPlaces) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  const MeshPlace a = PlaceAt(mesh, 0.5, 1.5);
  const MeshPlace b = PlaceAt(mesh, 5.5, 1.5);
  const MeshSearchReport single = Search(mesh, a, b);
  const SearchStatistics statistics = single.statistics;
  const double length = single.length;
  ASSERT_GT(statistics.expanded, 0u);
  const MeshMatrix matrix = Compute(mesh, {a, b, a}, {b, a, b});
  EXPECT_THAT(matrix.lengths, ElementsAre(length, 0, length, 0, length, 0, length, 0, length));
  EXPECT_EQ(matrix.statistics.expanded, statistics.expanded);
  EXPECT_EQ(matrix.statistics.generated, statistics.generated);
  EXPECT_EQ(matrix.statistics.algorithm, Algorithm::kPolyanya);
}

TEST_F(MeshMatrixTest, NeedsNoSearchForOtherParts) {
  const NavMesh mesh = MeshOf(DrawRooms({"..#..", "..#.."}));
  budget_.max_expansions = 0;
  EXPECT_THAT(Compute(mesh, {PlaceAt(mesh, 0.5, 0.5)}, {PlaceAt(mesh, 4.5, 1.5)}).lengths,
              ElementsAre(MeshMatrix::kUnreachable));
}

TEST_F(MeshMatrixTest, AVertexIsInAllPartsThatHaveIt) {
  const NavMesh mesh = MeshOf(DrawRooms({"..##", "..##", "##..", "##.."}));
  const std::vector<MeshPlace> rooms = {PlaceAt(mesh, 1, 1), PlaceAt(mesh, 3, 3)};
  EXPECT_THAT(Compute(mesh, {PlaceAt(mesh, 2, 2)}, rooms).lengths,
              ElementsAre(std::sqrt(2.0), std::sqrt(2.0)));
  EXPECT_THAT(Compute(mesh, rooms, rooms).lengths,
              ElementsAre(0.0, MeshMatrix::kUnreachable, MeshMatrix::kUnreachable, 0.0));
}

TEST_F(MeshMatrixTest, TheBudgetIsOneForAll) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  const std::vector<MeshPlace> starts = {PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 0.5, 1.25)};
  const std::vector<MeshPlace> goals = {PlaceAt(mesh, 5.5, 1.5), PlaceAt(mesh, 5.5, 1.75)};
  const MeshMatrix whole = Compute(mesh, starts, goals);
  budget_.max_expansions = whole.statistics.expanded;
  EXPECT_EQ(Compute(mesh, starts, goals).lengths, whole.lengths);
  --budget_.max_expansions;
  EXPECT_EQ(ErrorReasonOf(ComputeMeshMatrix(mesh, starts, goals, budget_, scratch_).status()),
            "REGION_TOO_LARGE");
  MeshScratch small(600);
  EXPECT_EQ(ErrorReasonOf(ComputeMeshMatrix(mesh, starts, goals, Budget{}, small).status()),
            "REGION_TOO_LARGE");
}

TEST_F(MeshMatrixTest, StopsWhenCancelled) {
  const NavMesh mesh = MeshOf(DrawRooms({"..", ".."}));
  const std::atomic<bool> yes = true;
  budget_.cancelled = &yes;
  const std::vector<MeshPlace> places = {PlaceAt(mesh, 0.5, 0.5)};
  EXPECT_EQ(ComputeMeshMatrix(mesh, places, places, budget_, scratch_).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(MeshMatrixTest, EqualsSingleSearches) {
  ForSeeds(60, [&](Random& random) {
    MeshSpec spec;
    AddFloor(spec, random.Between(3, 7), random.Between(3, 7), 0.0, random);
    AddFloor(spec, random.Between(3, 7), random.Between(3, 7), 3.0, random);
    const NavMesh mesh = MeshOf(std::move(spec));
    std::vector<MeshPlace> places;
    for (int i = 0; i < 8; ++i) {
      places.push_back(RandomPlace(mesh, random));
    }
    // Some in both, and some twice.
    const auto draw = [&] {
      std::vector<MeshPlace> drawn;
      for (int i = 0; i < 6; ++i) {
        drawn.push_back(places[static_cast<std::size_t>(random.Between(0, 7))]);
      }
      return drawn;
    };
    const std::vector<MeshPlace> starts = draw();
    const std::vector<MeshPlace> goals = draw();
    const MeshMatrix matrix = Compute(mesh, starts, goals);
    ASSERT_EQ(matrix.lengths.size(), starts.size() * goals.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      for (std::size_t j = 0; j < goals.size(); ++j) {
        const MeshSearchReport report = Search(mesh, starts[i], goals[j]);
        const double length = matrix.lengths[i * goals.size() + j];
        if (report.end == SearchEnd::kGoalReached) {
          EXPECT_NEAR(length, report.length, 1e-12 * (1.0 + report.length));
        } else {
          EXPECT_EQ(length, MeshMatrix::kUnreachable);
        }
      }
    }
  });
}

}  // namespace
}  // namespace waystar::core
