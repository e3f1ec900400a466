#include "server/storage/fleet/cluster_values.h"

#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/codec/fields.h"
#include "server/storage/folder/checksum.h"
#include "server/storage/folder/commit_fields.h"

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

}  // namespace waystar::cluster
