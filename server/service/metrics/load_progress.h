// Progress in loading the initial maps of a server.
#pragma once

#include <cstdint>
#include <optional>

#include "server/base/mutex.h"

namespace waystar::rpc {

// Thread safety: any.
class LoadProgress {
 public:
  struct Maps {
    std::int64_t read = 0;
    std::int64_t total = 0;
  };

  void Set(const Maps& maps) {
    MutexLock lock(mutex_);
    maps_ = maps;
  }
  // All are read.
  void Finish() {
    MutexLock lock(mutex_);
    maps_.reset();
  }
  // Returns nothing once all maps are read.
  std::optional<Maps> Get() const {
    MutexLock lock(mutex_);
    return maps_;
  }

 private:
  mutable Mutex mutex_;
  std::optional<Maps> maps_ ABSL_GUARDED_BY(mutex_) = Maps();
};

}  // namespace waystar::rpc
