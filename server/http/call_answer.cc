#include "server/http/call_answer.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/http/json.h"

namespace waystar::http {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(200);
constexpr absl::Duration kHeartbeat = absl::Seconds(1);

grpc::Status Stopping() { return {grpc::StatusCode::UNAVAILABLE, "the server is stopping"}; }

grpc::Status TooMuchUnread() {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, "answers that are not read hold as much as they may"};
}

// Writes the messages of a stream, after what begins it.
class Stream {
 public:
  Stream(StreamForm form, HttpExchange& exchange) : form_(form), exchange_(exchange) {}

  bool has_begun() const { return exchange_.code() != 0; }
  bool WriteMessage(const std::string& json) {
    return Write(form_ == StreamForm::kLines ? absl::StrCat("{\"result\":", json, "}\n")
                                             : absl::StrCat("data: ", json, "\n\n"));
  }
  bool WriteNothing() { return Write(form_ == StreamForm::kLines ? "\n" : ":\n\n"); }
  void End(const grpc::Status& status) {
    const std::string json = StatusJson(status);
    if (Write(form_ == StreamForm::kLines ? absl::StrCat("{\"error\":", json, "}\n")
                                          : absl::StrCat("event: end\ndata: ", json, "\n\n"))) {
      exchange_.EndStream();
    }
  }

 private:
  bool Write(const std::string& text) {
    if (!has_begun()) {
      exchange_.BeginStream(form_ == StreamForm::kLines ? "application/x-ndjson" : "text/event-stream");
    }
    return exchange_.Write(text);
  }

  const StreamForm form_;
  HttpExchange& exchange_;
};

void AnswerOne(AnyCall& call, const google::protobuf::Descriptor& type, const CallAnswerOptions& options,
               HttpExchange& exchange) {
  AnyCall::Event event = AnyCall::Event::kNothingYet;
  std::string response;
  while ((event = call.Wait(kPoll, response)) != AnyCall::Event::kEnd) {
    if (event == AnyCall::Event::kNothingYet && options.is_stopping()) {
      AnswerFailure(Stopping(), exchange);
      return;
    }
  }
  if (!call.status().ok()) {
    AnswerFailure(call.status(), exchange);
    return;
  }
  const absl::StatusOr<std::string> json = WireToJson(type, response);
  if (!json.ok()) {
    AnswerFailure({grpc::StatusCode::INTERNAL, std::string(json.status().message())}, exchange);
  } else if (!options.may_hold(json->size())) {
    AnswerFailure(TooMuchUnread(), exchange);
  } else {
    exchange.Answer(200, kJsonType, *json);
  }
}

void AnswerMany(AnyCall& call, const google::protobuf::Descriptor& type, const CallAnswerOptions& options,
                HttpExchange& exchange) {
  Stream stream(options.form, exchange);
  absl::Duration silence;
  std::string response;
  AnyCall::Event event = AnyCall::Event::kNothingYet;
  while ((event = call.Wait(kPoll, response)) != AnyCall::Event::kEnd) {
    bool is_read = true;
    if (event == AnyCall::Event::kMessage) {
      const absl::StatusOr<std::string> json = WireToJson(type, response);
      is_read = json.ok() && stream.WriteMessage(*json);
      silence = absl::ZeroDuration();
    } else if ((silence += kPoll) >= kHeartbeat) {
      is_read = stream.WriteNothing();
      silence = absl::ZeroDuration();
    }
    if (!is_read || options.is_stopping()) {
      exchange.CloseAfterwards();
      break;
    }
  }
  if (event != AnyCall::Event::kEnd) {
    if (!stream.has_begun()) {
      AnswerFailure(Stopping(), exchange);
    }
  } else if (stream.has_begun() || call.status().ok()) {
    stream.End(call.status());
  } else {
    AnswerFailure(call.status(), exchange);
  }
}

}  // namespace

void AnswerCall(AnyCall& call, const google::protobuf::MethodDescriptor& method,
                const CallAnswerOptions& options, HttpExchange& exchange) {
  if (method.server_streaming()) {
    AnswerMany(call, *method.output_type(), options, exchange);
  } else {
    AnswerOne(call, *method.output_type(), options, exchange);
  }
}

void AnswerFailure(const grpc::Status& status, HttpExchange& exchange) {
  if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) {
    exchange.AddHeader("WWW-Authenticate", "Bearer");
    exchange.CloseAfterwards();
  }
  exchange.Answer(HttpCode(status.error_code()), kJsonType, StatusJson(status));
}

}  // namespace waystar::http
