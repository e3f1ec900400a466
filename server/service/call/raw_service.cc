#include "server/service/call/raw_service.h"

#include <atomic>
#include <new>

#include "grpc/byte_buffer.h"
#include "grpc/grpc.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/impl/call.h"
#include "server/service/auth/call_head.h"
#include "server/service/auth/caller.h"
#include "server/service/call/call_context.h"

namespace waystar::rpc {

// Lives in the memory of the call until the handler continues. Two threads may use it: the one on which the
// headers arrived, and the one that is notified of the request.
struct AfterRequest::Call final : grpc_completion_queue_functor {
  Call(const AfterRequest& after, const HandlerParameter& call)
      : grpc_completion_queue_functor{},
        after_(after),
        call_(call.call),
        context_(call.server_context),
        requester_(call.call_requester) {
    functor_run = [](grpc_completion_queue_functor* self, int /*ok*/) {
      static_cast<Call*>(self)->ProceedIfSecond();
    };
    inlineable = 1;
  }

  void Wait() {
    const ServerContext& server = after_.server_;
    const absl::StatusOr<Caller> caller = server.access.LookAt(head());
    awaited_ = caller.ok() ? &server.awaited_requests : &server.awaited_of_strangers;
    // A cancelled call does not know its peer any more.
    peer_ = head().Peer();
    awaited_->Enter(HolderOf(caller.ok() ? *caller : Caller::Anyone(), head()), peer_, call_->call(),
                    AwaitedRequests::Clock::now(), place_);
    ProceedIfSecond();
  }

  CallHead head() const { return *context_; }

  // Called when the call has its place, and when it has its request; the later one continues.
  void ProceedIfSecond() {
    if (is_first_over_.exchange(true)) {
      Proceed();
    }
  }

  // Continues the handler; without a request, it ends the call.
  void Proceed() {
    const bool is_cancelled = awaited_ != nullptr && !awaited_->Leave(place_);
    if (is_cancelled) {
      after_.server_.access.NoteUnfinished(peer_);
    }
    grpc::internal::MethodHandler& handler = *after_.handler_;
    grpc::internal::Call* const call = call_;
    grpc::ServerContextBase* const context = context_;
    grpc_byte_buffer* const bytes = request_;
    for (AwaitedRequests* awaited :
         {&after_.server_.awaited_requests, &after_.server_.awaited_of_strangers}) {
      if (bytes != nullptr && awaited->HasStreams()) {
        awaited->CountMessage(head().Peer(), grpc_byte_buffer_length(bytes));
      }
    }
    std::function<void()> requester = std::move(requester_);
    this->~Call();
    grpc::Status status;
    void* data = nullptr;
    void* const request = handler.Deserialize(call->call(), bytes, &status, &data);
    if (is_cancelled) {
      // The handler ends a call with an error, without notifying anyone.
      status = grpc::Status::CANCELLED;
    }
    handler.RunHandler(
        HandlerParameter(call, context, request, std::move(status), data, std::move(requester)));
  }

  const AfterRequest& after_;
  grpc::internal::Call* const call_;
  grpc::ServerContextBase* const context_;
  std::function<void()> requester_;
  grpc_byte_buffer* request_ = nullptr;
  // Set once the call waits.
  AwaitedRequests* awaited_ = nullptr;
  AwaitedRequests::Place place_;
  std::string peer_;
  std::atomic<bool> is_first_over_ = false;
};

void AfterRequest::RunHandler(const HandlerParameter& parameter) {
  Call& call = *new (grpc_call_arena_alloc(parameter.call->call(), sizeof(Call))) Call(*this, parameter);
  grpc_completion_queue* const queue = parameter.call->cq()->cq();
  grpc_op read{};
  read.op = GRPC_OP_RECV_MESSAGE;
  read.data.recv_message.recv_message = &call.request_;
  // Completions within this library call are handled here, and wake no other thread.
  grpc_completion_queue_thread_local_cache_init(queue);
  grpc_call_start_batch(parameter.call->call(), &read, 1, &call, nullptr);
  void* tag = nullptr;
  int ok = 0;
  const bool has_event = grpc_completion_queue_thread_local_cache_flush(queue, &tag, &ok) != 0;
  auto* const event = static_cast<grpc_completion_queue_functor*>(tag);
  if (has_event && event == &call) {
    call.Proceed();
    return;
  }
  call.Wait();
  if (has_event) {
    event->functor_run(event, ok);
  }
}

}  // namespace waystar::rpc
