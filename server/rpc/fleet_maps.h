// The maps that a server shares with its fleet.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/cluster/fleet.h"
#include "server/core/store/map_store.h"
#include "server/rpc/telemetry/load_progress.h"
#include "server/runtime/options.h"

namespace waystar::rpc {

// Joins the fleet of options.cluster, puts its maps into the store and logs what was found. Waits for etcd as
// long as it cannot be reached. Moves the clock to the time of the last change, if it is behind it. Returns
// null if the option is empty, INVALID_ARGUMENT if it or a file of the other options is wrong, the other
// errors of Fleet::Open, and CANCELLED if the server is asked to stop meanwhile. `log` has the callbacks.
// REQUIRES: as Fleet::Open.
absl::StatusOr<std::unique_ptr<cluster::Fleet>> JoinFleet(const runtime::Options& options,
                                                          core::MapStore& store, SteadyClock& clock,
                                                          LoadProgress& progress,
                                                          cluster::ClusterLogOptions log);

}  // namespace waystar::rpc
