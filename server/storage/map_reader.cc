#include "server/storage/map_reader.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/status_macros.h"
#include "server/storage/map_replay.h"

namespace waystar::storage {
namespace {

// Reads the map's image, or else its creation.
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
    // Revisions grow from epoch to epoch.
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
  WAYSTAR_ASSIGN_OR_RETURN(const Replayed replayed, Replay(history, told, map, result.state));
  result.commits = replayed.commits;
  result.work = replayed.work;
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
