#include "server/service/transport/http/http_server.h"

#include <algorithm>
#include <tuple>
#include <utility>

// Boost.Asio 1.74 needs this header and does not include it.
#include <utility>
// The header above must precede all others.
#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/thread.h"
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
  return {.network = network, .address = address.to_string(), .port = peer.port()};
}

}  // namespace

class HttpServer::Core {
 public:
  Core(HttpServerOptions options, HttpHandler& handler)
      : options_(std::move(options)),
        connections_(options_.limits),
        service_{.limits = options_.limits,
                 .handler = handler,
                 .bodies = std::make_shared<BodyLedger>(options_.limits.max_body_bytes,
                                                        options_.limits.max_network_body_bytes),
                 .on_end = [this](const HttpConnection& connection) { connections_.Remove(connection); }},
        context_(options_.threads),
        strand_(asio::make_strand(context_)),
        work_(context_.get_executor()),
        timer_(strand_) {}

  ~Core() { Stop(absl::ZeroDuration()); }

  absl::Status Start() {
    for (const std::string& address : options_.listen) {
      absl::StatusOr<net::Listener> listener = net::Listener::Open(address, kUnacknowledgedTime);
      if (!listener.ok()) {
        return absl::Status(listener.status().code(),
                            absl::StrCat(address, ": ", listener.status().message()));
      }
      ports_.push_back(listener->port());
      for (const net::Descriptor& socket : listener->sockets()) {
        doors_.emplace_back(strand_, socket.fd());
      }
      listeners_.push_back(*std::move(listener));
    }
    asio::post(strand_, [this] {
      Walk();
      for (asio::posix::stream_descriptor& door : doors_) {
        AwaitConnections(door);
      }
    });
    for (int i = 0; i < options_.threads; ++i) {
      threads_.push_back(StartThread("http", [this] { context_.run(); }));
    }
    return absl::OkStatus();
  }

  void Stop(absl::Duration grace) {
    const auto deadline =
        std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(std::min(grace, absl::Hours(24)));
    service_.is_draining = true;
    asio::post(strand_, [this] {
      is_stopping_ = true;
      for (asio::posix::stream_descriptor& door : doors_) {
        door.release();
      }
      listeners_.clear();
      connections_.EndWaiting();
    });
    if (!threads_.empty()) {
      connections_.WaitUntilEmpty(deadline);
    }
    // Runs after all accepted connections are registered.
    asio::post(strand_, [this] {
      timer_.cancel();
      connections_.EndAll();
    });
    work_.reset();
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
    // If no thread ran, the handles are still open. The listeners own the descriptors.
    for (asio::posix::stream_descriptor& door : doors_) {
      door.release();
    }
  }

  const std::vector<int>& ports() const { return ports_; }

  HttpServerCounts counts() const {
    return {.connections = connections_.size(),
            .body_bytes = service_.bodies->bytes(),
            .waiting_bytes = service_.waiting_bytes,
            .accepted = accepted_,
            .refused = refused_,
            .evicted = connections_.evicted(),
            .stalled = service_.stalled,
            .requests = service_.requests};
  }

 private:
  using Strand = asio::strand<asio::io_context::executor_type>;

  void Walk() {
    if (is_stopping_ && connections_.size() == 0) {
      return;
    }
    connections_.Tick(std::chrono::steady_clock::now());
    timer_.expires_after(options_.limits.tick);
    timer_.async_wait([this](const error_code& error) {
      if (!error) {
        Walk();
      }
    });
  }

  void AwaitConnections(asio::posix::stream_descriptor& door) {
    door.async_wait(asio::posix::stream_descriptor::wait_read, [this, &door](const error_code& error) {
      if (error || is_stopping_) {
        return;
      }
      if (AcceptAll(door.native_handle())) {
        AwaitConnections(door);
        return;
      }
      auto pause = std::make_shared<asio::steady_timer>(strand_, kAcceptPause);
      pause->async_wait([this, &door, pause](const error_code&) {
        if (!is_stopping_) {
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
          // The connection has the reserve descriptor. An evicted one will free another soon.
          if (connections_.EndOne()) {
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
    tcp::socket socket(asio::make_strand(context_));
    error_code error;
    // The protocol given here is not used.
    socket.assign(tcp::v4(), descriptor.fd(), error);
    if (error) {
      return;
    }
    HttpClient client = ClientOf(socket, network);
    if (!service_.handler.Admits(client) || !connections_.MakeRoom(network)) {
      socket.release(error);
      Turn(std::move(descriptor));
      return;
    }
    descriptor.Release();
    socket.set_option(asio::socket_base::send_buffer_size(options_.limits.send_buffer_bytes), error);
    ++accepted_;
    auto connection = std::make_shared<HttpConnection>(std::move(socket), std::move(client),
                                                       options_.tls ? options_.tls() : nullptr, service_);
    connections_.Add(connection);
    connection->Start();
  }

  const HttpServerOptions options_;
  std::atomic<std::uint64_t> accepted_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  ConnectionSet connections_;
  HttpService service_;
  asio::io_context context_;
  // Accepts connections and checks deadlines.
  Strand strand_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer timer_;
  net::Acceptor acceptor_;
  std::vector<int> ports_;
  std::vector<net::Listener> listeners_;
  // Sockets of the listeners.
  std::vector<asio::posix::stream_descriptor> doors_;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
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

const std::vector<int>& HttpServer::ports() const { return core_->ports(); }

HttpServerCounts HttpServer::counts() const { return core_->counts(); }

bool ConnectionSet::MakeRoom(const net::Network& network) {
  MutexLock lock(mutex_);
  // Unix sockets count only towards the total.
  if (network.has_address() && places_.Of(network) >= limits_.max_network_connections) {
    return Evict(&network);
  }
  return connections_.size() < limits_.max_connections || Evict(nullptr);
}

bool ConnectionSet::EndOne() {
  MutexLock lock(mutex_);
  return Evict(nullptr);
}

void ConnectionSet::Add(std::shared_ptr<HttpConnection> connection) {
  MutexLock lock(mutex_);
  places_.TakeAnyway(connection->network());
  connections_.push_back(std::move(connection));
}

void ConnectionSet::Remove(const HttpConnection& connection) {
  MutexLock lock(mutex_);
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& each) { return each.get() == &connection; });
  // An evicted connection is already forgotten.
  if (found != connections_.end()) {
    Forget(found);
  }
}

void ConnectionSet::Tick(std::chrono::steady_clock::time_point now) const {
  MutexLock lock(mutex_);
  for (const auto& connection : connections_) {
    connection->Tick(now);
  }
}

void ConnectionSet::EndWaiting() const {
  MutexLock lock(mutex_);
  for (const auto& connection : connections_) {
    connection->EndIfWaiting();
  }
}

void ConnectionSet::EndAll() const {
  MutexLock lock(mutex_);
  for (const auto& connection : connections_) {
    connection->End();
  }
}

std::size_t ConnectionSet::size() const {
  MutexLock lock(mutex_);
  return connections_.size();
}

std::uint64_t ConnectionSet::evicted() const {
  MutexLock lock(mutex_);
  return evicted_;
}

void ConnectionSet::WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (!connections_.empty() && std::chrono::steady_clock::now() < deadline) {
    changed_.WaitUntil(mutex_, deadline);
  }
}

bool ConnectionSet::Evict(const net::Network* network) {
  const auto rank = [&](const HttpConnection& connection) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return std::tuple(!connection.is_trusted(), places_.Of(connection.network()));
  };
  auto worst = connections_.end();
  for (auto each = connections_.begin(); each != connections_.end(); ++each) {
    const bool may_go = !(*each)->is_serving() && (network == nullptr || (*each)->network() == *network);
    if (may_go && (worst == connections_.end() || rank(**each) > rank(**worst))) {
      worst = each;
    }
  }
  // The connection may have started to serve a request since the check.
  if (worst == connections_.end() || !(*worst)->EndIfWaiting()) {
    return false;
  }
  ++evicted_;
  Forget(worst);
  return true;
}

void ConnectionSet::Forget(Connections::iterator connection) {
  places_.GiveBack((*connection)->network());
  connections_.erase(connection);
  changed_.NotifyAll();
}

}  // namespace waystar::http
