// The loss of all that a server has not synced, as when its machine loses power.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/testing/random.h"

namespace waystar {

// Keeps a data folder, and what of it is on stable storage. The server is started with Environment(), and
// tests/e2e/unsynced_loss_preload.cc in it sees what it syncs.
//
// Thread safety: one thread at a time.
class UnsyncedLoss {
 public:
  // The data folder is "data" below a folder that is there. At first there is none.
  explicit UnsyncedLoss(const std::filesystem::path& parent);

  // Makes an empty data folder that is not lost.
  void MakeFolder();

  // Returns the variables of a server. If `kill_at` is not 0, its sync of that number kills it.
  std::vector<std::string> Environment(int kill_at = 0) const;

  // Returns whether all that is in the log's last file is stable.
  bool IsLogStable() const;

  // Makes the data folder what it may be after a loss, and the boot id another. No server may run. A disk may
  // have more than what was synced: `random` decides whether the names are those that were synced or all, and
  // how much each file has of what was written after its last sync.
  void Lose(Random& random);

 private:
  struct File {
    std::string name;
    std::string content;
  };

  std::vector<File> Remaining(Random& random) const;
  // Makes all that is in the data folder stable.
  void SyncAll() const;
  void ChangeBootId();

  const std::string data_;
  const std::string stable_;
  const std::string boot_id_;
  int boots_ = 0;
};

}  // namespace waystar
