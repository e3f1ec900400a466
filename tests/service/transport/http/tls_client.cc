#include "tests/service/transport/http/tls_client.h"

// Asio 1.74 lacks this include.
#include <utility>
// It must stand first.
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "tests/testing/patience.h"

namespace waystar {

namespace asio = boost::asio;
using asio::ip::tcp;

TlsClient::TlsClient(Options options) : options_(std::move(options)) {}

std::string TlsClient::Ask(int port, const std::string& bytes) const {
  asio::io_context io;
  asio::ssl::context trust(asio::ssl::context::tls_client);
  trust.add_certificate_authority(asio::buffer(options_.roots));
  trust.set_verify_mode(asio::ssl::verify_peer);
  if (!options_.cert.empty()) {
    trust.use_certificate_chain(asio::buffer(options_.cert));
    trust.use_private_key(asio::buffer(options_.key), asio::ssl::context::pem);
  }
  asio::ssl::stream<tcp::socket> stream(io, trust);
  stream.next_layer().connect(
      tcp::endpoint(asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)));
  const timeval limit = absl::ToTimeval(kPatience);
  ::setsockopt(stream.next_layer().native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  boost::system::error_code error;
  stream.handshake(asio::ssl::stream_base::client, error);
  if (error) {
    return "";
  }
  asio::write(stream, asio::buffer(bytes), error);
  std::string answer;
  // By TLS 1.3 a client hears only now that its certificate is refused.
  asio::read(stream, asio::dynamic_buffer(answer), error);
  return answer;
}

}  // namespace waystar
