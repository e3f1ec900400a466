// Recording proxy, which stands between clients and a server, passes on all that they say to each other, and
// writes it down.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/connection.h"
#include "client/options.h"
#include "client/record/recording_file.h"

namespace waystar::record {

// Calls of every service are passed on, with their metadata, deadlines and errors; those of Waystar's
// services are recorded. A call without a token gets that of the options.
//
// Memory is bounded: one message of each direction of a call is under way at a time.
//
// Thread safety: one thread.
class Proxy final : private grpc::CallbackGenericService {
 public:
  // Listens on `listen` for calls to the server of `options`. Errors: UNAVAILABLE if that address is taken;
  // INVALID_ARGUMENT for options that make no sense.
  static absl::StatusOr<std::unique_ptr<Proxy>> Start(const std::string& listen,
                                                      const client::Options& options,
                                                      std::unique_ptr<RecordingWriter> recording);
  ~Proxy() override;

  // The port of a TCP listener.
  int port() const { return port_; }
  // The calls that were recorded so far.
  std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

  // Lets what was recorded so far be read.
  void Flush() { recording_->Flush(); }

  // Ends the calls that are under way and closes the recording, whose errors it returns. REQUIRES: it is
  // called once.
  absl::Status Stop();

 private:
  class Call;

  Proxy(const client::Options& options, std::unique_ptr<RecordingWriter> recording);

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;
  void EndCall();

  const client::Connection connection_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<RecordingWriter> recording_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> calls_ = 0;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable calls_ended_;
  // Guarded by mutex_.
  int calls_under_way_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace waystar::record
