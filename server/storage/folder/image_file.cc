#include "server/storage/folder/image_file.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/random_id.h"
#include "server/core/codec/map_image.h"
#include "server/core/store/update_batch.h"
#include "server/storage/folder/commit_fields.h"
#include "server/storage/folder/record_file.h"

namespace waystar::storage {
namespace {

constexpr absl::string_view kImagePrefix = "image-";

// Records of a file: the map's head, its remembered requests, its image.
constexpr std::size_t kRecords = 3;

// A server can read every image that it has written.
constexpr core::ImageLimits kNoLimits{
    .max_side = std::numeric_limits<int>::max(),
    .max_obstacle_cells = std::numeric_limits<std::int64_t>::max(),
    .max_content_bytes = std::numeric_limits<std::uint64_t>::max(),
};

// Removes the last '-' and the number after it from a name.
std::optional<std::uint64_t> TakeNumber(absl::string_view& name) {
  const std::size_t dash = name.rfind('-');
  std::uint64_t number = 0;
  if (dash == absl::string_view::npos || !absl::SimpleAtoi(name.substr(dash + 1), &number) ||
      name.substr(dash + 1) != absl::StrCat(number)) {
    return std::nullopt;
  }
  name = name.substr(0, dash);
  return number;
}

// The fields of a snapshot besides its map.
struct Head {
  std::string map;
  core::MapVersion version;
  absl::Time create_time;
  std::uint64_t digest = 0;
  absl::Time latest_commit_time;
};

void Fields(core::Is<Head> auto& head, const auto& visit) {
  visit(core::MapIdField(head.map), head.version, head.create_time, head.digest, head.latest_commit_time);
}

std::string EncodeHead(const core::MapSnapshot& snapshot) {
  return core::Encoded(Head{.map = snapshot.id,
                            .version = snapshot.version(),
                            .create_time = snapshot.create_time,
                            .digest = snapshot.digest(),
                            .latest_commit_time = snapshot.latest_commit_time});
}

void RequestFields(auto& map, const auto& visit) {
  visit(map.request_horizon.request_time, map.requests, map.request_horizon.retries_until);
}

std::string EncodeRequests(const core::StoredMap& map) {
  core::ValueWriter to;
  RequestFields(map, core::FieldWriter(to));
  return std::move(to).TakeBytes();
}

// REQUIRES: there are kRecords records.
absl::StatusOr<MapState> MapOfRecords(absl::string_view path, absl::Span<const Record> records) {
  const absl::StatusOr<Head> head = core::Decoded<Head>(records[0].payload);
  if (!head.ok()) {
    return Damage(path, records[0].offset, head.status().message());
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::MapSnapshot image, ReadImage(records[2].payload, path, records[2].offset));
  MapState map{.snapshot = std::move(image)};
  core::MapSnapshot& snapshot = map.snapshot;
  if (snapshot.digest() != head->digest) {
    return Damage(path, records[2].offset, "the map's digest is not what it was");
  }
  snapshot.id = head->map;
  snapshot.epoch = head->version.epoch;
  snapshot.revision = head->version.revision;
  snapshot.create_time = head->create_time;
  snapshot.latest_commit_time = head->latest_commit_time;
  core::ValueReader from(records[1].payload);
  RequestFields(map, core::FieldReader(from));
  if (const absl::Status requests = from.Finish(); !requests.ok()) {
    return Damage(path, records[1].offset, requests.message());
  }
  for (core::AppliedRequest& request : map.requests) {
    request.result.epoch = snapshot.epoch;
  }
  return map;
}

}  // namespace

std::string ImageFileName(const ImageName& name) {
  return absl::StrCat(kImagePrefix, name.map, "-", name.version.epoch, "-", name.version.revision);
}

std::optional<ImageName> ParseImageFileName(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, kImagePrefix)) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> revision = TakeNumber(name);
  const std::optional<std::uint64_t> epoch = TakeNumber(name);
  if (!revision || !epoch || !core::CheckMapId(name).ok()) {
    return std::nullopt;
  }
  return ImageName{.map = std::string(name), .version = {.epoch = *epoch, .revision = *revision}};
}

absl::StatusOr<std::uint64_t> WriteImageFile(const core::StoredMap& map, Folder& folder,
                                             absl::FunctionRef<absl::Status()> sync_log) {
  const core::MapSnapshot& snapshot = *map.snapshot;
  const std::string image = core::EncodeImage(snapshot.map);
  if (image.size() > kMaxRecordBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the image of map \"", snapshot.id, "\" is longer than ", kMaxRecordBytes, " bytes"));
  }
  const std::string name = ImageFileName({.map = snapshot.id, .version = snapshot.version()});
  std::uint64_t bytes = 0;
  const auto write = [&]() -> absl::Status {
    WAYSTAR_ASSIGN_OR_RETURN(const std::unique_ptr<RecordWriter> file,
                             RecordWriter::Create(folder, name, FileKind::kImage, RandomId()));
    WAYSTAR_RETURN_IF_ERROR(file->Append(EncodeHead(snapshot)));
    WAYSTAR_RETURN_IF_ERROR(file->Append(EncodeRequests(map)));
    WAYSTAR_RETURN_IF_ERROR(file->Append(image));
    WAYSTAR_RETURN_IF_ERROR(file->Sync());
    bytes = file->size();
    return sync_log();
  };
  WAYSTAR_RETURN_IF_ERROR(WriteAsAWhole(folder, name, write));
  return bytes;
}

absl::StatusOr<MapState> ReadImageFile(const ImageName& name, absl::string_view path,
                                       absl::string_view bytes) {
  WAYSTAR_ASSIGN_OR_RETURN(const RecordFile file, ReadRecords(path, bytes, FileKind::kImage, bytes.size()));
  if (file.records.size() != kRecords) {
    return Damage(path, file.end, "this is not all of an image");
  }
  WAYSTAR_ASSIGN_OR_RETURN(MapState map, MapOfRecords(path, file.records));
  const ImageName found{.map = map.snapshot.id, .version = map.snapshot.version()};
  if (ImageFileName(found) != ImageFileName(name)) {
    return Damage(path, file.records[0].offset, absl::StrCat("the file was called ", ImageFileName(found)));
  }
  return map;
}

std::string EncodeStoredMap(const core::StoredMap& map) {
  core::ValueWriter to;
  to.PutText(EncodeHead(*map.snapshot));
  to.PutText(EncodeRequests(map));
  to.PutText(core::EncodeImage(map.snapshot->map));
  return std::move(to).TakeBytes();
}

absl::StatusOr<MapState> DecodeStoredMap(absl::string_view bytes, absl::string_view path) {
  core::ValueReader from(bytes);
  std::vector<std::string> payloads;
  std::vector<Record> records;
  payloads.reserve(kRecords);
  while (payloads.size() < kRecords) {
    payloads.push_back(from.Text(bytes.size()));
    records.push_back({.payload = payloads.back()});
  }
  if (const absl::Status status = from.Finish(); !status.ok()) {
    return Damage(path, 0, status.message());
  }
  return MapOfRecords(path, records);
}

absl::StatusOr<core::MapSnapshot> ReadImage(absl::string_view image, absl::string_view path,
                                            std::uint64_t offset) {
  absl::StatusOr<core::AnyMap> map = core::DecodeImage(image, kNoLimits);
  if (!map.ok()) {
    return Damage(path, offset, map.status().message());
  }
  return core::MapSnapshot{.map = *std::move(map)};
}

absl::Status Damage(absl::string_view path, std::uint64_t offset, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, " is damaged at byte ", offset, ": ", what));
}

}  // namespace waystar::storage
