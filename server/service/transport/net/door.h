// Thread that accepts connections within limits and passes them on.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/runtime/metric_sink.h"
#include "server/service/transport/net/connection_table.h"
#include "server/service/transport/net/listener.h"

namespace waystar::net {

// Accepts connections until Close. Connections beyond the limits, or without a free descriptor, are reset at
// once. If even that fails, pauses 100 ms and retries. Resets are counted, and logged at most once in ten
// seconds. A connection whose peer has already hung up is closed and not counted.
//
// Thread safety: one thread; TurnOut, Latest, connections, BytesFrom and Collect may be called from any
// thread.
class Door final : public runtime::MetricSource {
 public:
  // Takes ownership of a non-blocking connection.
  using Handler = std::function<void(int listener, Descriptor connection)>;

  Door(Listener listener, const ConnectionLimits& limits, Handler handler);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() override { Close(); }

  // Passes on the waiting connections, and stops listening. The handler is not called afterwards.
  void Close();

  int port() const { return port_; }
  // Ends the connection of a peer (ConnectionTable::ShutDown). With `keeps_out`, admits no connection of that
  // network for the next kKeptOut.
  void TurnOut(absl::string_view network, std::uint16_t port, bool keeps_out);
  static constexpr std::chrono::seconds kKeptOut{10};

  // Returns the networks of recent connections, such as "192.0.2.1,192.0.2.7", latest first
  // (ConnectionTable::Latest).
  std::string Latest(std::chrono::steady_clock::duration time) const;

  // Returns the number of open connections that were passed on (ConnectionTable).
  std::size_t connections() const { return table_.Count(); }

  // Returns the bytes received from each peer: see ConnectionTable.
  std::vector<std::uint64_t> BytesFrom(const std::vector<ConnectionTable::Peer>& peers) const {
    return table_.BytesFrom(peers);
  }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  using Verdict = ConnectionTable::Verdict;

  void Run();
  // Accepts up to `most` connections. Returns false if that failed and will likely fail again at once.
  bool AcceptAll(int listener, int most);
  void Admit(int listener, Descriptor connection);
  void CountRefused(Verdict verdict, absl::string_view network);

  Listener listener_;
  const int port_;
  mutable ConnectionTable table_;
  const Handler handler_;
  // Becomes readable when the thread must end.
  Descriptor wake_;
  Acceptor acceptor_;
  std::atomic<std::uint64_t> turned_out_ = 0;
  std::array<std::atomic<std::uint64_t>, ConnectionTable::kVerdicts> by_verdict_ = {};
  // Refusals since the last log line.
  std::uint64_t unlogged_ = 0;
  std::chrono::steady_clock::time_point next_log_;
  // Declared last: it uses all members above.
  std::thread thread_;
};

}  // namespace waystar::net
