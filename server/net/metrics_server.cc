#include "server/net/metrics_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace waystar::net {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using runtime::HistogramCounts;
using runtime::MetricLabels;

constexpr std::size_t kMostConnections = 64;
constexpr std::chrono::milliseconds kPause(100);

// Metrics of one name make one family, whoever added them, in the order of the first of each.
class Families final : public runtime::MetricSink {
 public:
  void AddCounter(absl::string_view name, absl::string_view help, MetricLabels labels,
                  double value) override {
    Add(name, help, MetricType::Counter, std::move(labels)).counter.value = value;
  }

  void AddGauge(absl::string_view name, absl::string_view help, MetricLabels labels, double value) override {
    Add(name, help, MetricType::Gauge, std::move(labels)).gauge.value = value;
  }

  void AddHistogram(absl::string_view name, absl::string_view help, MetricLabels labels,
                    const HistogramCounts& counts) override {
    ClientMetric::Histogram& histogram = Add(name, help, MetricType::Histogram, std::move(labels)).histogram;
    histogram.sample_count = counts.count;
    histogram.sample_sum = counts.sum;
    histogram.bucket.reserve(counts.bounds.size());
    for (std::size_t i = 0; i < counts.bounds.size(); ++i) {
      histogram.bucket.push_back({.cumulative_count = counts.cumulative[i], .upper_bound = counts.bounds[i]});
    }
  }

  std::vector<MetricFamily> Take() && { return std::move(families_); }

 private:
  ClientMetric& Add(absl::string_view name, absl::string_view help, MetricType type, MetricLabels labels) {
    const auto [found, is_new] = by_name_.try_emplace(name, families_.size());
    if (is_new) {
      families_.push_back({.name = std::string(name), .help = std::string(help), .type = type});
    }
    ClientMetric& metric = families_[found->second].metric.emplace_back();
    metric.label.reserve(labels.size());
    for (auto& [label, value] : labels) {
      metric.label.push_back({.name = std::move(label), .value = std::move(value)});
    }
    return metric;
  }

  std::vector<MetricFamily> families_;
  absl::flat_hash_map<std::string, std::size_t> by_name_;
};

int MillisecondsUntil(HttpConnection::TimePoint time, HttpConnection::TimePoint now) {
  return static_cast<int>(
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(time - now).count(), 0));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& listen, std::vector<const runtime::MetricSource*> sources) {
  absl::StatusOr<Listener> listener =
      Listener::Open(absl::StrContains(listen, ':') ? listen : absl::StrCat("[::]:", listen));
  if (!listener.ok()) {
    return absl::Status(listener.status().code(),
                        absl::StrCat("--metrics_listen=", listen, ": ", listener.status().message()));
  }
  return std::unique_ptr<MetricsServer>(new MetricsServer(*std::move(listener), std::move(sources)));
}

MetricsServer::MetricsServer(Listener listener, std::vector<const runtime::MetricSource*> sources)
    : listener_(std::move(listener)),
      sources_(std::move(sources)),
      wake_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

MetricsServer::~MetricsServer() {
  ::eventfd_write(wake_.fd(), 1);
  thread_.join();
}

void MetricsServer::Run() {
  ::pthread_setname_np(::pthread_self(), "metrics");
  const HttpConnection::Responder respond = [this](absl::string_view method, absl::string_view path) {
    return Respond(method, path);
  };
  const auto never = HttpConnection::TimePoint::max();
  auto pause_end = never;
  std::vector<pollfd> polled;
  for (;;) {
    const auto before = std::chrono::steady_clock::now();
    polled = {{.fd = wake_.fd(), .events = POLLIN}};
    for (const Descriptor& socket : listener_.sockets()) {
      polled.push_back({.fd = pause_end == never ? socket.fd() : -1, .events = POLLIN});
    }
    auto next = pause_end;
    for (const HttpConnection& connection : connections_) {
      polled.push_back({.fd = connection.fd(), .events = connection.events()});
      next = std::min(next, connection.deadline());
    }
    ::poll(polled.data(), polled.size(), next == never ? -1 : MillisecondsUntil(next, before));
    const auto now = std::chrono::steady_clock::now();
    if ((polled[0].revents & POLLIN) != 0) {
      return;
    }
    auto polled_connection = polled.begin() + 1 + static_cast<std::ptrdiff_t>(listener_.sockets().size());
    for (auto connection = connections_.begin(); connection != connections_.end(); ++polled_connection) {
      const bool is_over = connection->deadline() <= now ||
                           (polled_connection->revents != 0 && !connection->Continue(now, respond));
      connection = is_over ? connections_.erase(connection) : std::next(connection);
    }
    if (pause_end <= now) {
      pause_end = never;
    }
    for (std::size_t i = 0; i < listener_.sockets().size(); ++i) {
      if (polled[1 + i].revents != 0 && !AcceptAll(polled[1 + i].fd, now)) {
        pause_end = now + kPause;
      }
    }
  }
}

bool MetricsServer::AcceptAll(int listener, HttpConnection::TimePoint now) {
  // No more at a time than there is room for, so that none is closed before it was looked at.
  for (std::size_t i = 0; i < kMostConnections; ++i) {
    Acceptor::Attempt attempt = acceptor_.Accept(listener);
    if (attempt.outcome == Acceptor::Outcome::kAccepted) {
      connections_.emplace_back(std::move(attempt.connection), now);
      if (connections_.size() > kMostConnections) {
        CloseOneOfMany();
      }
    } else if (attempt.outcome == Acceptor::Outcome::kNone || attempt.outcome == Acceptor::Outcome::kFailed) {
      return attempt.outcome == Acceptor::Outcome::kNone;
    }
  }
  return true;
}

void MetricsServer::CloseOneOfMany() {
  absl::flat_hash_map<Network, int> by_network;
  for (const HttpConnection& connection : connections_) {
    ++by_network[connection.network()];
  }
  connections_.erase(std::max_element(connections_.begin(), connections_.end(),
                                      [&](const HttpConnection& a, const HttpConnection& b) {
                                        return by_network[a.network()] < by_network[b.network()];
                                      }));
}

std::string MetricsServer::Respond(absl::string_view method, absl::string_view path) const {
  if (path != "/metrics") {
    return HttpAnswer("404 Not Found", "text/plain", "Metrics are at /metrics.\n");
  }
  if (method != "GET") {
    return HttpAnswer("405 Method Not Allowed", "text/plain", "Metrics are read with GET.\n");
  }
  Families families;
  for (const runtime::MetricSource* const source : sources_) {
    source->Collect(families);
  }
  return HttpAnswer("200 OK", "text/plain; version=0.0.4",
                    prometheus::TextSerializer().Serialize(std::move(families).Take()));
}

}  // namespace waystar::net
