#include "server/service/transport/http/tls_context.h"

// Boost.Asio 1.74 needs this header and does not include it.
// The header above must precede all others.
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace waystar::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Session id context: OpenSSL requires one to resume sessions with client certificates.
constexpr unsigned char kSessionContext[] = {'w', 'a', 'y', 's', 't', 'a', 'r'};

absl::Status BadPem(absl::string_view what, const error_code& error) {
  return absl::InvalidArgumentError(absl::StrCat("the TLS ", what, ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<TlsContext>> MakeTlsContext(const TlsIdentity& identity) {
  auto context = std::make_shared<TlsContext>(asio::ssl::context::tls_server);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1 | SSL_OP_NO_RENEGOTIATION);
  error_code error;
  context->use_certificate_chain(asio::buffer(identity.certificates), error);
  if (error) {
    return BadPem("certificate", error);
  }
  context->use_private_key(asio::buffer(identity.key), asio::ssl::context::pem, error);
  if (error) {
    return BadPem("key", error);
  }
  SSL_CTX_set_session_id_context(context->native_handle(), kSessionContext, sizeof(kSessionContext));
  if (!identity.client_roots.empty()) {
    context->add_certificate_authority(asio::buffer(identity.client_roots), error);
    if (error) {
      return BadPem("roots of clients", error);
    }
    context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  }
  return context;
}

}  // namespace waystar::http
