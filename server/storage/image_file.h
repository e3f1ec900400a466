// Images of stored maps in files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_version.h"
#include "server/core/store/stored_map.h"
#include "server/storage/folder.h"

namespace waystar::storage {

// What the name of an image file says: "image-<map>-<epoch>-<revision>".
struct ImageName {
  std::string map;
  core::MapVersion version;
};

// A map as it was read.
struct MapState {
  core::MapSnapshot snapshot;
  // What AppliedRequests is to remember.
  std::vector<core::AppliedRequest> requests;
  core::RequestHorizon request_horizon;
};

std::string ImageFileName(const ImageName& name);
// Returns nothing for names of other files.
std::optional<ImageName> ParseImageFileName(absl::string_view name);

// Writes an image under a temporary name, syncs it, calls `sync_log`, gives the file its name, which is on
// stable storage after Folder::SyncNames, and returns its size. Leaves no file behind if one of them fails.
// Returns the errors of `sync_log` and of the folder, and RESOURCE_EXHAUSTED for a map whose image is longer
// than a record can be.
absl::StatusOr<std::uint64_t> WriteImageFile(const core::StoredMap& map, Folder& folder,
                                             absl::FunctionRef<absl::Status()> sync_log);

// Returns the map of an image file. Returns DATA_LOSS, with the path and the offset, if the file is damaged
// or does not hold what its name says; and the errors of ReadRecords.
absl::StatusOr<MapState> ReadImageFile(const ImageName& name, absl::string_view path,
                                       absl::string_view bytes);

// Returns what an image file holds as one text, for where there are no files.
std::string EncodeStoredMap(const core::StoredMap& map);
// Returns DATA_LOSS, with `path` and the offset, if this is not what EncodeStoredMap wrote.
absl::StatusOr<MapState> DecodeStoredMap(absl::string_view bytes, absl::string_view path);

// Returns the map of an image that a record of a file holds at `offset`, or DATA_LOSS.
absl::StatusOr<core::MapSnapshot> ReadImage(absl::string_view image, absl::string_view path,
                                            std::uint64_t offset);

// Returns the error DATA_LOSS.
absl::Status Damage(absl::string_view path, std::uint64_t offset, absl::string_view what);

}  // namespace waystar::storage
