#include "client/cli/unreachable.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/held_signals.h"
#include "client/target.h"

namespace waystar::cli {
namespace {

// How long to wait for each step of the other side.
constexpr timeval kPatience = {.tv_sec = 1, .tv_usec = 0};

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }

  int fd() const { return fd_; }

 private:
  const int fd_;
};

struct Attempt {
  // Null if there is no connection.
  std::unique_ptr<Socket> connection;
  // The OS error if the connection failed.
  std::string error;
};

Attempt Connect(const client::Endpoint& endpoint) {
  const addrinfo hints = {.ai_flags = 0, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    return {nullptr, gai_strerror(error)};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &freeaddrinfo);
  Attempt attempt;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    auto socket = std::make_unique<Socket>(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    setsockopt(socket->fd(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
    setsockopt(socket->fd(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    if (connect(socket->fd(), each->ai_addr, each->ai_addrlen) == 0) {
      return {std::move(socket), ""};
    }
    // So says the system when it has waited for as long as it was told.
    attempt.error = errno == EINPROGRESS ? "nothing answers there" : std::strerror(errno);
  }
  return attempt;
}

bool IsAddress(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

// A handshake as the RPC library makes it, but one that goes on with a certificate that is not trusted.
class TlsProbe {
 public:
  TlsProbe(const Socket& socket, const client::Options& options, const std::string& host)
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
    if (IsAddress(name)) {
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
    SSL_set_fd(ssl_.get(), socket.fd());
    ERR_clear_error();
    is_connected_ = SSL_connect(ssl_.get()) == 1;
    error_ = ERR_GET_REASON(ERR_peek_error());
  }

  // Returns true if the peer sent anything that is TLS.
  bool IsTls() const { return is_connected_ || IsAlert(error_); }
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
  static bool IsAlert(int error) { return error > SSL_AD_REASON_OFFSET; }

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
  const Attempt attempt = Connect(*endpoint);
  if (attempt.connection == nullptr) {
    return absl::StrCat("cannot reach a server at ", server, ": ", attempt.error,
                        "\nIs it running? --server HOST:PORT or WAYSTAR_SERVER names another.");
  }
  // Blocks SIGPIPE of a connection closed by the peer, and discards a pending one.
  const HeldSignals held({SIGPIPE});
  TlsProbe probe(*attempt.connection, options, endpoint->host);
  std::string why = WhyCallsFail(probe, options, server);
  held.Wait(absl::ZeroDuration());
  return why;
}

}  // namespace waystar::cli
