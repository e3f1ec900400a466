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

// Channels to one or several servers, and the settings of each call: its deadline, its token, and whether it
// waits for a server. They connect on first use.
//
// Thread safety: all methods may be called from any thread at the same time.
class Connection {
 public:
  explicit Connection(const Options& options);

  // Returns INVALID_ARGUMENT for invalid options or unreadable files. The methods below require that it is
  // OK.
  const absl::Status& status() const { return status_; }

  // Returns the channel for calls of Waystar's services.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // Returns the channel for the health service, which also reaches servers that report unhealthy.
  const std::shared_ptr<grpc::Channel>& health_channel() const { return health_channel_; }
  // Makes another channel, which shares no connection and retries no call.
  std::shared_ptr<grpc::Channel> NewPlainChannel() const;

  // Like status(), for calls that change something: also FAILED_PRECONDITION if the target may be several
  // servers (see StandsForSeveralServers). The servers are independent, so a change would reach only one of
  // them.
  absl::Status StatusForChanges() const;

  // Sets the deadline of the call to `timeout` from now; with absl::InfiniteDuration() there is none.
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
