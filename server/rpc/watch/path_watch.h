// One watched path query, as the registry of watches knows it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "server/core/query/route_query.h"
#include "server/core/watch/watched_answer.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/wire/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

class WatchedMap;

// Thread safety: what is not said to belong to somebody is set before the watch begins and stays.
class PathWatch {
 public:
  virtual ~PathWatch() = default;

  // Sends a message, in place of an older one that waits to be sent; nothing once the watch has ended.
  // Any thread, but one at a time.
  virtual void Send(const v1::WatchPathResponse& message) = 0;
  // Ends the watch, the first time it is called. Any thread.
  virtual void End(const absl::Status& status) = 0;

  // Who watches. Any thread.
  virtual Caller GetCaller() = 0;

  // What is watched, and how its cells are counted.
  v1::FindPathRequest request;
  core::RouteQuery query;
  HexCoordinates coordinates;
  Executor::Clock::time_point deadline;
  std::atomic<bool> cancelled = false;

 private:
  friend class PathWatches;
  friend class WatchedMap;

  // Set once, guarded by the mutex of PathWatches until then.
  std::uint64_t id_ = 0;
  std::shared_ptr<WatchedMap> map_;
  // Guarded by the mutex of PathWatches.
  bool is_over_ = false;

  // Of whoever searches for it.
  std::shared_ptr<const core::WatchedAnswer> answer_;

  // Guarded by the map's mutex.
  enum class State : std::uint8_t { kIdle, kQueued, kSearching, kGone };
  State state_ = State::kSearching;
  Executor::Clock::time_point queued_at_ = Executor::Clock::now();
};

}  // namespace waystar::rpc
