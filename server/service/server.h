// Server with its store, workers, services and the port they are reached at.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/runtime/options.h"
#include "server/storage/folder/posix_folder.h"

namespace waystar::rpc {

// Serves until Stop or destruction. Destruction stops at once. What it is made of is in server_parts.h, so
// that those who start a server need not be compiled again when one of the parts changes.
//
// Thread safety: one thread.
class Server {
 public:
  // Listens, opens options.data_dir, loads those maps of options.maps_dir that it does not hold, and reports
  // healthy. Until then calls about maps are refused with UNAVAILABLE / MAPS_LOADING, and health, information
  // and statistics are there. Returns the errors of OpenData and LoadMaps; UNAVAILABLE if the address is
  // taken; an error that names the file and what is wrong with it if tokens or certificates do not load.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const runtime::Options& options, const storage::OpenFolder& open_folder = storage::OpenPosixFolder);

  // Destroys a server, and returns OK if all that was acknowledged is on stable storage and the next start
  // will know that, or if there is no options.data_dir; else the error for which it may not be.
  static absl::Status End(std::unique_ptr<Server> server);

  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  virtual ~Server() = default;

  // Returns the port of options.listen; 0 of a unix socket.
  virtual int port() const = 0;
  // Returns the port of options.metrics_listen; 0 if that is empty.
  virtual int metrics_port() const = 0;

  // Returns the port of options.http_listen; 0 if that is empty.
  virtual int http_port() const = 0;

  // Reports unhealthy, and goes on serving.
  virtual void ReportNotServing() = 0;

  // Reports unhealthy, takes no new connections or calls, ends watches and streams of updates, and waits for
  // calls in flight; cancels what is left after `drain_timeout`, and watches and streams whose clients have
  // not read the message that was on its way after `patience`. What was acknowledged is on stable storage
  // when it returns, if there is any.
  virtual void Stop(absl::Duration drain_timeout, absl::Duration patience) = 0;
  void Stop(absl::Duration drain_timeout) { Stop(drain_timeout, absl::Seconds(1)); }

 private:
  // Returns what the destructor sets to the status that End returns.
  virtual std::shared_ptr<const absl::Status> EndStatus() const = 0;
};

}  // namespace waystar::rpc
