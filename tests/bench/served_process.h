// A server in a process of its own, so that its CPU time is the server's alone.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <functional>

namespace waystar::bench {

class ServedProcess {
 public:
  using Ports = std::array<int, 2>;

  // Forks. The new process calls `serve` once, which starts servers that live as long as the process, and
  // returns their ports. Call this before anything has started threads or used gRPC.
  explicit ServedProcess(const std::function<Ports()>& serve);
  // Ends the process.
  ~ServedProcess();
  ServedProcess(const ServedProcess&) = delete;
  ServedProcess& operator=(const ServedProcess&) = delete;

  const Ports& ports() const { return ports_; }

  // Returns the processor time of the process so far, in user and system mode.
  std::chrono::nanoseconds CpuTime() const;

 private:
  pid_t pid_ = 0;
  Ports ports_ = {};
};

}  // namespace waystar::bench
