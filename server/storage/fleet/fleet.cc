#include "server/storage/fleet/fleet.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/error.h"
#include "server/core/store/update_batch.h"
#include "server/storage/folder/image_file.h"

namespace waystar::cluster {
namespace {

constexpr std::chrono::milliseconds kRetryInterval{200};

// Parts of a map that the store lacks: an image, unless it has the map already, and the commits of the
// records after it.
struct ReadMap {
  std::optional<storage::MapState> image;
  bool is_cached = false;
  std::vector<std::vector<core::LoggedCommit>> records;
};

bool IsFrom(core::MapVersion version, const FleetMap& map) {
  return version.epoch == map.head.version.epoch && version.revision >= map.base.version.revision;
}

// Returns the cached image of a map if the records in etcd continue it. `cache` may be null.
std::optional<storage::MapState> ReadCached(MapCache* cache, const std::string& id, const FleetMap& map) {
  const std::optional<core::MapVersion> version = cache == nullptr ? std::nullopt : cache->VersionOf(id);
  if (!version || !IsFrom(*version, map) || version->revision > map.head.version.revision) {
    return std::nullopt;
  }
  absl::StatusOr<storage::MapState> image = cache->Read(id);
  return image.ok() ? std::optional<storage::MapState>(*std::move(image)) : std::nullopt;
}

// Reads what the store lacks of a map: an image, unless the records continue version `has`, and the records
// after it. The epoch of `has` is 0 if the store does not have the map.
absl::StatusOr<ReadMap> Read(const ClusterReader& reader, MapCache* cache, const std::string& id,
                             const FleetMap& map, core::MapVersion has, std::int64_t revision) {
  WAYSTAR_RETURN_IF_ERROR(map.damage);
  ReadMap read;
  std::uint64_t from = has.revision;
  if (!IsFrom(has, map)) {
    if (std::optional<storage::MapState> cached = ReadCached(cache, id, map)) {
      read.image.emplace(*std::move(cached));
      read.is_cached = true;
    } else {
      WAYSTAR_ASSIGN_OR_RETURN(storage::MapState image, reader.ReadImage(id, map.base, revision));
      read.image.emplace(std::move(image));
    }
    from = read.image->snapshot.revision;
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
    WAYSTAR_RETURN_IF_ERROR(store.Restore(std::move(*read.image)));
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

// Returns true if the next map should be left unloaded.
bool IsNearlyFull(const core::MapStore& store) { return store.CanMakeRoom() && store.IsNearlyFull(); }

// Returns true if a map was rejected for lack of memory and should be left unloaded.
bool HasNoRoom(const absl::Status& status, const core::MapStore& store) {
  return store.CanMakeRoom() && core::HasNoRoom(status);
}

bool IsAway(const absl::Status& status) {
  const etcd::Failure failure = etcd::FailureOf(status);
  return failure == etcd::Failure::kUnreachable || failure == etcd::Failure::kNoLeader;
}

// Calls `read` until etcd can be reached or `patience` has passed.
template <typename Read>
auto WhenThere(const FleetOptions& options, std::size_t maps, std::size_t total, const Read& read,
               absl::Duration patience = absl::InfiniteDuration()) -> decltype(read()) {
  const absl::Time begin = absl::Now();
  for (bool is_told = false;; is_told = true) {
    if (options.on_progress && !options.on_progress(maps, total)) {
      return absl::CancelledError("maps are not read any more");
    }
    auto result = read();
    if (!IsAway(result.status()) || absl::Now() - begin > patience) {
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

// Where maps are read from.
struct Sources {
  const ClusterReader& reader;
  // Null without a cache.
  MapCache* cache;
};

// Loads a map into the store, which may have an earlier version of it. If the map is damaged or does not fit,
// the store does not have it afterwards.
absl::Status LoadMap(const FleetOptions& options, Sources sources, const FleetMaps& maps, std::size_t count,
                     const std::string& id, const FleetMap& map, core::MapStore& store, FleetFound& found) {
  while (true) {
    const core::MapVersion has = VersionIn(store, id);
    absl::StatusOr<ReadMap> read = WhenThere(options, count, maps.maps.size(), [&] {
      return Read(sources.reader, sources.cache, id, map, has, maps.revision);
    });
    if (!read.ok() && !IsDamage(read.status())) {
      return read.status();
    }
    if (has.epoch != 0 && (!read.ok() || read->image)) {
      WAYSTAR_RETURN_IF_ERROR(store.FollowDeletion(id, has));
    }
    const bool is_cached = read.ok() && read->is_cached;
    const absl::Status restored =
        read.ok() ? Restore(id, *std::move(read), map.head, store, found) : read.status();
    if (restored.ok() || !(IsDamage(restored) || HasNoRoom(restored, store))) {
      return restored;
    }
    if (const core::MapVersion part = VersionIn(store, id); part.epoch != 0) {
      WAYSTAR_RETURN_IF_ERROR(store.FollowDeletion(id, part));
    }
    if (!is_cached || !IsDamage(restored)) {
      return restored;
    }
    sources.cache = nullptr;
  }
}

// Loads all maps into the store, which may have earlier versions of some.
absl::Status LoadAll(const FleetOptions& options, const Sources& sources, const FleetMaps& maps,
                     core::MapStore& store, std::set<std::string>& damaged, FleetFound& found) {
  std::size_t count = 0;
  for (const auto& entry : maps.maps) {
    const std::string& id = entry.first;
    const FleetMap& map = entry.second;
    const bool is_new = VersionIn(store, id).epoch == 0;
    if (is_new && map.damage.ok() && (IsNearlyFull(store) || store.UnloadedVersion(id))) {
      store.AddUnloaded(id, map.head.version);
      continue;
    }
    const absl::Status loaded = LoadMap(options, sources, maps, count++, id, map, store, found);
    if (HasNoRoom(loaded, store)) {
      store.AddUnloaded(id, map.head.version);
    } else if (IsDamage(loaded)) {
      store.AddDamaged(id, map.head.version);
      damaged.insert(id);
      found.damaged.push_back(loaded);
    } else if (!loaded.ok()) {
      return loaded;
    }
  }
  return absl::OkStatus();
}

// Drops the reports of crashed servers that were replaced by a new one with the same address.
void DropReplaced(std::vector<FleetMember>& members) {
  const auto is_replaced = [](const std::vector<FleetMember>& all, const ServerReport& report) {
    return std::ranges::any_of(all, [&](const FleetMember& other) {
      return other.report.address == report.address && other.report.start_time > report.report_time;
    });
  };
  const std::vector<FleetMember> all = members;
  std::erase_if(
      members, [&](const FleetMember& member) { return !member.is_this && is_replaced(all, member.report); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fleet>> Fleet::Open(const FleetOptions& options, core::MapStore& store,
                                                   FleetFound& found) {
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<etcd::Client> client, etcd::Client::Open(options.client));
  std::unique_ptr<storage::Folder> images;
  if (!options.image_dir.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(images, storage::OpenSharedPosixFolder(options.image_dir));
  }
  std::unique_ptr<MapCache> cache;
  if (!options.cache_dir.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<storage::Folder> folder,
                             storage::OpenPosixFolder(options.cache_dir));
    WAYSTAR_ASSIGN_OR_RETURN(cache, MapCache::Open(std::move(folder), options.prefix));
  }
  auto fleet = std::unique_ptr<Fleet>(
      new Fleet(std::move(client), std::move(images), std::move(cache), options, store));
  if (absl::Status status = fleet->Load(options, store, found); !status.ok()) {
    store.SetLog(nullptr);
    return status;
  }
  return fleet;
}

Fleet::Fleet(std::unique_ptr<etcd::Client> client, std::unique_ptr<storage::Folder> images,
             std::unique_ptr<MapCache> cache, const FleetOptions& options, core::MapStore& store)
    : keys_(options.prefix),
      image_folder_(std::move(images)),
      cache_(std::move(cache)),
      store_(store),
      report_({.address = options.address, .version = options.version, .start_time = options.start_time}),
      client_(std::move(client)),
      reader_(*client_, keys_, image_folder_.get()),
      images_(*client_, keys_, store),
      log_(*client_, keys_, store, LogOptionsOf(options)),
      loader_(reader_, cache_.get(), store,
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
  const bool has_cache = cache_ != nullptr && !cache_->images().empty();
  absl::Duration patience = has_cache ? options.cache_patience : absl::InfiniteDuration();
  FleetMaps maps;
  std::set<std::string> damaged;
  absl::Status loaded;
  std::chrono::steady_clock::time_point read_at;
  do {
    absl::StatusOr<FleetMaps> read = WhenThere(
        options, 0, 0,
        [&]() -> absl::StatusOr<FleetMaps> {
          read_at = std::chrono::steady_clock::now();
          absl::StatusOr<FleetMaps> all = reader_.ReadAll();
          if (IsAway(all.status())) {
            WAYSTAR_RETURN_IF_ERROR(client_->CheckCertificates());
          }
          return all;
        },
        patience);
    if (IsAway(read.status())) {
      return LoadCached(options, store, found);
    }
    WAYSTAR_RETURN_IF_ERROR(read.status());
    patience = absl::InfiniteDuration();
    // If etcd compacted the revision during the read, the store has the maps of the previous attempt.
    for (const auto& [id, map] : maps.maps) {
      if ((damaged.contains(id) || !read->maps.contains(id)) && store.CheckCanDelete(id).ok()) {
        WAYSTAR_RETURN_IF_ERROR(store.FollowDeletion(id, VersionIn(store, id)));
      }
    }
    damaged.clear();
    found.damaged.clear();
    maps = *std::move(read);
    loaded = LoadAll(options, {.reader = reader_, .cache = cache_.get()}, maps, store, damaged, found);
  } while (etcd::FailureOf(loaded) == etcd::Failure::kCompacted);
  WAYSTAR_RETURN_IF_ERROR(loaded);
  for (const auto& [id, map] : maps.maps) {
    log_.Know(id, map, damaged.contains(id));
  }
  found.unloaded = store.CountResidence().unloaded;
  found.maps = maps.maps.size() - damaged.size() - found.unloaded;
  log_.Start(maps.revision, read_at);
  StartThreads(options);
  return absl::OkStatus();
}

absl::Status Fleet::LoadCached(const FleetOptions& options, core::MapStore& store, FleetFound& found) {
  const MapCache::Images images = cache_->images();
  found.cached_at = cache_->known_at();
  std::size_t count = 0;
  for (const auto& entry : images) {
    const std::string& id = entry.first;
    const core::MapVersion version = entry.second;
    if (options.on_progress && !options.on_progress(count++, images.size())) {
      return absl::CancelledError("maps are not read any more");
    }
    const absl::Status restored = [&]() -> absl::Status {
      if (IsNearlyFull(store)) {
        store.AddUnloaded(id, version);
        return absl::OkStatus();
      }
      WAYSTAR_ASSIGN_OR_RETURN(storage::MapState image, cache_->Read(id));
      found.latest_time =
          std::max({found.latest_time, image.snapshot.create_time, image.snapshot.latest_commit_time});
      return store.Restore(std::move(image));
    }();
    if (HasNoRoom(restored, store)) {
      store.AddUnloaded(id, version);
    } else if (!restored.ok()) {
      // It is loaded once etcd is back.
      found.damaged.push_back(restored);
      continue;
    }
    log_.KnowCached(id, version);
  }
  found.unloaded = store.CountResidence().unloaded;
  found.maps = images.size() - found.damaged.size() - found.unloaded;
  log_.StartWithoutEtcd(*found.cached_at);
  StartThreads(options);
  return absl::OkStatus();
}

void Fleet::StartThreads(const FleetOptions& options) {
  images_.Start(
      {.compaction_interval = options.compaction_interval,
       .kept_time = options.kept_time,
       .sweep_interval = options.sweep_interval,
       .images = {.folder = image_folder_.get(), .max_parts = options.log.images.max_parts},
       .revision = [this] { return log_.Statistics().revision; },
       .on_image = [this](const std::string& id, core::MapVersion version) { log_.NoteImage(id, version); },
       .on_failure = options.on_image_failure});
  if (cache_ != nullptr) {
    cache_->Start(
        store_, [this] { return KnownAt(); }, options.cache);
  }
  presence_.Start(
      keys_.Server(log_.server()), keys_.Servers(), [this] { return ReportNow(); }, options.presence);
}

absl::Time Fleet::KnownAt() const { return absl::Now() - Staleness(); }

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
  if (const ClusterLogStatistics statistics = log_.Statistics(); statistics.has_gone_back) {
    std::move(done)(statistics.status);
    return;
  }
  // In key order: the end, the head, the records.
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
  // Else each call would wait for its full timeout.
  if (const absl::Status why = log_.WhyRefusing(); absl::IsUnavailable(why)) {
    std::move(done)(CannotAsk(why));
    return;
  }
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
                     absl::StatusOr<ServerReport> report = Decode<ServerReport>(entry.value);
                     if (entry.key != own && report.ok()) {
                       members.push_back({.report = *std::move(report)});
                     }
                   }
                   DropReplaced(members);
                   std::ranges::stable_sort(members, {},
                                            [](const FleetMember& member) { return member.report.address; });
                   std::move(done)(std::move(members));
                 });
}

void Fleet::GiveUp() { log_.GiveUp(); }

void Fleet::Stop() {
  presence_.Stop();
  // The image keeper asks the log for its revision, so it must stop before the log.
  images_.Stop();
  if (cache_ != nullptr) {
    cache_->Stop();
  }
  log_.Stop();
  client_.reset();
}

}  // namespace waystar::cluster
