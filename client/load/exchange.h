#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "client/connection.h"
#include "client/load/settings.h"
#include "client/load/workload.h"

namespace waystar::load {

// The action after an event of a completion queue, whose tag points to it.
using Event = std::function<void(bool ok)>;

// Receives the results of messages, on the thread that drives the completion queue, without locks held.
class Listener {
 public:
  // A query of a message that was due then was answered.
  virtual void OnAnswered(Time due, bool has_path) = 0;
  virtual void OnFailed(Time due, const absl::Status& status, std::uint64_t queries) = 0;
  // All queries of a message were reported. May call Exchange::Send.
  virtual void OnMessageDone() = 0;
  // Called by the thread that sends, before a new event is handed to the queue. What was written before is
  // seen by that event: the queue sees to that as well, but not where tools that look for races can see it.
  virtual void OnHandOver() = 0;

 protected:
  ~Listener() = default;
};

// A way to put messages of queries to a server over one channel, and a completion queue that another drives:
// each tag is an Event to call.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Sends one that is due at `due`, which may have passed. One call at a time, from any thread.
  virtual void Send(Time due) = 0;

  // Cancels pending messages and waits until they have ended. No Send may follow.
  virtual void Close() = 0;
};

// The messages to send, the queue and the listener. All must outlive the exchange.
struct Wire {
  const Settings& settings;
  const Workload& workload;
  // Used by Send alone.
  Workload::Random& random;
  const client::Connection& connection;
  grpc::CompletionQueue& queue;
  Listener& listener;
};

// A call for each message: FindPath, or FindPaths with Mode::kBatch.
std::unique_ptr<Exchange> MakeCallExchange(const Wire& wire, const std::shared_ptr<grpc::Channel>& channel);

// Messages over a stream. One that breaks fails what is under way on it, and is opened again for the next
// message.
std::unique_ptr<Exchange> MakeStreamExchange(const Wire& wire, const std::shared_ptr<grpc::Channel>& channel);

}  // namespace waystar::load
