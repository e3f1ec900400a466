// An HTTP server of metrics for Prometheus.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/net/acceptor.h"
#include "server/net/descriptor.h"
#include "server/net/http_connection.h"
#include "server/net/listener.h"
#include "server/runtime/metric_sink.h"

namespace waystar::net {

// Answers GET /metrics in Prometheus' text format, on a thread of its own, until it is destroyed. It has no
// encryption, and answers anyone who reaches the address. It waits for no client: one that is slow costs it a
// connection for some seconds (see HttpConnection), and of more than 64 connections it closes the oldest of
// the address that has most.
class MetricsServer {
 public:
  // `listen` is HOST:PORT, or PORT for all addresses of the machine; port 0 takes a free one. Each request
  // collects from `sources`, in that order; they must outlive the server. Returns UNAVAILABLE if it cannot
  // listen.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& listen, std::vector<const runtime::MetricSource*> sources);

  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  ~MetricsServer();

  int port() const { return listener_.port(); }

 private:
  MetricsServer(Listener listener, std::vector<const runtime::MetricSource*> sources);

  void Run();
  // Returns false if the system could not accept, and so most likely cannot at once.
  bool AcceptAll(int listener, HttpConnection::TimePoint now);
  void CloseOneOfMany();
  std::string Respond(absl::string_view method, absl::string_view path) const;

  Listener listener_;
  const std::vector<const runtime::MetricSource*> sources_;
  // Becomes readable when the thread is to end.
  Descriptor wake_;
  Acceptor acceptor_;
  // The oldest stands first.
  std::list<HttpConnection> connections_;
  // It stands last, as it uses all of the above.
  std::thread thread_;
};

}  // namespace waystar::net
