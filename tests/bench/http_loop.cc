#include "tests/bench/http_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

namespace waystar::bench {
namespace {

using HttpClock = std::chrono::steady_clock;

[[noreturn]] void GiveUp(const char* what) {
  std::cerr << what << "\n";
  std::_Exit(1);
}

std::string HttpRequestOf(const v1::FindPathRequest& request) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(request, &json).ok()) {
    GiveUp("the request has no JSON");
  }
  return absl::StrCat("POST /waystar.v1.PathService/FindPath HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ",
                      json.size(), "\r\n\r\n", json);
}

int OpenHttpConnection(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    GiveUp("no connection for HTTP");
  }
  return fd;
}

// Reads an answer with a Content-Length, as a whole.
void ReadAnswer(int fd, std::string& read) {
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  std::array<char, 64 << 10> part;
  std::size_t size = std::string::npos;
  read.clear();
  while (read.size() < size) {
    const ssize_t bytes = ::read(fd, part.data(), part.size());
    if (bytes <= 0) {
      GiveUp("a call over HTTP failed");
    }
    read.append(part.data(), static_cast<std::size_t>(bytes));
    const std::size_t head = size == std::string::npos ? read.find("\r\n\r\n") : std::string::npos;
    if (head != std::string::npos) {
      const std::size_t at = read.find(kLength);
      std::size_t length = 0;
      if (read.compare(0, 12, "HTTP/1.1 200") != 0 || at > head ||
          !absl::SimpleAtoi(read.substr(at + kLength.size(), read.find('\r', at + 2) - at - kLength.size()),
                            &length)) {
        GiveUp("a call over HTTP failed");
      }
      size = head + 4 + length;
    }
  }
}

// Makes calls one after the other, and returns how long each took.
std::vector<double> CallOneByOne(int port, const std::string& request, int calls) {
  const int fd = OpenHttpConnection(port);
  std::vector<double> micros;
  std::string answer;
  for (int i = 0; i < calls; ++i) {
    const HttpClock::time_point begin = HttpClock::now();
    if (::write(fd, request.data(), request.size()) != static_cast<ssize_t>(request.size())) {
      GiveUp("a call over HTTP failed");
    }
    ReadAnswer(fd, answer);
    micros.push_back(std::chrono::duration<double, std::micro>(HttpClock::now() - begin).count());
  }
  ::close(fd);
  return micros;
}

}  // namespace

LoopResult RunHttpLoop(int port, const v1::FindPathRequest& request, int connections, int calls) {
  const std::string text = HttpRequestOf(request);
  std::vector<std::vector<double>> micros(static_cast<std::size_t>(connections));
  std::vector<std::thread> threads;
  const HttpClock::time_point begin = HttpClock::now();
  for (std::vector<double>& own : micros) {
    threads.emplace_back([&] { own = CallOneByOne(port, text, calls / connections); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  LoopResult result;
  result.elapsed = HttpClock::now() - begin;
  for (const std::vector<double>& own : micros) {
    for (const double each : own) {
      result.latency_micros.Add(each);
    }
  }
  return result;
}

}  // namespace waystar::bench
