// Watch of all etcd keys with a prefix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/storage/etcd/etcd_client.h"

namespace waystar::etcd {

struct WatchEvent {
  bool is_delete = false;
  std::string key;
  // Empty for a deletion.
  std::string value;
  std::int64_t mod_revision = 0;

  friend bool operator==(const WatchEvent&, const WatchEvent&) = default;
};

// Called by the thread of the watch, one at a time. Any may be empty.
struct WatchCallbacks {
  // All changes of one revision, in the order of the transaction. Revisions are in order, each exactly once;
  // every revision that changed a key of the prefix is delivered.
  std::function<void(std::int64_t revision, std::vector<WatchEvent> events)> on_events;
  // All events up to that revision were delivered. etcd before 3.4.25 and 3.5.8 may report a revision before
  // its events are sent, so a progress answer counts only once the next one has arrived with no such event in
  // between. Answers of a member that is behind other members are ignored.
  std::function<void(std::int64_t revision)> on_progress;
  // The next revision is compacted, so events are lost. This is the last call: the owner must read everything
  // again and start another watch. `compact_revision` is the first revision left.
  std::function<void(std::int64_t compact_revision)> on_compacted;
  // The stream to a member has ended; another one will continue with the next revision.
  std::function<void(const absl::Status& status)> on_cut;
};

struct WatchOptions {
  // Time without a message, despite a progress request, after which another member is tried. Also the longest
  // time that a member may be behind the revisions of other members: it may be cut off from its leader.
  absl::Duration quiet_timeout = absl::Seconds(10);
  // Interval of progress requests, however many events arrive meanwhile.
  absl::Duration progress_interval = absl::Seconds(5);
};

// Reports all changes of keys with a prefix. Thread safety: any method may be called from any thread.
class Watch {
 public:
  // Watches from a revision on, which may be in the future. The client must outlive the watch.
  // REQUIRES: from_revision > 0.
  Watch(Client& client, absl::string_view prefix, std::int64_t from_revision, WatchCallbacks callbacks,
        const WatchOptions& options = {});
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  // Calls Stop.
  ~Watch();

  // Ends the watch and waits for its callbacks, and for a running token request.
  // REQUIRES: the caller is not a callback.
  void Stop();

 private:
  class Follower;

  const std::shared_ptr<Follower> follower_;
};

}  // namespace waystar::etcd
