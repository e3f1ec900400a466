#include "server/cluster/map_loader.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/store/map_replay.h"

namespace waystar::cluster {
namespace {

// How often, and after which pause, it is looked whether the log has come to where the map was read.
constexpr int kMostTries = 1000;
constexpr std::chrono::milliseconds kPause{5};

// Applies commits that follow the state, and perhaps some that it has.
absl::Status Apply(const std::vector<std::vector<core::LoggedCommit>>& records, storage::MapState& state) {
  core::MapReplay replay(state.snapshot, state.requests);
  for (const std::vector<core::LoggedCommit>& commits : records) {
    for (const core::LoggedCommit& commit : commits) {
      WAYSTAR_RETURN_IF_ERROR(replay.Apply(commit).status());
    }
  }
  replay.Finish();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<core::MapVersion> MapLoader::Keep(absl::string_view id) { return store_.LatestVersion(id); }

absl::Status MapLoader::Load(absl::string_view id) {
  for (int i = 0; i < kMostTries; ++i) {
    if (!store_.UnloadedVersion(id)) {
      return absl::OkStatus();
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::int64_t read, reader_.ReadRevision());
    WAYSTAR_ASSIGN_OR_RETURN(const MapBase base, reader_.ReadBase(id, read));
    WAYSTAR_ASSIGN_OR_RETURN(storage::MapState state, reader_.ReadImage(id, base, read));
    WAYSTAR_ASSIGN_OR_RETURN(const auto records, reader_.ReadRecords(id, base.version, read));
    WAYSTAR_RETURN_IF_ERROR(Apply(records, state));
    store_.Prepare(state.snapshot.map, nullptr, core::GridMap::LargeIndexes::kInBackground);
    absl::Status finished = absl::OutOfRangeError("");
    for (; absl::IsOutOfRange(finished) && i < kMostTries; ++i) {
      finished = on_log_thread_([&](std::int64_t revision) { return Finish(state, revision); });
      if (absl::IsOutOfRange(finished)) {
        std::this_thread::sleep_for(kPause);
      }
    }
    if (!absl::IsAborted(finished) && !absl::IsOutOfRange(finished)) {
      return finished;
    }
  }
  return absl::UnavailableError(
      absl::StrCat("this server does not come to where map \"", id, "\" is in etcd"));
}

absl::Status MapLoader::Finish(storage::MapState& state, std::int64_t revision) {
  const std::string& id = state.snapshot.id;
  const std::optional<core::MapVersion> last = store_.UnloadedVersion(id);
  if (!last) {
    return absl::OkStatus();
  }
  if (last->epoch != state.snapshot.epoch) {
    return absl::AbortedError("another map has its id");
  }
  if (last->revision < state.snapshot.revision) {
    return absl::OutOfRangeError("the log is behind");
  }
  if (last->revision > state.snapshot.revision) {
    WAYSTAR_ASSIGN_OR_RETURN(const auto records, reader_.ReadRecords(id, state.snapshot.version(), revision));
    WAYSTAR_RETURN_IF_ERROR(Apply(records, state));
    if (state.snapshot.version() != *last) {
      // An image has taken the place of records.
      return absl::AbortedError("what was read does not go on");
    }
  }
  return store_.Load(std::move(state.snapshot), std::move(state.requests), state.request_horizon);
}

}  // namespace waystar::cluster
