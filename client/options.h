#pragma once

#include <string>

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

}  // namespace waystar::client
