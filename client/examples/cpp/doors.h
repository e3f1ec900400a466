#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "client/client.h"
#include "waystar/v1/types.pb.h"

namespace town {

// Watch on a thread of its own, which collects the doors that were closed, whoever closed them.
class ClosedDoors {
 public:
  explicit ClosedDoors(const waystar::client::Client& client);
  ~ClosedDoors();

  // Returns the doors that were closed since the last call.
  std::vector<waystar::v1::Cell> Take();

 private:
  void Listen();

  const std::unique_ptr<waystar::client::MapWatch> watch_;
  std::mutex mutex_;
  std::vector<waystar::v1::Cell> closed_;
  std::thread listener_;
};

}  // namespace town
