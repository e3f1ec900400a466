#include "server/cluster/fleet.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/error.h"
#include "server/base/memory_account.h"
#include "server/base/status_macros.h"
#include "server/cluster/cluster_reader.h"
#include "server/core/store/map_id.h"
#include "server/etcd/etcd_error.h"
#include "server/storage/image_file.h"
#include "server/storage/posix_folder.h"

namespace waystar::cluster {
namespace {

constexpr std::chrono::milliseconds kRetryInterval{200};

// What the store lacks of a map: an image, unless the store has the map already, and the commits of the
// records after it.
struct ReadMap {
  std::optional<storage::MapState> image;
  std::vector<std::vector<core::LoggedCommit>> records;
};

// `has` is the version that the store has, of epoch 0 if it has none.
absl::StatusOr<ReadMap> Read(const ClusterReader& reader, const std::string& id, const FleetMap& map,
                             core::MapVersion has, std::int64_t revision) {
  WAYSTAR_RETURN_IF_ERROR(map.damage);
  ReadMap read;
  std::uint64_t from = has.revision;
  if (has.epoch != map.head.version.epoch || has.revision < map.base.version.revision) {
    WAYSTAR_ASSIGN_OR_RETURN(storage::MapState image, reader.ReadImage(id, map.base, revision));
    read.image.emplace(std::move(image));
    from = map.base.version.revision;
  }
  for (const auto& [last, record] : map.records) {
    if (last > from) {
      WAYSTAR_ASSIGN_OR_RETURN(read.records.emplace_back(), reader.ReadCommits(id, record, revision));
      DropUpTo(from, read.records.back());
    }
  }
  return read;
}

absl::Status Restore(const std::string& id, ReadMap read, const MapHead& head, core::MapStore& store,
                     FleetFound& found) {
  if (read.image) {
    WAYSTAR_RETURN_IF_ERROR(store.Restore(std::move(read.image->snapshot), std::move(read.image->requests),
                                          read.image->request_horizon));
  }
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

core::MapVersion VersionIn(const core::MapStore& store, const std::string& id) {
  const absl::StatusOr<core::MapVersion> latest = store.LatestVersion(id);
  return latest.ok() ? *latest : core::MapVersion{.epoch = 0};
}

// So that the first queries have room.
bool IsNearlyFull(const core::MapStore& store) {
  const MemoryAccount& memory = store.memory();
  return store.CanMakeRoom() && memory.taken() > memory.max_bytes() / 4 * 3;
}

bool HasNoRoom(const absl::Status& status, const core::MapStore& store) {
  return store.CanMakeRoom() && ErrorReasonOf(status) == ErrorReasonName(ErrorReason::kMapsMemoryFull);
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

absl::Status CannotAsk(const absl::Status& failure) {
  return MakeError(ErrorReason::kStorageFailed, "",
                   absl::StrCat("the fleet cannot be asked: ", failure.message()));
}

bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
}

// Puts the maps into the store, which may have some of them at earlier versions.
absl::Status LoadAll(const FleetOptions& options, const ClusterReader& reader, const FleetMaps& maps,
                     core::MapStore& store, std::set<std::string>& damaged, FleetFound& found) {
  std::size_t count = 0;
  for (const auto& entry : maps.maps) {
    const std::string& id = entry.first;
    const FleetMap& map = entry.second;
    const core::MapVersion has = VersionIn(store, id);
    if (has.epoch == 0 && map.damage.ok() && IsNearlyFull(store)) {
      store.AddUnloaded(id, map.head.version);
      continue;
    }
    absl::StatusOr<ReadMap> read = WhenThere(options, count++, maps.maps.size(),
                                             [&] { return Read(reader, id, map, has, maps.revision); });
    if (!read.ok() && !IsDamage(read.status())) {
      return read.status();
    }
    if (has.epoch != 0 && (!read.ok() || read->image)) {
      WAYSTAR_RETURN_IF_ERROR(store.FollowDeletion(id, has));
    }
    const absl::Status restored =
        read.ok() ? Restore(id, *std::move(read), map.head, store, found) : read.status();
    if (restored.ok()) {
      continue;
    }
    const bool has_no_room = HasNoRoom(restored, store);
    if (!has_no_room && !IsDamage(restored)) {
      return restored;
    }
    if (const core::MapVersion part = VersionIn(store, id); part.epoch != 0) {
      WAYSTAR_RETURN_IF_ERROR(store.FollowDeletion(id, part));
    }
    if (has_no_room) {
      store.AddUnloaded(id, map.head.version);
      continue;
    }
    store.AddDamaged(id, map.head.version);
    damaged.insert(id);
    found.damaged.push_back(restored);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fleet>> Fleet::Open(const FleetOptions& options, core::MapStore& store,
                                                   FleetFound& found) {
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<etcd::Client> client, etcd::Client::Open(options.client));
  std::unique_ptr<storage::Folder> images;
  if (!options.image_dir.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(images, storage::OpenSharedPosixFolder(options.image_dir));
  }
  auto fleet = std::unique_ptr<Fleet>(new Fleet(std::move(client), std::move(images), options, store));
  if (absl::Status status = fleet->Load(options, store, found); !status.ok()) {
    store.SetLog(nullptr);
    return status;
  }
  return fleet;
}

Fleet::Fleet(std::unique_ptr<etcd::Client> client, std::unique_ptr<storage::Folder> images,
             const FleetOptions& options, core::MapStore& store)
    : keys_(options.prefix),
      image_folder_(std::move(images)),
      store_(store),
      report_({.address = options.address, .version = options.version, .start_time = options.start_time}),
      client_(std::move(client)),
      reader_(*client_, keys_, image_folder_.get()),
      images_(*client_, keys_, store),
      log_(*client_, keys_, store, LogOptionsOf(options)),
      loader_(reader_, store,
              [this](std::function<absl::Status()> run) { return log_.Call(std::move(run)); }),
      presence_(*client_) {}

ClusterLogOptions Fleet::LogOptionsOf(const FleetOptions& options) {
  ClusterLogOptions log = options.log;
  log.images.folder = image_folder_.get();
  log.on_long = [this](absl::string_view id) { images_.MakeSoon(id); };
  return log;
}

absl::Status Fleet::Load(const FleetOptions& options, core::MapStore& store, FleetFound& found) {
  store.SetLog(&log_);
  FleetMaps maps;
  std::set<std::string> damaged;
  absl::Status loaded;
  do {
    FleetMaps read;
    WAYSTAR_ASSIGN_OR_RETURN(read, WhenThere(options, 0, 0, [&] { return reader_.ReadAll(); }));
    // If reading has taken longer than etcd keeps what was replaced, the store has the maps of an earlier
    // try.
    for (const auto& [id, map] : maps.maps) {
      if ((damaged.contains(id) || !read.maps.contains(id)) && store.CheckCanDelete(id).ok()) {
        WAYSTAR_RETURN_IF_ERROR(store.FollowDeletion(id, VersionIn(store, id)));
      }
    }
    damaged.clear();
    found.damaged.clear();
    maps = std::move(read);
    loaded = LoadAll(options, reader_, maps, store, damaged, found);
  } while (etcd::FailureOf(loaded) == etcd::Failure::kCompacted);
  WAYSTAR_RETURN_IF_ERROR(loaded);
  for (const auto& [id, map] : maps.maps) {
    log_.Know(id, map, damaged.contains(id));
  }
  found.unloaded = store.CountResidence().unloaded;
  found.maps = maps.maps.size() - damaged.size() - found.unloaded;
  images_.Start(
      {.compaction_interval = options.compaction_interval,
       .kept_time = options.kept_time,
       .sweep_interval = options.sweep_interval,
       .images = {.folder = image_folder_.get(), .max_parts = options.log.images.max_parts},
       .revision = [this] { return log_.Statistics().revision; },
       .on_image = [this](const std::string& id, core::MapVersion version) { log_.NoteImage(id, version); },
       .on_failure = options.on_image_failure});
  log_.Start(maps.revision);
  presence_.Start(
      keys_.Server(log_.server()), [this] { return ReportNow(); }, options.presence);
  return absl::OkStatus();
}

absl::Duration Fleet::Staleness() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - log_.Statistics().heard);
}

ServerReport Fleet::ReportNow() const {
  const ClusterLogStatistics statistics = log_.Statistics();
  ServerReport report = report_;
  report.report_time = absl::Now();
  report.maps = store_.size() + store_.CountResidence().unloaded;
  report.revision = statistics.revision;
  report.lag = statistics.lag;
  report.staleness = absl::FromChrono(std::chrono::steady_clock::now() - statistics.heard);
  return report;
}

void Fleet::AskNewest(absl::string_view id, NewestDone done) const {
  if (!core::CheckMapId(id).ok()) {
    std::move(done)(0);
    return;
  }
  // The key of the end stands before that of the head, and records stand behind both.
  std::string behind_head = keys_.Head(id);
  behind_head.push_back('\0');
  client_->Range({.key = keys_.End(id), .range_end = std::move(behind_head)},
                 [done = std::move(done)](absl::StatusOr<etcd::RangeResult> result) mutable {
                   if (!result.ok()) {
                     std::move(done)(CannotAsk(result.status()));
                     return;
                   }
                   std::int64_t newest = 0;
                   for (const etcd::KeyValue& entry : result->entries) {
                     newest = std::max(newest, entry.mod_revision);
                   }
                   std::move(done)(newest);
                 });
}

void Fleet::AskServers(ServersDone done) const {
  const std::string servers = keys_.Servers();
  client_->Range({.key = servers, .range_end = etcd::EndOfPrefix(servers)},
                 [this, done = std::move(done)](absl::StatusOr<etcd::RangeResult> result) mutable {
                   if (!result.ok()) {
                     std::move(done)(CannotAsk(result.status()));
                     return;
                   }
                   std::vector<FleetMember> members = {{.report = ReportNow(), .is_this = true}};
                   const std::string own = keys_.Server(log_.server());
                   for (const etcd::KeyValue& entry : result->entries) {
                     absl::StatusOr<ServerReport> report = DecodeReport(entry.value);
                     if (entry.key != own && report.ok()) {
                       members.push_back({.report = *std::move(report)});
                     }
                   }
                   std::ranges::stable_sort(members, {},
                                            [](const FleetMember& member) { return member.report.address; });
                   std::move(done)(std::move(members));
                 });
}

void Fleet::GiveUp() { log_.GiveUp(); }

void Fleet::Stop() {
  presence_.Stop();
  // It asks the log for its revision.
  images_.Stop();
  log_.Stop();
  client_.reset();
}

}  // namespace waystar::cluster
