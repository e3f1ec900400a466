#include "client/inspect/inspector.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/inspect/guard.h"
#include "client/inspect/page_files.h"
#include "server/http/json.h"

namespace waystar::inspect {
namespace {

using http::HttpExchange;

constexpr char kCallPrefix[] = "/rpc/";
constexpr char kPlainText[] = "text/plain; charset=utf-8";

// Nothing but what this server sends itself: no scripts or styles in the page's text, no frames around it.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void AnswerFile(const PageFile& file, HttpExchange& exchange) {
  exchange.AddHeader("ETag", std::string(file.etag));
  if (exchange.method() != "GET" && exchange.method() != "HEAD") {
    exchange.Answer(405, kPlainText, "A page is read with GET.\n");
  } else if (exchange.Header("If-None-Match") == file.etag) {
    exchange.Answer(304, file.type, "");
  } else {
    exchange.Answer(200, file.type, file.text);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Inspector>> Inspector::Start(const InspectorOptions& options,
                                                            const client::Options& connection) {
  auto inspector = std::unique_ptr<Inspector>(new Inspector(options, connection));
  if (!inspector->gateway_.status().ok()) {
    return inspector->gateway_.status();
  }
  auto listener =
      http::HttpListener::Open({.listen = options.listen},
                               [self = inspector.get()](HttpExchange& exchange) { self->Answer(exchange); });
  if (!listener.ok()) {
    return listener.status();
  }
  inspector->listener_ = *std::move(listener);
  return inspector;
}

Inspector::Inspector(const InspectorOptions& options, const client::Options& connection)
    : options_(options),
      name_(http::HostOf(options.listen)),
      target_(connection.target),
      gateway_(connection, options.is_read_only, [this] { return is_stopping_.load(); }) {}

Inspector::~Inspector() { is_stopping_ = true; }

std::string Inspector::address() const {
  const bool is_any = name_ == "0.0.0.0" || name_ == "::";
  const std::string host = absl::StrContains(name_, ':') ? absl::StrCat("[", name_, "]") : name_;
  return absl::StrCat("http://", is_any ? "127.0.0.1" : host, ":", port(), "/");
}

void Inspector::Answer(HttpExchange& exchange) {
  exchange.AddHeader("Content-Security-Policy", kContentPolicy);
  exchange.AddHeader("X-Content-Type-Options", "nosniff");
  exchange.AddHeader("Referrer-Policy", "no-referrer");
  exchange.AddHeader("Cross-Origin-Resource-Policy", "same-origin");
  // Kept, but asked for again each time: an ETag saves the bytes.
  exchange.AddHeader("Cache-Control", "no-cache");
  if (!IsOwnHost(exchange.Header("Host"), name_)) {
    exchange.Answer(421, kPlainText, "Call the inspector by its address, or as localhost.\n");
    return;
  }
  if (!IsOwnOrigin(exchange.Header("Origin"), exchange.Header("Host"))) {
    exchange.Answer(403, kPlainText, "Pages of other sites may not call the inspector.\n");
    return;
  }
  const std::string_view path = exchange.path();
  if (absl::StartsWith({path.data(), path.size()}, kCallPrefix)) {
    gateway_.Handle(path.substr(sizeof(kCallPrefix) - 1), exchange);
    return;
  }
  if (path == "/config.json") {
    AnswerConfig(exchange);
    return;
  }
  const auto file = std::find_if(PageFiles().begin(), PageFiles().end(),
                                 [&](const PageFile& each) { return each.path == path; });
  if (file == PageFiles().end()) {
    exchange.Answer(404, kPlainText, "There is nothing here.\n");
  } else {
    AnswerFile(*file, exchange);
  }
}

void Inspector::AnswerConfig(HttpExchange& exchange) const {
  google::protobuf::Struct config;
  auto& fields = *config.mutable_fields();
  fields["server"].set_string_value(target_);
  fields["readOnly"].set_bool_value(options_.is_read_only);
  exchange.Answer(200, "application/json", http::MessageJson(config));
}

}  // namespace waystar::inspect
