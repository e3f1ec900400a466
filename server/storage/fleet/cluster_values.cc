#include "server/storage/fleet/cluster_values.h"

#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/random_id.h"
#include "server/core/codec/fields.h"
#include "server/core/store/update_batch.h"
#include "server/storage/folder/commit_fields.h"
#include "server/storage/folder/record_file.h"

namespace waystar::cluster {
namespace {

constexpr std::uint64_t kFormat = 1;
constexpr std::int64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMaxKeyBytes = 1024;

// A time or a duration, stored in milliseconds since 1970 or since 0.
template <typename V>
struct Millis {
  explicit Millis(V& of) : value(of) {}

  V& value;
};

template <typename V>
void Fields(const Millis<V>& field, const auto& visit) {
  constexpr bool kIsTime = core::Is<V, absl::Time>;
  std::int64_t number = 0;
  if constexpr (kIsTime) {
    number = absl::ToUnixMillis(field.value);
  } else {
    number = absl::ToInt64Milliseconds(field.value);
  }
  visit(core::AtMost(number, kMaxSigned));
  if constexpr (!std::is_const_v<V>) {
    if constexpr (kIsTime) {
      field.value = absl::FromUnixMillis(number);
    } else {
      field.value = absl::Milliseconds(number);
    }
  }
}

}  // namespace

void Fields(core::Is<AppendName> auto& name, const auto& visit) { visit(name.server, name.number); }

void Fields(core::Is<Parts> auto& parts, const auto& visit) {
  visit(core::AtMost(parts.data, kMaxKeyBytes), parts.count, parts.bytes, parts.checksum);
}

void Fields(core::Is<MapHead> auto& head, const auto& visit) {
  visit(head.version, head.digest, head.append);
}

void Fields(core::Is<MapBase> auto& base, const auto& visit) {
  visit(base.version, base.image, core::AtMost(base.file, kMaxKeyBytes));
}

void Fields(core::Is<LogRecord> auto& record, const auto& visit) {
  bool is_in_parts = record.entries.empty();
  visit(record.append, is_in_parts);
  if (is_in_parts) {
    visit(record.parts);
  } else {
    visit(core::AtMost(record.entries, kMaxValueBytes));
  }
}

void Fields(core::Is<ServerReport> auto& report, const auto& visit) {
  visit(core::AtMost(report.address, kMaxKeyBytes), core::AtMost(report.version, kMaxKeyBytes),
        Millis(report.start_time), Millis(report.report_time), report.maps,
        core::AtMost(report.revision, kMaxSigned), core::AtMost(report.lag, kMaxSigned),
        Millis(report.staleness));
}

template <typename Value>
std::string Encode(const Value& value) {
  core::ValueWriter to;
  to.PutNumber(kFormat);
  core::WriteValue(value, to);
  return storage::WithChecksum(std::move(to).TakeBytes());
}

template <typename Value>
absl::StatusOr<Value> Decode(absl::string_view bytes) {
  // Checked first: damage could otherwise look like another format version.
  const std::optional<absl::string_view> values = storage::WithoutChecksum(bytes);
  if (!values) {
    return MakeError(ErrorReason::kBadFormat, "", "the checksum does not fit");
  }
  core::ValueReader from(*values);
  const std::uint64_t format = from.Number();
  if (from.ok() && format != kFormat) {
    return absl::FailedPreconditionError(absl::StrCat("a value in etcd has format ", format,
                                                      ", and this server knows only ", kFormat,
                                                      ": it was written by another release"));
  }
  Value value = core::ReadValue<Value>(from);
  WAYSTAR_RETURN_IF_ERROR(from.Finish());
  return value;
}

template std::string Encode(const MapHead& head);
template std::string Encode(const MapBase& base);
template std::string Encode(const LogRecord& record);
template std::string Encode(const ServerReport& report);
template absl::StatusOr<MapHead> Decode(absl::string_view bytes);
template absl::StatusOr<MapBase> Decode(absl::string_view bytes);
template absl::StatusOr<LogRecord> Decode(absl::string_view bytes);
template absl::StatusOr<ServerReport> Decode(absl::string_view bytes);

std::vector<absl::string_view> CutIntoParts(absl::string_view value) {
  std::vector<absl::string_view> parts;
  for (std::size_t begin = 0; begin < value.size(); begin += kMaxValueBytes) {
    parts.push_back(value.substr(begin, kMaxValueBytes));
  }
  return parts;
}

Parts PartsOf(absl::string_view value, std::string data) {
  return {.data = std::move(data),
          .count = (value.size() + kMaxValueBytes - 1) / kMaxValueBytes,
          .bytes = value.size(),
          .checksum = storage::Crc32c(value)};
}

absl::Status CheckParts(const Parts& parts, absl::string_view value) {
  if (value.size() != parts.bytes || storage::Crc32c(value) != parts.checksum) {
    return absl::DataLossError(absl::StrCat("the value under ", parts.data, " in etcd is damaged"));
  }
  return absl::OkStatus();
}

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
