// The values that a fleet keeps in etcd. Each begins with its checksum (storage/checksum.h) and the version
// of its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/store/map_version.h"

namespace waystar::cluster {

// The most bytes of one value: etcd takes requests of 1.5 MiB.
inline constexpr std::size_t kMaxValueBytes = std::size_t{1} << 20;

// Names one append to the log: those of a server are counted, and a server is a number that it draws.
struct AppendName {
  std::uint64_t server = 0;
  std::uint64_t number = 0;

  friend bool operator==(const AppendName&, const AppendName&) = default;
};

// A value in parts, which lie under keys of their own.
struct Parts {
  // What their keys begin with.
  std::string data;
  std::uint64_t count = 0;
  // Of all together, and their CRC-32C.
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
};

// Cuts a value into parts of at most kMaxValueBytes.
std::vector<absl::string_view> CutIntoParts(absl::string_view value);
// Returns the description of a value whose parts are to lie under `data`.
Parts PartsOf(absl::string_view value, std::string data);
// Returns DATA_LOSS unless this is the value that was described.
absl::Status CheckParts(const Parts& parts, absl::string_view value);

// The state of a map. All commits compare and set it.
struct MapHead {
  core::MapVersion version;
  std::uint64_t digest = 0;
  // The append that led there.
  AppendName append;
};

// What is taken for the version of a map whose head is damaged, and of which nothing else tells: there is a
// map.
inline constexpr core::MapVersion kUnknownVersion{.epoch = 1, .revision = 1};

// Where the newest image of a map lies. An image is what EncodeStoredMap makes.
struct MapBase {
  core::MapVersion version;
  Parts image;
  // If it is not empty, the image lies in that file (fleet_images.h), and its one part is the name.
  std::string file;
};

// A group of commits.
struct LogRecord {
  AppendName append;
  // What AddEntry makes of entries that EncodeCommits makes; empty if they lie in parts.
  std::string entries;
  Parts parts;
};

// What a server tells of itself, for those who look at the fleet.
struct ServerReport {
  // Where clients reach it.
  std::string address;
  // Of the program.
  std::string version;
  absl::Time start_time;
  // When it told this, by its own clock.
  absl::Time report_time;
  std::uint64_t maps = 0;
  // As in ClusterLogStatistics.
  std::int64_t revision = 0;
  std::int64_t lag = 0;
  // How long ago etcd had told it that there is nothing more.
  absl::Duration staleness;
};

// Return INVALID_ARGUMENT / BAD_FORMAT for what is no such value or is damaged, and FAILED_PRECONDITION if it
// has another version of the format.
std::string Encode(const MapHead& head);
absl::StatusOr<MapHead> DecodeHead(absl::string_view bytes);
std::string Encode(const MapBase& base);
absl::StatusOr<MapBase> DecodeBase(absl::string_view bytes);
std::string Encode(const LogRecord& record);
absl::StatusOr<LogRecord> DecodeRecord(absl::string_view bytes);
// Times are kept in whole milliseconds.
std::string Encode(const ServerReport& report);
absl::StatusOr<ServerReport> DecodeReport(absl::string_view bytes);

}  // namespace waystar::cluster
