// A client that sends what a test likes, by a plain socket.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/service/transport/net/listener.h"

namespace waystar {

class TcpClient {
 public:
  // Connects to a port of this machine's 127.0.0.1, from that address. Check is_connected.
  explicit TcpClient(int port, const std::string& from = "127.0.0.1");
  // Connects to a unix socket.
  explicit TcpClient(const std::string& path);

  bool is_connected() const { return is_connected_; }
  void Send(absl::string_view bytes);
  // Returns the bytes that come next, 1 to `most`; none at the end of the connection. Fails the test if
  // neither comes.
  std::string Receive(std::size_t most);
  // Returns the next `size` bytes; fewer if the connection ends before. Fails the test if neither comes.
  std::string Read(std::size_t size);
  // Returns all bytes up to the end of the connection, in whatever way it ends.
  std::string ReadToTheEnd() { return Read(std::string::npos); }
  // Returns whether the other side has not ended the connection yet.
  bool IsOpen() const;

 private:
  void SetPatience() const;

  net::Descriptor socket_;
  bool is_connected_ = false;
};

}  // namespace waystar
