#include "server/service/transport/http/http_server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/quota.h"
#include "server/base/thread.h"
#include "server/service/transport/http/http_connection.h"
#include "server/service/transport/net/listener.h"

namespace waystar::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Maximum number of connections accepted on one socket in a row.
constexpr int kAcceptTurn = 64;
constexpr std::chrono::milliseconds kAcceptPause(100);
// TCP timeout after which a silent peer counts as gone.
constexpr absl::Duration kUnacknowledgedTime = absl::Seconds(30);

HttpClient ClientOf(const tcp::socket& socket, const net::Network& network) {
  error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error || !network.has_address()) {
    return {.network = network};
  }
  asio::ip::address address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return {.network = network, .address = address.to_string()};
}

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

class HttpServer::Core {
 public:
  Core(HttpServerOptions options, HttpHandler& handler)
      : options_(std::move(options)),
        service_{.limits = options_.limits,
                 .handler = handler,
                 .bodies = std::make_shared<BodyLedger>(options_.limits.max_body_bytes,
                                                        options_.limits.max_network_body_bytes),
                 .on_end = [this](const HttpConnection& connection) { Forget(connection); }},
        context_(/*concurrency_hint=*/1),
        work_(context_.get_executor()),
        timer_(context_),
        places_(Quota<net::Network>::Fixed(options_.limits.max_connections,
                                           options_.limits.max_network_connections)) {}

  ~Core() { Stop(absl::ZeroDuration()); }

  absl::Status Start() {
    absl::StatusOr<net::Listener> listener = net::Listener::Open(options_.listen, kUnacknowledgedTime);
    if (!listener.ok()) {
      return absl::Status(listener.status().code(),
                          absl::StrCat(options_.listen, ": ", listener.status().message()));
    }
    port_ = listener->port();
    for (const net::Descriptor& socket : listener->sockets()) {
      doors_.emplace_back(context_, socket.fd());
    }
    listener_.emplace(*std::move(listener));
    for (asio::posix::stream_descriptor& door : doors_) {
      AwaitConnections(door);
    }
    thread_ = StartThread("http", [this] { context_.run(); });
    return absl::OkStatus();
  }

  void Stop(absl::Duration grace) {
    if (!thread_.joinable()) {
      return;
    }
    asio::post(context_, [this, grace] {
      service_.is_draining = true;
      for (asio::posix::stream_descriptor& door : doors_) {
        // The listener owns the descriptor.
        door.release();
      }
      listener_.reset();
      CloseAll(/*serving_too=*/false);
      if (connections_.empty()) {
        return;
      }
      timer_.expires_after(absl::ToChronoNanoseconds(std::min(grace, absl::Hours(24))));
      timer_.async_wait([this](const error_code& error) {
        if (!error) {
          CloseAll(/*serving_too=*/true);
        }
      });
    });
    work_.reset();
    thread_.join();
  }

  int port() const { return port_; }

  HttpServerCounts counts() const {
    return {.connections = open_,
            .body_bytes = service_.bodies->bytes(),
            .waiting_bytes = service_.waiting_bytes,
            .refused = refused_,
            .evicted = evicted_,
            .stalled = service_.stalled,
            .requests = service_.requests};
  }

 private:
  using Connections = std::vector<std::shared_ptr<HttpConnection>>;

  void AwaitConnections(asio::posix::stream_descriptor& door) {
    door.async_wait(asio::posix::stream_descriptor::wait_read, [this, &door](const error_code& error) {
      if (error || service_.is_draining) {
        return;
      }
      if (AcceptAll(door.native_handle())) {
        AwaitConnections(door);
        return;
      }
      auto pause = std::make_shared<asio::steady_timer>(context_, kAcceptPause);
      pause->async_wait([this, &door, pause](const error_code&) {
        if (!service_.is_draining) {
          AwaitConnections(door);
        }
      });
    });
  }

  // Accepts waiting connections. Returns false if that failed and will likely fail again at once.
  bool AcceptAll(int listener) {
    for (int i = 0; i < kAcceptTurn; ++i) {
      net::Acceptor::Attempt attempt = acceptor_.AcceptOnReserve(listener);
      switch (attempt.outcome) {
        case net::Acceptor::Outcome::kAccepted:
          Admit(std::move(attempt.connection));
          break;
        case net::Acceptor::Outcome::kOnReserve:
          // The connection has the reserve descriptor. An evicted one has freed another.
          if (Evict(nullptr)) {
            Admit(std::move(attempt.connection));
            return true;
          }
          Turn(std::move(attempt.connection));
          acceptor_.RestoreReserve();
          break;
        case net::Acceptor::Outcome::kGone:
          break;
        case net::Acceptor::Outcome::kNone:
          return true;
        case net::Acceptor::Outcome::kFailed:
          return false;
      }
    }
    return true;
  }

  void Turn(net::Descriptor connection) {
    ++refused_;
    net::Reset(std::move(connection));
  }

  void Admit(net::Descriptor descriptor) {
    const net::Network network = net::Network::OfPeer(descriptor.fd());
    if (!network.is_known()) {
      return;
    }
    tcp::socket socket(context_);
    error_code error;
    // The protocol given here is not used.
    socket.assign(tcp::v4(), descriptor.fd(), error);
    if (error) {
      return;
    }
    HttpClient client = ClientOf(socket, network);
    if (!service_.handler.Admits(client) || !MakeRoom(network)) {
      socket.release(error);
      Turn(std::move(descriptor));
      return;
    }
    descriptor.Release();
    socket.set_option(asio::socket_base::send_buffer_size(options_.limits.send_buffer_bytes), error);
    connections_.push_back(std::make_shared<HttpConnection>(
        std::move(socket), std::move(client), options_.tls ? options_.tls() : nullptr, service_));
    places_.TakeAnyway(network);
    open_ = connections_.size();
    connections_.back()->Start();
  }

  // Makes room for a connection of that network. Returns false if that is impossible.
  bool MakeRoom(const net::Network& network) {
    // Unix sockets count only towards the total.
    if (network.has_address() && places_.Of(network) >= options_.limits.max_network_connections) {
      return Evict(&network);
    }
    return connections_.size() < options_.limits.max_connections || Evict(nullptr);
  }

  // Evicts a connection of the network, or of any network if null. Returns false if there is none to evict.
  bool Evict(const net::Network* network) {
    const auto rank = [&](const HttpConnection& connection) {
      return std::tuple(!connection.is_trusted(), places_.Of(connection.network()));
    };
    std::shared_ptr<HttpConnection> worst;
    for (const auto& each : connections_) {
      const bool may_go = !each->is_serving() && (network == nullptr || each->network() == *network);
      if (may_go && (worst == nullptr || rank(*each) > rank(*worst))) {
        worst = each;
      }
    }
    if (worst == nullptr) {
      return false;
    }
    ++evicted_;
    worst->Close(true);
    return true;
  }

  // Closes the connections that serve no request, or all.
  void CloseAll(bool serving_too) {
    const Connections connections = connections_;
    for (const auto& connection : connections) {
      if (serving_too || !connection->is_serving()) {
        connection->Close(true);
      }
    }
  }

  void Forget(const HttpConnection& connection) {
    places_.GiveBack(connection.network());
    std::erase_if(connections_, [&](const auto& each) { return each.get() == &connection; });
    open_ = connections_.size();
    if (service_.is_draining && connections_.empty()) {
      timer_.cancel();
    }
  }

  const HttpServerOptions options_;
  std::atomic<std::size_t> open_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> evicted_ = 0;
  HttpService service_;
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  // Ends the grace of Stop.
  asio::steady_timer timer_;
  net::Acceptor acceptor_;
  int port_ = 0;
  std::optional<net::Listener> listener_;
  // Sockets of the listener.
  std::vector<asio::posix::stream_descriptor> doors_;
  // Oldest first.
  Connections connections_;
  Quota<net::Network> places_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options,
                                                              HttpHandler& handler) {
  auto core = std::make_unique<Core>(std::move(options), handler);
  WAYSTAR_RETURN_IF_ERROR(core->Start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

HttpServer::HttpServer(std::unique_ptr<Core> core) : core_(std::move(core)) {}

HttpServer::~HttpServer() = default;

void HttpServer::Stop(absl::Duration grace) { core_->Stop(grace); }

int HttpServer::port() const { return core_->port(); }

HttpServerCounts HttpServer::counts() const { return core_->counts(); }

}  // namespace waystar::http
