#include "server/storage/etcd/certificate_check.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace waystar::etcd {
namespace {

constexpr char kProtocols[] = "\x02h2";

struct Freer {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
};

class Socket {
 public:
  Socket(const Endpoint& endpoint, absl::Duration patience) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(), &hints, &found) != 0) {
      return;
    }
    const std::unique_ptr<addrinfo, Freer> addresses(found);
    const timeval limit = absl::ToTimeval(patience);
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
      socket_ = ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
      setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
      setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      if (connect(socket_, address->ai_addr, address->ai_addrlen) == 0) {
        return;
      }
      ::close(socket_);
      socket_ = -1;
    }
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (socket_ >= 0) {
      ::close(socket_);
    }
  }

  int get() const { return socket_; }

 private:
  int socket_ = -1;
};

// Returns the context of a client that uses these files, or null if one of them cannot be used.
std::unique_ptr<SSL_CTX, Freer> MakeContext(const TlsFiles& files) {
  std::unique_ptr<SSL_CTX, Freer> context(SSL_CTX_new(TLS_client_method()));
  const bool has_roots = files.ca.empty()
                             ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                             : SSL_CTX_load_verify_locations(context.get(), files.ca.c_str(), nullptr) == 1;
  const bool has_own = files.cert.empty() ||
                       (SSL_CTX_use_certificate_chain_file(context.get(), files.cert.c_str()) == 1 &&
                        SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) == 1);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(kProtocols),
                          sizeof(kProtocols) - 1);
  return has_roots && has_own ? std::move(context) : nullptr;
}

// Returns true if the peer ended the handshake because of a certificate.
bool IsRefusal(unsigned long error) {
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) {
    return false;
  }
  switch (ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET) {
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_DECRYPT_ERROR:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

void ExpectHost(const std::string& host, SSL* connection) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host.c_str()) != 1) {
    SSL_set1_host(connection, host.c_str());
    SSL_set_tlsext_host_name(connection, host.c_str());
  }
}

}  // namespace

Handshake ShakeHands(const Endpoint& endpoint, const TlsFiles& files, absl::Duration patience) {
  const std::unique_ptr<SSL_CTX, Freer> context = MakeContext(files);
  const Socket socket(endpoint, patience);
  if (context == nullptr || socket.get() < 0) {
    return {};
  }
  const std::unique_ptr<SSL, Freer> connection(SSL_new(context.get()));
  ExpectHost(endpoint.host, connection.get());
  SSL_set_fd(connection.get(), socket.get());
  ERR_clear_error();
  // In TLS 1.3 a member rejects a certificate after the client considers the handshake done. A member that
  // accepts it sends nothing, since it waits for the client.
  char byte = 0;
  const bool is_done = SSL_connect(connection.get()) == 1;
  if (is_done && SSL_read(connection.get(), &byte, 1) == 1) {
    return {.end = HandshakeEnd::kNotRefused};
  }
  const unsigned long error = ERR_get_error();
  const long verified = SSL_get_verify_result(connection.get());
  ERR_clear_error();
  if (verified != X509_V_OK) {
    return {.end = HandshakeEnd::kRefused,
            .why = absl::StrCat("the certificate of etcd at ", TextOf(endpoint),
                                " is not taken: ", X509_verify_cert_error_string(verified))};
  }
  if (IsRefusal(error)) {
    return {.end = HandshakeEnd::kRefused,
            .why = absl::StrCat("etcd at ", TextOf(endpoint),
                                files.cert.empty() ? " refuses a client that shows no certificate: "
                                                   : " refuses the client's certificate: ",
                                ERR_reason_error_string(error))};
  }
  return {.end = is_done ? HandshakeEnd::kNotRefused : HandshakeEnd::kNoAnswer};
}

}  // namespace waystar::etcd
