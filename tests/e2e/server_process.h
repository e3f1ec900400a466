// waystar-server as a process of its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grpcpp/channel.h"

namespace waystar::testing {

class ServerProcess {
 public:
  // Starts the program on a free port, and returns when it answers. Fails the test if it does not. `prepare`
  // is called in the new process before the program; it may use system calls alone.
  explicit ServerProcess(
      std::vector<std::string> flags = {}, const std::function<void()>& prepare = [] {});
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  // Kills it if it still runs.
  ~ServerProcess();

  pid_t pid() const { return pid_; }
  int port() const { return port_; }

  // A connection of its own.
  std::shared_ptr<grpc::Channel> NewChannel() const;

  void Signal(int signal) const;
  // Waits until it has ended. As waitpid tells it.
  int Wait();

 private:
  pid_t pid_ = 0;
  int port_ = 0;
};

}  // namespace waystar::testing
