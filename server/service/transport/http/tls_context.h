// TLS context of the server.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace waystar::http {

using TlsContext = boost::asio::ssl::context;

// All in PEM format.
struct TlsIdentity {
  // Certificate chain of the server.
  std::string certificates;
  // Private key, without a password.
  std::string key;
  // Root certificates for client certificates; empty if clients need none.
  std::string client_roots = {};
};

// Makes a context for TLS 1.2 and later, which any number of connections may share. Returns INVALID_ARGUMENT
// if the certificates or the key are invalid or do not match.
absl::StatusOr<std::shared_ptr<TlsContext>> MakeTlsContext(const TlsIdentity& identity);

}  // namespace waystar::http
