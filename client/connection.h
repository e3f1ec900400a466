#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/options.h"

namespace waystar::client {

// The channels to a server, or to several, and what each call over them bears: its deadline, its token, and
// whether it waits for a server. They connect when they are first used.
//
// Thread safety: all methods may be called from any thread at the same time.
class Connection {
 public:
  explicit Connection(const Options& options);

  // Says why no call can be made: INVALID_ARGUMENT for options that make no sense or name files that cannot
  // be read. All methods below require that it is OK.
  const absl::Status& status() const { return status_; }

  // The channel for calls of Waystar's services.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // The channel for the health service, which also reaches servers that say that they are not well.
  const std::shared_ptr<grpc::Channel>& health_channel() const { return health_channel_; }
  // Makes another channel, which shares its connections with no other and retries no call.
  std::shared_ptr<grpc::Channel> NewPlainChannel() const;

  // As status(), for calls that change something: FAILED_PRECONDITION besides if the target stands for
  // several servers (see StandsForSeveralServers). They know nothing of each other, so that a change would
  // reach one of them alone.
  absl::Status StatusForChanges() const;

  // Lets the call end when `timeout` has passed from now; absl::InfiniteDuration() leaves it open.
  void Prepare(grpc::ClientContext& context, absl::Duration timeout) const;

 private:
  const bool wait_for_ready_;
  const int max_receive_bytes_;
  const std::string server_name_;
  absl::Status status_;
  std::string target_;
  // The value of the authorization header. No header is sent if it is empty.
  std::string authorization_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::shared_ptr<grpc::Channel> channel_;
  std::shared_ptr<grpc::Channel> health_channel_;
};

}  // namespace waystar::client
