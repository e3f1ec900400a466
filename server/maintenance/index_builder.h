// Builds static indexes in the background, for maps that have been quiet and are asked about by searches that
// can use one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"

namespace waystar::maintenance {

struct IndexBuilderOptions {
  // How long a map must not have changed before its index is built.
  absl::Duration quiet_time = absl::Seconds(2);
  // For the indexes of all maps together, and the memory at work on one; 0: none is ever built.
  std::size_t max_bytes = 0;
};

// One thread, which runs only when the machine has nothing else to do. An index is built for one revision and
// goes with it; a change to the map stops the building.
//
// Thread safety: construction and destruction by one thread.
class IndexBuilder {
 public:
  // `store` must outlive this.
  IndexBuilder(const core::MapStore& store, const IndexBuilderOptions& options);
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;
  // Stops what is being built.
  ~IndexBuilder();

 private:
  struct Seen {
    std::uint64_t revision = 0;
    absl::Time since;
    // Its index does not fit into memory.
    bool is_given_up = false;
  };

  void Run();
  bool WaitForNextRound();
  void BuildWhereQuiet();
  void Build(const core::PinnedSnapshot& snapshot, std::size_t max_bytes, Seen& seen);

  const core::MapStore& store_;
  const IndexBuilderOptions options_;
  absl::flat_hash_map<std::string, Seen> seen_;
  Mutex mutex_;
  CondVar stopping_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // What is being built; null if nothing is.
  core::PinnedSnapshot building_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace waystar::maintenance
