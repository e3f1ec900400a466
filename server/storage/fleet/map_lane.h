// State of one map in the log of a server: appends in flight, and changes to follow.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/map/map_version.h"
#include "server/core/store/durable_log.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_values.h"

namespace waystar::cluster {

// Change of a map in one revision of etcd.
struct MapChange {
  std::int64_t revision = 0;
  // True if the map was deleted. Otherwise it has a head, and also a record unless the map begins.
  bool is_end = false;
  // Value of the head, or of the end; unset for a deletion made while etcd was full.
  std::optional<std::string> head;
  std::optional<std::string> record;
};

// One append of a store.
struct Append {
  enum class Kind : std::uint8_t { kCreation, kReplacement, kCommits, kDeletion };

  Kind kind = Kind::kCommits;
  // Versions before and after the append. The epoch of `before` is 0 for a creation, that of `after` is 0 for
  // a deletion.
  core::MapVersion before = {.epoch = 0};
  core::MapVersion after = {.epoch = 0};
  std::uint64_t digest = 0;
  // The map as encoded by EncodeStoredMap for a creation or replacement; the log entry for commits.
  std::string bytes;
  std::chrono::steady_clock::time_point appended;
  core::DurableLog::Done done;
};

// An image to be written to a file.
struct SendingFile {
  std::string name;
  std::shared_ptr<const std::string> bytes;
  bool is_written = false;
};

// A transaction in flight, with everything needed to send it again.
struct Sending {
  AppendName name;
  // Number of waiting appends that it contains.
  std::size_t appends = 0;
  // Parts to put before the transaction, and how many of them are put.
  std::vector<etcd::Put> parts;
  std::size_t parts_put = 0;
  // File to write after the parts. It holds the bytes of the append.
  std::optional<SendingFile> file;
  etcd::Txn txn;
  // True for a deletion that puts nothing because etcd is full.
  bool is_bare = false;
  // True if etcd has refused it for lack of space.
  bool is_refused = false;
  // True if it was ever sent, and if its outcome was ever unknown.
  bool is_sent = false;
  bool is_in_doubt = false;
  // Time of the last send.
  std::chrono::steady_clock::time_point sent_at;
};

// State of one map in the log of this server.
struct MapLane {
  // Version that the store has, with epoch 0 if the map does not exist; and the etcd revision that put it, or
  // 0 if there never was a map.
  core::MapVersion version = {.epoch = 0};
  std::int64_t etcd_revision = 0;
  std::deque<Append> waiting;
  std::optional<Sending> sending;
  // True if another server committed first: nothing is sent before the store has followed it.
  bool is_behind = false;
  // Number of the load in progress of another server's change (a new map or a record in parts); 0 if there is
  // none. Later changes wait in `changes`. If there are too many, they are dropped and everything is read
  // again.
  std::uint64_t loading = 0;
  std::deque<MapChange> changes;
  std::size_t change_bytes = 0;
  bool has_missed_changes = false;
  // Outcome of the last failed appends. Appends that were based on them get the same outcome.
  std::optional<core::AppendOutcome> lost;
  // True if a change could not be applied, so that the map is not served.
  bool is_broken = false;
  // Number of records since the newest image, and bytes of those that this server has composed since then,
  // committed or not.
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;
};

// Thread that runs tasks one after another. It starts with the first task.
//
// Thread safety: any method may be called from any thread, except Stop.
class TaskThread {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  explicit TaskThread(std::string name) : name_(std::move(name)) {}
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;
  ~TaskThread() { Stop(); }

  // Queues a task. After Stop, tasks are dropped.
  void Do(Task task) {
    MutexLock lock(mutex_);
    if (is_stopping_) {
      return;
    }
    tasks_.push_back(std::move(task));
    if (!thread_.joinable()) {
      thread_ = StartThread(name_, [this] { Run(); });
    }
    wake_.NotifyOne();
  }

  // Returns when the running task is done. Queued tasks are dropped.
  void Stop() {
    std::thread thread;
    {
      MutexLock lock(mutex_);
      is_stopping_ = true;
      thread.swap(thread_);
      wake_.NotifyOne();
    }
    if (thread.joinable()) {
      thread.join();
    }
  }

 private:
  void Run() {
    while (true) {
      Task task;
      {
        MutexLock lock(mutex_);
        while (tasks_.empty() && !is_stopping_) {
          wake_.Wait(mutex_);
        }
        if (is_stopping_) {
          return;
        }
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      std::move(task)();
    }
  }

  const std::string name_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::cluster
