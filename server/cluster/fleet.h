// This server's part in a fleet: servers that hold the same maps, and agree on them by a log in etcd.
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
#include "server/cluster/cluster_keys.h"
#include "server/cluster/cluster_log.h"
#include "server/cluster/cluster_reader.h"
#include "server/cluster/cluster_values.h"
#include "server/cluster/image_keeper.h"
#include "server/cluster/map_cache.h"
#include "server/cluster/map_loader.h"
#include "server/cluster/presence.h"
#include "server/core/store/map_source.h"
#include "server/core/store/map_store.h"
#include "server/etcd/etcd_client.h"
#include "server/storage/folder.h"

namespace waystar::cluster {

struct FleetOptions {
  etcd::ClientOptions client;
  // What the keys of the fleet begin with; it ends with a slash.
  std::string prefix;
  ClusterLogOptions log;
  // A folder that all servers of the fleet see, and no other fleet, for images that are too large for etcd.
  // Empty if there is none.
  std::string image_dir;
  // A folder of this server's own, which is created if its parent exists, for images that it starts from
  // while etcd is away. Empty if there is none.
  std::string cache_dir;
  // How long a server that has such images waits for etcd when it starts.
  absl::Duration cache_patience = absl::Seconds(5);
  MapCache::Options cache;
  // As those of ImageKeeper::Options.
  absl::Duration compaction_interval = absl::Seconds(30);
  absl::Duration kept_time = absl::Minutes(5);
  absl::Duration sweep_interval = absl::Hours(1);
  // Called with an image that could not be made, or old revisions that etcd has not forgotten.
  std::function<void(const absl::Status& status)> on_image_failure;
  // Called before the first map is read and after each, and now and then while Open waits for etcd. If it
  // returns false, Open ends with CANCELLED. May be empty.
  std::function<bool(std::size_t read, std::size_t total)> on_progress;
  // What this server tells the fleet of itself; its callbacks are called on a thread of their own.
  std::string address;
  std::string version;
  absl::Time start_time;
  PresenceOptions presence;
  // Called when Open begins to wait for etcd. May be empty.
  std::function<void(const absl::Status& status)> on_away;
};

// A server of the fleet.
struct FleetMember {
  ServerReport report;
  // Whether it is this one.
  bool is_this = false;
};

// What was found in etcd.
struct FleetFound {
  std::size_t maps = 0;
  // The maps that have no room in memory.
  std::size_t unloaded = 0;
  // The records that were applied to images.
  std::size_t records = 0;
  // The latest time at which one of the maps was created or changed; InfinitePast() if there are none.
  absl::Time latest_time = absl::InfinitePast();
  // Why maps are not served, each with its name.
  std::vector<absl::Status> damaged;
  // If etcd is away: when it last told that what was found are the maps of the fleet.
  std::optional<absl::Time> cached_at;
};

// Thread safety: any method may be called from any thread, except Stop.
class Fleet {
 public:
  // Puts the maps of the fleet into the store, makes what happens to them from then on durable in etcd, and
  // has the store follow what other servers do. The store must be empty and not shared between threads yet;
  // it must outlive this, which must outlive the updates of its maps. A map that is damaged is not served; it
  // can be deleted or replaced. If the store has a residence, maps that have no room are left unloaded.
  // Waits for etcd while no member that knows a leader can be reached, unless that is for certificates, and
  // reads again what etcd has forgotten meanwhile. With a cache that has images it waits no longer than
  // `cache_patience`, and begins with those; changes fail until etcd is back, and the store has followed it.
  // Returns the errors of the client, FAILED_PRECONDITION if a value in etcd is of a later version of this
  // program, and the errors of MapStore::Restore, OpenSharedPosixFolder, OpenPosixFolder and MapCache::Open.
  static absl::StatusOr<std::unique_ptr<Fleet>> Open(const FleetOptions& options, core::MapStore& store,
                                                     FleetFound& found);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  // Stops.
  ~Fleet() { Stop(); }

  // Answers all changes that wait, and those to come, with UNAVAILABLE / STORAGE_FAILED, though they may have
  // been made: nobody is to wait any longer.
  void GiveUp();
  // Ends the threads. REQUIRES: no map is created, changed or deleted any more.
  void Stop();

  // Where unloaded maps are read from.
  core::MapSource& source() { return loader_; }

  using NewestDone = absl::AnyInvocable<void(absl::StatusOr<std::int64_t> revision) &&>;
  // Asks etcd for the newest state of a map, and calls `done` once with the revision of etcd that has put it:
  // once this server has followed etcd up to there (ClusterLogOptions::on_followed), the store has that state
  // or a later one. It is 0 if etcd knows nothing of the map. `done` is called on any thread, or on this one,
  // and must not wait. Its error is UNAVAILABLE / STORAGE_FAILED.
  void AskNewest(absl::string_view id, NewestDone done) const;

  using ServersDone = absl::AnyInvocable<void(absl::StatusOr<std::vector<FleetMember>> servers) &&>;
  // Asks etcd for the servers of the fleet, in the order of their addresses. This one is always among them,
  // as it is now; reports that cannot be read are not, nor those of servers in whose place others have
  // started. While changes fail because etcd is away, it is not asked. `done` and its error are as those of
  // AskNewest.
  void AskServers(ServersDone done) const;

  ClusterLogStatistics Statistics() const { return log_.Statistics(); }
  // How long ago etcd last told that this server knows all.
  absl::Duration Staleness() const;
  // How far this server's clock is ahead of those of the others, by their last reports
  // (ClockOffsets::Offset).
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
  // Null if there is none.
  const std::unique_ptr<MapCache> cache_;
  const core::MapStore& store_;
  // What never changes is set.
  const ServerReport report_;
  // Null once it is stopped: its callbacks call the log.
  std::unique_ptr<etcd::Client> client_;
  ClusterReader reader_;
  ImageKeeper images_;
  ClusterLog log_;
  MapLoader loader_;
  Presence presence_;
};

}  // namespace waystar::cluster
