#include "client/inspect/gateway.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/inspect/guard.h"
#include "server/http/any_call.h"
#include "server/http/call_answer.h"
#include "server/http/json.h"
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

using grpc::StatusCode;
using http::AnswerFailure;
using http::HttpExchange;

constexpr size_t kMaxBodyBytes = 1 << 20;
constexpr absl::Duration kBodyTime = absl::Seconds(30);
// Each holds a thread; there must be some left to answer questions. See HttpListenerOptions.
constexpr int kMaxStreams = 40;

const google::protobuf::MethodDescriptor* Describe(std::string_view method) {
  google::protobuf::LinkMessageReflection<v1::ListMapsRequest>();
  google::protobuf::LinkMessageReflection<v1::FindPathRequest>();
  google::protobuf::LinkMessageReflection<v1::GetServerInfoRequest>();
  std::string name(method);
  std::replace(name.begin(), name.end(), '/', '.');
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
}

}  // namespace

Gateway::Gateway(const client::Options& options, bool is_read_only, std::function<bool()> is_stopping)
    : options_(options),
      is_read_only_(is_read_only),
      is_stopping_(std::move(is_stopping)),
      connection_(options) {}

void Gateway::Handle(std::string_view method, HttpExchange& exchange) {
  const Method* const known = FindMethod(method);
  if (exchange.method() != "POST") {
    exchange.Answer(405, http::kJsonType,
                    http::StatusJson({StatusCode::UNIMPLEMENTED, "calls are made with POST"}));
  } else if (known == nullptr) {
    exchange.Answer(404, http::kJsonType,
                    http::StatusJson({StatusCode::UNIMPLEMENTED, "the page makes no such call"}));
  } else if (exchange.Header(kCallHeader).empty()) {
    AnswerFailure(
        {StatusCode::PERMISSION_DENIED, absl::StrCat("a call of the page has the header ", kCallHeader)},
        exchange);
  } else if (is_read_only_ && known->kind == Method::Kind::kUpdate) {
    AnswerFailure(
        {StatusCode::PERMISSION_DENIED, "this inspector only looks: it was started with --read-only"},
        exchange);
  } else if (const auto body = exchange.ReadBody(kMaxBodyBytes, kBodyTime); body.ok()) {
    MakeCall(*known, *body, exchange);
  } else {
    exchange.Answer(413, http::kJsonType,
                    http::StatusJson({StatusCode::INVALID_ARGUMENT, std::string(body.status().message())}));
  }
}

void Gateway::MakeCall(const Method& method, const std::string& body, HttpExchange& exchange) {
  const auto& described = *Describe(method.name);
  const absl::StatusOr<std::string> request = http::JsonToWire(*described.input_type(), body);
  if (!request.ok()) {
    AnswerFailure({StatusCode::INVALID_ARGUMENT, std::string(request.status().message())}, exchange);
    return;
  }
  http::AnyCall call(connection_.channel(), absl::StrCat("/", std::string(method.name)), *request,
                     [&](grpc::ClientContext& context) { connection_.Prepare(context, TimeoutOf(method)); });
  if (!described.server_streaming()) {
    http::AnswerCall(call, described, {.is_stopping = is_stopping_}, exchange);
    return;
  }
  if (++streams_ <= kMaxStreams) {
    http::AnswerCall(call, described, {.is_stopping = is_stopping_}, exchange);
  } else {
    AnswerFailure({StatusCode::RESOURCE_EXHAUSTED, "too many pages are open"}, exchange);
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
