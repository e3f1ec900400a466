// Local cache of a fleet's map images, in a folder of one server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"

namespace waystar::cluster {

// A server starts from the cache while etcd is away, and otherwise reads less from etcd. The folder holds an
// image of each map that was in memory in the last round, and a list of them, "fleet". Images that the list
// does not name do not count. A round writes the images of changed maps, then the list, and then removes
// unlisted images. So after a crash the list and its images belong to one round.
//
// An unloaded map keeps its image as long as the versions match.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class MapCache {
 public:
  struct Options {
    absl::Duration interval = absl::Seconds(30);
    // Called with the error when images cannot be written, and with OK once they can. May be empty.
    std::function<void(const absl::Status& status)> on_status;
  };
  using Images = absl::btree_map<std::string, core::MapVersion>;

  // Reads the list of a folder. A damaged list counts as empty. Returns FAILED_PRECONDITION if the list has
  // another key prefix or format version, or if the folder holds the log of a server outside a fleet; and the
  // errors of the folder.
  static absl::StatusOr<std::unique_ptr<MapCache>> Open(std::unique_ptr<storage::Folder> folder,
                                                        absl::string_view prefix);
  MapCache(const MapCache&) = delete;
  MapCache& operator=(const MapCache&) = delete;
  ~MapCache() { Stop(); }

  // Returns the versions of the images, by map.
  Images images() const;
  // Returns the last time at which the images were known to be the maps of the fleet; InfinitePast() if there
  // are none.
  absl::Time known_at() const;
  // Returns the version of a map's image; nullopt if there is none.
  std::optional<core::MapVersion> VersionOf(absl::string_view id) const;
  // Reads the image of a map. Returns NOT_FOUND if there is none, DATA_LOSS if it is damaged, and the errors
  // of the folder. An image that cannot be read is dropped from the list.
  absl::StatusOr<storage::MapState> Read(absl::string_view id);

  // Runs a round every interval, but for at most a tenth of the time. `known_at` returns the last time at
  // which the store was known to be up to date. The store must live until Stop.
  void Start(const core::MapStore& store, std::function<absl::Time()> known_at, Options options);
  void Stop() { thread_.Stop(); }

  // Runs a round. Returns the errors of the folder.
  // REQUIRES: only one thread calls this at a time.
  absl::Status Refresh(const core::MapStore& store, absl::Time known_at);

 private:
  MapCache(std::unique_ptr<storage::Folder> folder, absl::string_view prefix)
      : folder_(std::move(folder)), prefix_(prefix) {}

  absl::Status ReadList();
  // Returns the version of the map's image for the list, and writes the image if it is not current. Returns
  // nullopt if the map has no image.
  absl::StatusOr<std::optional<core::MapVersion>> Keep(const core::MapStore& store,
                                                       const core::MapStore::ListedMap& map);
  absl::Status RemoveOthers(const Images& images);
  void RefreshInTurn(const core::MapStore& store, absl::Time known_at, const Options& options);

  const std::unique_ptr<storage::Folder> folder_;
  const std::string prefix_;
  mutable Mutex mutex_;
  Images images_ ABSL_GUARDED_BY(mutex_);
  absl::Time known_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  // Used by the thread only.
  std::chrono::steady_clock::time_point rests_until_;
  bool has_failed_ = false;
  PeriodicThread thread_;
};

}  // namespace waystar::cluster
