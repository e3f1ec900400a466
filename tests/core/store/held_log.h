// Logs for tests: what their entries hold, and one that holds appends until the test says what becomes of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/core/store/durable_log.h"

namespace waystar::core {

// UNAVAILABLE / STORAGE_FAILED.
absl::Status StorageFailure();

// One entry of a log.
struct LogEntry {
  enum class Kind : std::uint8_t { kCreation, kCommits, kDeletion, kReplacement };

  Kind kind = Kind::kCommits;
  std::string map;
  // The version of the map with the entry; the last one, of a deletion.
  MapVersion version;
  // Only of a creation or a replacement.
  std::optional<MapSnapshot> first;
  // Only of a creation.
  CreationRequest request;
  // Only of a replacement.
  MapVersion replaced;
  std::vector<LoggedCommit> commits;
  // The log by which it was appended.
  const DurableLog* owner = nullptr;

  // Returns true if the entry may follow the version of a map, which is of epoch 0 if there is none.
  bool Follows(MapVersion before) const;
  // Returns the version of the map after the entry; of epoch 0 if it ends the map.
  MapVersion VersionAfter() const;
};

// Returns a copy that shares no memory with the snapshot, as another server would have it.
MapSnapshot CopyOf(const MapSnapshot& snapshot);

// Log that turns appends into entries.
class EntryLog : public DurableLog {
 public:
  void AppendCreation(const MapSnapshot& first, const CreationRequest& request, Done done) final;
  void AppendReplacement(const MapSnapshot& first, MapVersion replaced, Done done) final;
  void AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<LoggedCommit> commits,
                     Done done) final;
  void AppendDeletion(absl::string_view id, MapVersion last, Done done) final;

 protected:
  struct Waiting {
    LogEntry entry;
    Done done;
  };

 private:
  virtual void Append(Waiting next) = 0;
};

// Log that holds what is appended. Keeps the promise that what is appended upon a lost append is lost, too.
//
// Thread safety: any method may be called from any thread, but those that let appends land by one at a time.
// It is the log's thread that calls these.
class HeldLog final : public EntryLog {
 public:
  HeldLog() = default;
  HeldLog(const HeldLog&) = delete;
  HeldLog& operator=(const HeldLog&) = delete;
  ~HeldLog() override;

  absl::Status WhyRefusing() const override;

  // Says that appends would fail, or, with OK, that they would not.
  void Refuse(absl::Status refusal);

  // Knows a map that was made before.
  void Begin(absl::string_view id, MapVersion version);

  std::size_t waiting() const;
  // Waits until so many appends were ever made. Returns false, and has failed the test, if they are not.
  bool WaitForAppends(std::size_t count) const;
  std::size_t appends() const;

  // Lets the first append that waits land, and returns whether it has: it fails if it does not follow what is
  // durable. REQUIRES: one waits.
  bool LandNext() { return LandNext(absl::OkStatus()); }
  // Lets it fail. REQUIRES: one waits.
  void FailNext() { LandNext(StorageFailure()); }
  // Let all land or fail, and those that are made meanwhile.
  void LandAll();
  void FailAll();

  // Returns what is durable, in order.
  std::vector<LogEntry> durable() const;
  // Returns the durable version of a map; that of a deleted map is of epoch 0.
  MapVersion DurableVersion(absl::string_view id) const;

 private:
  void Append(Waiting next) override;
  bool LandNext(absl::Status status);

  mutable Mutex mutex_;
  mutable CondVar is_appended_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t appends_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  std::vector<LogEntry> durable_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, MapVersion, std::less<>> versions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
