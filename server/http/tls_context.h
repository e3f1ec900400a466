// What a server shows and asks for in a TLS handshake.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace waystar::http {

using TlsContext = boost::asio::ssl::context;

// All as PEM.
struct TlsIdentity {
  // The server's certificate, and those that lead from it to one that clients know.
  std::string certificates;
  // Its key, without a password.
  std::string key;
  // The roots of the certificates that clients must show; empty if they need none.
  std::string client_roots = {};
};

// Makes a context for TLS 1.2 and above, which any number of connections may share. Returns INVALID_ARGUMENT
// if the certificates or the key make no sense, or do not fit.
absl::StatusOr<std::shared_ptr<TlsContext>> MakeTlsContext(const TlsIdentity& identity);

}  // namespace waystar::http
