// A watch of the keys in etcd that begin with a prefix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/etcd/etcd_client.h"

namespace waystar::etcd {

struct WatchEvent {
  bool is_delete = false;
  std::string key;
  // Empty for a deletion.
  std::string value;
  std::int64_t mod_revision = 0;

  friend bool operator==(const WatchEvent&, const WatchEvent&) = default;
};

// All of them are called by the thread of the watch, one at a time. Any may be empty.
struct WatchCallbacks {
  // All that a revision has changed, in the order of the transaction. Revisions come in their order, each of
  // them once, and none is left out that changed a key of the prefix.
  std::function<void(std::int64_t revision, std::vector<WatchEvent> events)> on_events;
  // All events up to that revision were delivered. etcd before 3.4.25 and 3.5.8 tells its revision even if
  // events up to there are still to come, so its answer counts once the next one has come with no such event
  // between. A member that is behind what others have told the client does not count.
  std::function<void(std::int64_t revision)> on_progress;
  // The revision that is next is compacted, and there are events that nobody can have any more. The last
  // call: whoever needs them reads afresh, and starts another watch. `compact_revision` is the first that is
  // left.
  std::function<void(std::int64_t compact_revision)> on_compacted;
  // The stream to a member has ended, and another is begun with the revision that is next.
  std::function<void(const absl::Status& status)> on_cut;
};

struct WatchOptions {
  // How long a member may be quiet, though it was asked for its progress, before another is tried; and how
  // long it may be behind what other members have told the client: its leader may not hear its answers, and
  // so tell it nothing.
  absl::Duration quiet_timeout = absl::Seconds(10);
  // How often etcd is asked for its progress, however much it tells meanwhile.
  absl::Duration progress_interval = absl::Seconds(5);
};

// Thread safety: any method may be called from any thread.
class Watch {
 public:
  // Watches from that revision on, which may be in the future. The client must outlive the watch.
  // REQUIRES: from_revision > 0.
  Watch(Client& client, absl::string_view prefix, std::int64_t from_revision, WatchCallbacks callbacks,
        const WatchOptions& options = {});
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  // Stops.
  ~Watch();

  // Returns when no callback runs any more, nor will; if a token is being asked for, when that call has
  // ended. REQUIRES: it is no callback that calls it.
  void Stop();

 private:
  class Follower;

  const std::shared_ptr<Follower> follower_;
};

}  // namespace waystar::etcd
