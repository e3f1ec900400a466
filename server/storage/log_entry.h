// The entries of a commit log: what happened to maps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/image/value_reader.h"
#include "server/core/store/durable_log.h"

namespace waystar::storage {

// A map as of some place in the log.
struct LiveMap {
  std::string id;
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;

  friend bool operator==(const LiveMap&, const LiveMap&) = default;
};

// The first record of a log file. Each file goes on where the one before it ended, which need not be the end
// of that file: what was not known to be durable there when this one began does not count.
struct LogStart {
  std::uint64_t number = 1;
  std::uint64_t previous_end = 0;
  std::vector<LiveMap> maps;
};

std::string EncodeStart(const LogStart& start);
absl::StatusOr<LogStart> DecodeStart(absl::string_view payload);

// The other records are groups of entries, which become durable together.
struct LogEntry {
  enum class Kind : std::uint8_t { kCreation = 0, kCommits = 1, kDeletion = 2, kReplacement = 3 };

  Kind kind = Kind::kCreation;
  std::string map;
  std::uint64_t epoch = 0;
  // The first revision of the commits, and the one that the entry leads to.
  std::uint64_t first_revision = 0;
  std::uint64_t revision = 0;
  // Of commits: what it takes to replay them, counted as WorkOfCommit. It is not written.
  std::uint64_t work = 0;
  // Of a replacement: the last version of the map before.
  core::MapVersion replaced;
  // What DecodeCreation, which is for all entries that begin a map, or DecodeCommits read; points into the
  // record.
  absl::string_view body;
};

// Returns what it takes to replay a commit: about as long as painting that many cells, 2 ns each.
std::uint64_t WorkOfCommit(const core::ChangeSummary& summary);

std::string EncodeCreation(const core::MapSnapshot& first, const core::CreationRequest& request = {});
// REQUIRES: `commits` are not empty.
std::string EncodeCommits(absl::string_view id, std::uint64_t epoch,
                          absl::Span<const core::LoggedCommit> commits);
std::string EncodeDeletion(absl::string_view id, core::MapVersion last);
std::string EncodeReplacement(const core::MapSnapshot& first, core::MapVersion replaced);

// Returns whether the entry is the first of its map: a creation or a replacement.
inline bool BeginsMap(const LogEntry& entry) {
  return entry.kind == LogEntry::Kind::kCreation || entry.kind == LogEntry::Kind::kReplacement;
}

// Appends an encoded entry to a record.
void AddEntry(absl::string_view entry, std::string& record);

// Return INVALID_ARGUMENT / BAD_FORMAT if this is not what the above wrote.
absl::StatusOr<std::vector<LogEntry>> DecodeEntries(absl::string_view record);

struct Creation {
  // Its id is empty if the map was created or replaced without one.
  core::CreationRequest request;
  absl::Time create_time;
  // The map's image.
  absl::string_view image;
};
absl::StatusOr<Creation> DecodeCreation(const LogEntry& entry);
absl::StatusOr<std::vector<core::LoggedCommit>> DecodeCommits(absl::string_view body);

}  // namespace waystar::storage
