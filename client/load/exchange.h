#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "client/load/clock.h"
#include "google/rpc/status.pb.h"

namespace waystar::load {

// Tag that a completion queue hands back.
class Event {
 public:
  virtual void Proceed(bool ok) = 0;

 protected:
  ~Event() = default;
};

// Listener that is told what becomes of messages, always on the thread that drives the completion queue, and
// with no lock held.
class Listener {
 public:
  // A query of a message that was due at `due` was answered.
  virtual void OnAnswered(Time due, bool has_path) = 0;
  virtual void OnFailed(Time due, const absl::Status& status, std::uint64_t queries) = 0;
  virtual void OnRefused(Time due, const google::rpc::Status& problem) = 0;
  // All queries of a message were told of. This may call Exchange::Send.
  virtual void OnMessageDone() = 0;
  // The thread that sends calls this before it hands a new event to the queue. What was written before is
  // seen by its Proceed: the queue sees to that as well, but not where tools that look for races can see it.
  virtual void OnHandOver() = 0;

 protected:
  ~Listener() = default;
};

// Way to send messages of queries to a server, over a completion queue that another drives: each tag is an
// Event to proceed with.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Sends a message that is due at `due`, which may have passed. Any thread may call it, but one at a time.
  virtual void Send(Time due) = 0;

  // Gives up what is under way and waits until it has ended. No Send may follow.
  virtual void Close() = 0;
};

}  // namespace waystar::load
