// Folder in memory whose machine loses power.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/base/mutex.h"
#include "server/storage/folder/folder.h"
#include "tests/testing/random.h"

namespace waystar {

// What the storage made of what was not synced, when the power went.
enum class Loss {
  // None of it was written.
  kDrop,
  // It was written in order, up to some byte.
  kTear,
  // Any sectors of it were written, and the others hold zeros or other bytes; any names were changed.
  kReorder,
  // All of it was written.
  kKeep,
};

// Keeps what was written apart from what was synced, names as well as contents. After a given number of
// operations the power goes, or the process ends: that operation may be done in part, and it and all others
// fail.
//
// Thread safety: any method may be called from any thread.
class CrashingFolder final : public storage::Folder {
 public:
  CrashingFolder() = default;

  // The power goes at the operation after `operations` others, counted from now: calls that leave something
  // behind.
  void CrashAfter(std::int64_t operations);
  // Fails that operation, or those from it on if it `stays`, as a full or a broken disk does.
  void FailAfter(std::int64_t operations, bool stays);
  void StopFailing();
  bool has_crashed() const;

  // Returns what is found when the power is back.
  std::unique_ptr<CrashingFolder> AfterCrash(Loss loss, std::uint64_t seed) const;
  // Returns what the next process finds, of which the power may still take what was not synced.
  std::unique_ptr<CrashingFolder> AfterKill() const;
  // Changes a file, as a faulty disk does.
  std::string& Contents(const std::string& name);

  std::string PathOf(absl::string_view name) const override { return std::string(name); }
  std::string SystemRun() const override;
  absl::StatusOr<std::unique_ptr<storage::AppendFile>> Create(absl::string_view name) override;
  absl::StatusOr<std::unique_ptr<storage::SectorFile>> OpenSector(absl::string_view name) override;
  absl::StatusOr<std::string> Read(absl::string_view name) const override;
  absl::StatusOr<std::vector<std::string>> List() const override;
  absl::StatusOr<std::uint64_t> Size(absl::string_view name) const override;
  absl::Status Secure(absl::string_view name, std::uint64_t from) override;
  absl::Status Rename(absl::string_view from, absl::string_view to) override;
  absl::Status Remove(absl::string_view name) override;
  absl::Status SyncNames() override;

 private:
  struct Inode {
    std::string bytes;
    std::size_t synced = 0;
    // What a sync has failed to write, and the system takes for written since.
    std::size_t lost_begin = 0;
    std::size_t lost_end = 0;
    // Of a sector that is overwritten, what it held when it was last synced.
    std::optional<std::string> stable_sector;

    absl::Status Sync(const absl::Status& status);
  };
  using Names = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;
  // Happens as a whole.
  struct NameChange {
    std::string removed;
    std::string added;
    std::shared_ptr<Inode> inode;

    void ApplyTo(Names& names) const;
  };
  class File;
  class Sector;

  static std::string Survivors(const Inode& inode, Loss loss, Random& random);

  // Counts an operation. Returns an error if it is not to be done as a whole; `partly` says whether it is
  // begun.
  absl::Status Operate(bool* partly = nullptr) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<Inode>> Find(absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Change(NameChange change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Names names_ ABSL_GUARDED_BY(mutex_);
  // The names when they were last synced, and what has changed since.
  Names synced_names_ ABSL_GUARDED_BY(mutex_);
  std::vector<NameChange> changes_ ABSL_GUARDED_BY(mutex_);
  std::int64_t operations_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<std::int64_t> crash_at_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::int64_t> fail_at_ ABSL_GUARDED_BY(mutex_);
  bool failure_stays_ ABSL_GUARDED_BY(mutex_) = false;
  int run_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace waystar
