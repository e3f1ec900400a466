// What clients know of the maps of a server that may be killed at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "server/base/mutex.h"
#include "server/storage/folder/folder.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::testing {

// Keeps what clients were told, by epoch, and fails the test when something that they are told later, or what
// lies in the data folder, contradicts it.
//
// Thread safety: any method may be called from any thread.
class KillLedger {
 public:
  // A client has seen a map.
  void Saw(std::uint64_t epoch, std::uint64_t revision, std::uint64_t digest);
  void Saw(const v1::MapInfo& info) { Saw(info.version().epoch(), info.version().revision(), info.digest()); }
  // A client has the answer to its batch.
  void Acknowledged(const v1::UpdateMapResponse& answer, const std::string& request_id);
  // Returns the newest revision that somebody has seen.
  std::uint64_t Newest(std::uint64_t epoch) const;

  // Returns how many batches were acknowledged.
  std::size_t acknowledged() const;
  // Returns once as many were, or fails the test.
  void WaitForAcknowledged(std::size_t count);

  // Compares with what is in the folder of a server that is dead: each acknowledged batch that the log may
  // still hold is there, under its revision, as a whole and once. Returns the revision that the log has for
  // each request id. If the newest may be lacking, those revisions are lost: they may be made again.
  std::map<std::string, std::uint64_t> CompareWith(const storage::Folder& folder,
                                                   bool may_lack_newest = false);
  // Returns whether revisions of this epoch are lost.
  bool HasLost(std::uint64_t epoch) const;

 private:
  struct Known {
    std::uint64_t newest = 0;
    std::map<std::uint64_t, std::uint64_t> digests;
    std::map<std::uint64_t, std::string> request_ids;
    bool has_lost = false;

    void LoseAfter(std::uint64_t revision);
  };

  void NoteLocked(std::uint64_t epoch, std::uint64_t revision, std::uint64_t digest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::uint64_t, Known> known_ ABSL_GUARDED_BY(mutex_);
  std::size_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::testing
