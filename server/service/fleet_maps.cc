#include "server/service/fleet_maps.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/status_macros.h"
#include "server/runtime/logging.h"
#include "server/runtime/signals.h"
#include "server/runtime/version.h"
#include "server/service/first_maps.h"
#include "server/storage/etcd/etcd_address.h"

namespace waystar::rpc {
namespace {

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
