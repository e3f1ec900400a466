// Maps that a server shares with its fleet.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/core/store/map_store.h"
#include "server/runtime/options.h"
#include "server/service/metrics/load_progress.h"
#include "server/storage/fleet/fleet.h"

namespace waystar::rpc {

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
