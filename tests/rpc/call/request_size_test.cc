#include "server/rpc/call/request_size.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/testing/status_matchers.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;
using ::waystar::testing::IsError;

absl::StatusOr<std::size_t> MeasureBytes(const std::string& bytes, const google::protobuf::Descriptor& type) {
  // In pieces, as they come from the network.
  std::vector<grpc::Slice> slices;
  for (std::size_t begin = 0; begin < bytes.size(); begin += 8191) {
    slices.emplace_back(bytes.substr(begin, 8191));
  }
  return MeasureRequest(grpc::ByteBuffer(slices.data(), slices.size()), type);
}

template <typename Request>
absl::StatusOr<std::size_t> Measure(const Request& request) {
  return MeasureBytes(request.SerializeAsString(), *Request::descriptor());
}

TEST(RequestSizeTest, MeasuresAboutWhatTheParserTakes) {
  v1::FindPathsRequest queries;
  queries.set_map("a-map-with-a-long-name-that-is-not-short");
  v1::UpdateObstaclesRequest update;
  v1::CreateMapRequest graph;
  for (int i = 0; i < 5000; ++i) {
    v1::FindPathRequest& query = *queries.add_queries();
    query.mutable_start()->set_x(i);
    query.mutable_goal()->set_y(i);
    update.add_edits()->mutable_block()->add_cells()->set_x(i);
    graph.add_rows("#...................................");
    graph.mutable_graph()->add_nodes()->set_id("node");
  }
  for (const google::protobuf::Message* request :
       std::initializer_list<const google::protobuf::Message*>{&queries, &update, &graph}) {
    const auto size = MeasureBytes(request->SerializeAsString(), *request->GetDescriptor());
    ASSERT_TRUE(size.ok()) << size.status();
    const auto taken = static_cast<double>(request->SpaceUsedLong());
    EXPECT_THAT(static_cast<double>(*size), AllOf(Ge(taken * 0.6), Le(taken * 1.6)))
        << request->GetTypeName();
  }
}

TEST(RequestSizeTest, EmptyItemsByTheMillionAreRefusedByTheirField) {
  v1::FindPathsRequest queries;
  v1::UpdateObstaclesRequest update;
  v1::Shape& shape = *update.add_edits()->mutable_block();
  for (int i = 0; i < 2'000'000; ++i) {
    queries.add_queries();
    shape.add_discs();
  }
  EXPECT_THAT(Measure(queries),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "queries"));
  EXPECT_THAT(Measure(update),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "edits"));
}

TEST(RequestSizeTest, UnknownFieldsCountToo) {
  std::string bytes;
  for (int i = 0; i < 4'000'000; ++i) {
    // Field 1000, a varint.
    bytes += std::string("\xc0\x3e\x01", 3);
  }
  const auto many = MeasureBytes(bytes, *v1::FindPathRequest::descriptor());
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_GE(*many, 4'000'000 * 16);
}

TEST(RequestSizeTest, WhatCannotBeReadIsMeasuredAsFarAsItCan) {
  EXPECT_THAT(MeasureBytes(std::string(100'000, '\xff'), *v1::FindPathRequest::descriptor()),
              testing::IsOk());
  // A message in a message in a message, deeper than any parser goes.
  std::string nested;
  for (int depth = 0; depth < 20'000; ++depth) {
    nested += "\x0a\x02";
  }
  EXPECT_THAT(MeasureBytes(nested, *v1::TraceSearchRequest::descriptor()), testing::IsOk());
}

TEST(RequestSizeTest, SmallRequestsAreNotLookedAt) {
  const auto size = MeasureBytes(std::string(100, '\xff'), *v1::FindPathRequest::descriptor());
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(*size, 100U);
}

}  // namespace
}  // namespace waystar::rpc
