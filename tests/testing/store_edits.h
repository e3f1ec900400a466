// Edits that tests of the store make, and a listener that writes down what it hears.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/edit/edit.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/update_batch.h"

namespace waystar {

inline core::Edit Block(core::Cell cell) { return core::BlockCells{{.cells = {cell}}}; }
inline core::Edit Unblock(core::Cell cell) { return core::UnblockCells{{.cells = {cell}}}; }

inline core::UpdateBatch BlockBatch(core::Cell cell) { return {.edits = {Block(cell)}}; }

// Listener that writes down what it hears.
//
// Thread safety: all methods may be called from any thread at the same time.
class RecordingListener final : public core::StoreListener {
 public:
  struct Heard {
    std::string map;
    // The revision that was published.
    std::uint64_t revision = 0;
    // The revisions of the commits that led to it.
    std::vector<std::uint64_t> commits;
    bool is_deletion = false;
  };

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& /*changes*/) override {
    Heard heard{.map = snapshot->id, .revision = snapshot->revision};
    for (const core::CommitPtr& commit : commits) {
      heard.commits.push_back(commit->revision);
    }
    MutexLock lock(mutex_);
    heard_.push_back(std::move(heard));
  }

  void OnDelete(const core::PinnedSnapshot& last) override {
    MutexLock lock(mutex_);
    heard_.push_back({.map = last->id, .revision = last->revision, .is_deletion = true});
  }

  std::vector<Heard> heard() const {
    MutexLock lock(mutex_);
    return heard_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<Heard> heard_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar
