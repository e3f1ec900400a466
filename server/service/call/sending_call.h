// Base of the reactors of exports and traces, which are prepared on a worker and then streamed.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/service/auth/caller.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/streaming_call.h"

namespace waystar::rpc {

// While the client reads slowly, the call holds the prepared data and one message, within the time limits.
template <typename Request, typename Response>
class SendingCall : public WritingCall {
 protected:
  // `request` lives until the call is admitted.
  SendingCall(const ServerContext& server, grpc::CallbackServerContext& rpc, const grpc::ByteBuffer& request,
              const TransferTimes& times)
      : WritingCall(Kind::kTransfer, server, rpc, server.statistics.Of<Request>()),
        request_bytes_(request),
        times_(times),
        deadline_(CallHead(rpc).Deadline(), nullptr) {}

  // Prepares the data. Called once, on that worker, before anything is sent. An error ends the call.
  virtual absl::Status Prepare(int worker) = 0;

  // Fills the next message to send, or returns false if there is none. Called after Prepare, under the lock.
  virtual bool FillNext(Response& message) = 0;

  const Request& request() const { return request_; }
  const Caller& caller() const { return identified_; }

 private:
  absl::Status Admit() final {
    identified_ = caller_.Get();
    WAYSTAR_RETURN_IF_ERROR(ParseRequest(request_bytes_, request_, memory_));
    WAYSTAR_RETURN_IF_ERROR(CheckAccess(identified_, request_));
    WAYSTAR_RETURN_IF_ERROR(TakeSlot(server_.transfers));
    SetTimes(times_);
    {
      MutexLock lock(mutex_);
      BeginJob();
    }
    SubmitJob(Lane::kLarge, FlowOf(identified_, rpc_, ""));
    return absl::OkStatus();
  }

  void RunJob(int worker) final {
    const absl::Status status = RunWithinMemory(executor().bench(worker), [&] { return Prepare(worker); });
    MutexLock lock(mutex_);
    is_ready_ = status.ok();
    if (!is_ready_) {
      ReplaceEnd(status);
    }
  }

  void Advance() final ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!is_ready_ || is_writing() || end().has_value()) {
      return;
    }
    if (const absl::Status late = deadline_.Check(); !late.ok()) {
      SetEnd(late);
      return;
    }
    if (Response message; FillNext(message)) {
      Write(Serialize(message));
    } else {
      SetEnd(absl::OkStatus());
    }
  }

  const grpc::ByteBuffer& request_bytes_;
  const TransferTimes times_;
  const CallerStop deadline_;
  Caller identified_ = Caller::Anyone();
  Request request_;
  bool is_ready_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::rpc
