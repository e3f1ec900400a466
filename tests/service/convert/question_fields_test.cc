// The questions of PathService take the same things by the same fields.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// All other requests hold queries of FindPath.
std::vector<const Descriptor*> Questions() {
  return {v1::FindPathRequest::descriptor(),          v1::FindPathsRequest::descriptor(),
          v1::ValidatePathsRequest::descriptor(),     v1::ComputeCostMatrixRequest::descriptor(),
          v1::FindReachableRequest::descriptor(),     v1::ComputeFlowFieldRequest::descriptor(),
          v1::CheckReachabilityRequest::descriptor(), v1::CastRayRequest::descriptor(),
          v1::SamplePlacesRequest::descriptor(),      v1::ProbeSurfaceRequest::descriptor()};
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
        v1::CastRayResponse::descriptor(), v1::SamplePlacesResponse::descriptor(),
        v1::ProbeSurfaceResponse::descriptor()}) {
    const FieldDescriptor* info = answer->FindFieldByNumber(1);
    ASSERT_NE(info, nullptr) << answer->name();
    EXPECT_EQ(info->name(), "info") << answer->name();
    EXPECT_EQ(info->message_type(), v1::AnswerInfo::descriptor()) << answer->name();
  }
}

}  // namespace
}  // namespace waystar::rpc
