#include "server/rpc/wire/convert_path.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;

v1::FindPathRequest Request() { return PathRequest("m", CellAt(1, 2), CellAt(3, 4)); }

TEST(ToPathQueryTest, LeavesOutMeansDefault) {
  const auto query = ToPathQuery(Request());
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->start, (core::Cell{1, 2}));
  EXPECT_EQ(query->goal, (core::Cell{3, 4}));
  EXPECT_EQ(query->corner_rule, core::CornerRule::kNoCornerCutting);
  EXPECT_EQ(query->algorithm, core::Algorithm::kAuto);
  EXPECT_EQ(query->unreachable_policy, core::UnreachablePolicy::kReport);
  EXPECT_EQ(query->path_form, core::PathForm::kEveryCell);
  EXPECT_EQ(query->footprint, 1);
}

TEST(ToPathQueryTest, EveryAlgorithmGoesInAndComesOut) {
  for (int value = v1::ALGORITHM_ASTAR; value < v1::Algorithm_ARRAYSIZE; ++value) {
    v1::FindPathRequest request = Request();
    request.set_algorithm(static_cast<v1::Algorithm>(value));
    const auto query = ToPathQuery(request);
    ASSERT_TRUE(query.ok()) << query.status();
    v1::FindPathResponse response;
    FillPathResult({.statistics = {.algorithm = query->algorithm}}, response);
    EXPECT_EQ(response.statistics().algorithm(), value);
  }
}

TEST(ToPathQueryTest, EveryPathFormIsKnown) {
  for (int value = 0; value < v1::PathForm_ARRAYSIZE; ++value) {
    v1::FindPathRequest request = Request();
    request.set_path_form(static_cast<v1::PathForm>(value));
    EXPECT_TRUE(ToPathQuery(request).ok()) << value;
  }
  v1::FindPathRequest request = Request();
  request.set_path_form(v1::PATH_FORM_SMOOTHED);
  EXPECT_EQ(ToPathQuery(request)->path_form, core::PathForm::kSmoothed);
}

TEST(ToPathQueryTest, FootprintHasARange) {
  v1::FindPathRequest request = Request();
  for (const int footprint : {1, 2, 32}) {
    request.set_footprint(footprint);
    EXPECT_EQ(ToPathQuery(request)->footprint, footprint);
  }
  for (const int footprint : {-1, 33, INT32_MIN, INT32_MAX}) {
    request.set_footprint(footprint);
    EXPECT_THAT(ToPathQuery(request), IsError(kInvalid, ErrorReason::kBadValue, "footprint"));
  }
}

TEST(ToPathQueryTest, AnyAngleHasNoDirections) {
  v1::FindPathRequest request = Request();
  request.set_algorithm(v1::ALGORITHM_LAZY_THETA_STAR);
  request.set_path_form(v1::PATH_FORM_DIRECTIONS);
  EXPECT_THAT(ToPathQuery(request), IsError(kInvalid, ErrorReason::kBadValue, "path_form"));
}

TEST(ToMaxEventsTest, HasADefaultAndARange) {
  v1::TraceSearchRequest request;
  EXPECT_EQ(*ToMaxEvents(request), std::size_t{100'000});
  for (const int max_events : {1, 1'000'000}) {
    request.set_max_events(max_events);
    EXPECT_EQ(*ToMaxEvents(request), static_cast<std::size_t>(max_events));
  }
  for (const int max_events : {-1, 1'000'001, INT32_MIN, INT32_MAX}) {
    request.set_max_events(max_events);
    EXPECT_THAT(ToMaxEvents(request), IsError(kInvalid, ErrorReason::kBadValue, "max_events"));
  }
}

TEST(FillSearchEventTest, CostsAreThoseOfThePath) {
  v1::SearchEvent out;
  FillSearchEvent({core::SearchEvent::Kind::kGenerated, {5, 6}, {4, 6}, 140'000'000, 250'000'000}, out);
  EXPECT_EQ(out.kind(), v1::SearchEvent::KIND_GENERATED);
  EXPECT_EQ(out.cell().x(), 5);
  EXPECT_EQ(out.cell().y(), 6);
  EXPECT_EQ(out.parent().x(), 4);
  EXPECT_EQ(out.parent().y(), 6);
  EXPECT_EQ(out.g(), 1.4);
  EXPECT_EQ(out.f(), 2.5);
}

TEST(FillSearchEventTest, StartAndExpandedCellsHaveNoParent) {
  v1::SearchEvent start;
  FillSearchEvent({core::SearchEvent::Kind::kGenerated, {5, 6}, {5, 6}, 0, 1}, start);
  EXPECT_FALSE(start.has_parent());
  v1::SearchEvent expanded;
  FillSearchEvent({core::SearchEvent::Kind::kExpanded, {5, 6}, {5, 6}, 0, 1}, expanded);
  EXPECT_EQ(expanded.kind(), v1::SearchEvent::KIND_EXPANDED);
  EXPECT_FALSE(expanded.has_parent());
}

}  // namespace
}  // namespace waystar::rpc
