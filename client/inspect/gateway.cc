#include "client/inspect/gateway.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/inspect/guard.h"
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
    Method{"waystar.v1.MapService/RenderMap", Kind::kQuestion},
    Method{"waystar.v1.MapService/ExportMap", Kind::kTransfer},
    Method{"waystar.v1.MapService/WatchMap", Kind::kWatch},
    Method{"waystar.v1.MapService/UpdateObstacles", Kind::kUpdate},
    Method{"waystar.v1.PathService/FindPath", Kind::kQuestion},
    Method{"waystar.v1.PathService/WatchPath", Kind::kWatch},
    Method{"waystar.v1.PathService/ProbeSurface", Kind::kQuestion},
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
using http::FailureAnswer;
using http::HttpAnswer;

constexpr size_t kMaxBodyBytes = 1 << 20;
constexpr int kMaxStreams = 40;
constexpr int kJsonThreads = 2;

const google::protobuf::MethodDescriptor* Describe(std::string_view method) {
  google::protobuf::LinkMessageReflection<v1::ListMapsRequest>();
  google::protobuf::LinkMessageReflection<v1::FindPathRequest>();
  google::protobuf::LinkMessageReflection<v1::GetServerInfoRequest>();
  std::string name(method);
  std::replace(name.begin(), name.end(), '/', '.');
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
}

HttpAnswer Refusal(int code, StatusCode status, const std::string& message, Gateway::Fields fields) {
  HttpAnswer answer = FailureAnswer({status, message}, std::move(fields));
  answer.code = code;
  return answer;
}

}  // namespace

Gateway::Gateway(const client::Options& options, bool is_read_only)
    : options_(options),
      is_read_only_(is_read_only),
      connection_(options),
      calls_(connection_.channel(), kJsonThreads) {}

std::variant<http::HttpAcceptance, HttpAnswer> Gateway::Judge(std::string_view method,
                                                              const http::RequestHead& head,
                                                              Fields fields) const {
  const Method* const known = FindMethod(method);
  if (head.method != "POST") {
    return Refusal(405, StatusCode::UNIMPLEMENTED, "calls are made with POST", std::move(fields));
  }
  if (known == nullptr) {
    return Refusal(404, StatusCode::UNIMPLEMENTED, "the page makes no such call", std::move(fields));
  }
  if (head.Field(kCallHeader).empty()) {
    return Refusal(403, StatusCode::PERMISSION_DENIED,
                   absl::StrCat("a call of the page has the header ", kCallHeader), std::move(fields));
  }
  if (is_read_only_ && known->kind == Method::Kind::kUpdate) {
    return Refusal(403, StatusCode::PERMISSION_DENIED,
                   "this inspector only looks: it was started with --read-only", std::move(fields));
  }
  return http::HttpAcceptance{.max_body_bytes = kMaxBodyBytes};
}

void Gateway::Serve(std::string_view name, http::HttpRequest request,
                    std::shared_ptr<http::Exchange> exchange, Fields fields) {
  const Method& method = *FindMethod(name);
  const auto& described = *Describe(method.name);
  http::CallOptions options{
      .prepare = [this, timeout = TimeoutOf(method)](
                     grpc::ClientContext& context) { connection_.Prepare(context, timeout); },
      .fields = fields};
  if (described.server_streaming()) {
    const std::shared_ptr<void> place(nullptr, [streams = streams_](void*) { --*streams; });
    if (++*streams_ > kMaxStreams) {
      exchange->Answer(
          FailureAnswer({StatusCode::RESOURCE_EXHAUSTED, "too many pages are open"}, std::move(fields)));
      return;
    }
    options.hold = [place](std::size_t /*bytes*/) { return true; };
  }
  calls_.Make(described, std::move(request), std::move(exchange), std::move(options));
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
