#include "client/inspect/inspector.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/inspect/guard.h"
#include "client/inspect/page_files.h"
#include "server/http/json.h"

namespace waystar::inspect {
namespace {

using http::HttpAcceptance;
using http::HttpAnswer;

constexpr char kCallPrefix[] = "/rpc/";
constexpr char kPlainText[] = "text/plain; charset=utf-8";

// Nothing but what this server sends itself: no scripts or styles in the page's text, no frames around it.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const Gateway::Fields& CommonFields() {
  static const Gateway::Fields fields = {{"Content-Security-Policy", kContentPolicy},
                                         {"X-Content-Type-Options", "nosniff"},
                                         {"Referrer-Policy", "no-referrer"},
                                         {"Cross-Origin-Resource-Policy", "same-origin"},
                                         // Kept, but asked for again each time: an ETag saves the bytes.
                                         {"Cache-Control", "no-cache"}};
  return fields;
}

HttpAnswer AnswerOf(int code, std::string_view type, std::string_view body) {
  return {
      .code = code, .content_type = std::string(type), .body = std::string(body), .fields = CommonFields()};
}

HttpAnswer FileAnswer(const PageFile& file, const http::RequestHead& head) {
  HttpAnswer answer;
  if (head.method != "GET" && head.method != "HEAD") {
    answer = AnswerOf(405, kPlainText, "A page is read with GET.\n");
  } else if (head.Field("If-None-Match") == file.etag) {
    answer = AnswerOf(304, file.type, "");
  } else {
    answer = AnswerOf(200, file.type, file.text);
  }
  answer.fields.emplace_back("ETag", file.etag);
  return answer;
}

// Returns the host of HOST:PORT, without brackets.
std::string HostOf(std::string_view listen) {
  std::string_view host = listen.substr(0, listen.rfind(':'));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return std::string(host);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Inspector>> Inspector::Start(const InspectorOptions& options,
                                                            const client::Options& connection) {
  auto inspector = std::unique_ptr<Inspector>(new Inspector(options, connection));
  if (!inspector->gateway_.status().ok()) {
    return inspector->gateway_.status();
  }
  auto server = http::HttpServer::Start({.listen = {options.listen}}, *inspector);
  if (!server.ok()) {
    return server.status();
  }
  inspector->server_ = *std::move(server);
  return inspector;
}

Inspector::Inspector(const InspectorOptions& options, const client::Options& connection)
    : options_(options),
      name_(HostOf(options.listen)),
      target_(connection.target),
      gateway_(connection, options.is_read_only) {}

std::string Inspector::address() const {
  const bool is_any = name_ == "0.0.0.0" || name_ == "::";
  const std::string host = absl::StrContains(name_, ':') ? absl::StrCat("[", name_, "]") : name_;
  return absl::StrCat("http://", is_any ? "127.0.0.1" : host, ":", port(), "/");
}

std::variant<HttpAcceptance, HttpAnswer> Inspector::Judge(const http::HttpClient& /*client*/,
                                                          const http::RequestHead& head) {
  if (!IsOwnHost(head.Field("Host"), name_)) {
    return AnswerOf(421, kPlainText, "Call the inspector by its address, or as localhost.\n");
  }
  if (!IsOwnOrigin(head.Field("Origin"), head.Field("Host"))) {
    return AnswerOf(403, kPlainText, "Pages of other sites may not call the inspector.\n");
  }
  if (absl::StartsWith(head.path, kCallPrefix)) {
    return gateway_.Judge(std::string_view(head.path).substr(sizeof(kCallPrefix) - 1), head, CommonFields());
  }
  if (head.path == "/config.json") {
    return AnswerOf(200, "application/json", Config());
  }
  const auto file = std::find_if(PageFiles().begin(), PageFiles().end(),
                                 [&](const PageFile& each) { return each.path == head.path; });
  return file == PageFiles().end() ? AnswerOf(404, kPlainText, "There is nothing here.\n")
                                   : FileAnswer(*file, head);
}

void Inspector::Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) {
  const std::string method = request.head.path.substr(sizeof(kCallPrefix) - 1);
  gateway_.Serve(method, std::move(request), std::move(exchange), CommonFields());
}

std::string Inspector::Config() const {
  google::protobuf::Struct config;
  auto& fields = *config.mutable_fields();
  fields["server"].set_string_value(target_);
  fields["readOnly"].set_bool_value(options_.is_read_only);
  return http::MessageJson(config);
}

}  // namespace waystar::inspect
