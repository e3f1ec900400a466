// Call of any gRPC method, with messages as raw bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/status.h"
#include "server/base/mutex.h"

namespace waystar::http {

// Asynchronous call with one request and any number of answers. It keeps itself alive until it ends.
//
// Thread safety: any method may be called from any thread.
class AnyCall final : public std::enable_shared_from_this<AnyCall>,
                      private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Callbacks of a call, one at a time, on threads of the gRPC library. They must return soon.
  struct Events {
    // A message has arrived. The next one is read after AnyCall::Next.
    std::function<void(const std::shared_ptr<AnyCall>& call, const grpc::ByteBuffer& message)> on_message;
    // The call has ended. Called once, as the last callback.
    std::function<void(const grpc::Status& status)> on_end;
  };

  // Starts a call of a method such as "/waystar.v1.PathService/FindPath". `prepare` may set deadline and
  // metadata. The first message is read without Next. The request is released when it is sent; the channel is
  // released before `guard`, because it must not be destroyed on a thread of the gRPC library.
  static std::shared_ptr<AnyCall> Start(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& method, const grpc::ByteBuffer& request,
                                        const std::function<void(grpc::ClientContext&)>& prepare,
                                        Events events, std::shared_ptr<void> guard);

  // Reads the next message, or the end. Does nothing if a read is in progress.
  void Next();
  // Makes the call end soon.
  void Cancel();

 private:
  AnyCall(const grpc::ByteBuffer& request, Events events, std::shared_ptr<void> guard);

  void OnWriteDone(bool /*ok*/) override { request_.Clear(); }
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  // Declared first, so that it is released last.
  const std::shared_ptr<void> guard_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  grpc::ClientContext context_;
  Events events_;
  std::shared_ptr<AnyCall> self_;
  Mutex mutex_;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

// Running calls of one CallMaker. Thread safety: any method may be called from any thread.
class OpenCalls : public std::enable_shared_from_this<OpenCalls> {
 public:
  // Counts a call until the returned guard is released. Returns null once CancelAndWait has begun.
  std::shared_ptr<void> Enter();
  // Registers an entered call for CancelAndWait.
  void Add(const std::shared_ptr<AnyCall>& call);

  // Cancels all calls, and waits until none is left.
  void CancelAndWait();

 private:
  Mutex mutex_;
  CondVar is_less_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::weak_ptr<AnyCall>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::http
