// What exports and traces have in common: made ready on a worker, then streamed.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/access/check_access.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/call/cancelled.h"
#include "server/rpc/call/request_parser.h"
#include "server/rpc/call/transfer_call.h"

namespace waystar::rpc {

// One write is under way at a time, so that a slow reader costs what was made ready and no more, for as long
// as the time limit allows.
template <typename Request, typename Response>
class SendingCall : public TransferCall<grpc::ServerWriteReactor<grpc::ByteBuffer>> {
 protected:
  // What the references name must outlive the call.
  SendingCall(Executor& executor, TransferSlots& slots, grpc::CallbackServerContext* context)
      : TransferCall(executor, slots, executor.gate().statistics().Of<Request>()), context_(context) {}

  // The first thing to do with a new call; afterwards it may be gone.
  void Take(const grpc::ByteBuffer& request, absl::Duration timeout) {
    absl::Status status = TakeRequest(request);
    if (status.ok()) {
      status = Begin(timeout);
    }
    if (status.ok()) {
      HandOver(FlowOf(caller_, *context_, ""));
    } else {
      FinishOnce(status);
    }
  }

  // Called once, on that worker, before anything is sent. An error ends the call.
  virtual absl::Status Prepare(int worker) = 0;

  // Fills the next message to send; false if there is none. Called after Prepare, by one thread at a time.
  virtual bool FillNext(Response& message) = 0;

  const Request& request() const { return request_; }
  const Caller& caller() const { return caller_; }

 private:
  absl::Status TakeRequest(const grpc::ByteBuffer& request) {
    WAYSTAR_ASSIGN_OR_RETURN(caller_, executor().gate().access().Identify(*context_));
    WAYSTAR_RETURN_IF_ERROR(ParseRequest(request, request_));
    return CheckAccess(caller_, request_);
  }

  void Run(int worker) final {
    if (const absl::Status status = Prepare(worker); status.ok()) {
      SendNext();
    } else {
      FinishFromJob(status);
    }
    Unref();
  }

  void OnWriteDone(bool ok) final {
    if (ok) {
      SendNext();
    } else {
      FinishFromJob(CancelledError());
    }
  }

  void SendNext() {
    Response message;
    if (!FillNext(message)) {
      FinishFromJob(absl::OkStatus());
      return;
    }
    bool owned = false;
    bytes_.Clear();
    const grpc::Status serialized =
        grpc::GenericSerialize<grpc::ProtoBufferWriter, Response>(message, &bytes_, &owned);
    if (!serialized.ok()) {
      FinishFromJob(absl::InternalError(serialized.error_message()));
      return;
    }
    counted().CountSent();
    StartWrite(&bytes_);
  }

  // A status would have to wait behind the message that the client does not read.
  void OnExpired() final { context_->TryCancel(); }

  grpc::CallbackServerContext* const context_;
  Caller caller_ = Caller::Anyone();
  Request request_;
  // What is being written.
  grpc::ByteBuffer bytes_;
};

}  // namespace waystar::rpc
