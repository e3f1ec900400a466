#include "tests/service/transport/net/tcp_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "gtest/gtest.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

sockaddr_in AddressOf(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  EXPECT_EQ(::inet_pton(AF_INET, host.c_str(), &address.sin_addr), 1);
  return address;
}

}  // namespace

TcpClient::TcpClient(int port, const std::string& from) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const sockaddr_in own = AddressOf(from, 0);
  EXPECT_EQ(::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&own), sizeof(own)), 0);
  const sockaddr_in server = AddressOf("127.0.0.1", port);
  is_connected_ = ::connect(socket_.fd(), reinterpret_cast<const sockaddr*>(&server), sizeof(server)) == 0;
  SetPatience();
}

TcpClient::TcpClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
  sockaddr_un server{};
  server.sun_family = AF_UNIX;
  std::strncpy(server.sun_path, path.c_str(), sizeof(server.sun_path) - 1);
  is_connected_ = ::connect(socket_.fd(), reinterpret_cast<const sockaddr*>(&server), sizeof(server)) == 0;
  SetPatience();
}

void TcpClient::SetPatience() const {
  const timeval limit = absl::ToTimeval(kPatience);
  EXPECT_EQ(::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
}

void TcpClient::Send(absl::string_view bytes) {
  // A connection that the server has ended takes none.
  static_cast<void>(::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

std::string TcpClient::Receive(std::size_t most) {
  std::array<char, 16 << 10> buffer;
  const ssize_t read = ::recv(socket_.fd(), buffer.data(), std::min(buffer.size(), most), 0);
  EXPECT_TRUE(read >= 0 || errno != EAGAIN) << "neither bytes nor an end";
  return read > 0 ? std::string(buffer.data(), static_cast<std::size_t>(read)) : "";
}

std::string TcpClient::Read(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    const std::string next = Receive(size - bytes.size());
    if (next.empty()) {
      break;
    }
    bytes += next;
  }
  return bytes;
}

bool TcpClient::IsOpen() const {
  char byte = 0;
  const ssize_t read = ::recv(socket_.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return read > 0 || (read < 0 && errno == EAGAIN);
}

}  // namespace waystar
