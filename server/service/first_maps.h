// The maps that a server starts with: those of its data folder, and those of --maps_dir.
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
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"

namespace waystar::rpc {

// Opens options.data_dir, puts its maps into the store and logs what was found, unless the maps are a
// fleet's. Moves the clock to the time
// of the last change, if it is behind it, and warns if that is by more than a minute. Returns null if the
// option is empty, else the errors of `open_folder` and DataFolder::Open; CANCELLED if the server is asked to
// stop meanwhile. `log` has the callbacks; the options say the rest of it. REQUIRES: as DataFolder::Open.
absl::StatusOr<std::unique_ptr<storage::DataFolder>> OpenData(const runtime::Options& options,
                                                              const storage::OpenFolder& open_folder,
                                                              core::MapStore& store, SteadyClock& clock,
                                                              LoadProgress& progress,
                                                              storage::CommitLogOptions log);

// Warns if other users of the machine may change the files of that folder.
void WarnOfOpenFolder(const std::string& path);

// Moves the clock to the time of the last change of a map, which a server with another clock may have made,
// if it is behind it: lifetimes of obstacles end, and ids are forgotten, by such times. Warns if it is behind
// by more than a minute.
void CatchUp(absl::Time latest_change, SteadyClock& clock);

// Creates the maps of options.maps_dir, except those that the store or the fleet holds already, and, with a
// warning, those of a fleet that cannot be changed now. Returns INVALID_ARGUMENT or NOT_FOUND, naming the
// file, if a map does not load and is not to be skipped, and the errors of MapStore::Create; CANCELLED if the
// server is asked to stop meanwhile.
absl::Status LoadMaps(const runtime::Options& options, core::MapStore& store);

}  // namespace waystar::rpc
