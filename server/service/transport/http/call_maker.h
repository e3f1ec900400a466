// Answers HTTP requests by gRPC calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/status.h"
#include "server/base/mutex.h"
#include "server/service/transport/http/exchange.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/json.h"

namespace waystar::http {

// Asynchronous call with any number of messages in both directions. It keeps itself alive until it ends.
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
  // metadata. The first message is read without Next. A request is released when it is sent; the channel is
  // released before `guard`, because it must not be destroyed on a thread of the gRPC library.
  static std::shared_ptr<AnyCall> Start(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& method,
                                        const std::function<void(grpc::ClientContext&)>& prepare,
                                        Events events, std::shared_ptr<void> guard);

  enum class Sending : std::uint8_t { kBegun, kBusy, kOver };
  // Sends a message, the last one if `is_last`. Does nothing if the one before is not sent yet (kBusy), or if
  // no more can be sent (kOver).
  Sending Send(const grpc::ByteBuffer& request, bool is_last);
  // Says that no more messages follow; otherwise like Send.
  Sending EndSending();
  // Reads the next message, or the end. Does nothing if a read is in progress.
  void Next();
  // Makes the call end soon.
  void Cancel();

 private:
  AnyCall(Events events, std::shared_ptr<void> guard);

  // Begins to send, and holds the call meanwhile if the result is kBegun.
  Sending BeginSending(bool is_last);
  void OnWriteDone(bool ok) override;
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
  bool is_sending_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_sent_all_ ABSL_GUARDED_BY(mutex_) = false;
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

// Call that takes further messages, each from a request of its own.
//
// Thread safety: any method may be called from any thread.
class OpenStream {
 public:
  OpenStream(const google::protobuf::MethodDescriptor& method, std::uint64_t client)
      : method_(method), client_(client) {}

  // Sends to this call from now on.
  void Attach(std::weak_ptr<AnyCall> call);
  bool IsOf(const google::protobuf::MethodDescriptor& method, std::uint64_t client) const {
    return &method_ == &method && client_ == client;
  }
  // Sends message `number`, the first of which is 1; without a message, it is the end of the messages. A
  // number that was sent already is a repeated request, and does nothing.
  //
  // Errors:
  // - RESOURCE_EXHAUSTED / QUEUE_FULL, with a retry delay: the message before is not sent yet.
  // - INVALID_ARGUMENT / BAD_HEADER (Waystar-Message): another number is next.
  // - NOT_FOUND / STREAM_NOT_FOUND: no message can be sent any more.
  absl::Status Send(std::uint64_t number, const grpc::ByteBuffer* message);

 private:
  const google::protobuf::MethodDescriptor& method_;
  const std::uint64_t client_;
  Mutex mutex_;
  bool is_attached_ ABSL_GUARDED_BY(mutex_) = false;
  std::weak_ptr<AnyCall> call_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
};

// Open streams by id. Thread safety: any method may be called from any thread.
class OpenStreams {
 public:
  // Registers a stream, and returns its id, which nobody can guess.
  std::string Add(std::shared_ptr<OpenStream> stream);
  void Remove(const std::string& id);
  // Returns null if there is none.
  std::shared_ptr<OpenStream> Find(std::string_view id) const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<OpenStream>> streams_ ABSL_GUARDED_BY(mutex_);
};

// Returns true if the method is answered with a stream, since it has messages in either direction.
bool IsStream(const google::protobuf::MethodDescriptor& method);

inline constexpr char kJsonType[] = "application/json";
// Header with the id of a stream that takes messages: in the answer that opens it, and in requests with its
// messages.
inline constexpr char kStreamHeader[] = "Waystar-Stream";
// Header with the number of such a message.
inline constexpr char kMessageHeader[] = "Waystar-Message";

// Format of the messages of a stream.
enum class StreamForm {
  // application/x-ndjson: one line {"result": ...} per message, and at the end {"error": ...} with a
  // google.rpc.Status, whose code is 0 on success. Empty lines are heartbeats.
  kLines,
  // text/event-stream: one event per message, and at the end one of type "end" with that status. Comments are
  // heartbeats.
  kEvents,
};

struct CallOptions {
  StreamForm form = StreamForm::kLines;
  // Sets the deadline and the metadata of the call.
  std::function<void(grpc::ClientContext&)> prepare = [](grpc::ClientContext& /*context*/) {};
  // Returns the status for an error of this side, such as a malformed body (JsonToWire) or an exceeded limit.
  std::function<grpc::Status(const absl::Status&)> status_of = [](const absl::Status& status) {
    return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
  };
  // Header fields of every answer.
  std::vector<std::pair<std::string, std::string>> fields;
  // Id of the client for fair queueing (JsonPool).
  std::uint64_t client = 0;
  // Called with the number of bytes that the answer now holds, including those to be converted. Returns false
  // if they are too many. Destroyed when the answer is sent or the client is gone.
  std::function<bool(std::size_t bytes)> hold = [](std::size_t /*bytes*/) { return true; };
};

// Makes calls with JSON requests and answers. No thread waits for a call.
//
// Thread safety: any method may be called from any thread.
class CallMaker {
 public:
  CallMaker(std::shared_ptr<grpc::Channel> channel, int json_threads);
  CallMaker(const CallMaker&) = delete;
  CallMaker& operator=(const CallMaker&) = delete;
  // Cancels all running calls, and waits for their ends.
  ~CallMaker();

  // Calls a method with the body of the request. Answers with its message or messages, or with FailureAnswer
  // if it fails before the first one. A stream is read as fast as the client reads, and is cancelled when the
  // client is gone; a call with one answer runs to its end. Exchanges whose calls have not started when this
  // is destroyed are released.
  //
  // If the method takes a stream of messages, the body is the first of them, or empty. The answer is a
  // stream, begins at once, and has the id for Send in kStreamHeader.
  void Make(const google::protobuf::MethodDescriptor& method, HttpRequest request,
            std::shared_ptr<Exchange> exchange, CallOptions options) const;

  // Sends the body of the request as message `number` of an open stream of that method, or ends the messages
  // if the body is empty. Answers 204, or with an error of OpenStream::Send or of the JSON; STREAM_NOT_FOUND
  // also if the stream is another client's.
  void Send(std::string_view stream, std::uint64_t number, const google::protobuf::MethodDescriptor& method,
            HttpRequest request, std::shared_ptr<Exchange> exchange, CallOptions options) const;

 private:
  // Runs the task with the request, at once if its JSON is short.
  void Convert(HttpRequest request, const std::shared_ptr<Exchange>& exchange, const CallOptions& options,
               std::function<void(HttpRequest request)> task) const;

  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<OpenCalls> calls_;
  const std::shared_ptr<OpenStreams> streams_;
  std::shared_ptr<JsonPool> json_;
};

// Returns the answer to a failed call: the HTTP code for its status, and a google.rpc.Status as JSON.
// UNAUTHENTICATED closes the connection.
HttpAnswer FailureAnswer(const grpc::Status& status,
                         std::vector<std::pair<std::string, std::string>> fields = {});

}  // namespace waystar::http
