#include "server/service/first_maps.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "server/base/error.h"
#include "server/formats/build/build_mesh.h"
#include "server/formats/detect/map_folder.h"
#include "server/runtime/logging.h"
#include "server/runtime/process.h"
#include "server/service/handlers/maps/map_creation.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/folder/folder_reader.h"

namespace waystar::rpc {
namespace {

using Ids = absl::flat_hash_set<std::string>;

constexpr absl::Duration kProgressInterval = absl::Seconds(1);
// The clock may be slow by this much without a warning.
constexpr absl::Duration kMaxSilentAdvance = absl::Minutes(1);

absl::Status InFile(const absl::Status& status, const core::MapFile& file) {
  return {status.code(), absl::StrCat(file.path.string(), ": ", status.message())};
}

void LogLoaded(const core::MapSnapshot& map, const core::MapFile& file) {
  const auto [first, second] = std::visit([](const auto& of_kind) { return SizeForLog(of_kind); }, map.map);
  runtime::Log(runtime::LogLevel::kInfo, "map_loaded",
               {{"map", map.id}, {"file", file.path.string()}, first, second});
}

void LogPassed(runtime::LogLevel level, const core::PassedFile& file) {
  runtime::Log(level, "file_passed", {{"file", file.path.string()}, {"reason", file.reason}});
}

// Creates the maps of a file that are not in `kept`.
absl::Status LoadFile(const core::MapFile& file, int max_side, const Ids& kept, bool in_fleet,
                      core::MapStore& store) {
  absl::StatusOr<core::LoadedFile> loaded = core::LoadMapFile(file, max_side, &level::BuildForAgents);
  if (!loaded.ok()) {
    return InFile(loaded.status(), file);
  }
  if (!loaded->no_map.empty()) {
    LogPassed(runtime::LogLevel::kWarning, {.path = file.path, .reason = loaded->no_map});
  }
  for (const core::ImportNote& note : loaded->notes) {
    runtime::Log(runtime::LogLevel::kWarning, "map_note",
                 {{"file", file.path.string()}, {"note", core::LineOf(note)}});
  }
  for (core::LoadedMap& map : loaded->maps) {
    const auto log_kept = [&] {
      runtime::Log(runtime::LogLevel::kInfo, "map_kept", {{"map", map.id}, {"file", file.path.string()}});
    };
    if (kept.contains(map.id)) {
      log_kept();
      continue;
    }
    const auto created = store.Create(map.id, std::move(map.map), store.Now());
    if (in_fleet && absl::IsAlreadyExists(created.status())) {
      // Another server created it first.
      log_kept();
      continue;
    }
    if (in_fleet && absl::IsUnavailable(created.status())) {
      runtime::Log(runtime::LogLevel::kWarning, "map_not_created",
                   {{"map", map.id},
                    {"file", file.path.string()},
                    {"error", created.status().message()},
                    {"note", "The next start creates it, if the fleet has no such map then."}});
      continue;
    }
    if (!created.ok()) {
      return InFile(created.status(), file);
    }
    LogLoaded(**created, file);
  }
  return absl::OkStatus();
}

// Lack of memory or storage is not the file's fault.
bool MayBeSkipped(const absl::Status& status) {
  return !absl::IsResourceExhausted(status) && !absl::IsUnavailable(status);
}

storage::DataOptions DataOptionsOf(const runtime::Options& options, const core::MapStore& store,
                                   LoadProgress& progress, storage::CommitLogOptions log) {
  storage::DataOptions data{.log = std::move(log)};
  data.log.durability =
      options.durability == "relaxed" ? storage::Durability::kRelaxed : storage::Durability::kSync;
  data.log.sync_interval = options.sync_interval;
  data.max_log_bytes = options.max_log_mib << 20;
  data.read.skip_damaged_maps = options.skip_damaged_maps;
  data.read.may_unload = store.CanMakeRoom();
  data.read.threads = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  data.read.on_progress = [&progress, last = absl::Now()](std::size_t read, std::size_t total) mutable {
    progress.Set({.read = static_cast<std::int64_t>(read), .total = static_cast<std::int64_t>(total)});
    if (const absl::Time now = absl::Now(); now - last >= kProgressInterval) {
      last = now;
      runtime::Log(runtime::LogLevel::kInfo, "data_reading", {{"maps", read}, {"of", total}});
    }
    return !runtime::IsStopAsked();
  };
  return data;
}

// Limit on one call to etcd: longer than a leader election.
constexpr absl::Duration kCallTimeout = absl::Seconds(3);

absl::StatusOr<cluster::FleetOptions> FleetOptionsOf(const runtime::Options& options, LoadProgress& progress,
                                                     cluster::ClusterLogOptions log) {
  const absl::StatusOr<etcd::Address> address = etcd::ParseAddress(options.cluster);
  if (!address.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--cluster: ", address.status().message()));
  }
  cluster::FleetOptions fleet{.prefix = address->prefix,
                              .log = std::move(log),
                              .image_dir = options.image_dir,
                              .cache_dir = options.data_dir};
  fleet.client = {.endpoints = address->endpoints,
                  .uses_tls = options.cluster_tls,
                  .tls = {.ca = options.cluster_ca, .cert = options.cluster_cert, .key = options.cluster_key},
                  .password_file = options.cluster_password_file,
                  .call_timeout = kCallTimeout};
  fleet.log.on_broken = [](absl::string_view id, const absl::Status& why) {
    runtime::Log(runtime::LogLevel::kError, "map_broken",
                 {{"map", id},
                  {"error", why.message()},
                  {"note", "This server does not serve the map any more. A restart reads it afresh."}});
  };
  fleet.log.on_gone_back = [](const absl::Status& why) {
    runtime::Log(runtime::LogLevel::kError, "fleet_gone_back",
                 {{"error", why.message()},
                  {"note", "This server answers from its last state, and follows the fleet no more."}});
  };
  fleet.on_image_failure = [](const absl::Status& status) {
    runtime::Log(runtime::LogLevel::kWarning, "fleet_image_failed", {{"error", status.message()}});
  };
  fleet.cache.on_status = [](const absl::Status& status) {
    if (status.ok()) {
      runtime::Log(runtime::LogLevel::kInfo, "fleet_cached_again", {});
    } else {
      runtime::Log(runtime::LogLevel::kWarning, "fleet_not_cached", {{"error", status.message()}});
    }
  };
  fleet.presence.on_status = [](const absl::Status& status) {
    if (status.ok()) {
      runtime::Log(runtime::LogLevel::kInfo, "fleet_listed_again", {});
    } else {
      runtime::Log(runtime::LogLevel::kWarning, "fleet_not_listed",
                   {{"error", status.message()},
                    {"note", "Lists of the fleet's servers lack this one. Nothing else depends on it."}});
    }
  };
  fleet.on_away = [](const absl::Status& status) {
    runtime::Log(runtime::LogLevel::kWarning, "fleet_awaited", {{"error", status.message()}});
  };
  fleet.on_progress = [&progress](std::size_t read, std::size_t total) {
    progress.Set({.read = static_cast<std::int64_t>(read), .total = static_cast<std::int64_t>(total)});
    return !runtime::IsStopAsked();
  };
  return fleet;
}

}  // namespace

void WarnOfOpenFolder(const std::string& path) {
  std::error_code missing;
  const std::filesystem::perms allowed = std::filesystem::status(path, missing).permissions();
  if (!missing && (allowed & std::filesystem::perms::others_write) != std::filesystem::perms::none) {
    runtime::Log(runtime::LogLevel::kWarning, "data_open_to_all",
                 {{"folder", path}, {"note", "All users of the machine may change its files."}});
  }
}

void CatchUp(absl::Time latest_change, SteadyClock& clock) {
  if (const absl::Duration behind = clock.AdvanceTo(latest_change); behind > kMaxSilentAdvance) {
    runtime::Log(runtime::LogLevel::kWarning, "clock_behind",
                 {{"seconds", absl::ToDoubleSeconds(behind)},
                  {"note",
                   "The machine's clock is behind the last change of a map. The server goes on from the time "
                   "of that change."}});
  }
}

absl::StatusOr<std::unique_ptr<storage::DataFolder>> OpenData(const runtime::Options& options,
                                                              const storage::OpenFolder& open_folder,
                                                              core::MapStore& store, SteadyClock& clock,
                                                              LoadProgress& progress,
                                                              storage::CommitLogOptions log) {
  if (!options.cluster.empty()) {
    return nullptr;
  }
  if (options.data_dir.empty()) {
    runtime::Log(runtime::LogLevel::kInfo, "data_in_memory",
                 {{"note", "Maps live in memory alone. --data_dir keeps them."}});
    return nullptr;
  }
  const absl::Time start = absl::Now();
  WarnOfOpenFolder(options.data_dir);
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<storage::Folder> folder, open_folder(options.data_dir));
  storage::DataFound found;
  const storage::DataOptions data_options = DataOptionsOf(options, store, progress, std::move(log));
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<storage::DataFolder> data,
                           storage::DataFolder::Open(std::move(folder), store, data_options, found));
  if (!found.new_epochs.empty()) {
    runtime::Log(runtime::LogLevel::kWarning, "new_epochs", {{"reason", found.new_epochs}});
  }
  for (const std::string& image : found.unknown_images) {
    runtime::Log(
        runtime::LogLevel::kWarning, "unknown_image",
        {{"file", image}, {"note", "Nothing in the log explains it. It is not used, and not removed."}});
  }
  for (const absl::Status& map : found.damaged) {
    runtime::Log(runtime::LogLevel::kWarning, "map_damaged", {{"error", map.message()}});
  }
  for (const std::string& file : found.kept) {
    runtime::Log(runtime::LogLevel::kWarning, "file_kept", {{"file", storage::KeptName(file)}});
  }
  runtime::Log(runtime::LogLevel::kInfo, "data_opened",
               {{"folder", options.data_dir},
                {"maps", found.maps},
                {"unloaded", found.unloaded},
                {"commits", found.commits},
                {"seconds", absl::ToDoubleSeconds(absl::Now() - start)},
                {"torn_bytes", found.torn_bytes}});
  CatchUp(found.latest_time, clock);
  return data;
}

absl::Status LoadMaps(const runtime::Options& options, core::MapStore& store) {
  if (options.maps_dir.empty()) {
    return absl::OkStatus();
  }
  Ids kept;
  for (const core::MapStore::ListedMap& map : store.ListAll("", std::numeric_limits<std::size_t>::max())) {
    kept.insert(map.id);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::MapFolder folder, core::ListMapFiles(options.maps_dir));
  for (const core::PassedFile& file : folder.passed) {
    LogPassed(runtime::LogLevel::kInfo, file);
  }
  for (const core::MapFile& file : folder.files) {
    if (runtime::IsStopAsked()) {
      return absl::CancelledError("maps are not read any more");
    }
    const absl::Status status = LoadFile(file, options.max_map_side, kept, !options.cluster.empty(), store);
    if (!status.ok() && (!options.skip_damaged_maps || !MayBeSkipped(status))) {
      return status;
    }
    if (!status.ok()) {
      runtime::Log(runtime::LogLevel::kError, "map_skipped", {{"error", status.message()}});
    }
  }
  return absl::OkStatus();
}

std::string AdvertisedAddress(const runtime::Options& options, int port) {
  if (!options.advertise.empty()) {
    return options.advertise;
  }
  if (port == 0) {
    return options.listen;
  }
  absl::string_view host = absl::string_view(options.listen).substr(0, options.listen.rfind(':'));
  for (const absl::string_view scheme : {"dns:", "ipv4:", "ipv6:"}) {
    host = absl::StripPrefix(host, scheme);
  }
  std::array<char, 256> name{};
  const bool is_any = host.empty() || host == "0.0.0.0" || host == "[::]" || host == "*";
  if (is_any && gethostname(name.data(), name.size() - 1) == 0) {
    host = name.data();
  }
  return absl::StrCat(host, ":", port);
}

absl::StatusOr<std::unique_ptr<cluster::Fleet>> JoinFleet(const runtime::Options& options,
                                                          FleetIdentity identity, core::MapStore& store,
                                                          SteadyClock& clock, LoadProgress& progress,
                                                          cluster::ClusterLogOptions log) {
  if (options.cluster.empty()) {
    return nullptr;
  }
  WAYSTAR_ASSIGN_OR_RETURN(cluster::FleetOptions fleet_options,
                           FleetOptionsOf(options, progress, std::move(log)));
  fleet_options.address = std::move(identity.address);
  fleet_options.version = std::string(runtime::Version());
  fleet_options.start_time = identity.start_time;
  const absl::Time start = absl::Now();
  if (!options.data_dir.empty()) {
    WarnOfOpenFolder(options.data_dir);
  }
  cluster::FleetFound found;
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<cluster::Fleet> fleet,
                           cluster::Fleet::Open(fleet_options, store, found));
  for (const absl::Status& map : found.damaged) {
    runtime::Log(runtime::LogLevel::kError, "map_damaged", {{"error", map.message()}});
  }
  if (found.cached_at) {
    runtime::Log(runtime::LogLevel::kWarning, "fleet_from_cache",
                 {{"folder", options.data_dir},
                  {"as_of", absl::FormatTime(absl::RFC3339_sec, *found.cached_at, absl::UTCTimeZone())},
                  {"note", "etcd is away. Changes are refused until it is back."}});
  }
  runtime::Log(runtime::LogLevel::kInfo, "fleet_joined",
               {{"cluster", options.cluster},
                {"maps", found.maps},
                {"unloaded", found.unloaded},
                {"records", found.records},
                {"seconds", absl::ToDoubleSeconds(absl::Now() - start)}});
  CatchUp(found.latest_time, clock);
  return fleet;
}

}  // namespace waystar::rpc
