// Time and resource limits on the clients of an HTTP server.
#pragma once

#include <chrono>
#include <cstddef>

namespace waystar::http {

struct HttpLimits {
  std::size_t max_connections = 1024;
  // Limit per network (net::Network).
  std::size_t max_network_connections = 256;
  // Memory of request bodies, until their handlers give it back.
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::size_t max_network_body_bytes = std::size_t{64} << 20;

  // Time to receive a head, from its first byte or from the start of the connection, handshake included.
  std::chrono::milliseconds head_time = std::chrono::seconds(5);
  // Time to receive a whole body.
  std::chrono::milliseconds body_time = std::chrono::seconds(10);
  // Time between two requests.
  std::chrono::milliseconds idle_time = std::chrono::seconds(10);
  // Time in which the bytes unsent at its start, at most kStreamRoomBytes of them, must be sent.
  std::chrono::milliseconds stall_time = std::chrono::seconds(10);
  // Silence in a stream before a heartbeat is sent.
  std::chrono::milliseconds heartbeat_time = std::chrono::seconds(5);
  // How long, and how many bytes, a connection reads after its last answer, so that a client that is still
  // sending sees the answer.
  std::chrono::milliseconds linger_time = std::chrono::seconds(2);
  std::size_t linger_bytes = std::size_t{8} << 20;
  // Interval at which deadlines are checked.
  std::chrono::milliseconds tick = std::chrono::milliseconds(200);
  // Socket send buffer per connection. The kernel allocates twice as much.
  int send_buffer_bytes = 128 << 10;
};

}  // namespace waystar::http
