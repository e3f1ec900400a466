// The life of one unary call: parse, wait for a worker, handle, answer.
#pragma once

#include <atomic>
#include <functional>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "google/protobuf/arena.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/error.h"
#include "server/core/search/query.h"
#include "server/rpc/call_context.h"
#include "server/rpc/cancelled.h"
#include "server/rpc/executor.h"
#include "server/rpc/request_parser.h"
#include "server/rpc/status.h"
#include "server/runtime/worker_pool.h"

namespace waystar::rpc {

using UnaryDone = absl::AnyInvocable<void(const absl::Status&) &&>;

// Fills the response and returns OK, or returns an error that names the field to blame. Runs on a worker.
template <typename Request, typename Response>
using UnaryHandler = std::function<absl::Status(const Request&, Response&, CallContext&)>;

// The same for what is answered later: calls `done` once, on any thread, and touches nothing of the call
// afterwards. The context is gone when the handler returns.
template <typename Request, typename Response>
using AsyncUnaryHandler = std::function<void(const Request&, Response&, CallContext&, UnaryDone done)>;

// Owns itself: lives until the RPC library is done with it. Takes the raw bytes of the request, because the
// library answers a request that does not parse with INTERNAL and no message.
//
// Two threads meet here: the library's, which starts the call and may cancel it, and the worker that runs it,
// or whoever answers later. The last act of that one is Finish; after it, it touches nothing.
template <typename Request, typename Response, typename Handler = UnaryHandler<Request, Response>>
class UnaryCall final : public grpc::ServerUnaryReactor, private runtime::WorkerPool::Job {
 public:
  // `handler` must outlive the call.
  static grpc::ServerUnaryReactor* Start(Executor& executor, const Handler& handler,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
    auto* call = new UnaryCall(executor, handler, *context, response);
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
  UnaryCall(Executor& executor, const Handler& handler, const grpc::CallbackServerContext& rpc,
            grpc::ByteBuffer* response_bytes)
      : executor_(executor),
        handler_(handler),
        rpc_(rpc),
        deadline_(DeadlineOf(rpc)),
        response_bytes_(response_bytes) {}

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

  void Run(int worker) override {
    const Executor::Clock::time_point now = Executor::Clock::now();
    if (const absl::Status status = CheckStillWanted(now); !status.ok()) {
      Finish(ToGrpcStatus(status));
      return;
    }
    CallContext context{.scratch = executor_.scratch(worker),
                        .field_scratch = executor_.field_scratch(worker),
                        .budget = {.deadline = deadline_, .cancelled = &cancelled_},
                        .queued = now - submitted_,
                        .graph_scratch = &executor_.graph_scratch(worker),
                        .rpc = &rpc_};
    response_ = google::protobuf::Arena::CreateMessage<Response>(&arena_);
    if constexpr (std::is_same_v<Handler, UnaryHandler<Request, Response>>) {
      Answer(handler_(*request_, *response_, context));
    } else {
      handler_(*request_, *response_, context, [this](const absl::Status& status) { Answer(status); });
    }
  }

  absl::Status CheckStillWanted(Executor::Clock::time_point now) const {
    if (cancelled_.load(std::memory_order_relaxed)) {
      return CancelledError();
    }
    if (now >= deadline_) {
      return MakeError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, "",
                       "the deadline passed while the call waited for a worker");
    }
    return executor_.CheckWait(submitted_, now);
  }

  void Answer(const absl::Status& status) {
    if (!status.ok()) {
      Finish(ToGrpcStatus(status));
      return;
    }
    bool owned = false;
    Finish(grpc::GenericSerialize<grpc::ProtoBufferWriter, Response>(*response_, response_bytes_, &owned));
  }

  Executor& executor_;
  const Handler& handler_;
  const grpc::CallbackServerContext& rpc_;
  const Executor::Clock::time_point submitted_ = Executor::Clock::now();
  const Executor::Clock::time_point deadline_;
  grpc::ByteBuffer* const response_bytes_;
  bool is_inside_ = false;
  std::atomic<bool> cancelled_ = false;
  google::protobuf::Arena arena_;
  Request* const request_ = google::protobuf::Arena::CreateMessage<Request>(&arena_);
  Response* response_ = nullptr;
};

}  // namespace waystar::rpc
