// Answers an HTTP request with what a call answers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "google/protobuf/descriptor.h"
#include "grpcpp/support/status.h"
#include "server/http/any_call.h"
#include "server/http/http_exchange.h"

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

struct CallAnswerOptions {
  StreamForm form = StreamForm::kLines;
  // Is asked several times a second, and ends the answer when it is true.
  std::function<bool()> is_stopping = [] { return false; };
  // Is asked whether an answer of so many bytes of JSON may be held while it is sent.
  std::function<bool(std::size_t bytes)> may_hold = [](std::size_t /*bytes*/) { return true; };
};

// Answers with the call of a method of any kind: with its message or its messages, or if it fails before the
// first with the HTTP code of its status and a google.rpc.Status. Streams begin at their first message, or
// after a second without one; each message is sent at once, and waits for the client to take those before.
// When the client is gone, which is found out within about a second, it returns, and the call is to be
// destroyed.
void AnswerCall(AnyCall& call, const google::protobuf::MethodDescriptor& method,
                const CallAnswerOptions& options, HttpExchange& exchange);

// Answers with a call that failed, or was not even made. Whoever has shown no right token has to connect
// again.
void AnswerFailure(const grpc::Status& status, HttpExchange& exchange);

}  // namespace waystar::http
