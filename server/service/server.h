// Server with its store, workers, services and ports.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/runtime/options.h"
#include "server/storage/folder/folder.h"

namespace waystar::rpc {

// Serves until Stop or destruction. Destruction stops at once. Its parts are in server_parts.h, so that users
// of this header need not be recompiled when a part changes.
//
// Thread safety: one thread.
class Server {
 public:
  // Listens, opens options.data_dir, loads those maps of options.maps_dir that it does not contain, and
  // reports healthy. Until then calls about maps fail with UNAVAILABLE / MAPS_LOADING, while health,
  // information and statistics are available. Returns the errors of OpenData and LoadMaps; UNAVAILABLE if the
  // address is in use; or an error with the file and the cause if tokens or certificates do not load.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const runtime::Options& options, const storage::OpenFolder& open_folder = storage::OpenPosixFolder);

  // Destroys a server, and returns OK if there is no options.data_dir, or if everything acknowledged is on
  // stable storage and the next start will know that; else the error that may have prevented it.
  static absl::Status End(std::unique_ptr<Server> server);

  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  virtual ~Server() = default;

  // Returns the port of options.listen; 0 for a unix socket.
  virtual int port() const = 0;
  // Returns the port of options.metrics_listen; 0 if that is empty.
  virtual int metrics_port() const = 0;

  // Returns the port of options.http_listen; 0 if that is empty.
  virtual int http_port() const = 0;

  // Reports unhealthy, and continues to serve.
  virtual void ReportNotServing() = 0;

  // Reports unhealthy, accepts no new connections or calls, ends watches and streams of updates, and waits
  // for calls in progress. Cancels the rest after `drain_timeout`, and watches and streams whose clients have
  // not read the pending message after `patience`. On return, everything acknowledged is on stable storage,
  // if there is any.
  virtual void Stop(absl::Duration drain_timeout, absl::Duration patience) = 0;
  void Stop(absl::Duration drain_timeout) { Stop(drain_timeout, absl::Seconds(1)); }

 private:
  // Returns what the destructor sets to the status that End returns.
  virtual std::shared_ptr<const absl::Status> EndStatus() const = 0;
};

}  // namespace waystar::rpc
