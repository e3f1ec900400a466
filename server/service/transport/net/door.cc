#include "server/service/transport/net/door.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_join.h"
#include "server/runtime/logging.h"

namespace waystar::net {
namespace {

constexpr int kPauseMs = 100;
// Maximum number of connections accepted on one socket in a row.
constexpr int kTurn = 64;
constexpr int kMostAtClosing = 1024;
constexpr std::chrono::seconds kLogInterval(10);

// Names of the limits by ConnectionTable::Verdict.
constexpr std::array<absl::string_view, ConnectionTable::kVerdicts> kLimitNames = {"", "all", "address",
                                                                                   "kept_out", "descriptors"};

// Returns true if the peer is gone and has sent nothing.
bool HasHungUp(int socket) {
  char byte = 0;
  const ssize_t read = ::recv(socket, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
  return read == 0 || (read < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace

Door::Door(Listener listener, const ConnectionLimits& limits, Handler handler)
    : listener_(std::move(listener)),
      port_(listener_.port()),
      table_(limits),
      handler_(std::move(handler)),
      wake_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

void Door::Close() {
  if (thread_.joinable()) {
    ::eventfd_write(wake_.fd(), 1);
    thread_.join();
    const Listener closed = std::move(listener_);
  }
}

void Door::Run() {
  ::pthread_setname_np(::pthread_self(), "door");
  std::vector<pollfd> polled = {{.fd = wake_.fd(), .events = POLLIN}};
  for (const Descriptor& socket : listener_.sockets()) {
    polled.push_back({.fd = socket.fd(), .events = POLLIN});
  }
  for (bool is_pausing = false;;) {
    ::poll(polled.data(), is_pausing ? 1 : polled.size(), is_pausing ? kPauseMs : -1);
    if ((polled[0].revents & POLLIN) != 0) {
      break;
    }
    const bool has_paused = std::exchange(is_pausing, false);
    for (std::size_t i = 1; i < polled.size() && !has_paused; ++i) {
      is_pausing |= polled[i].revents != 0 && !AcceptAll(polled[i].fd, kTurn);
    }
  }
  for (const Descriptor& socket : listener_.sockets()) {
    AcceptAll(socket.fd(), kMostAtClosing);
  }
}

bool Door::AcceptAll(int listener, int most) {
  for (int i = 0; i < most; ++i) {
    Acceptor::Attempt attempt = acceptor_.AcceptOnReserve(listener);
    switch (attempt.outcome) {
      case Acceptor::Outcome::kAccepted:
        Admit(listener, std::move(attempt.connection));
        break;
      case Acceptor::Outcome::kOnReserve:
        Reset(std::move(attempt.connection));
        acceptor_.RestoreReserve();
        CountRefused(Verdict::kNoDescriptor, "unknown");
        break;
      case Acceptor::Outcome::kGone:
        break;
      case Acceptor::Outcome::kNone:
        return true;
      case Acceptor::Outcome::kFailed:
        return false;
    }
  }
  return true;
}

void Door::Admit(int listener, Descriptor connection) {
  const Network network = Network::OfPeer(connection.fd());
  // A flood of connections that end at once is cheap here, and expensive for the handler.
  if (!network.is_known() || HasHungUp(connection.fd())) {
    return;
  }
  const Verdict verdict = table_.Add(connection.fd(), network);
  if (verdict == Verdict::kAdmitted) {
    by_verdict_[static_cast<std::size_t>(verdict)].fetch_add(1, std::memory_order_relaxed);
    handler_(listener, std::move(connection));
    return;
  }
  Reset(std::move(connection));
  CountRefused(verdict, network.Text());
}

void Door::TurnOut(absl::string_view network, std::uint16_t port, bool keeps_out) {
  if (table_.ShutDown(network, port, keeps_out ? kKeptOut : std::chrono::seconds(0))) {
    turned_out_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::string Door::Latest(std::chrono::steady_clock::duration time) const {
  return absl::StrJoin(table_.Latest(time), ",",
                       [](std::string* out, const Network& network) { out->append(network.Text()); });
}

void Door::CountRefused(Verdict verdict, absl::string_view network) {
  const auto index = static_cast<std::size_t>(verdict);
  by_verdict_[index].fetch_add(1, std::memory_order_relaxed);
  ++unlogged_;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_log_) {
    return;
  }
  runtime::Log(runtime::LogLevel::kWarning, "connections_refused",
               {{"refused", std::exchange(unlogged_, 0)},
                {"last_limit", kLimitNames[index]},
                {"last_address", network}});
  next_log_ = now + kLogInterval;
}

void Door::Collect(runtime::MetricSink& sink) const {
  sink.AddGauge("waystar_connections", "Connections that are open.", connections());
  sink.AddCounter("waystar_connections_accepted_total", "Connections that were accepted.",
                  by_verdict_[static_cast<std::size_t>(Verdict::kAdmitted)]);
  sink.AddCounter(
      "waystar_connections_turned_out_total",
      "Connections that were closed because calls on them showed wrong tokens, or did not go on, again "
      "and again.",
      turned_out_);
  for (std::size_t i = 1; i < ConnectionTable::kVerdicts; ++i) {
    sink.AddCounter("waystar_connections_refused_total",
                    "Connections that were reset, by the limit that they would have exceeded.",
                    by_verdict_[i], {{"limit", std::string(kLimitNames[i])}});
  }
}

}  // namespace waystar::net
