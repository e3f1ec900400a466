#include "client/inspect/inspector.h"

#include <civetweb.h>
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/inspect/guard.h"
#include "client/inspect/page_files.h"
#include "client/listen_address.h"

namespace waystar::inspect {
namespace {

constexpr char kThreads[] = "64";
constexpr char kCallPrefix[] = "/rpc/";
constexpr char kPlainText[] = "text/plain; charset=utf-8";

// Nobody wants to see civetweb's own log.
int KeepQuiet(const mg_connection* /*connection*/, const char* /*message*/) { return 1; }

void AnswerFile(const PageFile& file, HttpExchange& exchange) {
  if (exchange.method() != "GET" && exchange.method() != "HEAD") {
    exchange.Answer(405, kPlainText, "A page is read with GET.\n");
  } else if (exchange.Header("If-None-Match") == file.etag) {
    exchange.Answer(304, file.type, "", file.etag);
  } else {
    exchange.Answer(200, file.type, file.text, file.etag);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Inspector>> Inspector::Start(const InspectorOptions& options,
                                                            const client::Options& connection) {
  auto inspector = std::unique_ptr<Inspector>(new Inspector(options, connection));
  absl::Status status = inspector->gateway_.status();
  status.Update(inspector->Listen());
  if (!status.ok()) {
    return status;
  }
  return inspector;
}

Inspector::Inspector(const InspectorOptions& options, const client::Options& connection)
    : options_(options),
      target_(connection.target),
      gateway_(connection, options.is_read_only, [this] { return is_stopping_.load(); }) {}

Inspector::~Inspector() {
  is_stopping_ = true;
  if (context_ != nullptr) {
    mg_stop(context_);
    mg_exit_library();
  }
}

absl::Status Inspector::Listen() {
  const absl::string_view listen = options_.listen;
  if (absl::Status status = client::CheckListenAddress(listen); !status.ok()) {
    return status;
  }
  const size_t colon = listen.rfind(':');
  name_ = std::string(absl::StripSuffix(absl::StripPrefix(listen.substr(0, colon), "["), "]"));
  const std::string host = name_ == "localhost" ? "127.0.0.1" : std::string(listen.substr(0, colon));
  const std::string listening = absl::StrCat(host, listen.substr(colon));
  const std::array<const char*, 13> settings = {"listening_ports",
                                                listening.c_str(),
                                                "num_threads",
                                                kThreads,
                                                "enable_keep_alive",
                                                "yes",
                                                "keep_alive_timeout_ms",
                                                "15000",
                                                "tcp_nodelay",
                                                "1",
                                                "request_timeout_ms",
                                                "30000",
                                                nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = &Inspector::Handle;
  callbacks.log_message = &KeepQuiet;
  mg_init_library(0);
  context_ = mg_start(&callbacks, this, const_cast<const char**>(settings.data()));
  mg_server_port listened{};
  if (context_ == nullptr || mg_get_server_ports(context_, 1, &listened) != 1) {
    return client::CannotListen(listen);
  }
  port_ = listened.port;
  return absl::OkStatus();
}

std::string Inspector::address() const {
  const bool is_any = name_ == "0.0.0.0" || name_ == "::";
  const std::string host = absl::StrContains(name_, ':') ? absl::StrCat("[", name_, "]") : name_;
  return absl::StrCat("http://", is_any ? "127.0.0.1" : host, ":", port_, "/");
}

int Inspector::Handle(mg_connection* connection) {
  HttpExchange exchange(connection);
  static_cast<Inspector*>(mg_get_request_info(connection)->user_data)->Answer(exchange);
  return exchange.code();
}

void Inspector::Answer(HttpExchange& exchange) {
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
  exchange.Answer(200, "application/json", MessageJson(config));
}

}  // namespace waystar::inspect
