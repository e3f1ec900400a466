#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace waystar::client {

struct Options {
  // Where the server listens: HOST:PORT, unix:PATH, or any other name that gRPC resolves. Of the addresses
  // that HOST has one is used at a time. Several servers with the same maps take turns at answering: they are
  // IP:PORT,IP:PORT... or a name that stands for all of them, dns:///NAME:PORT. Changes are refused then:
  // make them at each server by its own address.
  std::string target = "localhost:7450";
  // How long a call may take in all, retries included.
  absl::Duration timeout = absl::Seconds(5);
  // How long ImportMap, ExportMap and TraceSearch may take.
  absl::Duration transfer_timeout = absl::Seconds(60);
  // If true, read-only calls, and updates with a request_id, are retried a few times when the server is
  // unavailable or too busy, and unhealthy servers are avoided. If false, each call returns the result of the
  // first server that it reaches.
  bool retry = true;
  // If true, queries of a map request the version made by this client's last change of it, so that they see
  // the change whichever server of a fleet answers. Free with a single server, but if that has lost
  // acknowledged changes (--durability=relaxed), queries wait for them in vain. The client remembers the last
  // 1,024 maps that it has changed.
  bool reads_own_writes = true;
  // If true, calls wait, within their timeout, until a server can be reached. Otherwise they fail immediately
  // with UNAVAILABLE if there is none.
  bool wait_for_ready = false;
  // How long a stream of updates or a watch may last.
  absl::Duration stream_timeout = absl::InfiniteDuration();
  // The largest message to accept.
  int max_receive_bytes = 64 << 20;

  // If true, encrypts the connection, and only accepts a server that can prove its name. The options below
  // require it, except for the token. Files are PEM and are read once.
  bool tls = false;
  // File of trusted certificate authorities. If empty, those of this machine are used.
  std::string ca_file;
  // Client certificate and key, for servers that request them. Set both or neither.
  std::string cert_file;
  std::string key_file;
  // Name that the server must prove, if not the one in `target`. Required for a list of IP addresses.
  std::string server_name;

  // Token that is sent with each call: "authorization: Bearer TOKEN". Visible ASCII. It is never sent
  // unencrypted to another machine: without tls the target must be this one (localhost, 127.0.0.0/8, [::1] or
  // unix:).
  std::string token;
};

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
