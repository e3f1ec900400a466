// Watches of paths on navigation meshes: which answers a change of obstacles may end.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/store/store_listener.h"
#include "server/core/watch/answer_renewal.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Watches of paths on the map "arena".
class MeshWatchesTest : public RouteTest, public StoreListener {
 protected:
  MeshWatchesTest() { store_.AddListener(this); }

  void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const CommitPtr> /*commits*/,
                const MapChanges& changes) override {
    affected_.clear();
    index_->FindAffected(changes, *snapshot, affected_);
    std::ranges::sort(affected_);
  }
  void OnDelete(const PinnedSnapshot& /*last*/) override {}

  void Start(NavMesh mesh) {
    static_cast<void>(store_.Delete("arena"));
    ASSERT_THAT(store_.Create("arena", std::move(mesh), absl::UnixEpoch()), IsOk());
    index_ = MakeAnswerIndex(**store_.Pin("arena"));
    watches_.clear();
  }

  void Watch(RouteQuery query) {
    watches_.push_back({.query = std::move(query)});
    Search(watches_.size() - 1);
  }

  // Searches for a watch again, and keeps the answer.
  void Search(AnswerIndex::Id id) {
    index_->Remove(id);
    KeptAnswerPtr answer;
    watches_[id].told = Now(id, &answer);
    index_->Add(id, answer);
  }

  // Returns the cost, or the error.
  std::string Now(AnswerIndex::Id id, KeptAnswerPtr* answer = nullptr) {
    const PinnedSnapshot snapshot = *store_.Pin("arena");
    PathSubscription subscription;
    subscription.query = watches_[id].query;
    AnswerRenewal renewal(Others(), *snapshot, subscription);
    const absl::StatusOr<Route> route = renewal.Search({}, scratch_);
    if (renewal.answer() == nullptr) {
      renewal.TakeError(route.status());
    }
    if (answer != nullptr) {
      *answer = renewal.answer();
    }
    // Shortest paths of equal length may add up to a length with another last digit.
    return ToldOf(route).substr(0, 12);
  }

  std::vector<AnswerIndex::Id> After(std::vector<Edit> edits) {
    Apply("arena", std::move(edits));
    return affected_;
  }

  struct Watched {
    RouteQuery query;
    std::string told;
  };
  std::vector<Watched> watches_;
  std::unique_ptr<AnswerIndex> index_;
  std::vector<AnswerIndex::Id> affected_;
};

RouteQuery Walk(const WorldPoint& start, const WorldPoint& goal) {
  return {.start = {.position = start}, .goals = {{.position = goal}}};
}

PutObstacle Crate(const std::string& id, Point center, double radius) {
  return {.obstacle = {.id = id, .shape = {.discs = {{center, radius}}}}, .replace = true};
}

// Ground that removes what is around a place, or adds a slab there.
PutGround Ground(const std::string& id, const WorldPoint& at, bool is_added) {
  if (!is_added) {
    return {{.id = id, .region = Shape{.discs = {{{at.x, at.y}, 0.75}}}, .heights = {at.z - 1, at.z + 1}}};
  }
  const double z = at.z + 0.125;
  return {
      {.id = id,
       .polygons = {{.corners = {{at.x - 1, at.y - 1, z}, {at.x + 2, at.y - 1, z}, {at.x + 2, at.y + 1, z}}}},
       .weld = 0.25}};
}

TEST_F(MeshWatchesTest, OnlyChangesNearAPathConcernIt) {
  Start(MeshOf(DrawMesh({{0, 0, 0}, {100, 0, 0}, {100, 100, 0}, {0, 100, 0}}, {{0, 1, 2, 3}})));
  Watch(Walk({10, 10}, {30, 10}));
  Watch(Walk({10, 60}, {30, 60}));
  RouteQuery snapped = Walk({80, 80}, {90, 80});
  snapped.snap = Snap{.radius = 1};
  Watch(snapped);
  EXPECT_THAT(After({Crate("far", {70, 20}, 2)}), ElementsAre(2)) << "which snaps";
  EXPECT_THAT(After({Crate("beside", {20, 13}, 2)}), ElementsAre(2));
  EXPECT_THAT(After({Crate("on", {20, 60}, 2)}), ElementsAre(1, 2));
  Search(1);
  EXPECT_THAT(After({MoveObstacle{.id = "on", .dx = 0, .dy = 30}}), ElementsAre(1, 2));
  Search(1);
  EXPECT_THAT(After({RemoveObstacle{"far"}}), ElementsAre(2));
  index_->Remove(2);
  EXPECT_THAT(After({Crate("far", {70, 20}, 2), RemoveObstacle{"beside"}}), IsEmpty());
}

TEST_F(MeshWatchesTest, ChangesOfProfilesConcernAllPaths) {
  Start(MeshOf(DrawMesh({{0, 0, 0}, {100, 0, 0}, {100, 100, 0}, {0, 100, 0}}, {{0, 1, 2, 3}})));
  RouteQuery query = Walk({10, 10}, {30, 10});
  query.agent.profile_name = "cart";
  Watch(query);
  EXPECT_EQ(watches_[0].told, "PROFILE_NOT_");
  const PutMeshProfile put{{.name = "cart", .ground = {.costs = {{"ground", 2.0}}}}};
  EXPECT_THAT(After({put}), ElementsAre(0));
  Search(0);
  EXPECT_EQ(watches_[0].told, "40: ");
  EXPECT_THAT(After({RemoveProfile{"cart"}}), ElementsAre(0));
}

TEST_F(MeshWatchesTest, AnswersThatAreNotFoundHold) {
  int held = 0;
  ForSeeds(60, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, random.Between(1, 2), 8, 14))
                             .WithAgentRadius(random.Chance(0.5) ? 0.25 : 0.0);
    const auto place = [&] {
      return MiddleOf(
          mesh, static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1)));
    };
    Start(mesh);
    for (int i = 0; i < 12; ++i) {
      Watch(Walk(place(), place()));
    }
    for (int step = 0; step < 15; ++step) {
      std::vector<Edit> edits;
      for (int i = random.Between(1, 2); i > 0; --i) {
        const WorldPoint at = place();
        edits.push_back(
            Crate(absl::StrCat("crate", random.Between(0, 9)), {at.x, at.y}, random.Between(1, 8) / 8.0));
        if (random.Chance(0.2)) {
          edits.push_back(Ground(absl::StrCat("ground", random.Between(0, 2)), place(), random.Chance(0.5)));
        }
      }
      const std::vector<AnswerIndex::Id> affected = After(edits);
      for (AnswerIndex::Id id = 0; id < watches_.size(); ++id) {
        if (std::ranges::binary_search(affected, id)) {
          Search(id);
        } else {
          ++held;
          EXPECT_EQ(Now(id), watches_[id].told) << "watch " << id << " step " << step;
        }
      }
    }
  });
  EXPECT_GT(held, static_cast<int>(Rounds(60)) * 30);
}

}  // namespace
}  // namespace waystar::core
