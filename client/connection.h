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

// The channels to a server, or to several, and what each call over them bears: its deadline, its token,
// whether it waits. Connections are made when first needed.
//
// Thread safety: any.
class Connection {
 public:
  explicit Connection(const Options& options);

  // Why no call can be made: INVALID_ARGUMENT for options that make no sense or name files that cannot be
  // read.
  const absl::Status& status() const { return status_; }

  // REQUIRES of what follows: status() is OK.

  // For calls of Waystar's services.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // For questions to the health service, which reach servers that say they are not well, too.
  const std::shared_ptr<grpc::Channel>& health_channel() const { return health_channel_; }
  // Another one, with connections that it shares with none, that never makes a call again.
  std::shared_ptr<grpc::Channel> NewPlainChannel() const;

  // Ends the call when `timeout` has passed from now; absl::InfiniteDuration() leaves it open.
  void Prepare(grpc::ClientContext& context, absl::Duration timeout) const;

 private:
  const bool wait_for_ready_;
  const int max_receive_bytes_;
  const std::string server_name_;
  absl::Status status_;
  std::string target_;
  // The value of the authorization header; none if empty.
  std::string authorization_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::shared_ptr<grpc::Channel> channel_;
  std::shared_ptr<grpc::Channel> health_channel_;
};

}  // namespace waystar::client
