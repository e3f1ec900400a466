#include "server/storage/fleet/fleet_images.h"

#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/random_id.h"
#include "server/core/store/map_id.h"
#include "server/storage/folder/checksum.h"
#include "server/storage/folder/record_file.h"

namespace waystar::cluster {
namespace {

constexpr absl::string_view kPrefix = "map-";
constexpr std::size_t kDigits = 16;

}  // namespace

std::string NameOf(const ImageFileName& name) {
  return absl::StrCat(kPrefix, name.map, "-", absl::Hex(name.version.epoch, absl::kZeroPad16), "-",
                      absl::Hex(name.version.revision, absl::kZeroPad16), "-",
                      absl::Hex(name.writer, absl::kZeroPad16));
}

std::optional<ImageFileName> ParseImageFileName(absl::string_view name) {
  absl::string_view rest = name;
  std::array<std::uint64_t, 3> numbers = {};
  if (!absl::ConsumePrefix(&rest, kPrefix)) {
    return std::nullopt;
  }
  for (std::size_t i = numbers.size(); i-- > 0;) {
    if (rest.size() <= kDigits + 1 || !absl::SimpleHexAtoi(rest.substr(rest.size() - kDigits), &numbers[i])) {
      return std::nullopt;
    }
    rest.remove_suffix(kDigits + 1);
  }
  const ImageFileName parsed{.map = std::string(rest),
                             .version = {.epoch = numbers[0], .revision = numbers[1]},
                             .writer = numbers[2]};
  if (!core::CheckMapId(parsed.map).ok() || NameOf(parsed) != name) {
    return std::nullopt;
  }
  return parsed;
}

std::string KeyOf(const ClusterKeys& keys, const ImageFileName& name) {
  return PartKey(keys.Data(name.map, name.version, name.writer), 0);
}

MapBase BaseInFile(const ClusterKeys& keys, absl::string_view id, core::MapVersion version,
                   absl::string_view image) {
  const ImageFileName name{.map = std::string(id), .version = version, .writer = RandomId()};
  return {.version = version,
          .image = {.data = keys.Data(id, version, name.writer),
                    .count = 1,
                    .bytes = image.size(),
                    .checksum = storage::Crc32c(image)},
          .file = NameOf(name)};
}

absl::Status WriteImage(storage::Folder& folder, absl::string_view name, absl::string_view image) {
  absl::Status status = storage::WriteWholeFile(folder, name, image);
  if (status.ok()) {
    status = folder.SyncNames();
  }
  if (status.ok()) {
    return status;
  }
  return MakeError(
      absl::IsResourceExhausted(status) ? ErrorReason::kStorageFull : ErrorReason::kStorageFailed, "",
      absl::StrCat("the map's image cannot be written: ", status.message()));
}

}  // namespace waystar::cluster
