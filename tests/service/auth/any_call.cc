#include "tests/service/auth/any_call.h"

#include "absl/strings/str_cat.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "tests/service/bounded_context.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::testing {
namespace {

absl::Status ToStatus(const google::rpc::Status& problem) {
  return {static_cast<absl::StatusCode>(problem.code()), problem.message()};
}

// What an answer of a stream says went wrong with what it answers.
absl::Status ProblemIn(const google::protobuf::MethodDescriptor& method, const grpc::ByteBuffer& bytes) {
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&bytes));
  if (method.output_type() == v1::StreamObstacleUpdatesResponse::descriptor()) {
    v1::StreamObstacleUpdatesResponse response;
    EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
    return ToStatus(response.refused());
  }
  if (method.output_type() == v1::StreamFindPathResponse::descriptor()) {
    v1::StreamFindPathResponse response;
    EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
    return ToStatus(response.answers(0).problem());
  }
  return absl::OkStatus();
}

// Waits for what was started; whether it went well.
bool Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  return ok;
}

}  // namespace

absl::Status CallAny(const std::shared_ptr<grpc::Channel>& channel,
                     const google::protobuf::MethodDescriptor& method,
                     const google::protobuf::Message& request, const std::string& token) {
  grpc::GenericStub stub(channel);
  BoundedContext context;
  if (!token.empty()) {
    context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
  }
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(
      &context, absl::StrCat("/", method.service()->full_name(), "/", method.name()), &queue);
  call->StartCall(nullptr);
  Await(queue);
  grpc::ByteBuffer bytes;
  bool owned = false;
  grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::Message>(request, &bytes, &owned);
  call->WriteLast(bytes, grpc::WriteOptions(), nullptr);
  Await(queue);
  absl::Status problem;
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  if (Await(queue) && method.server_streaming()) {
    problem = ProblemIn(method, answer);
    // Some never end.
    context.TryCancel();
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  Await(queue);
  queue.Shutdown();
  if (!problem.ok() || status.error_code() == grpc::StatusCode::CANCELLED) {
    return problem;
  }
  return client::FromGrpc(status);
}

}  // namespace waystar::testing
