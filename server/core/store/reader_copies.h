// The pointers to one snapshot that readers copy, one for each stripe of them.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Each pointer has a reference count of its own, in a cache line that no other of them has, and together with
// its copies holds the snapshot once: who counts the snapshot's owners counts 1 for each stripe of which
// anything is left, and weak pointers to the snapshot itself live as long as any copy does. A weak pointer to
// a copy says nothing of the snapshot.
//
// Thread safety: const methods from any thread.
class ReaderCopies {
 public:
  // None: every stripe's is null.
  ReaderCopies() = default;
  // Costs an allocation a stripe. `snapshot` is not null.
  ReaderCopies(const PinnedSnapshot& snapshot, std::size_t stripes);

  PinnedSnapshot Of(std::size_t stripe) const { return copies_.empty() ? nullptr : copies_[stripe]; }

  // Costs the same for any number of stripes.
  void Swap(ReaderCopies& other) { copies_.swap(other.copies_); }

 private:
  std::vector<PinnedSnapshot> copies_;
};

}  // namespace waystar::core
