#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/store/map_editor.h"
#include "server/storage/fleet/cluster_reader.h"

namespace waystar::cluster {
namespace {

// Maximum number of attempts to load a map, and the pause after each.
constexpr int kMostTries = 1000;
constexpr std::chrono::milliseconds kPause{5};

// Applies the commits up to that revision to the state. The first record may begin with commits that the
// state has.
absl::Status Apply(const std::vector<std::vector<core::LoggedCommit>>& records, std::uint64_t up_to,
                   storage::MapState& state) {
  core::MapReplay replay(state);
  for (const std::vector<core::LoggedCommit>& commits : records) {
    for (const core::LoggedCommit& commit : commits) {
      if (commit.commit->revision <= up_to) {
        WAYSTAR_RETURN_IF_ERROR(replay.Apply(commit).status());
      }
    }
  }
  replay.Finish();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<core::MapVersion> MapLoader::Keep(absl::string_view id) { return store_.LatestVersion(id); }

absl::Status MapLoader::LoadCached(absl::string_view id) {
  if (cache_ == nullptr || cache_->VersionOf(id) != store_.UnloadedVersion(id)) {
    return absl::AbortedError("there is no image of this version");
  }
  absl::StatusOr<storage::MapState> state = cache_->Read(id);
  if (!state.ok()) {
    return absl::AbortedError(state.status().message());
  }
  store_.Prepare(state->snapshot.map, nullptr, core::GridMap::LargeIndexes::kInBackground);
  return on_log_thread_([&] { return Finish(*state); });
}

absl::Status MapLoader::Load(absl::string_view id) {
  if (const absl::Status cached = LoadCached(id); !absl::IsAborted(cached) && !absl::IsOutOfRange(cached)) {
    return cached;
  }
  for (int i = 0; i < kMostTries; ++i) {
    if (!store_.UnloadedVersion(id)) {
      return absl::OkStatus();
    }
    absl::StatusOr<storage::MapState> state = Read(id);
    absl::Status finished = state.ok() ? absl::OutOfRangeError("") : state.status();
    if (state.ok()) {
      store_.Prepare(state->snapshot.map, nullptr, core::GridMap::LargeIndexes::kInBackground);
    }
    for (; state.ok() && absl::IsOutOfRange(finished) && i < kMostTries; ++i) {
      finished = on_log_thread_([&] { return Finish(*state); });
      if (absl::IsOutOfRange(finished)) {
        std::this_thread::sleep_for(kPause);
      }
    }
    if (!absl::IsAborted(finished) && !absl::IsOutOfRange(finished)) {
      return finished;
    }
    std::this_thread::sleep_for(kPause);
  }
  return absl::UnavailableError(
      absl::StrCat("this server does not come to where map \"", id, "\" is in etcd"));
}

absl::StatusOr<storage::MapState> MapLoader::Read(absl::string_view id) const {
  WAYSTAR_ASSIGN_OR_RETURN(const std::int64_t read, reader_.ReadRevision());
  WAYSTAR_ASSIGN_OR_RETURN(const bool is_there, reader_.HasMap(id, read));
  if (!is_there) {
    return absl::AbortedError("the map has ended, and the log is behind");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const MapBase base, reader_.ReadBase(id, read));
  WAYSTAR_ASSIGN_OR_RETURN(storage::MapState state, reader_.ReadImage(id, base, read));
  WAYSTAR_ASSIGN_OR_RETURN(const auto records, reader_.ReadRecords(id, base.version, read));
  WAYSTAR_RETURN_IF_ERROR(Apply(records, std::numeric_limits<std::uint64_t>::max(), state));
  return state;
}

absl::Status MapLoader::Finish(storage::MapState& state) {
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
    WAYSTAR_ASSIGN_OR_RETURN(const auto records, reader_.ReadRecords(id, state.snapshot.version(), 0));
    // False if an image has replaced the records in between.
    const bool goes_on =
        !records.empty() && records.front().front().commit->revision <= state.snapshot.revision + 1;
    if (goes_on) {
      WAYSTAR_RETURN_IF_ERROR(Apply(records, last->revision, state));
    }
    if (state.snapshot.version() != *last) {
      return absl::AbortedError("what was read does not go on");
    }
  }
  const absl::Status loaded = store_.Load(std::move(state));
  // A deletion by this server is in flight, and may fail.
  return absl::IsFailedPrecondition(loaded) ? absl::AbortedError(loaded.message()) : loaded;
}

}  // namespace waystar::cluster
