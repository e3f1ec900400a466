#include "client/inspect/gateway.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/inspect/any_call.h"
#include "client/inspect/guard.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::inspect {

// An RPC that the page may call.
struct Method {
  enum class Kind {
    kQuestion,
    // Changes a map.
    kUpdate,
    // Streams: a whole map or search, and what never ends by itself.
    kTransfer,
    kWatch,
  };

  // "waystar.v1.PathService/FindPath".
  std::string_view name;
  Kind kind;

  bool Streams() const { return kind == Kind::kTransfer || kind == Kind::kWatch; }
};

namespace {

using Kind = Method::Kind;

constexpr std::array kMethods = {
    Method{"waystar.v1.MapService/ListMaps", Kind::kQuestion},
    Method{"waystar.v1.MapService/GetMap", Kind::kQuestion},
    Method{"waystar.v1.MapService/ListObstacles", Kind::kQuestion},
    Method{"waystar.v1.MapService/ListNodes", Kind::kQuestion},
    Method{"waystar.v1.MapService/ListPortals", Kind::kQuestion},
    Method{"waystar.v1.MapService/ExportMap", Kind::kTransfer},
    Method{"waystar.v1.MapService/WatchMap", Kind::kWatch},
    Method{"waystar.v1.MapService/UpdateObstacles", Kind::kUpdate},
    Method{"waystar.v1.PathService/FindPath", Kind::kQuestion},
    Method{"waystar.v1.PathService/WatchPath", Kind::kWatch},
    Method{"waystar.v1.PathService/TraceSearch", Kind::kTransfer},
    Method{"waystar.v1.ServerService/GetServerInfo", Kind::kQuestion},
};

// Nothing if the page has no business with that RPC.
const Method* FindMethod(std::string_view name) {
  const auto method =
      std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& each) { return each.name == name; });
  return method == kMethods.end() ? nullptr : method;
}

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using grpc::StatusCode;

constexpr char kJson[] = "application/json";
constexpr char kLines[] = "application/x-ndjson";
constexpr size_t kMaxBodyBytes = 1 << 20;
// Each holds a thread; there must be some left to answer questions. See kThreads of the inspector.
constexpr int kMaxStreams = 40;
constexpr absl::Duration kPoll = absl::Milliseconds(200);
constexpr absl::Duration kHeartbeat = absl::Seconds(1);

void Refuse(StatusCode code, const std::string& sentence, HttpExchange& exchange) {
  exchange.Answer(HttpCode(code), kJson, StatusJson({code, sentence}));
}

std::unique_ptr<Message> New(const Descriptor* type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(type)->New());
}

const google::protobuf::MethodDescriptor* Describe(std::string_view method) {
  google::protobuf::LinkMessageReflection<v1::ListMapsRequest>();
  google::protobuf::LinkMessageReflection<v1::FindPathRequest>();
  google::protobuf::LinkMessageReflection<v1::GetServerInfoRequest>();
  std::string name(method);
  std::replace(name.begin(), name.end(), '/', '.');
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
}

// Writes the answer of a call that has one message.
void AnswerOne(AnyCall& call, Message& response, const std::function<bool()>& is_stopping,
               HttpExchange& exchange) {
  AnyCall::Event event = AnyCall::Event::kNothingYet;
  std::string json;
  while ((event = call.Wait(kPoll, response)) != AnyCall::Event::kEnd) {
    if (event == AnyCall::Event::kMessage) {
      json = MessageJson(response);
    } else if (is_stopping()) {
      Refuse(StatusCode::UNAVAILABLE, "the inspector is stopping", exchange);
      return;
    }
  }
  if (call.status().ok()) {
    exchange.Answer(200, kJson, json);
  } else {
    exchange.Answer(HttpCode(call.status().error_code()), kJson, StatusJson(call.status()));
  }
}

// Writes the messages of a stream, a line each.
void AnswerMany(AnyCall& call, Message& response, const std::function<bool()>& is_stopping,
                HttpExchange& exchange) {
  exchange.BeginStream(kLines);
  absl::Duration silence;
  AnyCall::Event event = AnyCall::Event::kNothingYet;
  while ((event = call.Wait(kPoll, response)) != AnyCall::Event::kEnd) {
    bool is_read = true;
    if (event == AnyCall::Event::kMessage) {
      is_read = exchange.Write(absl::StrCat("{\"result\":", MessageJson(response), "}\n"));
      silence = absl::ZeroDuration();
    } else if ((silence += kPoll) >= kHeartbeat) {
      is_read = exchange.Write("\n");
      silence = absl::ZeroDuration();
    }
    if (!is_read || is_stopping()) {
      return;
    }
  }
  if (exchange.Write(absl::StrCat("{\"error\":", StatusJson(call.status()), "}\n"))) {
    exchange.EndStream();
  }
}

}  // namespace

std::string MessageJson(const google::protobuf::Message& message) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json).ok()) {
    return "{}";
  }
  return json;
}

std::string StatusJson(const grpc::Status& status) {
  // The details are printed by what is known of their types.
  google::protobuf::LinkMessageReflection<google::rpc::ErrorInfo>();
  google::rpc::Status message;
  if (!message.ParseFromString(status.error_details())) {
    message.Clear();
  }
  message.set_code(static_cast<int>(status.error_code()));
  message.set_message(status.error_message());
  return MessageJson(message);
}

int HttpCode(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return 200;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
      return 400;
    case grpc::StatusCode::UNAUTHENTICATED:
      return 401;
    case grpc::StatusCode::PERMISSION_DENIED:
      return 403;
    case grpc::StatusCode::NOT_FOUND:
      return 404;
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
      return 409;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return 429;
    case grpc::StatusCode::CANCELLED:
      return 499;
    case grpc::StatusCode::UNIMPLEMENTED:
      return 501;
    case grpc::StatusCode::UNAVAILABLE:
      return 503;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return 504;
    default:
      return 500;
  }
}

Gateway::Gateway(const client::Options& options, bool is_read_only, std::function<bool()> is_stopping)
    : options_(options),
      is_read_only_(is_read_only),
      is_stopping_(std::move(is_stopping)),
      connection_(options) {}

void Gateway::Handle(std::string_view method, HttpExchange& exchange) {
  const Method* const known = FindMethod(method);
  if (exchange.method() != "POST") {
    exchange.Answer(405, kJson, StatusJson({StatusCode::UNIMPLEMENTED, "calls are made with POST"}));
  } else if (known == nullptr) {
    exchange.Answer(404, kJson, StatusJson({StatusCode::UNIMPLEMENTED, "the page makes no such call"}));
  } else if (exchange.Header(kCallHeader).empty()) {
    Refuse(StatusCode::PERMISSION_DENIED, absl::StrCat("a call of the page has the header ", kCallHeader),
           exchange);
  } else if (is_read_only_ && known->kind == Method::Kind::kUpdate) {
    Refuse(StatusCode::PERMISSION_DENIED, "this inspector only looks: it was started with --read-only",
           exchange);
  } else if (const auto body = exchange.ReadBody(kMaxBodyBytes)) {
    MakeCall(*known, *body, exchange);
  } else {
    exchange.Answer(413, kJson, StatusJson({StatusCode::INVALID_ARGUMENT, "the request is too long"}));
  }
}

void Gateway::MakeCall(const Method& method, const std::string& body, HttpExchange& exchange) {
  const auto* const described = Describe(method.name);
  const auto request = New(described->input_type());
  const auto response = New(described->output_type());
  const auto parsed = google::protobuf::util::JsonStringToMessage(body, request.get());
  if (!parsed.ok()) {
    Refuse(StatusCode::INVALID_ARGUMENT, absl::StrCat("no such request: ", std::string(parsed.message())),
           exchange);
    return;
  }
  AnyCall call(connection_, absl::StrCat("/", std::string(method.name)), *request, TimeoutOf(method));
  if (!method.Streams()) {
    AnswerOne(call, *response, is_stopping_, exchange);
    return;
  }
  if (++streams_ <= kMaxStreams) {
    AnswerMany(call, *response, is_stopping_, exchange);
  } else {
    Refuse(StatusCode::RESOURCE_EXHAUSTED, "too many pages are open", exchange);
  }
  --streams_;
}

absl::Duration Gateway::TimeoutOf(const Method& method) const {
  switch (method.kind) {
    case Method::Kind::kTransfer:
      return options_.transfer_timeout;
    case Method::Kind::kWatch:
      return options_.stream_timeout;
    case Method::Kind::kQuestion:
    case Method::Kind::kUpdate:
      break;
  }
  return options_.timeout;
}

}  // namespace waystar::inspect
