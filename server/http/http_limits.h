// How long clients of an HTTP server may take, and how much they may hold.
#pragma once

#include <chrono>
#include <cstddef>

namespace waystar::http {

struct HttpLimits {
  std::size_t max_connections = 1024;
  // Of one network: see net::Network.
  std::size_t max_network_connections = 256;
  // What bodies of requests hold, until those who serve them give them back.
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::size_t max_network_body_bytes = std::size_t{64} << 20;

  // From the first byte of a head, or from the start of a connection, handshake included.
  std::chrono::milliseconds head_time = std::chrono::seconds(5);
  // For a whole body.
  std::chrono::milliseconds body_time = std::chrono::seconds(10);
  // Between two requests.
  std::chrono::milliseconds idle_time = std::chrono::seconds(10);
  // What waited to be sent when this time began, up to kStreamRoomBytes, must have left when it ends.
  std::chrono::milliseconds stall_time = std::chrono::seconds(10);
  // How long a stream is silent before its heartbeat is sent.
  std::chrono::milliseconds heartbeat_time = std::chrono::seconds(5);
  // How long a connection reads on after its last answer, so that a client that still sends sees the answer;
  // and how much it reads at most.
  std::chrono::milliseconds linger_time = std::chrono::seconds(2);
  std::size_t linger_bytes = std::size_t{8} << 20;
  // How often all that is looked at.
  std::chrono::milliseconds tick = std::chrono::milliseconds(200);
  // What the system holds for a client that does not read; it takes twice as much.
  int send_buffer_bytes = 128 << 10;
};

}  // namespace waystar::http
