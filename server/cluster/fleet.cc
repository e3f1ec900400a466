#include "server/cluster/fleet.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/cluster/cluster_reader.h"
#include "server/etcd/etcd_error.h"
#include "server/storage/image_file.h"

namespace waystar::cluster {
namespace {

constexpr std::chrono::milliseconds kRetryInterval{200};

// A map as of its image, and the commits of the records after it.
struct ReadMap {
  storage::MapState image;
  std::vector<std::vector<core::LoggedCommit>> records;
};

absl::StatusOr<ReadMap> Read(const ClusterReader& reader, const std::string& id, const FleetMap& map,
                             std::int64_t revision) {
  WAYSTAR_RETURN_IF_ERROR(map.damage);
  WAYSTAR_ASSIGN_OR_RETURN(storage::MapState image, reader.ReadImage(id, map.base, revision));
  ReadMap read{.image = std::move(image), .records = {}};
  for (const auto& [last, record] : map.records) {
    if (last > map.base.version.revision) {
      WAYSTAR_ASSIGN_OR_RETURN(read.records.emplace_back(), reader.ReadCommits(id, record, revision));
      DropUpTo(map.base.version.revision, read.records.back());
    }
  }
  return read;
}

absl::Status Restore(const std::string& id, ReadMap read, const MapHead& head, core::MapStore& store,
                     FleetFound& found) {
  WAYSTAR_RETURN_IF_ERROR(store.Restore(std::move(read.image.snapshot), std::move(read.image.requests),
                                        read.image.request_horizon));
  for (const std::vector<core::LoggedCommit>& commits : read.records) {
    if (const absl::Status status = store.FollowCommits(id, head.version.epoch, commits); !status.ok()) {
      return absl::IsFailedPrecondition(status) ? absl::DataLossError(status.message()) : status;
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot latest, store.Pin(id));
  if (latest->version() != head.version || latest->digest() != head.digest) {
    return absl::DataLossError(absl::StrCat("map \"", id, "\" in etcd should be at revision ",
                                            head.version.revision, ", and the log leads to revision ",
                                            latest->revision));
  }
  found.records += read.records.size();
  found.latest_time = std::max({found.latest_time, latest->create_time, latest->latest_commit_time});
  return absl::OkStatus();
}

bool IsAway(const absl::Status& status) {
  const etcd::Failure failure = etcd::FailureOf(status);
  return failure == etcd::Failure::kUnreachable || failure == etcd::Failure::kNoLeader;
}

// Calls `read` until etcd is there.
template <typename Read>
auto WhenThere(const FleetOptions& options, std::size_t maps, std::size_t total, const Read& read)
    -> decltype(read()) {
  for (bool is_told = false;; is_told = true) {
    if (options.on_progress && !options.on_progress(maps, total)) {
      return absl::CancelledError("maps are not read any more");
    }
    auto result = read();
    if (!IsAway(result.status())) {
      return result;
    }
    if (!is_told && options.on_away) {
      options.on_away(result.status());
    }
    std::this_thread::sleep_for(kRetryInterval);
  }
}

bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fleet>> Fleet::Open(const FleetOptions& options, core::MapStore& store,
                                                   FleetFound& found) {
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<etcd::Client> client, etcd::Client::Open(options.client));
  auto fleet = std::unique_ptr<Fleet>(new Fleet(std::move(client), options, store));
  if (absl::Status status = fleet->Load(options, store, found); !status.ok()) {
    store.SetLog(nullptr);
    return status;
  }
  return fleet;
}

Fleet::Fleet(std::unique_ptr<etcd::Client> client, const FleetOptions& options, core::MapStore& store)
    : keys_(options.prefix),
      client_(std::move(client)),
      images_(*client_, keys_, store),
      log_(*client_, keys_, store, LogOptionsOf(options)) {}

ClusterLogOptions Fleet::LogOptionsOf(const FleetOptions& options) {
  ClusterLogOptions log = options.log;
  log.on_long = [this](absl::string_view id) { images_.MakeSoon(id); };
  return log;
}

absl::Status Fleet::Load(const FleetOptions& options, core::MapStore& store, FleetFound& found) {
  const ClusterReader reader(*client_, keys_);
  WAYSTAR_ASSIGN_OR_RETURN(const FleetMaps maps, WhenThere(options, 0, 0, [&] { return reader.ReadAll(); }));
  store.SetLog(&log_);
  std::size_t count = 0;
  for (const auto& entry : maps.maps) {
    const std::string& id = entry.first;
    const FleetMap& map = entry.second;
    absl::StatusOr<ReadMap> read =
        WhenThere(options, count++, maps.maps.size(), [&] { return Read(reader, id, map, maps.revision); });
    const absl::Status loaded =
        read.ok() ? Restore(id, *std::move(read), map.head, store, found) : read.status();
    if (!loaded.ok()) {
      if (!IsDamage(loaded)) {
        return loaded;
      }
      if (const absl::StatusOr<core::PinnedSnapshot> part = store.Pin(id); part.ok()) {
        WAYSTAR_RETURN_IF_ERROR(store.FollowDeletion(id, (*part)->version()));
      }
      store.AddDamaged(id, map.head.version);
      found.damaged.push_back(loaded);
    }
    log_.Know(id, map, !loaded.ok());
  }
  found.maps = maps.maps.size() - found.damaged.size();
  images_.Start(
      {.compaction_interval = options.compaction_interval,
       .kept_time = options.kept_time,
       .revision = [this] { return log_.Statistics().revision; },
       .on_image = [this](const std::string& id, core::MapVersion version) { log_.NoteImage(id, version); },
       .on_failure = options.on_image_failure});
  log_.Start(maps.revision);
  return absl::OkStatus();
}

absl::Duration Fleet::Staleness() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - log_.Statistics().heard);
}

void Fleet::GiveUp() { log_.GiveUp(); }

void Fleet::Stop() {
  // It asks the log for its revision.
  images_.Stop();
  log_.Stop();
  client_.reset();
}

}  // namespace waystar::cluster
