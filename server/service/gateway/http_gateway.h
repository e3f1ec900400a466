// RPCs as JSON over HTTP, for browsers and tools without gRPC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/auth/access_control.h"
#include "server/service/auth/tls_files.h"
#include "server/service/call/direct_methods.h"
#include "server/service/transport/http/call_maker.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/http_server.h"

namespace waystar::rpc {

// Limits on concurrent HTTP requests: counts calls, streams and bytes; of each, a network has a share
// (Quota::Shared). Streams leave calls for others. Answers hold memory until they are sent.
//
// Thread safety: any.
class HttpPlaces {
 public:
  HttpPlaces(int calls, std::size_t max_answer_bytes);

  // Place of one request, released on destruction. Thread safety: one thread at a time.
  class Place {
   public:
    explicit Place(std::shared_ptr<HttpPlaces> places) : places_(std::move(places)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    // Takes a place for a request of that network, and for a stream one among the streams too; call it once.
    // Returns RESOURCE_EXHAUSTED / CLIENT_BUSY with a retry delay if the network has its share.
    absl::Status Take(absl::string_view network, bool is_stream = false);
    // Sets the number of answer bytes that wait to be converted or sent. Returns false, and changes nothing,
    // if the total would exceed its limit, or the network, with other answers, would hold more than
    // Quota::kRatio times as much as is free. An answer that is alone is never rejected.
    bool HoldAnswer(std::size_t bytes);

   private:
    const std::shared_ptr<HttpPlaces> places_;
    bool is_taken_ = false;
    bool is_stream_ = false;
    std::uint64_t network_ = 0;
    std::size_t answer_bytes_ = 0;
  };

  void Collect(runtime::MetricSink& sink) const;

 private:
  mutable Mutex mutex_;
  Quota<std::uint64_t> calls_ ABSL_GUARDED_BY(mutex_);
  Quota<std::uint64_t> streams_ ABSL_GUARDED_BY(mutex_);
  // Unsent answer bytes, by network.
  Quota<std::uint64_t> answers_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t refused_client_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_memory_ ABSL_GUARDED_BY(mutex_) = 0;
};

// List of origins (RFC 6454, 2011) whose pages may call over HTTP, such as "https://game.example". Thread
// safety: that of a value.
class AllowedOrigins {
 public:
  // Parses origins separated by commas; "*" allows all, and an empty text none. Returns INVALID_ARGUMENT for
  // anything that is not an origin, such as one with a path.
  static absl::StatusOr<AllowedOrigins> Parse(absl::string_view text);

  bool Allows(absl::string_view origin) const;

 private:
  bool allows_all_ = false;
  std::vector<std::string> origins_;
};

// Returns the host of HOST:PORT, without the brackets of an IPv6 address.
std::string NameOfHost(std::string_view host);

// Returns true if `host`, from a request, with or without a port, is an IP address, localhost or `own_name`.
// Any other name may be a foreign one that resolves to this server (DNS rebinding): its pages are not ours,
// although the browser regards them as same-origin.
bool IsOwnHost(std::string_view host, std::string_view own_name);

// Returns true if `origin` is that of a page served by this server at `host`, encrypted or not. REQUIRES:
// IsOwnHost is true of `host`.
bool IsOwnOrigin(std::string_view origin, std::string_view host, bool is_encrypted);

struct HttpGatewayOptions {
  // Address in the format of net::Listener.
  std::string listen;
  // Maximum number of concurrent calls, including streams.
  int calls = 256;
  // Maximum number of connections, in total and per network.
  std::size_t max_connections = 1024;
  std::size_t max_network_connections = 512;
  // Sites whose pages may call besides the server's own page, in the format of AllowedOrigins. Pages of other
  // sites are rejected, even where a browser would send the request and only hide the answer.
  std::string allowed_origins;
  // Maximum length of a request body, in bytes.
  std::size_t max_body_bytes = std::size_t{4} << 20;
  // Maximum size of the JSON of all answers being sent, in bytes.
  std::size_t max_answer_bytes = std::size_t{256} << 20;
  // Returns true if /readyz is to answer 200.
  std::function<bool()> is_ready;
  // TLS certificate, and whether clients must present one. Null for plain text.
  std::shared_ptr<WatchedTlsFiles> tls;
};

// Makes a call for each POST /waystar.v1.PathService/FindPath with a JSON body. It is counted, queued and
// rejected like one over gRPC; but invalid tokens are rejected before the body is read. GET / returns a page
// that shows the maps, and makes such calls. /healthz and /readyz answer probes. The contract is
// docs/http.md.
//
// Thread safety: any.
class HttpGateway final : public runtime::MetricSource, private http::HttpHandler {
 public:
  // Listens until it is destroyed. `methods` are the server's; all others are called on `channel`, an
  // in-process channel of the server. `access` is that of the server; calls that are rejected before they are
  // made are counted in `statistics`. Both must outlive this.
  // Returns INVALID_ARGUMENT for invalid options or an invalid certificate, UNAVAILABLE if it cannot listen.
  static absl::StatusOr<std::unique_ptr<HttpGateway>> Start(const HttpGatewayOptions& options,
                                                            DirectMethods methods,
                                                            std::shared_ptr<grpc::Channel> channel,
                                                            const AccessControl& access,
                                                            CallStatistics& statistics);
  HttpGateway(const HttpGateway&) = delete;
  HttpGateway& operator=(const HttpGateway&) = delete;
  ~HttpGateway() override { Stop(absl::ZeroDuration()); }

  // Stops listening, and ends all connections: those with a call when it is answered, or after `grace`. Then
  // cancels the calls that remain. Call it from one thread.
  void Stop(absl::Duration grace);
  // Waits for the ends of all calls. REQUIRES: Stop has been called.
  void Wait() { calls_.Wait(); }

  int port() const { return server_->port(); }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  HttpGateway(const HttpGatewayOptions& options, AllowedOrigins origins, DirectMethods methods,
              std::shared_ptr<grpc::Channel> channel, const AccessControl& access,
              CallStatistics& statistics);

  bool Admits(const http::HttpClient& client) override;
  std::variant<http::HttpAcceptance, http::HttpAnswer> Judge(const http::HttpClient& client,
                                                             const http::RequestHead& head) override;
  void Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) override;
  http::HttpAnswer Refuse(int code, const http::RequestHead* head) override;

  // Returns true if the request's Host is this server's, and not a foreign name for its address.
  bool IsForThisHost(const http::RequestHead& head) const;
  // Returns true if the request does not come from a browser's page, or from one that may call.
  bool IsOriginAllowed(const http::RequestHead& head) const;
  // Answers and counts a call that is not made.
  http::HttpAnswer RefuseCall(const http::RequestHead& head, const absl::Status& status) const;
  // Returns the fields common to all answers to a request.
  Fields FieldsOf(const http::RequestHead& head) const;

  const HttpGatewayOptions options_;
  // The name that it listens on.
  const std::string name_;
  const AllowedOrigins origins_;
  const DirectMethods methods_;
  const AccessControl& access_;
  CallStatistics& statistics_;
  // Answers being sent outlive the gateway.
  const std::shared_ptr<HttpPlaces> places_;
  http::CallMaker calls_;
  // Last member, as its threads use all of the above.
  std::unique_ptr<http::HttpServer> server_;
};

// Returns the error for a code with which the HTTP server rejects (HttpHandler::Refuse), or OK if there is
// none: data that is not HTTP gets a bare 400. `max_body_bytes` is the limit of a body.
absl::Status HttpRefusal(int code, std::size_t max_body_bytes);

// A file of the map page from server/service/gateway/page, compiled in.
struct PageFile {
  // Such as "/" or "/app.js".
  std::string_view path;
  std::string_view type;
  // Entity tag of the text, in quotes.
  std::string_view etag;
  std::string_view text;
};

const std::vector<PageFile>& PageFiles();

// Returns the answer to a request for a file of the page, or nothing if the path is not a file. Files are the
// same for everyone, so no token is required. The answer contains the whole text: a connection holds one
// answer at a time, and the longest file has less than 64 KiB.
std::optional<http::HttpAnswer> PageAnswer(const http::RequestHead& head);

}  // namespace waystar::rpc
