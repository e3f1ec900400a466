// waystar-server as a process of its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/client.h"
#include "grpcpp/channel.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar {

class ServerProcess {
 public:
  // What to do when the program ends before it answers: fail the test, or return with port() 0.
  enum class WhenItEnds { kFail, kReturn };

  // Starts the program on a free port, and returns when it answers. Fails the test if it does not. `prepare`
  // is called in the new process before the program; it may use system calls alone. `environment` has
  // variables for the program, as "NAME=value", besides those of the test.
  explicit ServerProcess(
      std::vector<std::string> flags = {}, const std::function<void()>& prepare = [] {},
      std::vector<std::string> environment = {}, WhenItEnds when_it_ends = WhenItEnds::kFail);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  // Kills it if it still runs.
  ~ServerProcess();

  pid_t pid() const { return pid_; }
  int port() const { return port_; }

  // A connection of its own.
  std::shared_ptr<grpc::Channel> NewChannel() const;
  // A client that never retries. Those of one process share a connection.
  std::unique_ptr<client::Client> NewClient() const;

  void Signal(int signal) const;
  // Waits until it has ended. As waitpid tells it.
  int Wait();

 private:
  pid_t pid_ = 0;
  int port_ = 0;
};

// Requests for a map of `side` x `side` free cells, and for a path from its first cell to its last.
v1::CreateMapRequest BlankMap(const std::string& map, int side);
v1::FindPathRequest PathAcross(const std::string& map, int side);

}  // namespace waystar
