#include "server/http/http_listener.h"

#include <civetweb.h>

#include <array>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"
#include "server/http/listen_address.h"

namespace waystar::http {
namespace {

// Nobody wants to see the library's own log.
int KeepQuiet(const mg_connection* /*connection*/, const char* /*message*/) { return 1; }

HttpListener& ListenerOf(const mg_connection* connection) {
  return *static_cast<HttpListener*>(mg_get_user_data(mg_get_context(connection)));
}

}  // namespace

std::string HostOf(const std::string& listen) {
  const absl::string_view host = absl::string_view(listen).substr(0, listen.rfind(':'));
  return std::string(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
}

absl::StatusOr<std::unique_ptr<HttpListener>> HttpListener::Open(const HttpListenerOptions& options,
                                                                 Handler handler) {
  auto listener = std::unique_ptr<HttpListener>(new HttpListener(options, std::move(handler)));
  WAYSTAR_RETURN_IF_ERROR(listener->Listen(options));
  return listener;
}

HttpListener::HttpListener(const HttpListenerOptions& options, Handler handler)
    : handler_(std::move(handler)), many_connections_(options.threads / 2) {}

void HttpListener::Stop() {
  if (context_ != nullptr) {
    mg_stop(std::exchange(context_, nullptr));
    mg_exit_library();
  }
}

absl::Status HttpListener::Listen(const HttpListenerOptions& options) {
  const absl::string_view listen = options.listen;
  WAYSTAR_RETURN_IF_ERROR(CheckListenAddress(listen));
  const std::size_t colon = listen.rfind(':');
  if (listen.front() == '[' && mg_check_feature(MG_FEATURES_IPV6) == 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", listen, ": the HTTP library was built without IPv6"));
  }
  const std::string host =
      HostOf(options.listen) == "localhost" ? "127.0.0.1" : std::string(listen.substr(0, colon));
  const std::string listening = absl::StrCat(host, listen.substr(colon));
  const std::string threads = absl::StrCat(options.threads);
  const std::string patience = absl::StrCat(absl::ToInt64Milliseconds(options.patience));
  const std::string keep_alive = absl::StrCat(absl::ToInt64Milliseconds(options.keep_alive));
  // Without its own say, the library would let pages of all sites read the answers.
  const std::array<const char*, 19> settings = {"listening_ports",
                                                listening.c_str(),
                                                "num_threads",
                                                threads.c_str(),
                                                "enable_keep_alive",
                                                "yes",
                                                "keep_alive_timeout_ms",
                                                keep_alive.c_str(),
                                                "tcp_nodelay",
                                                "1",
                                                "request_timeout_ms",
                                                patience.c_str(),
                                                "access_control_allow_origin",
                                                "",
                                                "access_control_allow_methods",
                                                "",
                                                "access_control_allow_headers",
                                                "",
                                                nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = &HttpListener::OnRequest;
  callbacks.init_connection = &HttpListener::OnConnection;
  callbacks.connection_closed = &HttpListener::OnClosed;
  callbacks.log_message = &KeepQuiet;
  mg_init_library(0);
  context_ = mg_start(&callbacks, this, const_cast<const char**>(settings.data()));
  mg_server_port listened{};
  if (context_ == nullptr || mg_get_server_ports(context_, 1, &listened) != 1) {
    return CannotListen(listen);
  }
  port_ = listened.port;
  return absl::OkStatus();
}

int HttpListener::OnRequest(mg_connection* connection) {
  HttpListener& listener = ListenerOf(connection);
  HttpExchange exchange(connection);
  if (listener.connections_ > listener.many_connections_) {
    exchange.CloseAfterwards();
  }
  // The thread is the library's, which knows no exceptions.
  try {
    listener.handler_(exchange);
  } catch (const std::exception&) {
    exchange.CloseAfterwards();
  }
  if (exchange.code() == 0) {
    exchange.Answer(500, "text/plain", "");
  }
  return exchange.code();
}

int HttpListener::OnConnection(const mg_connection* connection, void** /*data*/) {
  ++ListenerOf(connection).connections_;
  return 0;
}

void HttpListener::OnClosed(const mg_connection* connection) { --ListenerOf(connection).connections_; }

}  // namespace waystar::http
