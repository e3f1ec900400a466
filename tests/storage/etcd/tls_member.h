// A server that shakes hands over TLS as a member of etcd does, and does nothing else.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <thread>

#include "server/storage/etcd/etcd_address.h"
#include "tests/testing/certificates.h"

namespace waystar::testing {

class TlsMember {
 public:
  static constexpr char kHost[] = "127.0.0.1";

  // Shows that certificate, and asks for one that `clients` has issued, unless that is null.
  explicit TlsMember(const Identity& identity, const Authority* clients = nullptr);
  TlsMember(const TlsMember&) = delete;
  TlsMember& operator=(const TlsMember&) = delete;
  ~TlsMember();

  etcd::Endpoint endpoint() const { return endpoint_; }

 private:
  void Run();

  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  int socket_ = -1;
  etcd::Endpoint endpoint_;
  std::thread thread_;
};

}  // namespace waystar::testing
