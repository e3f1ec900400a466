#pragma once

#include <string>

#include "absl/time/time.h"

namespace waystar::client {

struct Options {
  // Where the server listens: HOST:PORT, unix:PATH, or any other name that gRPC resolves. Several servers
  // with the same maps take turns: IP:PORT,IP:PORT... or a name that stands for all of them,
  // dns:///NAME:PORT.
  std::string target = "localhost:7450";
  // How long a call may take in all, repetitions included.
  absl::Duration timeout = absl::Seconds(5);
  // The same for ImportMap, ExportMap and TraceSearch.
  absl::Duration transfer_timeout = absl::Seconds(60);
  // Whether calls that only read, and updates with a request_id, are made again, a few times, when the server
  // is not available or too busy, and whether servers that say they are not well are kept away from. Without
  // it each call gets what the server it came to says.
  bool retry = true;
  // Whether calls wait, within their timeout, for a server that can be reached. Otherwise they fail at once
  // with UNAVAILABLE when there is none.
  bool wait_for_ready = false;
  // How long a stream of updates or a watch may last.
  absl::Duration stream_timeout = absl::InfiniteDuration();
  // The largest message to accept.
  int max_receive_bytes = 64 << 20;

  // Whether to encrypt the connection, and to accept only a server that can prove its name. What follows, but
  // for the token, needs it. Files are PEM and read once.
  bool tls = false;
  // Who may vouch for the server. Empty: those whom this machine trusts.
  std::string ca_file;
  // What this client shows to a server that asks for a certificate. Both or neither.
  std::string cert_file;
  std::string key_file;
  // The name that the server must prove, if not the one in `target`. Several IP addresses need it.
  std::string server_name;

  // Sent with each call: "authorization: Bearer TOKEN". Visible ASCII. Never sent unencrypted to another
  // machine: without tls the target must be this one (localhost, 127.0.0.0/8, [::1] or unix:).
  std::string token;
};

}  // namespace waystar::client
