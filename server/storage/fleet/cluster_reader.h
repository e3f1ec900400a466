// Reads the maps of a fleet from etcd, and loads those that are not in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_version.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/fleet/map_cache.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"

namespace waystar::cluster {

// A map as stored in etcd.
struct FleetMap {
  MapHead head;
  // Revision of etcd at which the head was put.
  std::int64_t head_revision = 0;
  MapBase base;
  // DATA_LOSS if its head, its base or one of its records is damaged. The version of a damaged head is then
  // guessed from the records or the base.
  absl::Status damage;
  // Records of the head's epoch, by their last revision.
  absl::btree_map<std::uint64_t, LogRecord> records;
};

struct FleetMaps {
  // Revision of etcd as of which all maps were read.
  std::int64_t revision = 0;
  absl::btree_map<std::string, FleetMap> maps;
  // Appends that deleted the maps, by map id.
  absl::btree_map<std::string, AppendName> ends;
};

// Removes the commits up to that revision, which may lie within a record if an image was made there.
void DropUpTo(std::uint64_t revision, std::vector<core::LoggedCommit>& commits);

// Reader of a fleet's maps. Thread safety: any method may be called from any thread.
class ClusterReader {
 public:
  // `client`, `keys` and `images` must outlive the reader. `images` is ImagePlace::folder, or null.
  ClusterReader(etcd::Client& client, const ClusterKeys& keys, const storage::Folder* images)
      : client_(client), keys_(keys), images_(images) {}

  // Reads the heads, bases and records of all maps, not their images. Returns FAILED_PRECONDITION if a value
  // has another format version.
  absl::StatusOr<FleetMaps> ReadAll() const;
  // Returns true if the map exists as of that revision of etcd.
  absl::StatusOr<bool> HasMap(absl::string_view id, std::int64_t revision) const;
  // Returns the base of a map as of that revision of etcd.
  absl::StatusOr<MapBase> ReadBase(absl::string_view id, std::int64_t revision) const;
  // Returns the map of an image as of that revision of etcd. Returns DATA_LOSS if the image is damaged, and
  // FAILED_PRECONDITION if it lies in a file and the reader has no folder. An unreadable folder counts as an
  // unreachable etcd; a missing file whose key is gone counts as compacted.
  absl::StatusOr<storage::MapState> ReadImage(absl::string_view id, const MapBase& base,
                                              std::int64_t revision) const;
  // Returns the commits of a record; DATA_LOSS if it is damaged.
  absl::StatusOr<std::vector<core::LoggedCommit>> ReadCommits(absl::string_view id, const LogRecord& record,
                                                              std::int64_t revision) const;
  // Returns the commits of all records of a map that end after version `after` of its epoch, by record, as of
  // that revision of etcd. The first record may begin with commits up to `after`.
  absl::StatusOr<std::vector<std::vector<core::LoggedCommit>>> ReadRecords(absl::string_view id,
                                                                           core::MapVersion after,
                                                                           std::int64_t revision) const;
  // Returns the latest revision of etcd.
  absl::StatusOr<std::int64_t> ReadRevision() const;

 private:
  absl::StatusOr<std::string> ReadParts(const Parts& parts, std::int64_t revision) const;
  absl::StatusOr<std::string> ReadFile(const MapBase& base) const;

  etcd::Client& client_;
  const ClusterKeys& keys_;
  const storage::Folder* const images_;
};

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
