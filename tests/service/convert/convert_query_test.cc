#include "server/service/convert/convert_query.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "server/base/error.h"
#include "server/service/convert/write_route.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using ::testing::ElementsAre;
using ::testing::SizeIs;

v1::FindPathRequest Request() { return PathRequest("m", CellAt(1, 2), CellAt(3, 4)); }

absl::StatusOr<core::RouteQuery> Read(const v1::FindPathRequest& request) {
  return ToRouteQuery(request, "arena", HexCoordinates());
}

TEST(ToRouteQueryTest, LeavesOutMeansDefault) {
  const auto query = Read(Request()).value();
  EXPECT_EQ(query.start.cell, (core::Cell{1, 2}));
  EXPECT_EQ(query.start.position, std::nullopt);
  EXPECT_EQ(query.start.node, "");
  ASSERT_THAT(query.goals, SizeIs(1));
  EXPECT_EQ(query.goals[0].cell, (core::Cell{3, 4}));
  EXPECT_FALSE(query.snap.has_value());
  EXPECT_EQ(query.agent.corner_rule, std::nullopt);
  EXPECT_EQ(query.agent.footprint, std::nullopt);
  EXPECT_EQ(query.agent.profile, std::nullopt);
  EXPECT_EQ(query.agent.overlay, std::nullopt);
  EXPECT_EQ(query.algorithm, core::Algorithm::kAuto);
  EXPECT_EQ(query.unreachable_policy, core::UnreachablePolicy::kReport);
  EXPECT_EQ(query.path_form, core::PathForm::kEveryCell);
  EXPECT_EQ(query.max_expansions, std::numeric_limits<std::uint64_t>::max());
}

TEST(ToRouteQueryTest, EveryFieldIsRead) {
  v1::FindPathRequest request = Request();
  request.MergeFrom(Parsed<v1::FindPathRequest>(R"(
    start { position { x: 0.5 y: -1.5 } }
    goals { position { z: 7 } } goals { node: "b" } goals {}
    goal_map: "cellar"
    snap { radius: 1.25 }
    unreachable_policy: UNREACHABLE_POLICY_NEAREST_BY_DISTANCE
    max_expansions: 9
    with_positions: true
    with_summary: true
    agent {
      corner_rule: CORNER_RULE_ONE_SIDE_FREE
      footprint: 2
      profile { corner_rule: CORNER_RULE_ALWAYS diagonals: false required_tags: "dry" }
    }
    view { overlay { blocked { cells { x: 7 y: 8 } } ignored_obstacles: "guard" } })"));
  const auto query = Read(request).value();
  EXPECT_EQ(query.start.position, (core::WorldPoint{0.5, -1.5, 0}));
  EXPECT_EQ(query.start.cell, std::nullopt);
  ASSERT_THAT(query.goals, SizeIs(4));
  EXPECT_EQ(query.goals[0].cell, (core::Cell{3, 4}));
  EXPECT_EQ(query.goals[1].position, (core::WorldPoint{0, 0, 7}));
  EXPECT_EQ(query.goals[1].cell, std::nullopt);
  EXPECT_EQ(query.goals[2].node, "b");
  EXPECT_EQ(query.goals[3].cell, std::nullopt);
  EXPECT_EQ(query.goal_map, "cellar");
  EXPECT_EQ(query.snap.value_or(core::Snap()).radius, 1.25);
  EXPECT_EQ(query.unreachable_policy, core::UnreachablePolicy::kNearestByDistance);
  EXPECT_EQ(query.max_expansions, 9U);
  EXPECT_TRUE(query.with_positions);
  EXPECT_TRUE(query.with_summary);
  EXPECT_EQ(query.agent.corner_rule, core::CornerRule::kOneSideFree);
  EXPECT_EQ(query.agent.footprint, 2);
  EXPECT_EQ(query.agent.profile,
            (core::MovementProfile{
                .corner_rule = core::CornerRule::kAlways, .required_tags = {"dry"}, .no_diagonals = true}));
  EXPECT_THAT(query.agent.overlay->blocked.cells, ElementsAre(core::Cell{7, 8}));
  EXPECT_THAT(query.agent.overlay->ignored_obstacles, ElementsAre("guard"));
  request.mutable_agent()->set_profile_name("boat");
  EXPECT_EQ(Read(request)->agent.profile_name, "boat");
}

TEST(ToRouteQueryTest, EveryAlgorithmGoesInAndComesOut) {
  for (int value = v1::ALGORITHM_ASTAR; value < v1::Algorithm_ARRAYSIZE; ++value) {
    v1::FindPathRequest request = Request();
    request.set_algorithm(static_cast<v1::Algorithm>(value));
    const auto query = Read(request).value();
    EXPECT_EQ(FromAlgorithm(query.algorithm), value);
  }
}

TEST(ToRouteQueryTest, EveryPathFormIsKnown) {
  for (int value = 0; value < v1::PathForm_ARRAYSIZE; ++value) {
    v1::FindPathRequest request = Request();
    request.set_path_form(static_cast<v1::PathForm>(value));
    EXPECT_TRUE(Read(request).ok()) << value;
  }
  v1::FindPathRequest request = Request();
  request.set_path_form(v1::PATH_FORM_SMOOTHED);
  EXPECT_EQ(Read(request)->path_form, core::PathForm::kSmoothed);
}

TEST(ToRouteQueryTest, UnknownEnumValuesAndMissingPartsAreRefusedByTheirField) {
  const auto refusal = [](const std::string& change) {
    v1::FindPathRequest request = Request();
    request.MergeFrom(Parsed<v1::FindPathRequest>(change));
    return Read(request);
  };
  for (const auto& [change, field] : {std::pair("agent { corner_rule: 99 }", "agent.corner_rule"),
                                      {"agent { profile { corner_rule: 99 } }", "agent.profile.corner_rule"},
                                      {"algorithm: 99", "algorithm"},
                                      {"unreachable_policy: -1", "unreachable_policy"},
                                      {"path_form: 99", "path_form"}}) {
    EXPECT_THAT(refusal(change), IsError(kInvalid, ErrorReason::kUnknownEnumValue, field));
  }
  EXPECT_THAT(refusal("view { overlay { blocked { discs { radius: 1 } } } }"),
              IsError(kInvalid, ErrorReason::kMissingField, "view.overlay.blocked.discs[0].center"));
}

TEST(ToMaxEventsTest, HasADefaultAndARange) {
  EXPECT_EQ(*ToMaxEvents(0, 7), std::size_t{7});
  for (const int max_events : {1, 1'000'000}) {
    EXPECT_EQ(*ToMaxEvents(max_events, 7), static_cast<std::size_t>(max_events));
  }
  for (const int max_events : {-1, 1'000'001, INT32_MIN, INT32_MAX}) {
    EXPECT_THAT(ToMaxEvents(max_events, 7), IsError(kInvalid, ErrorReason::kBadValue, "max_events"));
  }
}

v1::SearchEvent Written(const core::SearchEvent& event) {
  const std::vector<std::string> maps = {"", "cellar"};
  v1::TraceSearchResponse message;
  AddSearchEvent(event, maps, HexCoordinates(), message);
  return message.events(0);
}

TEST(AddSearchEventTest, CostsAreThoseOfThePath) {
  using Kind = core::SearchEvent::Kind;
  EXPECT_EQ(TextOf(Written({Kind::kGenerated, 0, {5, 6}, {4, 6}, 140'000'000, 250'000'000})),
            "kind: KIND_GENERATED cell { x: 5 y: 6 } parent { x: 4 y: 6 } g: 1.4 f: 2.5");
  EXPECT_FALSE(Written({Kind::kGenerated, 0, {5, 6}, {5, 6}, 0, 1}).has_parent()) << "the start";
  EXPECT_EQ(TextOf(Written({Kind::kExpanded, 1, {5, 6}, {5, 6}, 0, 100'000'000})),
            "kind: KIND_EXPANDED cell { x: 5 y: 6 } f: 1 map: \"cellar\"");
}

// The questions of PathService take the same things by the same fields.

// All other requests hold queries of FindPath.
std::vector<const Descriptor*> Questions() {
  return {v1::FindPathRequest::descriptor(),          v1::FindPathsRequest::descriptor(),
          v1::ValidatePathsRequest::descriptor(),     v1::ComputeCostMatrixRequest::descriptor(),
          v1::FindReachableRequest::descriptor(),     v1::ComputeFlowFieldRequest::descriptor(),
          v1::CheckReachabilityRequest::descriptor(), v1::CastRayRequest::descriptor(),
          v1::CheckMovesRequest::descriptor(),        v1::SamplePlacesRequest::descriptor(),
          v1::ProbeSurfaceRequest::descriptor(),      v1::ExplainPathRequest::descriptor()};
}

std::string TypeOf(const FieldDescriptor& field) {
  std::string type = field.cpp_type_name();
  if (field.message_type() != nullptr) {
    type = field.message_type()->name();
  } else if (field.enum_type() != nullptr) {
    type = field.enum_type()->name();
  }
  return type;
}

TEST(QuestionFieldsTest, OneNameIsOneType) {
  std::map<std::string, const FieldDescriptor*> known;
  for (const Descriptor* question : Questions()) {
    for (int i = 0; i < question->field_count(); ++i) {
      const FieldDescriptor& field = *question->field(i);
      const FieldDescriptor& first = *known.try_emplace(field.name(), &field).first->second;
      EXPECT_EQ(TypeOf(field), TypeOf(first)) << field.full_name() << " and " << first.full_name();
    }
  }
}

TEST(QuestionFieldsTest, FindPathsHasTheFieldsOfFindPath) {
  const Descriptor& query = *v1::FindPathRequest::descriptor();
  for (int i = 0; i < query.field_count(); ++i) {
    const FieldDescriptor& field = *query.field(i);
    const FieldDescriptor* const each = v1::PathQuery::descriptor()->FindFieldByName(field.name());
    const FieldDescriptor* const once = v1::FindPathsRequest::descriptor()->FindFieldByName(field.name());
    // An inline map is for one query.
    const int expected = field.name() == "inline_map" ? 0 : 1;
    EXPECT_EQ((each != nullptr ? 1 : 0) + (once != nullptr ? 1 : 0), expected) << field.name();
    if (each != nullptr) {
      EXPECT_EQ(TypeOf(*each), TypeOf(field)) << field.name();
    }
  }
}

// Whatever has a place among its fields has an agent that goes there, a view that counts its cells, and a
// snap, unless it is about a line or a given path, which nothing moves.
TEST(QuestionFieldsTest, EachTakesAMapAnAgentAndAView) {
  for (const Descriptor* question : Questions()) {
    for (const auto& [name, number] : {std::pair("map", 1), {"agent", 2}, {"view", 3}}) {
      const FieldDescriptor* field = question->FindFieldByName(name);
      ASSERT_NE(field, nullptr) << question->name() << "." << name;
      EXPECT_EQ(field->number(), number) << field->full_name();
    }
    const bool moves_places =
        question != v1::CastRayRequest::descriptor() && question != v1::ValidatePathsRequest::descriptor();
    EXPECT_EQ(question->FindFieldByName("snap") != nullptr, moves_places) << question->name();
  }
}

TEST(QuestionFieldsTest, EachAnswerSaysWhatItIsBasedOn) {
  for (const Descriptor* answer :
       {v1::FindPathResponse::descriptor(), v1::ValidatePathsResponse::descriptor(),
        v1::ComputeCostMatrixResponse::descriptor(), v1::FindReachableResponse::descriptor(),
        v1::ComputeFlowFieldResponse::descriptor(), v1::CheckReachabilityResponse::descriptor(),
        v1::CastRayResponse::descriptor(), v1::CheckMovesResponse::descriptor(),
        v1::SamplePlacesResponse::descriptor(), v1::ProbeSurfaceResponse::descriptor(),
        v1::ExplainPathResponse::descriptor()}) {
    const FieldDescriptor* info = answer->FindFieldByNumber(1);
    ASSERT_NE(info, nullptr) << answer->name();
    EXPECT_EQ(info->name(), "info") << answer->name();
    EXPECT_EQ(info->message_type(), v1::AnswerInfo::descriptor()) << answer->name();
  }
}

}  // namespace
}  // namespace waystar::rpc
