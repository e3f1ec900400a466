// Images of a fleet's maps in a folder of one server.
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
#include "server/base/periodic_thread.h"
#include "server/core/store/map_store.h"
#include "server/core/store/map_version.h"
#include "server/storage/folder.h"
#include "server/storage/image_file.h"

namespace waystar::cluster {

// A server starts from them while etcd is away, and reads less while it is there. The folder holds an image
// of each map that is in memory, as of the last round, and a list of them, "fleet": what the list does not
// name does not count. A round writes the images of maps that have changed, then the list, and then removes
// the images that it does not name. So whatever ends the server, the list and its images are of one round.
//
// A map that is unloaded keeps its image as long as that is of its version.
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

  // Reads the list of a folder. A list that is damaged counts as none. Returns FAILED_PRECONDITION if it is
  // of a fleet with other keys or of a later version of this program, or if the folder holds the log of a
  // server that is in no fleet; and the errors of the folder.
  static absl::StatusOr<std::unique_ptr<MapCache>> Open(std::unique_ptr<storage::Folder> folder,
                                                        absl::string_view prefix);
  MapCache(const MapCache&) = delete;
  MapCache& operator=(const MapCache&) = delete;
  // Stops.
  ~MapCache() { Stop(); }

  // The maps that have an image, with its version.
  Images images() const;
  // Returns the time at which etcd last told that the images, or earlier ones, are the maps of the fleet;
  // InfinitePast() if there are none.
  absl::Time known_at() const;
  // Returns the version of a map's image.
  std::optional<core::MapVersion> VersionOf(absl::string_view id) const;
  // Returns the map of its image. Returns DATA_LOSS if that is damaged, NOT_FOUND if there is none, and the
  // errors of the folder. An image that cannot be read counts as none from then on.
  absl::StatusOr<storage::MapState> Read(absl::string_view id);

  // Makes a round after each interval, but is at work no more than a tenth of the time. `known_at` says when
  // etcd last told that the store has all. The store must live until Stop.
  void Start(const core::MapStore& store, std::function<absl::Time()> known_at, Options options);
  void Stop() { thread_.Stop(); }

  // Makes a round. Returns the errors of the folder. REQUIRES: one thread at a time.
  absl::Status Refresh(const core::MapStore& store, absl::Time known_at);

 private:
  MapCache(std::unique_ptr<storage::Folder> folder, absl::string_view prefix)
      : folder_(std::move(folder)), prefix_(prefix) {}

  absl::Status ReadList();
  // Returns the image that the list is to name, which is written unless it is there; nothing if there is
  // none.
  absl::StatusOr<std::optional<core::MapVersion>> Keep(const core::MapStore& store,
                                                       const core::MapStore::ListedMap& map);
  absl::Status RemoveOthers(const Images& images);
  void RefreshInTurn(const core::MapStore& store, absl::Time known_at, const Options& options);

  const std::unique_ptr<storage::Folder> folder_;
  const std::string prefix_;
  mutable Mutex mutex_;
  Images images_ ABSL_GUARDED_BY(mutex_);
  absl::Time known_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  // The thread's.
  std::chrono::steady_clock::time_point rests_until_;
  bool has_failed_ = false;
  PeriodicThread thread_;
};

}  // namespace waystar::cluster
