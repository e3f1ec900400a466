// The life of one unary call: parse, wait for a worker, handle, answer.
#pragma once

#include <atomic>
#include <functional>

#include "absl/status/status.h"
#include "google/protobuf/arena.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/error.h"
#include "server/core/search/query.h"
#include "server/rpc/call_context.h"
#include "server/rpc/executor.h"
#include "server/rpc/request_parser.h"
#include "server/rpc/status.h"
#include "server/runtime/worker_pool.h"

namespace waystar::rpc {

// Fills the response and returns OK, or returns an error that names the field to blame. Runs on a worker.
template <typename Request, typename Response>
using UnaryHandler = std::function<absl::Status(const Request&, Response&, CallContext&)>;

// Owns itself: lives until the RPC library is done with it. Takes the raw bytes of the request, because the
// library answers a request that does not parse with INTERNAL and no message.
//
// Two threads meet here: the library's, which starts the call and may cancel it, and the worker that runs it.
// The worker's last act is Finish; after that it touches nothing.
template <typename Request, typename Response>
class UnaryCall final : public grpc::ServerUnaryReactor, private runtime::WorkerPool::Job {
 public:
  using Handler = UnaryHandler<Request, Response>;

  // `handler` must outlive the call.
  static grpc::ServerUnaryReactor* Start(Executor& executor, const Handler& handler,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
    auto* call = new UnaryCall(executor, handler, DeadlineOf(*context), response);
    absl::Status status = call->Enter();
    if (status.ok()) {
      status = ParseRequest(*request, *call->request_);
    }
    if (status.ok()) {
      status = executor.Submit(call);
    }
    if (!status.ok()) {
      call->Finish(ToGrpcStatus(status));
    }
    return call;
  }

 private:
  UnaryCall(Executor& executor, const Handler& handler, Executor::Clock::time_point deadline,
            grpc::ByteBuffer* response_bytes)
      : executor_(executor), handler_(handler), deadline_(deadline), response_bytes_(response_bytes) {}

  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override {
    if (is_inside_) {
      executor_.gate().Leave();
    }
    delete this;
  }

  absl::Status Enter() {
    absl::Status status = executor_.gate().Enter();
    is_inside_ = status.ok();
    return status;
  }

  void Run(int worker) override { Finish(ToGrpcStatus(Handle(worker))); }

  absl::Status Handle(int worker) {
    const Executor::Clock::time_point now = Executor::Clock::now();
    if (cancelled_.load(std::memory_order_relaxed)) {
      return MakeError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, "",
                       "cancelled while it waited");
    }
    if (now >= deadline_) {
      return MakeError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, "",
                       "the deadline passed while the call waited for a worker");
    }
    if (absl::Status status = executor_.CheckWait(submitted_, now); !status.ok()) {
      return status;
    }
    CallContext context{.scratch = executor_.scratch(worker),
                        .budget = {.deadline = deadline_, .cancelled = &cancelled_},
                        .queued = now - submitted_};
    auto* response = google::protobuf::Arena::CreateMessage<Response>(&arena_);
    if (absl::Status status = handler_(*request_, *response, context); !status.ok()) {
      return status;
    }
    bool owned = false;
    const grpc::Status written =
        grpc::GenericSerialize<grpc::ProtoBufferWriter, Response>(*response, response_bytes_, &owned);
    return written.ok() ? absl::OkStatus() : absl::InternalError(written.error_message());
  }

  Executor& executor_;
  const Handler& handler_;
  const Executor::Clock::time_point submitted_ = Executor::Clock::now();
  const Executor::Clock::time_point deadline_;
  grpc::ByteBuffer* const response_bytes_;
  bool is_inside_ = false;
  std::atomic<bool> cancelled_ = false;
  google::protobuf::Arena arena_;
  Request* const request_ = google::protobuf::Arena::CreateMessage<Request>(&arena_);
};

}  // namespace waystar::rpc
