#include "client/cli/exit_code.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <regex>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/errors.h"
#include "client/target.h"
#include "waystar/v1/error_reason.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {
namespace {

constexpr std::pair<v1::ErrorReason, absl::string_view> kHints[] = {
    {v1::MAP_NOT_FOUND, "`waystar map list` shows the maps there are."},
    {v1::MAP_EXISTS, "Choose another name, or remove the map with `waystar map delete`."},
    {v1::STALE_REVISION, "`waystar map show` tells the latest revision."},
    {v1::MAP_REPLACED, "`waystar map show --json` tells the epoch."},
    {v1::REQUEST_ID_EXPIRED,
     "Look whether the map has the change; if not, make it under another --request-id."},
    {v1::FUTURE_REVISION, "`waystar map show` tells the latest revision."},
    {v1::GROUND_NOT_FOUND, "`waystar map show` lists the grounds there are."},
    {v1::OBSTACLE_NOT_FOUND, "`waystar obstacle list` shows the obstacles there are."},
    {v1::OBSTACLE_EXISTS, "--replace puts the new one in its place."},
    {v1::REQUEST_ID_REUSED, "Each change needs a --request-id of its own."},
    {v1::START_BLOCKED, "--snap RADIUS starts from the nearest place where the agent can be."},
    {v1::GOAL_BLOCKED, "--nearest finds a path to the nearest cell that can be reached."},
    {v1::ALGORITHM_UNSUITED, "--algorithm auto suits every map."},
    {v1::RESPONSE_TOO_LARGE, "--form corners or directions makes the answer smaller."},
    {v1::NOT_EXPRESSIBLE, "--format text can express every map."},
    {v1::QUEUE_FULL, "The server is busy: try again in a moment."},
    {v1::QUEUE_TIMEOUT, "The server is busy: try again in a moment."},
    {v1::CLIENT_BUSY, "You have too many calls under way: try again in a moment."},
    {v1::ANSWERS_UNREAD, "The server holds too much that is not read yet: try again in a moment."},
    {v1::UPDATES_BUSY, "The server is busy: try again in a moment."},
    {v1::TOO_MANY_WATCHES, "The server is busy: try again in a moment."},
    {v1::NOT_PERMITTED, "The line of the token in the server's --tokens_file says what it may do."},
    {v1::STORAGE_FAILED,
     "The server cannot make the change durable. With a --request-id it can be tried again safely."},
    {v1::MAPS_LOADING, "Try again in a moment: `waystar health` prints SERVING then."},
    {v1::TRANSFERS_BUSY, "The server is busy: try again in a moment."},
};

// Empty if there is none.
absl::string_view HintFor(const std::string& reason) {
  for (const auto& [hinted, hint] : kHints) {
    if (v1::ErrorReason_Name(hinted) == reason) {
      return hint;
    }
  }
  return "";
}

std::string Sentence(const absl::Status& status) {
  if (status.message().empty()) {
    return absl::StrCat("the server answered ", absl::StatusCodeToString(status.code()));
  }
  return std::string(status.message());
}

}  // namespace

const char kExitCodeHelp[] =
    "Exit codes:\n"
    "  0  done; with find, paths, trace, reachable: a path leads to each goal; with health: serving\n"
    "  1  something went wrong that should not\n"
    "  2  the command line is wrong, or a file cannot be read or written\n"
    "  3  find, paths, trace, reachable: no path to a goal, none within --max-expansions, or only a part of "
    "one\n"
    "  4  the server refused the request: no such map, a bad value, a stale revision ...\n"
    "  5  the server cannot be reached, is not serving, is overloaded or took too long\n";

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kResourceExhausted:
      // Temporary errors have a delay.
      return client::RetryDelayOf(status) > absl::ZeroDuration() ? ExitCode::kUnavailable
                                                                 : ExitCode::kRefused;
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kFailure;
    default:
      return ExitCode::kRefused;
  }
}

ExitCode ExitCodeFor(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_FOUND ? ExitCode::kOk : ExitCode::kNoPath;
}

bool IsUnreachable(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable && client::ReasonOf(status).empty();
}

std::string CannotReach(const std::string& server, absl::string_view why) {
  return absl::StrCat("cannot reach a server at ", server, ": ", why,
                      "\nIs it running? --server HOST:PORT or WAYSTAR_SERVER names another.");
}

std::string NotServing(const std::string& server) {
  return absl::StrCat("the server at ", server,
                      " is not serving: it still reads its maps, or is about to stop\n`waystar health` "
                      "prints SERVING when it does.");
}

std::string ErrorText(const absl::Status& status, const std::string& server) {
  // So the library says of a server whose health service says NOT_SERVING.
  if (IsUnreachable(status) && absl::StrContains(status.message(), "backend unhealthy")) {
    return NotServing(server);
  }
  if (IsUnreachable(status) && absl::StrContains(status.message(), "http1.x server")) {
    return absl::StrCat("the server at ", server,
                        " speaks HTTP/1 there, not gRPC\n--server takes the address of the server's "
                        "--listen, not that of its --http_listen.");
  }
  if (IsUnreachable(status)) {
    return CannotReach(server, Sentence(status));
  }
  if (status.code() == absl::StatusCode::kDeadlineExceeded && client::ReasonOf(status).empty()) {
    return absl::StrCat("no answer from ", server, " in time\n--timeout allows it more, such as 30s.");
  }
  // The ends of a query are told as they are typed.
  static const std::regex kEnd(R"(\b(start|goal) \((-?[0-9.]+), (-?[0-9.]+)\))");
  std::string text = std::regex_replace(Sentence(status), kEnd, "$1 $2,$3");
  const std::string field = client::FieldOf(status);
  // Errors in a file's bytes are reported for the file that the user named.
  if (!field.empty() && field != "chunk" && !absl::StrContains(text, field)) {
    absl::StrAppend(&text, " (", field, ")");
  }
  if (status.code() == absl::StatusCode::kUnauthenticated) {
    absl::StrAppend(&text, "\n--token or WAYSTAR_TOKEN tells the server who you are.");
  }
  if (status.code() == absl::StatusCode::kUnimplemented && client::ReasonOf(status).empty()) {
    absl::StrAppend(&text, "\nIs that a Waystar server, and as new as this tool?");
  }
  if (const absl::string_view hint = HintFor(client::ReasonOf(status)); !hint.empty()) {
    absl::StrAppend(&text, "\n", hint);
  }
  return text;
}

namespace {

// How long to wait for each step of the other side.
constexpr timeval kPatience = {.tv_sec = 1, .tv_usec = 0};

// Returns a connected socket, which is the caller's to close. An error says why there is none.
absl::StatusOr<int> Connect(const client::Endpoint& endpoint) {
  const addrinfo hints = {.ai_flags = 0, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &freeaddrinfo);
  absl::Status status = absl::UnavailableError("");
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    const int fd = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    if (connect(fd, each->ai_addr, each->ai_addrlen) == 0) {
      return fd;
    }
    // So says the system when it has waited for as long as it was told.
    status = absl::UnavailableError(errno == EINPROGRESS ? "nothing answers there" : std::strerror(errno));
    if (fd >= 0) {
      close(fd);
    }
  }
  return status;
}

// A handshake as the RPC library makes it, but one that goes on with a certificate that is not trusted.
class TlsProbe {
 public:
  TlsProbe(int fd, const client::Options& options, const std::string& host)
      : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free), ssl_(SSL_new(context_.get()), &SSL_free) {
    if (options.ca_file.empty()) {
      SSL_CTX_set_default_verify_paths(context_.get());
    } else {
      SSL_CTX_load_verify_locations(context_.get(), options.ca_file.c_str(), nullptr);
    }
    if (!options.cert_file.empty()) {
      SSL_use_certificate_chain_file(ssl_.get(), options.cert_file.c_str());
      SSL_use_PrivateKey_file(ssl_.get(), options.key_file.c_str(), SSL_FILETYPE_PEM);
    }
    const std::string& name = options.server_name.empty() ? host : options.server_name;
    if (client::IsAddress(name)) {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), name.c_str());
    } else {
      SSL_set1_host(ssl_.get(), name.c_str());
      SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
    }
    constexpr unsigned char kHttp2[] = {2, 'h', '2'};
    SSL_set_alpn_protos(ssl_.get(), kHttp2, sizeof(kHttp2));
    SSL_set_cert_cb(
        ssl_.get(),
        [](SSL* /*ssl*/, void* asks) {
          *static_cast<bool*>(asks) = true;
          return 1;
        },
        &asks_for_certificate_);
    SSL_set_fd(ssl_.get(), fd);
    ERR_clear_error();
    is_connected_ = SSL_connect(ssl_.get()) == 1;
    error_ = ERR_GET_REASON(ERR_peek_error());
  }

  // Returns true if the peer sent anything that is TLS.
  bool IsTls() const { return is_connected_ || error_ > SSL_AD_REASON_OFFSET; }
  // Returns true if it sent something else.
  bool IsSomethingElse() const { return !is_connected_ && error_ == SSL_R_WRONG_VERSION_NUMBER; }
  // Returns the fault of the server's certificate; empty if there is none.
  std::string CertificateError() const {
    const long result = SSL_get_verify_result(ssl_.get());
    return !is_connected_ || result == X509_V_OK ? "" : X509_verify_cert_error_string(result);
  }
  // Returns true if the server requires a certificate and then closes the connection. With TLS 1.3 this
  // happens after the handshake, and the RPC library does not report the cause.
  bool IsRefused() {
    char byte = 0;
    const int read = is_connected_ && asks_for_certificate_ ? SSL_read(ssl_.get(), &byte, 1) : 1;
    return read <= 0 && SSL_get_error(ssl_.get(), read) != SSL_ERROR_WANT_READ;
  }

 private:
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  bool is_connected_ = false;
  bool asks_for_certificate_ = false;
  int error_ = 0;
};

std::string WhyCallsFail(TlsProbe& probe, const client::Options& options, const std::string& server) {
  if (!options.tls) {
    return probe.IsTls() ? absl::StrCat("the server at ", server,
                                        " speaks TLS, and was called without\n--tls encrypts; --ca FILE says "
                                        "who vouches for the server, if this machine does not know.")
                         : "";
  }
  if (probe.IsSomethingElse()) {
    return absl::StrCat(
        "the server at ", server,
        " does not speak TLS, and was called with\nLeave out --tls, and what implies it: --ca, "
        "--cert, --key, --server-name and their variables.");
  }
  if (const std::string error = probe.CertificateError(); !error.empty()) {
    return absl::StrCat(
        "the certificate of the server at ", server, " is not trusted: ", error,
        "\n--ca FILE says who vouches for it, and --server-name NAME which name it must prove.");
  }
  return probe.IsRefused()
             ? absl::StrCat("the server at ", server,
                            " wants a certificate that it trusts\n--cert FILE and --key FILE show "
                            "it one.")
             : "";
}

}  // namespace

std::string WhyUnreachable(const client::Options& options, const std::string& server) {
  const std::optional<client::Endpoint> endpoint = client::FirstEndpoint(options.target);
  if (!endpoint) {
    return "";
  }
  const absl::StatusOr<int> fd = Connect(*endpoint);
  if (!fd.ok()) {
    return CannotReach(server, fd.status().message());
  }
  // Blocks SIGPIPE of a connection closed by the peer, and discards a pending one.
  const HeldSignals held({SIGPIPE});
  TlsProbe probe(*fd, options, endpoint->host);
  std::string why = WhyCallsFail(probe, options, server);
  close(*fd);
  held.Wait(absl::ZeroDuration());
  return why;
}

}  // namespace waystar::cli
