#include "server/storage/folder/map_reader.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/status_macros.h"
#include "server/core/store/map_editor.h"

namespace waystar::storage {
namespace {

// Applies and counts the commits that the state does not contain yet.
absl::Status Replay(const LogHistory& history, absl::Span<const LocatedEntry> entries,
                    ReadMapResult& result) {
  core::MapReplay replay(result.state);
  for (const LocatedEntry& located : entries) {
    const LogEntry& entry = located.entry;
    if (entry.kind != LogEntry::Kind::kCommits || entry.revision <= result.state.snapshot.revision) {
      continue;
    }
    const LogFile& file = history.files[located.file];
    const absl::StatusOr<std::vector<core::LoggedCommit>> commits = DecodeCommits(entry.body);
    if (!commits.ok()) {
      return Damage(file.path, located.offset, commits.status().message());
    }
    for (const core::LoggedCommit& commit : *commits) {
      const absl::StatusOr<std::optional<core::ChangeSummary>> applied = replay.Apply(commit);
      if (!applied.ok()) {
        return Damage(file.path, located.offset,
                      absl::StrCat("map \"", result.state.snapshot.id, "\": ", applied.status().message()));
      }
      if (*applied) {
        ++result.commits;
        result.work += WorkOfCommit(**applied);
      }
    }
  }
  replay.Finish();
  return absl::OkStatus();
}

absl::StatusOr<MapState> ReadCreation(const LogHistory& history, const LocatedEntry& creation) {
  const LogFile& file = history.files[creation.file];
  const absl::StatusOr<Creation> decoded = DecodeCreation(creation.entry);
  if (!decoded.ok()) {
    return Damage(file.path, creation.offset, decoded.status().message());
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::MapSnapshot image, ReadImage(decoded->image, file.path, creation.offset));
  MapState state{.snapshot = std::move(image)};
  state.snapshot.id = creation.entry.map;
  state.snapshot.epoch = creation.entry.epoch;
  state.snapshot.revision = creation.entry.revision;
  state.snapshot.create_time = decoded->create_time;
  if (!decoded->request.request_id.empty()) {
    state.requests.push_back(core::RequestOf(state.snapshot, decoded->request));
  }
  return state;
}

// Reads the image of a map, or else its creation.
absl::StatusOr<ReadMapResult> ReadBase(const Folder& folder, const LogHistory& history,
                                       const ImagesByMap& images, const std::string& map,
                                       absl::Span<const LocatedEntry> told) {
  if (const auto image = images.find(map); image != images.end()) {
    const std::string name = ImageFileName(image->second);
    WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(name));
    WAYSTAR_ASSIGN_OR_RETURN(MapState state, ReadImageFile(image->second, folder.PathOf(name), bytes));
    return ReadMapResult{.state = std::move(state), .image_bytes = bytes.size()};
  }
  if (!told.empty() && BeginsMap(told.front().entry)) {
    WAYSTAR_ASSIGN_OR_RETURN(MapState state, ReadCreation(history, told.front()));
    return ReadMapResult{.state = std::move(state)};
  }
  return absl::DataLossError(absl::StrCat("there is no image of map \"", map, "\""));
}

}  // namespace

ImagesByMap NewestImages(const std::vector<std::string>& names, const LogHistory& history) {
  ImagesByMap newest;
  for (const std::string& name : names) {
    const std::optional<ImageName> image = ParseImageFileName(name);
    const auto epochs = image ? history.epochs.find(image->map) : history.epochs.end();
    if (epochs == history.epochs.end() || !IsKnown(image->version, epochs->second)) {
      continue;
    }
    // All known epochs belong to this map, so the largest revision is the newest.
    ImageName& best = newest[image->map];
    if (best.map.empty() || best.version.revision < image->version.revision) {
      best = *image;
    }
  }
  return newest;
}

absl::StatusOr<ReadMapResult> ReadMap(const Folder& folder, const LogHistory& history,
                                      const ImagesByMap& images, const LiveMap& map) {
  const auto entries = history.entries.find(map.id);
  const absl::Span<const LocatedEntry> none;
  const absl::Span<const LocatedEntry> told =
      entries == history.entries.end() ? none : absl::MakeConstSpan(entries->second);
  WAYSTAR_ASSIGN_OR_RETURN(ReadMapResult result, ReadBase(folder, history, images, map.id, told));
  WAYSTAR_RETURN_IF_ERROR(Replay(history, told, result));
  if (result.state.snapshot.revision != map.revision) {
    return absl::DataLossError(absl::StrCat("map \"", map.id, "\" was at revision ", map.revision,
                                            ", and there is only revision ", result.state.snapshot.revision));
  }
  result.state.snapshot.epoch = map.epoch;
  for (core::AppliedRequest& request : result.state.requests) {
    request.result.epoch = map.epoch;
  }
  return result;
}

}  // namespace waystar::storage
