#include "tests/storage/etcd/tls_member.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "gtest/gtest.h"

namespace waystar::testing {
namespace {

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

Owned<X509> CertificateOf(const std::string& pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> text(BIO_new_mem_buf(pem.data(), -1), &BIO_free);
  return {PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &X509_free};
}

Owned<EVP_PKEY> KeyOf(const std::string& pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> text(BIO_new_mem_buf(pem.data(), -1), &BIO_free);
  return {PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
}

}  // namespace

TlsMember::TlsMember(const Identity& identity, const Authority* clients)
    : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free) {
  EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), CertificateOf(identity.cert).get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), KeyOf(identity.key).get()), 1);
  if (clients != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), CertificateOf(clients->cert()).get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, kHost, &address.sin_addr);
  socklen_t size = sizeof(address);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(socket_, 16), 0);
  EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  endpoint_ = {kHost, ntohs(address.sin_port)};
  thread_ = std::thread([this] { Run(); });
}

TlsMember::~TlsMember() {
  ::shutdown(socket_, SHUT_RDWR);
  thread_.join();
  ::close(socket_);
}

void TlsMember::Run() {
  // Clients may be gone when it answers.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  while (true) {
    const int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
      return;
    }
    const Owned<SSL> connection(SSL_new(context_.get()), &SSL_free);
    SSL_set_fd(connection.get(), client);
    SSL_accept(connection.get());
    ::close(client);
  }
}

}  // namespace waystar::testing
