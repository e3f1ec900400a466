// Durable log for tests, which holds what is appended until the test says what becomes of it.
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

// Keeps the promise that what is appended upon a lost append is lost, too.
//
// Thread safety: any method may be called from any thread, but those that let appends land by one at a time.
// It is the log's thread that calls these.
class HeldLog final : public DurableLog {
 public:
  enum class Kind : std::uint8_t { kCreation, kCommits, kDeletion, kReplacement };

  struct Entry {
    Kind kind = Kind::kCommits;
    std::string map;
    // The last one, of commits.
    MapVersion version;
    // Of a creation or a replacement.
    std::optional<MapSnapshot> first;
    // Of a replacement.
    MapVersion replaced;
    std::vector<LoggedCommit> commits;
  };

  HeldLog() = default;
  HeldLog(const HeldLog&) = delete;
  HeldLog& operator=(const HeldLog&) = delete;
  ~HeldLog() override;

  absl::Status WhyRefusing() const override;
  void AppendCreation(const MapSnapshot& first, const CreationRequest& request, Done done) override;
  void AppendReplacement(const MapSnapshot& first, MapVersion replaced, Done done) override;
  void AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<LoggedCommit> commits,
                     Done done) override;
  void AppendDeletion(absl::string_view id, MapVersion last, Done done) override;

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
  std::vector<Entry> durable() const;
  // Returns the durable version of a map; that of a deleted map is of epoch 0.
  MapVersion DurableVersion(absl::string_view id) const;

 private:
  struct Waiting {
    Entry entry;
    Done done;
  };

  void Append(Entry entry, Done done);
  bool LandNext(absl::Status status);
  bool FollowsLocked(const Entry& entry) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  mutable CondVar is_appended_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t appends_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  std::vector<Entry> durable_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, MapVersion, std::less<>> versions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
