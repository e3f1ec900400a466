// Makes images of maps in etcd, so that records of the log are not needed any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/cluster/cluster_keys.h"
#include "server/cluster/cluster_values.h"
#include "server/cluster/fleet_images.h"
#include "server/core/store/map_store.h"
#include "server/core/store/map_version.h"
#include "server/etcd/etcd_client.h"

namespace waystar::cluster {

// One thread, which also has etcd forget old revisions now and then. Any server of the fleet may make an
// image of a map: of two that do so at once, one wins. What takes part in that takes no part in commits.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class ImageKeeper {
 public:
  struct Options {
    // How often etcd is told to forget, and for how long it keeps revisions: a server that was away for less
    // can go on from where it was, and one that starts can take as long to read.
    absl::Duration compaction_interval = absl::Seconds(30);
    absl::Duration kept_time = absl::Minutes(5);
    // How often what servers have left behind is looked for, the first time once etcd has forgotten
    // something.
    absl::Duration sweep_interval = absl::Hours(1);
    // Where images are put. It must outlive the keeper.
    ImagePlace images;
    // Returns the revision of etcd up to which this server has followed it.
    std::function<std::int64_t()> revision;
    // Called with a map that has a new image. May be empty.
    std::function<void(const std::string& id, core::MapVersion version)> on_image;
    // Called with what could not be done; it is tried again when there is a reason to. May be empty.
    std::function<void(const absl::Status& status)> on_failure;
  };

  // All must outlive the keeper.
  ImageKeeper(etcd::Client& client, const ClusterKeys& keys, const core::MapStore& store)
      : client_(client), keys_(keys), store_(store) {}
  ImageKeeper(const ImageKeeper&) = delete;
  ImageKeeper& operator=(const ImageKeeper&) = delete;
  // Stops.
  ~ImageKeeper() { Stop(); }

  void Start(Options options);
  void Stop();

  // Has an image of the map made soon.
  void MakeSoon(absl::string_view id);

 private:
  void Run();
  absl::Status Make(const std::string& id);
  // Puts a base in the place of the one that was put at that revision of etcd.
  absl::StatusOr<bool> PutBase(const std::string& id, const MapBase& base, std::int64_t replaced);
  absl::StatusOr<bool> PutInParts(const std::string& id, core::MapVersion version, absl::string_view image,
                                  std::int64_t replaced);
  absl::StatusOr<bool> PutInFile(const std::string& id, core::MapVersion version, absl::string_view image,
                                 std::int64_t replaced);
  // Removes the files that etcd has not named for as long as it keeps revisions.
  absl::Status RemoveFiles();
  // Deletes the parts that are older than what etcd keeps, and that nothing names: of servers that have died
  // on the way.
  absl::Status Sweep();
  absl::Status DeleteUnnamed(const ClusterKeys::DataKey& parts);
  absl::Status Compact();
  void Report(const absl::Status& status) const;

  etcd::Client& client_;
  const ClusterKeys& keys_;
  const core::MapStore& store_;
  Options options_;
  // The thread's: the revision of etcd at some times, the oldest first.
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::int64_t>> passed_;
  // The thread's: the latest revision that etcd was to forget, and when to sweep next.
  std::int64_t compacted_ = 0;
  std::chrono::steady_clock::time_point next_sweep_;
  // The thread's: since when it has seen files that etcd does not name.
  std::map<std::string, std::chrono::steady_clock::time_point> unnamed_;

  mutable Mutex mutex_;
  CondVar wake_;
  std::set<std::string> wanted_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::cluster
