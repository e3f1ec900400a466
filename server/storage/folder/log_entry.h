// Entries of a commit log (creation, commits, deletion and replacement of maps) and the maps that they lead
// to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/store/durable_log.h"

namespace waystar::storage {

// A map as of some position in the log.
struct LiveMap {
  std::string id;
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;

  friend bool operator==(const LiveMap&, const LiveMap&) = default;
};

// First record of a log file. A file continues the previous one at offset `previous_end`, which may be before
// the end of that file: bytes not known to be durable when the new file began do not count.
struct LogStart {
  std::uint64_t number = 1;
  std::uint64_t previous_end = 0;
  std::vector<LiveMap> maps;
};

std::string EncodeStart(const LogStart& start);
absl::StatusOr<LogStart> DecodeStart(absl::string_view payload);

// One change. Each record but the first is a group of entries that become durable together.
struct LogEntry {
  enum class Kind : std::uint8_t { kCreation = 0, kCommits = 1, kDeletion = 2, kReplacement = 3 };

  Kind kind = Kind::kCreation;
  std::string map;
  std::uint64_t epoch = 0;
  // First revision of the commits, and the revision after the entry.
  std::uint64_t first_revision = 0;
  std::uint64_t revision = 0;
  // Work to replay the commits, as counted by WorkOfCommit. Not stored.
  std::uint64_t work = 0;
  // For a replacement: the last version of the replaced map.
  core::MapVersion replaced;
  // Input of DecodeCreation (creation, replacement) or DecodeCommits; points into the record.
  absl::string_view body;
};

// Returns the work to replay a commit, in units of painting one cell (2 ns).
std::uint64_t WorkOfCommit(const core::ChangeSummary& summary);

// A new entry, without its body, and its encoding for AddEntry.
struct EncodedEntry {
  LogEntry entry;
  std::string bytes;
};
EncodedEntry EncodeCreation(const core::MapSnapshot& first, const core::CreationRequest& request = {});
// REQUIRES: `commits` is not empty.
EncodedEntry EncodeCommits(absl::string_view id, std::uint64_t epoch,
                           absl::Span<const core::LoggedCommit> commits);
EncodedEntry EncodeDeletion(absl::string_view id, core::MapVersion last);
EncodedEntry EncodeReplacement(const core::MapSnapshot& first, core::MapVersion replaced);

// Returns true for a creation or a replacement.
inline bool BeginsMap(const LogEntry& entry) {
  return entry.kind == LogEntry::Kind::kCreation || entry.kind == LogEntry::Kind::kReplacement;
}

// Appends an encoded entry to a record.
void AddEntry(absl::string_view entry, std::string& record);

// Decoders return INVALID_ARGUMENT / BAD_FORMAT if the bytes are not from the encoders above.
absl::StatusOr<std::vector<LogEntry>> DecodeEntries(absl::string_view record);

struct Creation {
  // The request id is empty if the map was created or replaced without one.
  core::CreationRequest request;
  absl::Time create_time;
  // Encoded image of the map.
  absl::string_view image;
};
absl::StatusOr<Creation> DecodeCreation(const LogEntry& entry);
absl::StatusOr<std::vector<core::LoggedCommit>> DecodeCommits(absl::string_view body);

// Applies the log's entries, and rejects those that do not continue the current state.
//
// Thread safety: one thread at a time.
class LiveMaps {
 public:
  // State before an entry, for undo.
  struct Before {
    std::string id;
    std::optional<LiveMap> map;
  };

  LiveMaps() = default;
  explicit LiveMaps(const LogStart& start);

  // Applies an entry and returns the state before it. Returns FAILED_PRECONDITION, without a change, if the
  // entry creates an existing map, replaces another version than the current one or keeps its epoch, or
  // otherwise does not have the map's epoch and next revision.
  absl::StatusOr<Before> Follow(const LogEntry& entry);
  // Undoes the last applied entry.
  void TakeBack(Before before);

  // Returns the map, or null if it does not exist.
  const LiveMap* Find(absl::string_view id) const;
  std::vector<LiveMap> All() const;

 private:
  absl::btree_map<std::string, LiveMap> maps_;
};

}  // namespace waystar::storage
