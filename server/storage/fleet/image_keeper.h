// Background thread that replaces log records by images and compacts etcd.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_store.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"

namespace waystar::cluster {

// Makes requested images, and compacts etcd periodically. Any server of the fleet may make an image of a map;
// if two do so at once, one wins. Images and compaction do not block commits.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class ImageKeeper {
 public:
  struct Options {
    // How often etcd is compacted, and how long revisions are kept. A server that was away for less than
    // `kept_time` can resume its watch; one that starts has as long to read.
    absl::Duration compaction_interval = absl::Seconds(30);
    absl::Duration kept_time = absl::Minutes(5);
    // How often leftovers of crashed servers are deleted. The first sweep follows the first compaction.
    absl::Duration sweep_interval = absl::Hours(1);
    // Where images are stored. Must outlive the keeper.
    ImagePlace images;
    // Returns the etcd revision that this server has followed.
    std::function<std::int64_t()> revision;
    // Called after a map got a new image. May be empty.
    std::function<void(const std::string& id, core::MapVersion version)> on_image;
    // Called with each failure. A failed image is not retried until MakeSoon is called again. May be empty.
    std::function<void(const absl::Status& status)> on_failure;
  };

  // `client`, `keys` and `store` must outlive the keeper.
  ImageKeeper(etcd::Client& client, const ClusterKeys& keys, const core::MapStore& store)
      : client_(client), keys_(keys), store_(store) {}
  ImageKeeper(const ImageKeeper&) = delete;
  ImageKeeper& operator=(const ImageKeeper&) = delete;
  ~ImageKeeper() { Stop(); }

  void Start(Options options);
  void Stop() { thread_.Stop(mutex_); }

  // Schedules a new image of a map.
  void MakeSoon(absl::string_view id);

 private:
  void Run();
  absl::Status Make(const std::string& id);
  // Replaces the base that was put at etcd revision `replaced`. If that base was replaced or deleted
  // meanwhile, deletes the new image's parts and returns false.
  absl::StatusOr<bool> PutBase(const std::string& id, const MapBase& base, std::int64_t replaced);
  absl::StatusOr<bool> PutInParts(const std::string& id, core::MapVersion version, absl::string_view image,
                                  std::int64_t replaced);
  absl::StatusOr<bool> PutInFile(const std::string& id, core::MapVersion version, absl::string_view image,
                                 std::int64_t replaced);
  // Removes files whose keys have been gone for `kept_time`.
  absl::Status RemoveFiles();
  // Deletes parts older than the compacted revision that nothing refers to: leftovers of crashed servers.
  absl::Status Sweep();
  absl::Status DeleteUnnamed(const ClusterKeys::DataKey& parts);
  absl::Status Compact();
  void Report(const absl::Status& status) const;

  etcd::Client& client_;
  const ClusterKeys& keys_;
  const core::MapStore& store_;
  Options options_;
  // Used by the thread only: etcd revisions by time, oldest first.
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::int64_t>> passed_;
  // Used by the thread only: the newest compacted revision, and the time of the next sweep.
  std::int64_t compacted_ = 0;
  std::chrono::steady_clock::time_point next_sweep_;
  // Used by the thread only: when a file was first seen without its key.
  std::map<std::string, std::chrono::steady_clock::time_point> unnamed_;

  mutable Mutex mutex_;
  std::set<std::string> wanted_ ABSL_GUARDED_BY(mutex_);
  StoppableThread thread_;
};

}  // namespace waystar::cluster
