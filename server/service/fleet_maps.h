// The maps that a server shares with its fleet.
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

// What a server is to the others of its fleet.
struct FleetIdentity {
  // Where clients reach it.
  std::string address;
  absl::Time start_time;
};

// Returns where clients reach a server that listens on options.listen, at that port: options.advertise, if it
// is set; else the address, with the name of the machine in place of an address that stands for all.
std::string AdvertisedAddress(const runtime::Options& options, int port);

// Joins the fleet of options.cluster, puts its maps into the store and logs what was found. Waits for etcd as
// long as it cannot be reached. Moves the clock to the time of the last change, if it is behind it. Returns
// null if the option is empty, INVALID_ARGUMENT if it or a file of the other options is wrong, the other
// errors of Fleet::Open, and CANCELLED if the server is asked to stop meanwhile. `log` has the callbacks.
// REQUIRES: as Fleet::Open.
absl::StatusOr<std::unique_ptr<cluster::Fleet>> JoinFleet(const runtime::Options& options,
                                                          FleetIdentity identity, core::MapStore& store,
                                                          SteadyClock& clock, LoadProgress& progress,
                                                          cluster::ClusterLogOptions log);

}  // namespace waystar::rpc
