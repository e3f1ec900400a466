// Map images in files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/durable_log.h"
#include "server/storage/folder/folder.h"

namespace waystar::storage {

// Parsed name of an image file: "image-<map>-<epoch>-<revision>".
struct ImageName {
  std::string map;
  core::MapVersion version;
};

using core::MapState;

std::string ImageFileName(const ImageName& name);
// Parses the name of an image file. Returns nullopt for any other name.
std::optional<ImageName> ParseImageFileName(absl::string_view name);

// Writes an image under a temporary name, syncs it, calls `sync_log`, then renames the file. The new name is
// durable after Folder::SyncNames. Returns the size of the file. Removes the file on failure. Returns the
// errors of `sync_log` and of the folder, and RESOURCE_EXHAUSTED if the image exceeds kMaxRecordBytes.
absl::StatusOr<std::uint64_t> WriteImageFile(const core::StoredMap& map, Folder& folder,
                                             absl::FunctionRef<absl::Status()> sync_log);

// Returns the map of an image file. Returns DATA_LOSS, with the path and the offset, if the file is damaged
// or does not match its name; and the errors of ReadRecords.
absl::StatusOr<MapState> ReadImageFile(const ImageName& name, absl::string_view path,
                                       absl::string_view bytes);

// Encodes the content of an image file as one string, for storage outside files.
std::string EncodeStoredMap(const core::StoredMap& map);
// Decodes the result of EncodeStoredMap. Returns DATA_LOSS, with `path` and the offset, for other bytes.
absl::StatusOr<MapState> DecodeStoredMap(absl::string_view bytes, absl::string_view path);

// Decodes the image in the record at `offset` of a file. Returns DATA_LOSS if it is damaged.
absl::StatusOr<core::MapSnapshot> ReadImage(absl::string_view image, absl::string_view path,
                                            std::uint64_t offset);

// Returns DATA_LOSS with the path and the offset.
absl::Status Damage(absl::string_view path, std::uint64_t offset, absl::string_view what);

}  // namespace waystar::storage
