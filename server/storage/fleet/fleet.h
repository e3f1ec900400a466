// A server's membership in a fleet: servers that hold the same maps and agree on them through a log in etcd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_log.h"
#include "server/storage/fleet/cluster_reader.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/fleet/image_keeper.h"
#include "server/storage/fleet/map_cache.h"
#include "server/storage/fleet/presence.h"
#include "server/storage/folder/folder.h"

namespace waystar::cluster {

struct FleetOptions {
  etcd::ClientOptions client;
  // Prefix of all keys of the fleet; ends with a slash.
  std::string prefix;
  ClusterLogOptions log;
  // Folder for images that are too large for etcd, shared by all servers of this fleet and no other. Empty if
  // there is none.
  std::string image_dir;
  // Folder of this server for the images it starts from while etcd is away; created if its parent exists.
  // Empty if there is none.
  std::string cache_dir;
  // How long a start with cached images waits for etcd.
  absl::Duration cache_patience = absl::Seconds(5);
  MapCache::Options cache;
  // As in ImageKeeper::Options.
  absl::Duration compaction_interval = absl::Seconds(30);
  absl::Duration kept_time = absl::Minutes(5);
  absl::Duration sweep_interval = absl::Hours(1);
  // Called when an image could not be made, or etcd could not be compacted or swept.
  std::function<void(const absl::Status& status)> on_image_failure;
  // Called before each map is read, and every 200 ms while Open waits for etcd. If it returns false, Open
  // returns CANCELLED. May be empty.
  std::function<bool(std::size_t read, std::size_t total)> on_progress;
  // Content of this server's report. The callbacks in `presence` run on a thread of their own.
  std::string address;
  std::string version;
  absl::Time start_time;
  PresenceOptions presence;
  // Called when Open starts to wait for etcd. May be empty.
  std::function<void(const absl::Status& status)> on_away;
};

// A server of the fleet.
struct FleetMember {
  ServerReport report;
  // True for the server that answers.
  bool is_this = false;
};

// Result of reading the fleet's maps.
struct FleetFound {
  std::size_t maps = 0;
  // Maps left unloaded because they do not fit in memory.
  std::size_t unloaded = 0;
  // Records that were applied to images.
  std::size_t records = 0;
  // Latest time at which any of the maps was created or changed; InfinitePast() if there are none.
  absl::Time latest_time = absl::InfinitePast();
  // Errors of the maps that are not served.
  std::vector<absl::Status> damaged;
  // Set if etcd is away: the last time at which the cached maps were known to be those of the fleet.
  std::optional<absl::Time> cached_at;
};

// Membership of this server. Thread safety: any method may be called from any thread, except Stop.
class Fleet {
 public:
  // Loads the maps of the fleet into the store, makes later changes durable in etcd, and has the store follow
  // the changes of other servers.
  //
  // A damaged map is not served; it can be deleted or replaced. If the store can evict maps, those that do
  // not fit are left unloaded. Waits while no etcd member with a leader can be reached, except if the
  // certificates are wrong. If etcd compacts the revision during the read, reads again. With cached images it
  // waits at most `cache_patience`, then starts from them; changes fail until etcd is back and the store has
  // followed it.
  //
  // Returns the errors of the client, FAILED_PRECONDITION if a value has another format version, and the
  // errors of MapStore::Restore, OpenSharedPosixFolder, OpenPosixFolder and MapCache::Open.
  //
  // REQUIRES: the store is empty and not shared between threads yet.
  // REQUIRES: the store outlives the fleet, and the fleet outlives the updates of its maps.
  static absl::StatusOr<std::unique_ptr<Fleet>> Open(const FleetOptions& options, core::MapStore& store,
                                                     FleetFound& found);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  ~Fleet() { Stop(); }

  // Fails all waiting and later changes with UNAVAILABLE / STORAGE_FAILED, though some may have been
  // committed.
  void GiveUp();
  // Ends the threads.
  // REQUIRES: no map is created, changed or deleted afterwards.
  void Stop();

  // Source from which unloaded maps are read.
  core::MapSource& source() { return loader_; }

  using NewestDone = absl::AnyInvocable<void(absl::StatusOr<std::int64_t> revision) &&>;
  // Asks etcd for the revision that put the newest state of a map, 0 if etcd has no such map, and calls
  // `done` once. When this server has followed etcd up to that revision (ClusterLogOptions::on_followed), its
  // store has that state or a later one. `done` may run on any thread, including the caller's, and must not
  // block. Its error is UNAVAILABLE / STORAGE_FAILED.
  void AskNewest(absl::string_view id, NewestDone done) const;

  using ServersDone = absl::AnyInvocable<void(absl::StatusOr<std::vector<FleetMember>> servers) &&>;
  // Asks etcd for the servers of the fleet, ordered by address. The answer always contains this server in its
  // current state. It omits unreadable reports and those of servers that were restarted. If changes fail
  // because etcd is away, fails at once. `done` and its error are as in AskNewest.
  void AskServers(ServersDone done) const;

  ClusterLogStatistics Statistics() const { return log_.Statistics(); }
  // Returns the time since this server was last known to be up to date.
  absl::Duration Staleness() const;
  // Returns how far this server's clock is ahead of the others (ClockOffsets::Offset).
  absl::Duration ClockOffset() const { return presence_.clocks().Offset(); }

 private:
  Fleet(std::unique_ptr<etcd::Client> client, std::unique_ptr<storage::Folder> images,
        std::unique_ptr<MapCache> cache, const FleetOptions& options, core::MapStore& store);

  ClusterLogOptions LogOptionsOf(const FleetOptions& options);
  ServerReport ReportNow() const;
  absl::Status Load(const FleetOptions& options, core::MapStore& store, FleetFound& found);
  absl::Status LoadCached(const FleetOptions& options, core::MapStore& store, FleetFound& found);
  void StartThreads(const FleetOptions& options);
  absl::Time KnownAt() const;

  const ClusterKeys keys_;
  // Null if all images lie in etcd.
  const std::unique_ptr<storage::Folder> image_folder_;
  // Null without a cache.
  const std::unique_ptr<MapCache> cache_;
  const core::MapStore& store_;
  // Report of this server with only the constant fields set.
  const ServerReport report_;
  // Null once stopped: its callbacks call the log.
  std::unique_ptr<etcd::Client> client_;
  ClusterReader reader_;
  ImageKeeper images_;
  ClusterLog log_;
  MapLoader loader_;
  Presence presence_;
};

}  // namespace waystar::cluster
