#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "client/connection.h"

namespace waystar::inspect {

// Call of any RPC that takes one message and answers with one or with a stream of them. Destroying it cancels
// the call.
//
// Thread safety: one thread.
class AnyCall {
 public:
  enum class Event { kMessage, kNothingYet, kEnd };

  // `method` is a path such as "/waystar.v1.PathService/FindPath". REQUIRES: connection.status() is OK.
  AnyCall(const client::Connection& connection, const std::string& method,
          const google::protobuf::Message& request, absl::Duration timeout);
  AnyCall(const AnyCall&) = delete;
  AnyCall& operator=(const AnyCall&) = delete;
  ~AnyCall();

  // Waits at most `time` for the next message.
  Event Wait(absl::Duration time, google::protobuf::Message& response);

  // The status of the call. REQUIRES: Wait has returned kEnd.
  const grpc::Status& status() const { return status_; }

 private:
  enum class Step { kStart, kWrite, kRead, kFinish, kDone };

  static grpc::ByteBuffer Serialize(const google::protobuf::Message& message);
  // Goes on after the step that has ended, whether it went well or not. Returns whether a message was read.
  bool Advance(bool ok);
  void Read();

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  const grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  // The step that is on its way.
  Step step_ = Step::kStart;
  bool has_message_ = false;
};

}  // namespace waystar::inspect
