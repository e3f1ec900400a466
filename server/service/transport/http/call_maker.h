// Answers HTTP requests by gRPC calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"
#include "server/base/mutex.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/json.h"

namespace waystar::http {

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

// Called once with the status and the answer of a call, on any thread.
using AnswerDone = std::function<void(const grpc::Status& status, const grpc::ByteBuffer& answer)>;

struct CallOptions {
  StreamForm form = StreamForm::kLines;
  // Sets the deadline and the metadata of a call on the channel.
  std::function<void(grpc::ClientContext&)> prepare = [](grpc::ClientContext& /*context*/) {};
  // Returns the status for an error of this side, such as a malformed body (JsonToWire) or an exceeded limit.
  std::function<grpc::Status(const absl::Status&)> status_of = [](const absl::Status& status) {
    return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
  };
  // Header fields of every answer.
  std::vector<std::pair<std::string, std::string>> fields;
  // Id of the client for fair queueing (JsonPool).
  std::uint64_t client = 0;
  // Calls a method with one answer in this process, without the channel; empty for other methods. Returns a
  // function that makes the call end soon.
  std::function<std::function<void()>(const grpc::ByteBuffer& request, AnswerDone done)> call;
  // When such a call is answered with DEADLINE_EXCEEDED.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // Called with the number of bytes that the answer now holds, including those to be converted. Returns false
  // if they are too many. Destroyed when the answer is sent or the client is gone.
  std::function<bool(std::size_t bytes)> hold = [](std::size_t /*bytes*/) { return true; };
};

// Makes calls with JSON requests and answers, in this process or on a channel. No thread waits for a call.
//
// Thread safety: any method may be called from any thread.
class CallMaker {
 public:
  CallMaker(std::shared_ptr<grpc::Channel> channel, int json_threads)
      : channel_(std::move(channel)), json_(json_threads) {}
  CallMaker(const CallMaker&) = delete;
  CallMaker& operator=(const CallMaker&) = delete;
  ~CallMaker();

  // Cancels all running calls. REQUIRES: Make and Send are not called any more.
  void Stop();
  // Waits for the ends of all calls. REQUIRES: Stop has been called.
  void Wait();

  // Calls a method with the body of the request. Answers with its message or messages, or with FailureAnswer
  // if it fails before the first one. A stream is read as fast as the client reads, and is cancelled when the
  // client is gone; a call with one answer runs to its end. Exchanges whose calls have not started by Stop
  // are released.
  //
  // If the method takes a stream of messages, the body is the first of them, or empty. The answer is a
  // stream, begins at once, and has the id for Send in kStreamHeader.
  void Make(const google::protobuf::MethodDescriptor& method, HttpRequest request,
            std::shared_ptr<Exchange> exchange, CallOptions options);

  // Sends the body of the request as message `number` of an open stream of that method, the first of which is
  // 1; ends the messages if the body is empty. Answers 204, also to a number that was sent already, or with
  // an error of the JSON, or one of these:
  // - RESOURCE_EXHAUSTED / QUEUE_FULL, with a retry delay: the message before is not sent yet.
  // - INVALID_ARGUMENT / BAD_HEADER (Waystar-Message): another number is next.
  // - NOT_FOUND / STREAM_NOT_FOUND: no message can be sent any more, or the stream is another client's.
  void Send(const std::string& stream, std::uint64_t number, const google::protobuf::MethodDescriptor& method,
            HttpRequest request, std::shared_ptr<Exchange> exchange, CallOptions options);

 private:
  class Call;
  class DirectCall;
  class ChannelCall;

  // Runs the task with the request, at once if its JSON is short.
  void Convert(HttpRequest request, const std::shared_ptr<Exchange>& exchange, const CallOptions& options,
               std::function<void(HttpRequest request)> task);

  const std::shared_ptr<grpc::Channel> channel_;
  JsonPool json_;
  Mutex mutex_;
  CondVar is_less_;
  absl::BitGen random_ ABSL_GUARDED_BY(mutex_);
  // Keyed by id, which nobody can guess. An entry goes when its call has let go of the channel, which must
  // not be destroyed on a thread of the gRPC library.
  std::unordered_map<std::string, std::weak_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
};

// Returns the answer to a failed call: the HTTP code for its status, and a google.rpc.Status as JSON.
// UNAUTHENTICATED closes the connection.
HttpAnswer FailureAnswer(const grpc::Status& status,
                         std::vector<std::pair<std::string, std::string>> fields = {});

}  // namespace waystar::http
