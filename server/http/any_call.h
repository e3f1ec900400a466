// Client's side of a call whose messages are bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"

namespace waystar::http {

// Call of any RPC that takes one message and answers with one or with a stream of them, each in its wire
// format. Destroying it cancels the call.
//
// Thread safety: one thread.
class AnyCall {
 public:
  enum class Event { kMessage, kNothingYet, kEnd };

  // `method` is a path such as "/waystar.v1.PathService/FindPath". `prepare` sets the deadline and the
  // metadata of the call; metadata that is not printable ASCII ends the process, so nothing of that kind may
  // get here.
  AnyCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
          const std::string& request, const std::function<void(grpc::ClientContext&)>& prepare);
  AnyCall(const AnyCall&) = delete;
  AnyCall& operator=(const AnyCall&) = delete;
  ~AnyCall();

  // Waits at most `time` for the next message.
  Event Wait(absl::Duration time, std::string& response);

  // Returns the status of the call. REQUIRES: Wait has returned kEnd.
  const grpc::Status& status() const { return status_; }

 private:
  enum class Step { kStart, kWrite, kRead, kFinish, kDone };

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

}  // namespace waystar::http
