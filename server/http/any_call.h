// Call of any method, whose messages are bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/status.h"
#include "server/base/mutex.h"

namespace waystar::http {

// Call with one request and any number of answers, for which no thread waits. It keeps itself alive until it
// has ended.
//
// Thread safety: any.
class AnyCall final : public std::enable_shared_from_this<AnyCall>,
                      private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // What hears of a call, one at a time and on threads of the RPC library. Both must return soon.
  struct Events {
    // A message has come. The next one comes after AnyCall::Next.
    std::function<void(const std::shared_ptr<AnyCall>& call, const grpc::ByteBuffer& message)> on_message;
    // The call is over. It is called once, and nothing after it.
    std::function<void(const grpc::Status& status)> on_end;
  };

  // Begins a call of a method such as "/waystar.v1.PathService/FindPath". `prepare` may set its deadline and
  // metadata. The first message comes by itself. The call lets go of the request when it is sent, and of the
  // channel before it lets go of `guard`: a channel must not end on a thread of the RPC library.
  static std::shared_ptr<AnyCall> Start(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& method, const grpc::ByteBuffer& request,
                                        const std::function<void(grpc::ClientContext&)>& prepare,
                                        Events events, std::shared_ptr<void> guard);

  // Asks for the next message, or the end. Does nothing if it was asked for already.
  void Next();
  // Has the call end soon.
  void Cancel();

 private:
  AnyCall(const grpc::ByteBuffer& request, Events events, std::shared_ptr<void> guard);

  void OnWriteDone(bool /*ok*/) override { request_.Clear(); }
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  // It stands first, as it is let go last.
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

}  // namespace waystar::http
