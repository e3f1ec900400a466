// Watched routes: what their subscriber is told as the map, its profiles and its portals change.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/store/store_listener.h"
#include "server/core/watch/answer_renewal.h"
#include "server/core/watch/map_subscriptions.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/random.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::Between;
using ::waystar::testing::Block;
using ::waystar::testing::IsOk;
using ::waystar::testing::Random;
using ::waystar::testing::RouteTest;
using ::waystar::testing::Sea;
using ::waystar::testing::Unblock;

constexpr char kNothing[] = "";

Edit Paint(Cell cell, char terrain) { return SetTerrain{.shape = {.cells = {cell}}, .symbol = terrain}; }

// One subscription on the map "arena".
class WatchedRoutesTest : public RouteTest, public StoreListener {
 protected:
  WatchedRoutesTest() { store_.AddListener(this); }

  void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const SharedCommit> /*commits*/,
                const MapChanges& changes) override {
    if (snapshot->id == "arena") {
      subscriptions_.Commit(snapshot, changes);
    }
  }
  void OnDelete(const PinnedSnapshot& /*last*/) override {}

  // Returns the first answer, as Told says it.
  std::string Watch(const RouteQuery& query) {
    subscription_->query = query;
    subscriptions_.Add(subscription_);
    return SearchIfQueued();
  }

  // Returns what the subscriber is told of a commit.
  std::string After(std::vector<Edit> edits) {
    Apply("arena", std::move(edits));
    return SearchIfQueued();
  }

  // Returns what the subscriber is told; kNothing if the subscription is not queued, or its answer holds.
  std::string SearchIfQueued() {
    if (!subscriptions_.BeginSearch(*subscription_)) {
      return kNothing;
    }
    const PinnedSnapshot snapshot = *store_.Pin("arena");
    EXPECT_THAT(subscriptions_.CheckPinned(*snapshot), IsOk());
    AnswerRenewal renewal(store_, *snapshot, *subscription_);
    const std::string told = ToldOf(renewal.Search({}, scratch_));
    if (renewal.answer() == nullptr) {
      renewal.TakeError(absl::UnknownError(told));
    }
    while_searching_();
    is_queued_again_ = subscriptions_.EndSearch(*subscription_, *snapshot, renewal.answer());
    return renewal.is_news() ? told : kNothing;
  }

  MapSubscriptions subscriptions_;
  const std::shared_ptr<PathSubscription> subscription_ = std::make_shared<PathSubscription>();
  // Called between a search and its end.
  std::function<void()> while_searching_ = [] {};
  bool is_queued_again_ = false;
};

TEST_F(WatchedRoutesTest, TellWhatTheAgentSees) {
  GridSettings sea = Sea();
  sea.connectivity = Connectivity::kFour;
  Create("arena", {"~~~~~", "~~~~~"}, sea);
  const auto put = [](const MovementProfile& profile) { return PutProfile{{"boat", profile}}; };
  Apply("arena", {put({.terrain_costs = {{'~', 1.0}}})});
  RouteQuery query = Between({0, 0}, {4, 0});
  query.agent.profile_name = "boat";
  EXPECT_THAT(Watch(query), HasSubstr("4: "));
  EXPECT_THAT(After({Block({2, 0})}), HasSubstr("6: ")) << "which the map's own agents do not feel";
  EXPECT_THAT(After({put({.terrain_costs = {{'~', 0.5}}})}), HasSubstr("3: "));
  EXPECT_EQ(After({put({.footprint = 2, .terrain_costs = {{'~', 0.5}}})}), "GOAL_BLOCKED goal");
  EXPECT_THAT(After({put({.terrain_costs = {{'~', 0.5}}})}), HasSubstr("3: "));
  EXPECT_EQ(After({RemoveProfile{"boat"}}), "PROFILE_NOT_FOUND profile_name");
}

// Whenever the right answer is another, the subscriber is told of it.
TEST_F(WatchedRoutesTest, KeepUpWithRandomChanges) {
  Random random(7);
  std::vector<std::string> rows(6, std::string(12, '.'));
  for (std::string& row : rows) {
    for (char& cell : row) {
      cell = ".~s"[random.Between(0, 2)];
    }
  }
  Create("arena", rows, Sea());
  RouteQuery query = Between({0, 0}, {11, 5});
  query.agent.profile = MovementProfile{.corner_rule = CornerRule::kAlways,
                                        .terrain_costs = {{'~', 0.5}, {'s', 1.25}},
                                        .forbidden_terrains = {'.'}};
  // An answer without its points: another path of the same cost is no news.
  const auto cost_of = [](const std::string& told) { return told.substr(0, told.find(':')); };
  Apply("arena", {Paint({0, 0}, '~'), Paint({11, 5}, '~')});
  std::string told = cost_of(Watch(query));
  int news = 0;
  for (int i = 0; i < 2000; ++i) {
    const Cell cell{random.Between(1, 10), random.Between(0, 5)};
    const int kind = random.Between(0, 5);
    const std::string now = cost_of(After({kind == 0  ? Block(cell)
                                           : kind < 3 ? Unblock(cell)
                                                      : Paint(cell, "~~~s."[random.Between(0, 4)])}));
    told = now == kNothing ? told : now;
    news += now == kNothing ? 0 : 1;
    ASSERT_EQ(told, cost_of(Told("arena", query))) << i;
  }
  EXPECT_GT(news, 50);
}

TEST_F(WatchedRoutesTest, OverlayIsPartOfTheQuery) {
  Create("arena", {"....", "...."});
  Apply("arena", {PutObstacle{.obstacle = {.id = "cart", .shape = {.cells = {{2, 1}}}}}});
  RouteQuery query = Between({0, 0}, {3, 0});
  query.agent.overlay = Overlay{.blocked = {.cells = {{1, 0}}}, .ignored_obstacles = {"cart"}};
  EXPECT_EQ(Watch(query), "4.41421: (0, 0) (0, 1) (1, 1) (2, 1) (3, 0)");
  EXPECT_EQ(After({Block({2, 0})}), "5: (0, 0) (0, 1) (1, 1) (2, 1) (3, 1) (3, 0)");
  EXPECT_EQ(After({Block({1, 1})}), "no way");
}

TEST_F(WatchedRoutesTest, FollowTheCellThatIsSnappedTo) {
  Create("arena", {"........",  //
                   "...##...",  //
                   "...##...",  //
                   "........"});
  RouteQuery query = {.start = {.position = Position{4.4, 2.4}}, .goal = {.position = Position{7.5, 2.5}}};
  query.snap_radius = 4;
  EXPECT_THAT(Watch(query), HasSubstr(": (5, 2) "));
  EXPECT_THAT(After({Unblock({4, 2})}), HasSubstr(": (4, 2) "));
  EXPECT_THAT(After({Block({4, 2}), Block({5, 2})}), HasSubstr(": (4, 3) "));
}

TEST_F(WatchedRoutesTest, TellWhenAPortalOpensClosesOrIsBlocked) {
  Create("arena", {"..#..",  //
                   "..#..",  //
                   "....."});
  EXPECT_THAT(Watch(Between({0, 0}, {4, 0})), HasSubstr("(2, 2)"));
  const Portal gate = {.id = "gate", .from = {1, 0}, .to = {3, 0}, .cost = CostFromDouble(1)};
  EXPECT_EQ(After({PutPortal{.portal = gate}}), "3: (0, 0) (1, 0) (3, 0) (4, 0)");
  EXPECT_EQ(After({Block({1, 1})}), kNothing);
  EXPECT_THAT(After({SwitchPortal{.id = "gate", .closed = true}}), HasSubstr("(2, 2)"));
  EXPECT_EQ(After({SwitchPortal{.id = "gate"}}), "3: (0, 0) (1, 0) (3, 0) (4, 0)");
  EXPECT_THAT(After({Block({3, 0})}), HasSubstr("(2, 2)")) << "its far end is blocked";
}

TEST_F(WatchedRoutesTest, StayOnTheirMap) {
  Create("arena", {"..#.."});
  Create("cellar", {"....."});
  const auto stairs = [](int x, const std::string& to_map) {
    return PutPortal{.portal = {.id = "stairs", .from = {x, 0}, .to_map = to_map, .to = {x, 0}}};
  };
  Apply("arena", {stairs(1, "cellar")});
  Apply("cellar", {stairs(3, "arena")});
  ASSERT_THAT(Told("arena", Between({0, 0}, {4, 0})), HasSubstr("4: "));
  EXPECT_EQ(Watch(Between({0, 0}, {4, 0})), "no way");
}

TEST_F(WatchedRoutesTest, AreQueuedAgainByWhatChangesDuringTheSearch) {
  Create("arena", {"....", "....", "...."});
  while_searching_ = [&] { Apply("arena", {Block({2, 0})}); };
  EXPECT_EQ(Watch(Between({0, 0}, {3, 0})), "3: (0, 0) (1, 0) (2, 0) (3, 0)");
  EXPECT_TRUE(is_queued_again_);
  while_searching_ = [&] { Apply("arena", {Block({0, 2})}); };
  EXPECT_EQ(SearchIfQueued(), "4.41421: (0, 0) (1, 1) (2, 1) (3, 1) (3, 0)");
  EXPECT_FALSE(is_queued_again_) << "the commit does not concern the path";
  EXPECT_EQ(SearchIfQueued(), kNothing);
}

}  // namespace
}  // namespace waystar::core
