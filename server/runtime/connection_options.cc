#include "server/runtime/connection_options.h"

#include <cstdint>

#include "absl/flags/flag.h"
#include "server/runtime/flag_reader.h"

namespace {

const waystar::runtime::ConnectionOptions& DefaultConnections() {
  static const auto* const defaults = new waystar::runtime::ConnectionOptions;
  return *defaults;
}

}  // namespace

ABSL_FLAG(
    std::int64_t, max_connections, static_cast<std::int64_t>(DefaultConnections().max_connections),
    "Connections at a time; one more is reset. 0: 10000, or what the limit of open files leaves room for.");
ABSL_FLAG(
    std::int64_t, max_address_connections,
    static_cast<std::int64_t>(DefaultConnections().max_address_connections),
    "Connections of one IPv4 address, or one IPv6 network of 64 bits, at a time; one more is reset. 0: half "
    "of --max_connections.");
ABSL_FLAG(absl::Duration, handshake_timeout, DefaultConnections().handshake_timeout,
          "How long a new connection may take for its TLS handshake and its first HTTP/2 frame.");
ABSL_FLAG(
    absl::Duration, max_connection_age, DefaultConnections().max_age,
    "Age at which a connection takes no new calls, give or take a tenth, so that clients come back by way "
    "of their load balancer. 0: never.");
ABSL_FLAG(absl::Duration, max_connection_age_grace, DefaultConnections().max_age_grace,
          "How long the calls of such a connection may take to end, watches and streams among them.");
ABSL_FLAG(absl::Duration, max_connection_idle, DefaultConnections().max_idle,
          "A connection without a call for as long is closed. 0: never.");
ABSL_FLAG(absl::Duration, keepalive_time, DefaultConnections().keepalive_time,
          "A client that has sent nothing for as long is pinged.");
ABSL_FLAG(absl::Duration, keepalive_timeout, DefaultConnections().keepalive_timeout,
          "A client that does not answer a ping for as long is taken for gone, and its calls end.");
ABSL_FLAG(absl::Duration, min_client_keepalive, DefaultConnections().min_client_keepalive,
          "Clients may ping as often, with or without calls; one that pings more often is cut off.");
ABSL_FLAG(std::int64_t, max_concurrent_streams, DefaultConnections().max_concurrent_streams,
          "Calls of one connection at a time, streams and watches among them; more wait at the client.");
ABSL_FLAG(
    std::int64_t, rpc_memory_mib, static_cast<std::int64_t>(DefaultConnections().memory_mib),
    "Most memory for what connections read and write, in MiB; when it runs out, calls are refused. 0: no "
    "limit.");

namespace waystar::runtime {

void ReadConnectionFlags(FlagReader& read, ConnectionOptions& options) {
  read.Number(FLAGS_max_connections, 0, 10'000'000, options.max_connections);
  read.Number(FLAGS_max_address_connections, 0, 10'000'000, options.max_address_connections);
  read.PositiveTime(FLAGS_handshake_timeout, options.handshake_timeout);
  read.Time(FLAGS_max_connection_age, options.max_age);
  read.PositiveTime(FLAGS_max_connection_age_grace, options.max_age_grace);
  read.Time(FLAGS_max_connection_idle, options.max_idle);
  read.PositiveTime(FLAGS_keepalive_time, options.keepalive_time);
  read.PositiveTime(FLAGS_keepalive_timeout, options.keepalive_timeout);
  read.PositiveTime(FLAGS_min_client_keepalive, options.min_client_keepalive);
  read.Number(FLAGS_max_concurrent_streams, 1, 1'000'000, options.max_concurrent_streams);
  read.Number(FLAGS_rpc_memory_mib, 0, 1 << 20, options.memory_mib);
}

}  // namespace waystar::runtime
