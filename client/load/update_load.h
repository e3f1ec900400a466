#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "client/client.h"
#include "client/load/settings.h"
#include "client/load/tally.h"
#include "client/load/window.h"
#include "client/load/workload.h"

namespace waystar::load {

// Load of updates: batches of one edit on one stream with a separate schedule, which alternately block and
// unblock cells. At the end all cells are unblocked.
//
// Thread safety: one thread.
class UpdateLoad {
 public:
  // Sends `rate` batches per second. All arguments must outlive it. REQUIRES: the workload has toggles.
  UpdateLoad(const client::Client& client, const Workload& workload, double rate);

  // `window` must outlive it.
  void Start(const Window& window);
  void Finish();

  // Valid after Finish, for the measured batches. Latency is from the due time of a batch to its answer.
  const Tally& tally() const { return tally_; }
  std::uint64_t sent() const { return sent_; }

 private:
  void Send();
  void Receive();
  // Blocks or unblocks toggle number `index`. Returns false if the stream has ended.
  bool Toggle(std::size_t index, bool block, Time due);

  const Workload& workload_;
  const double rate_;
  const Window* window_ = nullptr;
  std::unique_ptr<client::UpdateStream> stream_;
  std::atomic<std::uint64_t> sent_ = 0;
  Tally tally_;
  std::mutex mutex_;
  // Guarded by mutex_: when the batches that are not answered yet were due, and whether the stream has ended.
  std::deque<Time> under_way_;
  bool has_ended_ = false;
  std::thread sender_;
  std::thread receiver_;
};

}  // namespace waystar::load
