#include "server/storage/fleet/cluster_values.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/codec/value_reader.h"
#include "server/core/codec/value_writer.h"
#include "server/storage/folder/checksum.h"

namespace waystar::cluster {
namespace {

constexpr std::uint64_t kFormat = 1;
constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMaxKeyBytes = 1024;

core::ValueWriter Begin() {
  core::ValueWriter to;
  to.PutNumber(kFormat);
  return to;
}

std::string End(core::ValueWriter to) { return storage::WithChecksum(std::move(to).TakeBytes()); }

// Checks the checksum and the format, then reads the value with `read`.
template <typename Value, typename Read>
absl::StatusOr<Value> Decode(absl::string_view bytes, const Read& read) {
  // Checked first: damage could otherwise look like another format version.
  const std::optional<absl::string_view> values = storage::WithoutChecksum(bytes);
  if (!values) {
    return MakeError(ErrorReason::kBadFormat, "", "the checksum does not fit");
  }
  core::ValueReader from(*values);
  const std::uint64_t format = from.Number(kAnyNumber);
  if (from.ok() && format != kFormat) {
    return absl::FailedPreconditionError(absl::StrCat("a value in etcd has format ", format,
                                                      ", and this server knows only ", kFormat,
                                                      ": it was written by another release"));
  }
  Value value;
  read(from, value);
  WAYSTAR_RETURN_IF_ERROR(from.Finish());
  return value;
}

void Put(core::MapVersion version, core::ValueWriter& to) {
  to.PutNumber(version.epoch);
  to.PutNumber(version.revision);
}

core::MapVersion ReadVersion(core::ValueReader& from) {
  core::MapVersion version;
  version.epoch = from.Number(kAnyNumber);
  version.revision = from.Number(kAnyNumber);
  return version;
}

void Put(AppendName name, core::ValueWriter& to) {
  to.PutNumber(name.server);
  to.PutNumber(name.number);
}

AppendName ReadName(core::ValueReader& from) {
  AppendName name;
  name.server = from.Number(kAnyNumber);
  name.number = from.Number(kAnyNumber);
  return name;
}

void Put(const Parts& parts, core::ValueWriter& to) {
  to.PutText(parts.data);
  to.PutNumber(parts.count);
  to.PutNumber(parts.bytes);
  to.PutNumber(parts.checksum);
}

Parts ReadParts(core::ValueReader& from) {
  Parts parts;
  parts.data = from.Text(kMaxKeyBytes);
  parts.count = from.Number(kAnyNumber);
  parts.bytes = from.Number(kAnyNumber);
  parts.checksum = static_cast<std::uint32_t>(from.Number(std::numeric_limits<std::uint32_t>::max()));
  return parts;
}

}  // namespace

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

std::string Encode(const MapHead& head) {
  core::ValueWriter to = Begin();
  Put(head.version, to);
  to.PutNumber(head.digest);
  Put(head.append, to);
  return End(std::move(to));
}

absl::StatusOr<MapHead> DecodeHead(absl::string_view bytes) {
  return Decode<MapHead>(bytes, [&](core::ValueReader& from, MapHead& value) {
    value.version = ReadVersion(from);
    value.digest = from.Number(kAnyNumber);
    value.append = ReadName(from);
  });
}

std::string Encode(const MapBase& base) {
  core::ValueWriter to = Begin();
  Put(base.version, to);
  Put(base.image, to);
  to.PutText(base.file);
  return End(std::move(to));
}

absl::StatusOr<MapBase> DecodeBase(absl::string_view bytes) {
  return Decode<MapBase>(bytes, [](core::ValueReader& from, MapBase& value) {
    value.version = ReadVersion(from);
    value.image = ReadParts(from);
    value.file = from.Text(kMaxKeyBytes);
  });
}

std::string Encode(const LogRecord& record) {
  core::ValueWriter to = Begin();
  Put(record.append, to);
  to.PutBool(record.entries.empty());
  if (record.entries.empty()) {
    Put(record.parts, to);
  } else {
    to.PutText(record.entries);
  }
  return End(std::move(to));
}

absl::StatusOr<LogRecord> DecodeRecord(absl::string_view bytes) {
  return Decode<LogRecord>(bytes, [&](core::ValueReader& from, LogRecord& value) {
    value.append = ReadName(from);
    if (from.Bool()) {
      value.parts = ReadParts(from);
    } else {
      value.entries = from.Text(bytes.size());
    }
  });
}

std::string Encode(const ServerReport& report) {
  core::ValueWriter to = Begin();
  to.PutText(report.address);
  to.PutText(report.version);
  to.PutNumber(static_cast<std::uint64_t>(absl::ToUnixMillis(report.start_time)));
  to.PutNumber(static_cast<std::uint64_t>(absl::ToUnixMillis(report.report_time)));
  to.PutNumber(report.maps);
  to.PutNumber(static_cast<std::uint64_t>(report.revision));
  to.PutNumber(static_cast<std::uint64_t>(report.lag));
  to.PutNumber(static_cast<std::uint64_t>(absl::ToInt64Milliseconds(report.staleness)));
  return End(std::move(to));
}

absl::StatusOr<ServerReport> DecodeReport(absl::string_view bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return Decode<ServerReport>(bytes, [&](core::ValueReader& from, ServerReport& value) {
    const auto number = [&from] { return static_cast<std::int64_t>(from.Number(kMost)); };
    value.address = from.Text(kMaxKeyBytes);
    value.version = from.Text(kMaxKeyBytes);
    value.start_time = absl::FromUnixMillis(number());
    value.report_time = absl::FromUnixMillis(number());
    value.maps = from.Number(kAnyNumber);
    value.revision = number();
    value.lag = number();
    value.staleness = absl::Milliseconds(number());
  });
}

}  // namespace waystar::cluster
