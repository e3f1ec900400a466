// Loads maps that are not in memory from etcd.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/cluster/cluster_reader.h"
#include "server/cluster/map_cache.h"
#include "server/core/store/map_source.h"
#include "server/core/store/map_store.h"
#include "server/core/store/map_version.h"
#include "server/storage/image_file.h"

namespace waystar::cluster {

// A map is read from the cache if that has it as it is, else from etcd, beside the log. What was committed
// meanwhile is read by the log's thread, between two entries that it follows, so that the map is loaded at
// the version that the store knows of it.
//
// Thread safety: any method may be called from any thread, but for the log's.
class MapLoader final : public core::MapSource {
 public:
  // Runs its argument on the log's thread and returns what it returns; UNAVAILABLE if the log has stopped.
  using OnLogThread = std::function<absl::Status(std::function<absl::Status()> run)>;

  // What the references name, and the cache unless it is null, must outlive the loader.
  MapLoader(const ClusterReader& reader, MapCache* cache, core::MapStore& store, OnLogThread on_log_thread)
      : reader_(reader), cache_(cache), store_(store), on_log_thread_(std::move(on_log_thread)) {}

  // The log in etcd has all that is published.
  absl::StatusOr<core::MapVersion> Keep(absl::string_view id) override;
  // Returns the errors of ClusterReader, and UNAVAILABLE if the log does not come to where the map is read.
  absl::Status Load(absl::string_view id) override;

 private:
  // Does that with the map's image in the cache. Returns ABORTED if there is none of the version that the
  // store knows.
  absl::Status LoadCached(absl::string_view id);
  // Reads the newest state of a map. Returns ABORTED if it has ended, and OUT_OF_RANGE if what was read is
  // replaced and forgotten meanwhile.
  absl::StatusOr<storage::MapState> Read(absl::string_view id) const;
  // Loads the map as of the version that the store knows. Returns ABORTED if that is another map or is being
  // deleted, and OUT_OF_RANGE if the log is behind.
  absl::Status Finish(storage::MapState& state);

  const ClusterReader& reader_;
  MapCache* const cache_;
  core::MapStore& store_;
  const OnLogThread on_log_thread_;
};

}  // namespace waystar::cluster
