// Log for tests, which the stores of several servers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_store.h"
#include "tests/core/store/held_log.h"
#include "tests/testing/random.h"

namespace waystar::core {

// Holds one list of entries a map.
//
// Thread safety: any method may be called from any thread.
class SharedLog {
 public:
  class Client;

  using SharedEntry = std::shared_ptr<const LogEntry>;

  // Knows a map that all stores have. REQUIRES: there are all clients, and none was used.
  void Begin(const std::string& id, MapVersion version);

  std::vector<SharedEntry> entries(const std::string& id) const;

  // Waits until all clients have done all that they can.
  void AwaitQuiet() const;

 private:
  struct List {
    std::vector<SharedEntry> entries;
    // Of epoch 0 if there is no map.
    MapVersion version = {.epoch = 0};
  };

  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::map<std::string, List> lists_ ABSL_GUARDED_BY(mutex_);
  std::vector<Client*> clients_ ABSL_GUARDED_BY(mutex_);
};

// The part of the log that runs in one server. Its steps run on a thread of its own after Start, or else on
// whichever thread calls Step, one at a time: that thread is the log's then. The seed decides the order of
// the steps that are possible.
class SharedLog::Client final : public EntryLog {
 public:
  Client(SharedLog& log, std::uint64_t seed);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override;

  // REQUIRES: it is called once, before all others.
  void Serve(MapStore* store) { store_ = store; }
  void Start();
  // REQUIRES: there is nothing to do.
  void Stop();

  // Sends one append, or hands one entry to the store. Returns false if there is nothing to do.
  bool Step();
  // Lets what was appended to a map, and not sent yet, fail. Does nothing if something was sent and has not
  // come back.
  void FailUnsent(const std::string& id);

  // Gives the store what another store has of a map, instead of the entries up to there. Returns false, and
  // does nothing, if that is no later, or if something was sent and has not come back.
  bool Skip(const StoredMap& map);

  // Waits until so many appends were ever made.
  void AwaitAppends(int count) const;

  bool is_shared() const override { return true; }

  // How many appends have conflicted.
  int conflicts() const;

 private:
  friend class SharedLog;

  struct MapState {
    std::deque<Waiting> waiting;
    // How many of them are in the list.
    std::size_t sent = 0;
    // How many entries the store has heard of, and where they lead.
    std::size_t heard = 0;
    MapVersion version = {.epoch = 0};
  };

  void Append(Waiting next) override;
  // REQUIRES: log_.mutex_ is held, which the compiler cannot tell.
  bool HasWork() const ABSL_NO_THREAD_SAFETY_ANALYSIS;
  bool HasWork(const std::string& id) const ABSL_NO_THREAD_SAFETY_ANALYSIS;
  bool CanSend(const std::string& id) const ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Deliver(const std::string& id);
  absl::Status Follow(const LogEntry& entry);
  // Gives all that waits the outcome if the first does not follow what was heard, or if `at_least_once`;
  // then again what was appended upon that.
  void Drop(const std::string& id, const AppendOutcome& outcome, bool at_least_once = false);

  SharedLog& log_;
  MapStore* store_ = nullptr;
  Random random_;
  // These are guarded by log_.mutex_.
  std::map<std::string, MapState> maps_;
  bool is_busy_ = false;
  bool is_stopping_ = false;
  int appends_ = 0;
  int conflicts_ = 0;
  std::thread thread_;
};

}  // namespace waystar::core
