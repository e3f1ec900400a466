#pragma once

#include <grpcpp/completion_queue.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "client/connection.h"
#include "client/load/exchange.h"
#include "client/load/schedule.h"
#include "client/load/settings.h"
#include "client/load/tally.h"
#include "client/load/workload.h"

namespace waystar::load {

// Lane of the load: a share of it with channels of its own, a thread that receives, and in an open loop one
// that sends.
//
// Thread safety: one thread; any thread may read the counts of progress.
class Lane final : public Listener {
 public:
  // This is lane `number` of settings.threads, counted from 0. All that is passed must outlive it.
  Lane(const Settings& settings, const Workload& workload, const client::Connection& connection, int number);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // `window` must outlive it.
  void Start(const Window& window);
  // Waits until everything that was sent has ended. Call it after the end of the window, or once that is cut
  // short.
  void Finish();

  std::uint64_t answered_so_far() const { return answered_so_far_.load(std::memory_order_relaxed); }
  std::uint64_t failed_so_far() const { return failed_so_far_.load(std::memory_order_relaxed); }

  // These are for after Finish, and of what was due in the window and counts.
  const Tally& tally() const { return tally_; }
  std::uint64_t queries_sent() const { return queries_sent_; }
  // Messages that were due and not sent, because the sender was too late.
  std::uint64_t messages_unsent() const { return messages_unsent_; }
  // How late each message was sent, in nanoseconds.
  const Histogram& lag() const { return lag_; }

 private:
  void OnAnswered(Time due, bool has_path) override;
  void OnFailed(Time due, const absl::Status& status, std::uint64_t queries) override;
  void OnMessageDone() override;
  void OnHandOver() override { hand_over_.store(true, std::memory_order_release); }

  void Receive();
  Schedule MakeSchedule() const;
  void SendBySchedule();
  void SendOne(Time due);

  const Settings& settings_;
  const int number_;
  const int max_in_flight_;
  const Window* window_ = nullptr;
  grpc::CompletionQueue queue_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::unique_ptr<Exchange> exchange_;

  std::atomic<bool> hand_over_ = false;
  std::mutex send_mutex_;
  // Guarded by send_mutex_.
  std::uint64_t queries_sent_ = 0;

  // Only the thread that sends uses these.
  std::uint64_t messages_unsent_ = 0;
  Histogram lag_;

  // Only the thread that receives uses this.
  Tally tally_;
  std::atomic<std::uint64_t> answered_so_far_ = 0;
  std::atomic<std::uint64_t> failed_so_far_ = 0;

  std::mutex mutex_;
  std::condition_variable fewer_;
  // Guarded by mutex_.
  int in_flight_ = 0;

  std::thread sender_;
  std::thread receiver_;
};

}  // namespace waystar::load
