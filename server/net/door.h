// A thread that accepts connections within limits, and hands them to who serves them.
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
#include "server/net/acceptor.h"
#include "server/net/connection_table.h"
#include "server/net/descriptor.h"
#include "server/net/listener.h"
#include "server/net/network.h"
#include "server/runtime/metric_sink.h"

namespace waystar::net {

// Accepts until Close or destruction. Connections beyond the limits are reset at once, and so are those for
// which there is no descriptor; when the system lacks even what that takes, the door waits a tenth of a
// second and tries again. What it resets is counted, and logged once in ten seconds. A connection whose peer
// has hung up already is closed and not counted.
//
// Thread safety: one thread; TurnOut, Latest, connections, BytesFrom and Collect any.
class Door final : public runtime::MetricSource {
 public:
  // Takes a connection that does not block, and closes it sooner or later.
  using Handler = std::function<void(int listener, Descriptor connection)>;

  Door(Listener listener, const ConnectionLimits& limits, Handler handler);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() override { Close(); }

  // Hands over who has been waiting, and stops listening. The handler is not called any more.
  void Close();

  int port() const { return port_; }
  // Ends the connection of a peer that is not welcome any more: see ConnectionTable::ShutDown. With
  // `keeps_out` it admits nobody of that network for the next kKeptOut.
  void TurnOut(absl::string_view network, std::uint16_t port, bool keeps_out);
  static constexpr std::chrono::seconds kKeptOut{10};

  // Returns the addresses of those who came within that time, such as "192.0.2.1,192.0.2.7", the latest
  // first: see ConnectionTable::Latest.
  std::string Latest(std::chrono::steady_clock::duration time) const;

  // Returns the number of connections that were handed over and are open: see ConnectionTable.
  std::size_t connections() const { return table_.Count(); }

  // See ConnectionTable.
  std::vector<std::uint64_t> BytesFrom(const std::vector<ConnectionTable::Peer>& peers) const {
    return table_.BytesFrom(peers);
  }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  enum class Refusal : std::uint8_t { kAll, kNetwork, kKeptOut, kDescriptors };
  static constexpr std::size_t kRefusals = 4;

  void Run();
  // Returns false if the system could not accept, and so most likely cannot at once.
  bool AcceptAll(int listener, int most);
  void Admit(int listener, Descriptor connection);
  void CountRefused(Refusal refusal, absl::string_view network);

  static absl::string_view NameOf(Refusal refusal);
  static Refusal RefusalOf(ConnectionTable::Verdict verdict);

  Listener listener_;
  const int port_;
  mutable ConnectionTable table_;
  const Handler handler_;
  // Becomes readable when the thread is to end.
  Descriptor wake_;
  Acceptor acceptor_;
  std::atomic<std::uint64_t> accepted_ = 0;
  std::atomic<std::uint64_t> turned_out_ = 0;
  std::array<std::atomic<std::uint64_t>, kRefusals> refused_ = {};
  // What was refused since the last line of the log.
  std::uint64_t unlogged_ = 0;
  std::chrono::steady_clock::time_point next_log_;
  // It stands last, as it uses all of the above.
  std::thread thread_;
};

}  // namespace waystar::net
