// Limits of connections: how long they live, and what they may use.
#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace waystar::runtime {

class FlagReader;

struct ConnectionOptions {
  // Connections at a time; 0 for 10,000, or as many as descriptors allow.
  std::size_t max_connections = 0;
  // Those of one IPv4 address, or of one IPv6 network of 64 bits; 0 for half of all.
  std::size_t max_address_connections = 0;
  // A connection that has not sent its TLS handshake and its HTTP/2 settings by then is closed.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // A connection of this age, plus or minus a tenth, takes no new calls; those on it have the grace to end.
  // 0: never.
  absl::Duration max_age = absl::ZeroDuration();
  absl::Duration max_age_grace = absl::Minutes(1);
  // A connection without a call for this long is closed. 0: never.
  absl::Duration max_idle = absl::ZeroDuration();
  // A connection that is silent for this long is pinged, and closed if there is no answer in time.
  absl::Duration keepalive_time = absl::Minutes(1);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // A client that pings more often is cut off.
  absl::Duration min_client_keepalive = absl::Seconds(10);
  // Calls of one connection at a time, streams and watches among them. More wait at the client.
  int max_concurrent_streams = 1'000;
  // The memory of the RPC library for what it reads and writes; 0 for no limit.
  std::size_t memory_mib = 0;
};

// Reads the flags' values. REQUIRES: the command line was parsed.
void ReadConnectionFlags(FlagReader& read, ConnectionOptions& options);

}  // namespace waystar::runtime
