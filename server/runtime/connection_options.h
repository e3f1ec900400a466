// Limits on connections: number, lifetime and resources.
#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace waystar::runtime {

class FlagReader;

struct ConnectionOptions {
  // Most open connections; 0 for 10,000, or fewer if descriptors do not allow that many.
  std::size_t max_connections = 0;
  // Most connections of one IPv4 address, or of one IPv6 network of 64 bits; 0 for half of all.
  std::size_t max_address_connections = 0;
  // Time for a new connection to send its TLS handshake and its HTTP/2 settings; closed otherwise.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // Age, plus or minus a tenth, at which a connection takes no new calls, and the grace for its calls to end.
  // 0: never.
  absl::Duration max_age = absl::ZeroDuration();
  absl::Duration max_age_grace = absl::Minutes(1);
  // Time without a call after which a connection is closed. 0: never.
  absl::Duration max_idle = absl::ZeroDuration();
  // Silence after which a connection is pinged, and time to answer before it is closed.
  absl::Duration keepalive_time = absl::Minutes(1);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // Shortest interval of client pings; a client that pings more often is disconnected.
  absl::Duration min_client_keepalive = absl::Seconds(10);
  // Most concurrent calls of one connection, including streams and watches. Further calls wait at the client.
  int max_concurrent_streams = 1'000;
  // Memory quota of the gRPC library for reads and writes, in MiB; 0 for no limit.
  std::size_t memory_mib = 0;
};

// Reads the values of the flags.
// REQUIRES: the command line was parsed.
void ReadConnectionFlags(FlagReader& read, ConnectionOptions& options);

}  // namespace waystar::runtime
