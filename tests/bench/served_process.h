// A process of its own that serves what the RPC benchmark calls, so that its CPU time is the server's alone.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace waystar::bench {

// On three ports of one process: a real server with a blank map "field" of 64 x 64 cells, over gRPC and over
// HTTP, and a PathService whose FindPath answers 40 points without looking at anything.
//
// Thread safety: one thread.
class ServedProcess {
 public:
  // Forks: call before anything has started threads or used gRPC. Ends the program if the servers do not
  // start.
  ServedProcess();
  // Ends the process.
  ~ServedProcess();
  ServedProcess(const ServedProcess&) = delete;
  ServedProcess& operator=(const ServedProcess&) = delete;

  int port() const { return ports_[0]; }
  int do_nothing_port() const { return ports_[1]; }
  int http_port() const { return ports_[2]; }

  // What the process has used so far, in user and system mode.
  std::chrono::nanoseconds CpuTime() const;

 private:
  pid_t pid_ = 0;
  int ports_[3] = {};
};

}  // namespace waystar::bench
