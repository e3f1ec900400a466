// Loads unloaded maps of a fleet from the cache or etcd.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_residence.h"
#include "server/core/store/map_store.h"
#include "server/storage/fleet/cluster_reader.h"
#include "server/storage/fleet/map_cache.h"
#include "server/storage/folder/image_file.h"

namespace waystar::cluster {

// Loads a map from the cache if its version there is current; otherwise from etcd, off the log's thread.
// Commits made meanwhile are read on the log's thread, between two changes that it applies, so that the map
// is loaded at the version that the store knows.
//
// Thread safety: any method may be called from any thread except the log's.
class MapLoader final : public core::MapSource {
 public:
  // Runs `run` on the log's thread and returns its status; UNAVAILABLE if the log has stopped.
  using OnLogThread = std::function<absl::Status(std::function<absl::Status()> run)>;

  // All referenced objects must outlive the loader. `cache` may be null.
  MapLoader(const ClusterReader& reader, MapCache* cache, core::MapStore& store, OnLogThread on_log_thread)
      : reader_(reader), cache_(cache), store_(store), on_log_thread_(std::move(on_log_thread)) {}

  // Returns the map's version. Writes nothing, since every published commit is in etcd.
  absl::StatusOr<core::MapVersion> Keep(absl::string_view id) override;
  // Returns the errors of ClusterReader and MapStore::Load, and UNAVAILABLE if the log does not get as far as
  // what was read.
  absl::Status Load(absl::string_view id) override;

 private:
  // Loads the map from its cached image. Returns ABORTED if the cache has no readable image of the version
  // that the store knows.
  absl::Status LoadCached(absl::string_view id);
  // Reads the newest state of a map. Returns ABORTED if the map was deleted.
  absl::StatusOr<storage::MapState> Read(absl::string_view id) const;
  // Loads the map at the version that the store knows. Returns ABORTED if that map is another one, is being
  // deleted or has newer records that do not continue `state`; OUT_OF_RANGE if `state` is ahead of the log.
  absl::Status Finish(storage::MapState& state);

  const ClusterReader& reader_;
  MapCache* const cache_;
  core::MapStore& store_;
  const OnLogThread on_log_thread_;
};

}  // namespace waystar::cluster
