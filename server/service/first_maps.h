// Maps that a server starts with: those of its data folder, its fleet, and --maps_dir.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/core/store/map_store.h"
#include "server/runtime/options.h"
#include "server/service/metrics/storage_statistics.h"
#include "server/storage/fleet/fleet.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"

namespace waystar::rpc {

// Opens options.data_dir, puts its maps into the store and logs a summary, unless the maps belong to a fleet.
// If the clock is behind the last change, moves it to that time, and warns if the difference is more than a
// minute. Returns null if the option is empty, the errors of `open_folder` and DataFolder::Open, or CANCELLED
// if the server is told to stop meanwhile. `log` has the callbacks; its other fields come from the options.
// REQUIRES: as DataFolder::Open.
absl::StatusOr<std::unique_ptr<storage::DataFolder>> OpenData(const runtime::Options& options,
                                                              const storage::OpenFolder& open_folder,
                                                              core::MapStore& store, SteadyClock& clock,
                                                              LoadProgress& progress,
                                                              storage::CommitLogOptions log);

// Warns if other users of the machine may write to the folder.
void WarnOfOpenFolder(const std::string& path);

// If the clock is behind the last change of a map, which a server with another clock may have made, moves it
// to that time: lifetimes of obstacles and remembered ids expire by such times. Warns if the difference is
// more than a minute.
void CatchUp(absl::Time latest_change, SteadyClock& clock);

// Creates the maps of options.maps_dir, except those that the store or the fleet already has; and skips, with
// a warning, those of a fleet that cannot be changed now. Returns INVALID_ARGUMENT or NOT_FOUND, with the
// file, if a map does not load and must not be skipped, the errors of MapStore::Create, or CANCELLED if the
// server is told to stop meanwhile.
absl::Status LoadMaps(const runtime::Options& options, core::MapStore& store);

// How a server presents itself to its fleet.
struct FleetIdentity {
  // Address for clients.
  std::string address;
  absl::Time start_time;
};

// Returns the address for clients of a server that listens on options.listen, at that port: options.advertise
// if it is set; else the listening address, with the machine's name in place of a wildcard.
std::string AdvertisedAddress(const runtime::Options& options, int port);

// Joins the fleet of options.cluster, puts its maps into the store and logs a summary. Waits while etcd is
// unreachable. If the clock is behind the last change, moves it to that time. Returns null if the option is
// empty, INVALID_ARGUMENT if it or a file of the other options is invalid, the other errors of Fleet::Open,
// or CANCELLED if the server is told to stop meanwhile. `log` has the callbacks. REQUIRES: as Fleet::Open.
absl::StatusOr<std::unique_ptr<cluster::Fleet>> JoinFleet(const runtime::Options& options,
                                                          FleetIdentity identity, core::MapStore& store,
                                                          SteadyClock& clock, LoadProgress& progress,
                                                          cluster::ClusterLogOptions log);

}  // namespace waystar::rpc
