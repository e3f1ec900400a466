// Answers HTTP requests with what calls answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "server/http/exchange.h"
#include "server/http/http_handler.h"
#include "server/http/json_pool.h"
#include "server/http/open_calls.h"

namespace waystar::http {

inline constexpr char kJsonType[] = "application/json";

// How the messages of a stream are written.
enum class StreamForm {
  // application/x-ndjson: a line for each message, {"result": ...}, and at the end {"error": ...}, a
  // google.rpc.Status whose code is 0 if all went well. Empty lines mean nothing.
  kLines,
  // text/event-stream: an event for each message, and at the end one of the type "end" with that status.
  // Comments mean nothing.
  kEvents,
};

struct CallOptions {
  StreamForm form = StreamForm::kLines;
  // Sets the deadline and the metadata of the call.
  std::function<void(grpc::ClientContext&)> prepare = [](grpc::ClientContext& /*context*/) {};
  // Returns what is answered for a body that is no such message: the errors of JsonToWire.
  std::function<grpc::Status(const absl::Status&)> status_of = [](const absl::Status& status) {
    return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
  };
  // The fields of every answer.
  std::vector<std::pair<std::string, std::string>> fields;
  // Requests of one client take turns with those of others: see JsonPool.
  std::uint64_t client = 0;
  // Is told how many bytes the answer holds from now on, those that wait to be converted among them, and
  // returns whether it may. It is destroyed when the answer is sent, or nobody reads it any more.
  std::function<bool(std::size_t bytes)> hold = [](std::size_t /*bytes*/) { return true; };
};

// Makes calls whose requests and answers are JSON. No thread waits for a call.
//
// Thread safety: any.
class CallMaker {
 public:
  CallMaker(std::shared_ptr<grpc::Channel> channel, int json_threads);
  CallMaker(const CallMaker&) = delete;
  CallMaker& operator=(const CallMaker&) = delete;
  // Cancels the calls that are on their way, and waits for their ends.
  ~CallMaker();

  // Calls a method with the body of the request, and answers with its message or its messages, or if it fails
  // before the first with FailureAnswer. A stream goes on while the client reads, and is cancelled when the
  // client is gone; a call with one answer runs on. Exchanges whose calls have not begun when this is
  // destroyed are let go.
  void Make(const google::protobuf::MethodDescriptor& method, HttpRequest request,
            std::shared_ptr<Exchange> exchange, CallOptions options) const;

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<OpenCalls> calls_;
  std::shared_ptr<JsonPool> json_;
};

// Returns the answer to a call that failed, or was not even made: the HTTP code of its status, and a
// google.rpc.Status. Whoever has shown no right token has to connect again.
HttpAnswer FailureAnswer(const grpc::Status& status,
                         std::vector<std::pair<std::string, std::string>> fields = {});

}  // namespace waystar::http
