// What the clients of a soak count.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "grpcpp/support/status.h"

namespace waystar::stress {

// Thread safety: any.
class SoakTally {
 public:
  // Counts a call, and complains if it ended in a way that a client's fault, or another client, cannot
  // explain.
  void Note(const char* call, const grpc::Status& status);
  void CountMessages(std::uint64_t messages) { messages_ += messages; }
  // Complains.
  void Fault(const std::string& what);

  std::uint64_t calls() const { return calls_; }
  std::uint64_t messages() const { return messages_; }
  int faults() const { return faults_; }

 private:
  std::atomic<std::uint64_t> calls_ = 0;
  // Of streams.
  std::atomic<std::uint64_t> messages_ = 0;
  std::atomic<int> faults_ = 0;
};

}  // namespace waystar::stress
